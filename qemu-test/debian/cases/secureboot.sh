# SPDX-License-Identifier: GPL-2.0-only
#
# Secure Boot: the firmware trusts Microsoft, shim trusts Debian and the owner's key.
#
# In the first boot, GRUB refuses our kernel, which is the default, because it is unsigned.  The keys
# after `type:` stand for a person at the console, who then chooses Debian's kernel in the menu.  On
# Debian's kernel, the owner makes a key, installs the hook that signs each build of our kernel, as
# packages.rst has it, and requests the enrolment of the key.  In the second boot, the person at the
# console confirms the key in MokManager, and the signed kernel starts.
#
# firmware: secure
# timeout: 1800
# MokManager resets the machine.
# resets: 1
# type: bad shim signature => enter
# type: Advanced options => down enter
# type: recovery mode => down down enter
# type: Press any key to perform MOK management => enter
# type: Enroll MOK => down enter
# type: View key 0 => down enter
# type: Enroll the key => down enter
# type: Password: => secret enter
# type: Reboot => enter
# expect-console: bad shim signature

. /qt/lib.sh

KEY=/var/lib/dkms/mok
EXAMPLE=/usr/share/doc/codetag-tools/examples/sign-codetag
HOOK=/etc/kernel/postinst.d/sign-codetag
MODULE=rapiddisk

TABLE=/usr/share/doc/codetag-tools/Documentation/admin-guide/codetag-lockdown.rst.gz

locked_down()
{
	mokutil --sb-state
	mokutil --sb-state | grep -qx "SecureBoot enabled" || fail "Secure Boot is not enabled"
	lockdown=$(cat /sys/kernel/security/lockdown)
	case $lockdown in
	*"[integrity]"*) ;;
	*) fail "lockdown is $lockdown" ;;
	esac
}

test_1_firmware_refuses_our_unsigned_kernel()
{
	eq kernel "$(uname -r)" "$(debian_release)"
	locked_down
}

# DKMS signs with the same key.
test_1_owner_makes_a_key()
{
	openssl req -new -x509 -nodes -days 3650 -subj "/CN=owner of the guest" -newkey rsa:2048 \
		-keyout $KEY.key -outform DER -out $KEY.pub
	openssl x509 -inform DER -in $KEY.pub -out /tmp/cert.pem
}

test_1_hook_signs_each_build()
{
	install -m 755 $EXAMPLE ${HOOK%/*}
	! stand_in || sed -i "s/^\*-codetag)/$OURS)/" $HOOK
	! sbverify --cert /tmp/cert.pem "/boot/vmlinuz-$OURS" || fail "it is signed already"
	dpkg -i /qt/debs/"$IMAGE"_*.deb
	sbverify --cert /tmp/cert.pem "/boot/vmlinuz-$OURS"
	# at the default, never, /proc/allocinfo.nodes cannot be opened
	grub_options sysctl.vm.mem_profiling=1
}

test_1_owner_asks_for_enrolment()
{
	mokutil --generate-hash=secret > $STATE/hash
	mokutil --hash-file $STATE/hash --import $KEY.pub
	mokutil --list-new | grep "owner of the guest"
}

test_2_signed_kernel_boots()
{
	on_ours
	all_units_well
	locked_down
}

test_2_key_is_enrolled()
{
	mokutil --list-enrolled | grep "owner of the guest"
	grep -q "owner of the guest" /proc/keys || fail "the kernel does not have the key"
}

test_2_dkms_signs_a_module_that_loads()
{
	apt-get update
	apt-get -y install $MODULE-dkms
	eq signer "$(modinfo -F signer $MODULE)" "owner of the guest"
	modprobe $MODULE
	modprobe -r $MODULE
}

test_2_unsigned_module_is_refused()
{
	cp "$(modinfo -n $MODULE)" /tmp/unsigned.ko
	strip --strip-debug /tmp/unsigned.ko
	eq signer "$(modinfo -F signer /tmp/unsigned.ko)" ""
	! insmod /tmp/unsigned.ko || fail "an unsigned module was loaded"
	# The first message comes from IMA's policy for Secure Boot, the second from lockdown.
	dmesg | grep -e "Loading of unsigned module is rejected" \
		     -e "Lockdown: insmod: unsigned module loading is restricted" ||
		fail "refused for another reason"
}

# rows: prints each interface of the documentation, and how it opens under integrity
rows()
{
	zcat $TABLE | awk '
		/^``[^`]+``( in debugfs)?  +[rw`-]+ / {
			path = $1
			gsub("`", "", path)
			sub("<n>", "0", path)
			print ($2 == "in" ? "/sys/kernel/debug/" : "") path, ($(NF - 1) == "``-``" ? "-" : $(NF - 1))
		}'
}

# answer PATH: prints "rw", "r" or "-", as root can open it, or another error than EPERM
answer()
{
	got=
	if (: < "$1") 2> /tmp/said; then
		got=r
	elif ! grep -q "Operation not permitted" /tmp/said; then
		got="$(cat /tmp/said) "
	fi
	case $(stat -c %a "$1") in
	600|644)
		if (: >> "$1") 2> /tmp/said; then
			got=${got}w
		elif ! grep -q "Operation not permitted" /tmp/said; then
			got="$got $(cat /tmp/said)"
		fi ;;
	400|444) ;;
	*) got="${got:--} (mode $(stat -c %a "$1"), which no file of ours has)" ;;
	esac
	echo "${got:--}"
}

test_2_interfaces_answer_as_documented()
{
	needs_profiling
	rows > /tmp/rows
	eq "rows of $TABLE" "$(wc -l < /tmp/rows)" "$(zcat $TABLE | sed -n '/^interface /,/^$/p' | grep -c '^``')"
	# the files of the CPUs appear with the first recording
	echo 1 > /proc/kmemtrace/enabled
	echo 0 > /proc/kmemtrace/enabled
	wrong=
	while read -r path want; do
		case $path in
		*/alloc_tag/*)	# CONFIG_MEM_ALLOC_PROFILING_DEBUG is off
			[ ! -e "$path" ] || fail "$path exists"
			continue ;;
		esac
		got=$(answer "$path")
		echo "$path: $got"
		[ "$got" = "$want" ] || wrong="$wrong $path: $got, want $want;"
	done < /tmp/rows
	[ -z "$wrong" ] || fail "$wrong"
}

# debugfs refuses these files.
test_2_contexts_work_in_proc()
{
	needs_profiling
	echo "func __alloc_file enable" > /proc/alloc_tags.ctx
	grep -c "call stack:" /proc/alloc_tags.ctx
	echo "func __alloc_file disable" > /proc/alloc_tags.ctx
	! grep "call stack:" /proc/alloc_tags.ctx || fail "stacks are left"
}

test_2_time_statistics_work_in_proc()
{
	echo enable > /proc/time_stats
	sleep 2
	echo disable > /proc/time_stats
	grep -c "^  count: " /proc/time_stats
	echo reset > /proc/time_stats
}

test_2_kmemtrace_records()
{
	service_records_a_trace
}

test_2_kmon_records()
{
	kmonlog -o /tmp/log -t 1
	kmonparse /tmp/log > /tmp/parsed
	[ -s /tmp/parsed ] || fail "an empty log"
}

test_2_console_is_clean()
{
	no_splat
}

run_boots
