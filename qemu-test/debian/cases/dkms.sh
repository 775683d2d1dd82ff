# SPDX-License-Identifier: GPL-2.0-only
#
# A module of Debian's archive, built by DKMS against our headers, has lines in the table.
#
# rapiddisk makes disks in memory.  It allocates a page for each page that is written to such
# a disk, all on one line of its code.
#
# timeout: 1500

. /qt/lib.sh

MODULE=rapiddisk
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

test_1_dkms_builds_against_our_headers()
{
	on_ours
	apt-get update
	apt-get -y install $MODULE-dkms
	dkms status
	dkms status -k "$OURS" | grep -q "$MODULE.*installed" || fail "dkms: $(dkms status)"
	modinfo $MODULE
	eq vermagic "$(modinfo -F vermagic $MODULE | cut -d' ' -f1)" "$OURS"
}

test_1_prepares_the_next_boot()
{
	grub_options sysctl.vm.mem_profiling=1
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

test_2_purge_removes_the_module()
{
	apt-get -y purge $MODULE-dkms
	! find /lib/modules -name "$MODULE*.ko*" | grep . || fail "a module is still there"
}

run_boots
