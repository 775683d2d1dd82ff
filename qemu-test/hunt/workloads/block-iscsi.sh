# SPDX-License-Identifier: GPL-2.0-only
#
# iSCSI target: portals, access lists, keys
#
# modules: target_core_file iscsi_target_mod

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	mount -t configfs x /sys/kernel/config
	modprobe iscsi_target_mod && cd /sys/kernel/config/target || return
	N=iscsi/iqn.2003-01.org.hunt
}

work()
{
	F mkdir -p core/fileio_0/f || return
	put "fd_dev_name=/tmp/disk,fd_dev_size=8388608" core/fileio_0/f/control || return
	put 1 core/fileio_0/f/enable || return
	F mkdir -p "$N/tpgt_1/lun/lun_0" || return
	F ln -s /sys/kernel/config/target/core/fileio_0/f "$N/tpgt_1/lun/lun_0/f" || return
	F mkdir "$N/tpgt_1/np/127.0.0.1:3260" || return
	F mkdir "$N/tpgt_1/acls/iqn.2003-01.org.client" || return
	F mkdir "$N/tpgt_1/acls/iqn.2003-01.org.client/lun_0" || return
	F ln -s "$N/tpgt_1/lun/lun_0" "$N/tpgt_1/acls/iqn.2003-01.org.client/lun_0/l" || return
	put user "$N/tpgt_1/acls/iqn.2003-01.org.client/auth/userid" || return
	put 1 "$N/tpgt_1/enable" || return
	put 0 "$N/tpgt_1/enable" || return
	F rm "$N/tpgt_1/acls/iqn.2003-01.org.client/lun_0/l" "$N/tpgt_1/lun/lun_0/f" || return
	F rmdir "$N/tpgt_1/acls/iqn.2003-01.org.client/lun_0" "$N/tpgt_1/acls/iqn.2003-01.org.client" || return
	F rmdir "$N/tpgt_1/np/127.0.0.1:3260" "$N/tpgt_1/lun/lun_0" "$N/tpgt_1" "$N" || return
	F rmdir core/fileio_0/f core/fileio_0
}

clean()
{
	set_to 0 "$N/tpgt_1/enable"
	rm -f "$N/tpgt_1/acls/*/lun_0/l" "$N/tpgt_1/lun/lun_0/f"
	rmdir "$N/tpgt_1/acls/*/lun_0"
	rmdir "$N/tpgt_1/acls/*"
	rmdir "$N/tpgt_1/np/*" "$N/tpgt_1/lun/lun_0"
	rmdir "$N/tpgt_1" "$N"
	rmdir core/fileio_0/f core/fileio_0
	[ ! -e core/fileio_0 ] && [ ! -e "$N" ]
}
