# SPDX-License-Identifier: GPL-2.0-only
#
# A virtio-mem device: the host gives the guest more memory and takes it back, in parts of
# memory blocks.  The guest sends the requests to qemu's monitor itself.
#
# append: sysctl.vm.mem_profiling=1 memhp_default_state=online_movable
# memory: 512M,maxmem=2G
# qemu: -object memory-backend-ram,id=more,size=512M -device virtio-mem-pci,id=vmem,memdev=more,requested-size=0
# memory@arm64-64k: 1G,maxmem=4G
# qemu@arm64-64k: -object memory-backend-ram,id=more,size=1G -device virtio-mem-pci,id=vmem,memdev=more,requested-size=0
# monitor: yes
# modules: ctag_test ctag_life ctag_keep
# timeout: 480

. /qt/lib.sh

HAD=$(kilobytes MemTotal)

# MiB: what the guest gets, a part of it, and a larger part.  With pages of 64 KiB, the smallest
# part is 512 MiB, one page of the map has the references of 2 GiB, and a part of these is in
# use already.
MORE=256 PART=64 AGAIN=160
if [ "$(awk '/^KernelPageSize/ { print $2; exit }' /proc/self/smaps)" = 64 ]; then
	MORE=1024 PART=512 AGAIN=1024
fi
# more than fits without the new memory, so a part of it is there
ENOUGH=$((HAD / 1024 + 20))

has()
{
	[ "$(kilobytes MemTotal)" = $((HAD + $1 * 1024)) ]
}

# request MIB: the host asks the guest to have so much memory of the device
request()
{
	monitor "qom-set vmem requested-size ${1}M"
	until_true 60 has "$1" || fail "MemTotal $(kilobytes MemTotal) kB, not $HAD kB and $1 MiB"
}

# What the guest gave back is not used: no line may hold it.
given_back()
{
	eq "$1: line of virtio_mem" "$(sum_tags 'func:virtio_mem_fake_offline')" "0 0"
}

test_plug_use_and_unplug()
{
	[ -d /sys/bus/virtio/drivers/virtio_mem ] || fail "no virtio-mem"
	fresh
	life_load
	for i in 1 2 3; do
		request $MORE
		load anon $ENOUGH
		cmd alloc all 20
		life inflate 16
		check_table || fail "round $i: with more memory"
		check_life || fail "round $i: with more memory"
		unload
		# a part of a memory block, and more of it again
		request $PART
		given_back "round $i: a part"
		check_table || fail "round $i: with less memory"
		request $AGAIN
		load anon $ENOUGH
		check_table || fail "round $i: with more memory again"
		unload
		request 0
		given_back "round $i: all"
		check_table || fail "round $i: without"
		check_life || fail "round $i: without"
		cmd free all 20
		life deflate
		even || fail "round $i: not even"
		check_life || fail "round $i: not even"
	done
}

# Memory that was charged to nobody when it was given back
test_profiling_off_and_on_meanwhile()
{
	[ "$(stat -c %a $MP)" != 444 ] || skip "$MP is read-only"
	request $MORE
	echo 0 > $MP
	request $PART
	given_back "off"
	request $MORE
	echo 1 > $MP
	request $PART
	echo 0 > $MP
	request $MORE
	echo 1 > $MP
	given_back "on, off and on"
	request 0
	given_back "all"
	check_life || fail "not even"
}

test_no_warnings()
{
	dmesg | grep -E 'alloc_tag:|WARNING' && fail "a warning"
	:
}

run_tests
