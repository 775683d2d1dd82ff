# SPDX-License-Identifier: GPL-2.0-only
#
# SCSI target: a disk on a file, behind the loopback transport
#
# programs: huntwork
# modules: target_core_mod target_core_file tcm_loop sd_mod

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	mount -t configfs x /sys/kernel/config
	modprobe target_core_mod && modprobe tcm_loop && cd /sys/kernel/config/target || return
	# the group of tcm_loop
	mkdir loopback || return
	cat > /tmp/steps <<-'END'
	- mkdir core/fileio_0
	mkdir core/fileio_0/f
	put core/fileio_0/f/control fd_dev_name=/tmp/disk,fd_dev_size=8388608
	put core/fileio_0/f/enable 1
	- mkdir core/rd_mcp_1
	mkdir core/rd_mcp_1/r
	put core/rd_mcp_1/r/control rd_pages=100
	put core/rd_mcp_1/r/enable 1
	mkdir core/fileio_0/f/alua/group
	mkdir loopback/naa.5001405000000001
	- mkdir loopback/naa.5001405000000001/tpgt_1
	- mkdir loopback/naa.5001405000000001/tpgt_1/lun
	mkdir loopback/naa.5001405000000001/tpgt_1/lun/lun_0
	mkdir loopback/naa.5001405000000001/tpgt_1/lun/lun_1
	put loopback/naa.5001405000000001/tpgt_1/nexus naa.5001405000000002
	link loopback/naa.5001405000000001/tpgt_1/lun/lun_0/f /sys/kernel/config/target/core/fileio_0/f
	link loopback/naa.5001405000000001/tpgt_1/lun/lun_1/r /sys/kernel/config/target/core/rd_mcp_1/r
	rm loopback/naa.5001405000000001/tpgt_1/lun/lun_0/f
	rm loopback/naa.5001405000000001/tpgt_1/lun/lun_1/r
	rmdir loopback/naa.5001405000000001/tpgt_1/lun/lun_0
	rmdir loopback/naa.5001405000000001/tpgt_1/lun/lun_1
	- put loopback/naa.5001405000000001/tpgt_1/nexus NULL
	rmdir loopback/naa.5001405000000001/tpgt_1
	rmdir loopback/naa.5001405000000001
	rmdir core/fileio_0/f/alua/group
	rmdir core/fileio_0/f
	rmdir core/rd_mcp_1/r
	rmdir core/fileio_0
	rmdir core/rd_mcp_1
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	rm -f loopback/naa.*/tpgt_1/lun/lun_*/[fr]
	rmdir loopback/naa.*/tpgt_1/lun/lun_*
	set_to loopback/naa.5001405000000001/tpgt_1/nexus NULL
	rmdir loopback/naa.*/tpgt_1
	rmdir loopback/naa.*
	rmdir core/fileio_0/f/alua/group
	rmdir core/fileio_0/f core/rd_mcp_1/r
	rmdir core/fileio_0 core/rd_mcp_1
	[ ! -e core/fileio_0 ] && [ ! -e core/rd_mcp_1 ] && [ ! -e loopback/naa.5001405000000001 ]
}
