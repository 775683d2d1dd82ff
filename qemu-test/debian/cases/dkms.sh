# SPDX-License-Identifier: GPL-2.0-only
#
# A module of Debian's archive, built by DKMS against our headers, has lines in the table.
#
# The package of the module is there before our kernel.  DKMS builds the module when apt installs our
# kernel and its headers.  At an upgrade of our kernel, a hook of codetag-tools makes DKMS build the module
# again.  One test disables the hook: DKMS then deletes the module, and the command in packages.rst builds it.
#
# rapiddisk makes disks in memory.  It allocates a page for each page that is written to such
# a disk, all on one line of its code.
#
# base: debian
# timeout: 2700

. /qt/lib.sh

MODULE=rapiddisk
# the name in its dkms.conf, and of /usr/src/NAME-VERSION
NAME=rapiddisk-dkms
HOOK=/etc/kernel/prerm.d/codetag-dkms
DISK_MIB=64
WRITE_MIB=16

mgmt()
{
	echo "$*" > /sys/kernel/rapiddisk/mgmt
}

# Prints "bytes calls place" for each line of rdsk_insert_page(), the line with the most calls
# first.  That one allocates the pages.  Other lines allocate the nodes of the tree that
# contains the pages.
held()
{
	awk '/\[rapiddisk\] func:rdsk_insert_page/ { print $1, $2, $3 }' $INFO | sort -k2,2nr
}

# built: fails unless DKMS has built the module and installed it for our kernel.
built()
{
	dkms status
	dkms status -k "$OURS" | grep -q "^$NAME/.*installed" || fail "dkms: $(dkms status)"
	eq vermagic "$(modinfo -k "$OURS" -F vermagic $MODULE | cut -d' ' -f1)" "$OURS"
}

test_1_has_the_module_before_our_kernel()
{
	eq kernel "$(uname -r)" "$(linux-version list)"
	apt-get update
	apt-get -y install $MODULE-dkms
	dkms status | grep "^$NAME/"
}

test_1_installation_of_our_kernel_builds_it()
{
	apt-get -y install /qt/debs/*.deb
	all_configured
	built
}

test_1_prepares_the_next_boot()
{
	grub_options sysctl.vm.mem_profiling=1
	! stand_in || grub_kernel "$OURS"
}

test_2_loads()
{
	on_ours
	modprobe $MODULE
	grep "^$MODULE " /proc/modules
}

test_2_is_listed_with_its_name()
{
	needs_profiling
	lines=$(grep -c "\[$MODULE\] func:" $INFO)
	note "lines of $MODULE: $lines"
	[ "$lines" -gt 0 ] || fail "no line with [$MODULE]"
}

# The size is in bytes.
test_2_each_page_is_on_its_line()
{
	needs_profiling
	mgmt "rapiddisk attach 0 $((DISK_MIB << 20))"
	udevadm settle
	eq before "$(held | cut -d' ' -f1,2 | sort -u)" "0 0"
	dd if=/dev/zero of=/dev/rd0 bs=1M count=$WRITE_MIB oflag=direct
	note "$(held | tr '\n' ';')"
	eq "pages" "$(held | head -n 1 | cut -d' ' -f1,2)" "$((WRITE_MIB << 20)) $((WRITE_MIB << 8))"
}

test_2_detached_disk_holds_no_page()
{
	needs_profiling
	mgmt "rapiddisk detach 0"
	eq after "$(held | cut -d' ' -f1,2 | sort -u)" "0 0"
}

test_2_unloads()
{
	modprobe -r $MODULE
	! grep "^$MODULE " /proc/modules || fail "still loaded"
	[ ! -e $INFO ] || ! grep "\[$MODULE\]" $INFO || fail "still listed"
}

test_2_console_is_clean()
{
	no_splat
	all_units_well
}

# DKMS has built the module only for our kernel.  Without our hook, the upgrade would delete it.
test_2_upgrade_builds_it_again()
{
	! stand_in || skip "Debian's package runs no hooks of a removal at an upgrade"
	touch /tmp/before
	dpkg -i /qt/next/linux-*.deb
	all_configured
	built
	[ "$(modinfo -k "$OURS" -F filename $MODULE)" -nt /tmp/before ] || fail "the module is the one from before"
}

# This test disables the hook and upgrades our kernel.  DKMS then deletes the module and its copy of the
# sources, and dkms install builds the module from /usr/src.
test_2_command_of_the_page_builds_it()
{
	! stand_in || skip "it is still there"
	version=$(dpkg-query -W -f '${Version}' $MODULE-dkms | sed 's/-[^-]*$//')
	chmod -x $HOOK
	dpkg -i /qt/next/linux-*.deb
	chmod +x $HOOK
	eq "dkms status" "$(dkms status)" ""
	! modinfo -k "$OURS" $MODULE || fail "the module is still there"
	[ -e "/usr/src/$NAME-$version/dkms.conf" ] || fail "no /usr/src/$NAME-$version"
	dkms install "$NAME/$version" -k "$OURS"
	built
}

test_3_loads_after_the_upgrade()
{
	on_ours
	modprobe $MODULE
	needs_profiling
	grep "\[$MODULE\] func:" $INFO | head -n 3
	[ "$(grep -c "\[$MODULE\] func:" $INFO)" -gt 0 ] || fail "no line with [$MODULE]"
	modprobe -r $MODULE
}

test_3_purge_removes_the_module()
{
	apt-get -y purge $MODULE-dkms
	! find /lib/modules -name "$MODULE*.ko*" | grep . || fail "a module is still there"
}

run_boots
