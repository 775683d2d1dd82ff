# SPDX-License-Identifier: GPL-2.0-only
#
# Two large modules can be loaded.  arm64 places them within 2 GiB of the kernel's image.  With
# "nokaslr", the image is at the start of the vmalloc area.  The map of references is also in this
# area, and must leave room for the modules.
#
# append: nokaslr sysctl.vm.mem_profiling=1
# modules: ctag_huge ctag_huge_more
# memory: 768M

. /qt/lib.sh

held()
{
	sum_tags 'func:move_module *$'
}

test_image_is_not_moved()
{
	dmesg | grep "KASLR disabled on command line" || fail "KASLR is not disabled"
}

test_both_load()
{
	held > /tmp/before
	insmod /modules/ctag_huge.ko || fail "no room for the first one"
	insmod /modules/ctag_huge_more.ko || fail "no room for the second one"
	set -- $(cat /tmp/before) $(held)
	[ $(($3 - $1)) -ge $((2 * 96 * 1048576)) ] || fail "two modules of 96 MiB take $(($3 - $1)) bytes"
}

test_both_unload()
{
	rmmod ctag_huge_more
	rmmod ctag_huge
	eq "given back" "$(held)" "$(cat /tmp/before)"
}

run_tests
