# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel crashes, kdump saves its memory, and allocinfo-dump prints the table from it.
#
# The guest gives the host three files: the dump, System.map, and the table that the guest
# read just before the crash.  The host compares that table with the one in the dump, see
# kdump.py.
#
# The crash kernel has the memory that Debian sets aside, and does not profile: the last
# expect-console finds its command line.
#
# timeout: 2400
# out: 2G
# expect-console: sysrq: Trigger a crash
# expect-console: Kernel panic - not syncing: sysrq triggered crash
# expect-console: Call Trace:
# expect-console: Command line: .* sysctl\.vm\.mem_profiling=never

. /qt/lib.sh

test_1_kdump_is_set_up()
{
	on_ours
	apt-get update
	echo kexec-tools kexec-tools/load_kexec boolean false | debconf-set-selections
	apt-get -y install kdump-tools makedumpfile kexec-tools
	sed -i 's/^#\?USE_KDUMP=.*/USE_KDUMP=1/' /etc/default/kdump-tools
	# Debian sets only 128 MB aside for the crash kernel, so do not profile in that kernel.
	sed -i 's/^#\?\(KDUMP_CMDLINE_APPEND=".*\)"$/\1 sysctl.vm.mem_profiling=never"/' \
		/etc/default/kdump-tools
	grub_options sysctl.vm.mem_profiling=1 \
		"$(grep -o 'crashkernel=[^ "]*' /etc/default/grub.d/kdump-tools.cfg)"
}

test_2_crash_kernel_is_loaded()
{
	on_ours
	all_units_well
	kdump-config show
	eq kexec_crash_loaded "$(cat /sys/kernel/kexec_crash_loaded)" 1
}

test_2_crashes()
{
	stand_in || cat $INFO > $STATE/allocinfo
	may_die
	echo c > /proc/sysrq-trigger
	sleep 60
	rm $STATE/may_die
	fail "still alive"
}

test_3_boots_again()
{
	on_ours
	all_units_well
}

test_3_dump_is_saved()
{
	ls -lR /var/crash
	dump=$(find /var/crash -name 'dump.*' -size +1M)
	[ -n "$dump" ] || fail "no dump in /var/crash"
	note "dump: $(($(stat -c %s "$dump") >> 20)) MiB"
	cp "/boot/System.map-$OURS" $STATE/System.map
	[ -e $STATE/allocinfo ] || : > $STATE/allocinfo
	mv "$dump" $STATE/dump
	tar -C $STATE -cf /dev/disk/by-id/virtio-out dump System.map allocinfo
	sync
}

run_boots
