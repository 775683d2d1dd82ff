# SPDX-License-Identifier: GPL-2.0-only
#
# iSCSI target: portals, access lists, keys
#
# programs: huntwork
# modules: target_core_file iscsi_target_mod

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	mount -t configfs x /sys/kernel/config
	modprobe iscsi_target_mod && cd /sys/kernel/config/target || return
	mkdir iscsi || return
	N=iscsi/iqn.2003-01.org.hunt
	cat > /tmp/steps <<-END
	- mkdir core/fileio_0
	mkdir core/fileio_0/f
	put core/fileio_0/f/control fd_dev_name=/tmp/disk,fd_dev_size=8388608
	put core/fileio_0/f/enable 1
	mkdir $N
	mkdir $N/tpgt_1
	mkdir $N/tpgt_1/lun/lun_0
	link $N/tpgt_1/lun/lun_0/f /sys/kernel/config/target/core/fileio_0/f
	mkdir $N/tpgt_1/np/127.0.0.1:3260
	mkdir $N/tpgt_1/acls/iqn.2003-01.org.client
	mkdir $N/tpgt_1/acls/iqn.2003-01.org.client/lun_0
	link $N/tpgt_1/acls/iqn.2003-01.org.client/lun_0/l $N/tpgt_1/lun/lun_0
	put $N/tpgt_1/acls/iqn.2003-01.org.client/auth/userid user
	put $N/tpgt_1/enable 1
	put $N/tpgt_1/enable 0
	rm $N/tpgt_1/acls/iqn.2003-01.org.client/lun_0/l
	rm $N/tpgt_1/lun/lun_0/f
	rmdir $N/tpgt_1/acls/iqn.2003-01.org.client/lun_0
	rmdir $N/tpgt_1/acls/iqn.2003-01.org.client
	rmdir $N/tpgt_1/np/127.0.0.1:3260
	rmdir $N/tpgt_1/lun/lun_0
	rmdir $N/tpgt_1
	rmdir $N
	rmdir core/fileio_0/f
	rmdir core/fileio_0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	set_to "$N/tpgt_1/enable" 0
	rm -f "$N"/tpgt_1/acls/*/lun_0/l "$N/tpgt_1/lun/lun_0/f"
	rmdir "$N"/tpgt_1/acls/*/lun_0
	rmdir "$N"/tpgt_1/acls/*
	rmdir "$N"/tpgt_1/np/* "$N/tpgt_1/lun/lun_0"
	rmdir "$N/tpgt_1" "$N"
	rmdir core/fileio_0/f core/fileio_0
	[ ! -e core/fileio_0 ] && [ ! -e "$N" ]
}
