# SPDX-License-Identifier: GPL-2.0-only
#
# SCSI target: a disk on a file, behind the loopback transport
#
# modules: target_core_mod target_core_file tcm_loop sd_mod

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	mount -t configfs x /sys/kernel/config
	modprobe target_core_mod && modprobe tcm_loop && cd /sys/kernel/config/target || return
}

work()
{
	F mkdir -p core/fileio_0/f || return
	put "fd_dev_name=/tmp/disk,fd_dev_size=8388608" core/fileio_0/f/control || return
	put 1 core/fileio_0/f/enable || return
	F mkdir -p core/rd_mcp_1/r || return
	put "rd_pages=100" core/rd_mcp_1/r/control || return
	put 1 core/rd_mcp_1/r/enable || return
	F mkdir core/fileio_0/f/alua/group || return
	F mkdir -p loopback/naa.5001405000000001/tpgt_1/lun/lun_0 || return
	F mkdir loopback/naa.5001405000000001/tpgt_1/lun/lun_1 || return
	put naa.5001405000000002 loopback/naa.5001405000000001/tpgt_1/nexus || return
	F ln -s /sys/kernel/config/target/core/fileio_0/f loopback/naa.5001405000000001/tpgt_1/lun/lun_0/f || return
	F ln -s /sys/kernel/config/target/core/rd_mcp_1/r loopback/naa.5001405000000001/tpgt_1/lun/lun_1/r || return
	F rm loopback/naa.5001405000000001/tpgt_1/lun/lun_0/f || return
	F rm loopback/naa.5001405000000001/tpgt_1/lun/lun_1/r || return
	F rmdir loopback/naa.5001405000000001/tpgt_1/lun/lun_0 loopback/naa.5001405000000001/tpgt_1/lun/lun_1 || return
	try put NULL loopback/naa.5001405000000001/tpgt_1/nexus
	F rmdir loopback/naa.5001405000000001/tpgt_1 loopback/naa.5001405000000001 || return
	F rmdir core/fileio_0/f/alua/group core/fileio_0/f core/rd_mcp_1/r core/fileio_0 core/rd_mcp_1
}

clean()
{
	rm -f loopback/naa.*/tpgt_1/lun/lun_*/[fr]
	rmdir loopback/naa.*/tpgt_1/lun/lun_*
	set_to NULL loopback/naa.5001405000000001/tpgt_1/nexus
	rmdir loopback/naa.*/tpgt_1
	rmdir loopback/naa.*
	rmdir core/fileio_0/f/alua/group
	rmdir core/fileio_0/f core/rd_mcp_1/r
	rmdir core/fileio_0 core/rd_mcp_1
	[ ! -e core/fileio_0 ] && [ ! -e core/rd_mcp_1 ] && [ ! -e loopback/naa.5001405000000001 ]
}
