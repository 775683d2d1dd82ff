# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: verity with error correction
#
# programs: dmsetup veritysetup
# modules: dm-verity sha256_generic reed_solomon

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 4
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/fec 1
	zeros /tmp/disk1 4
	attach /tmp/disk1 /dev/loop1 || return
	hash=$(veritysetup format /dev/loop0 /dev/loop1 --fec-device=/tmp/fec --fec-roots=2 --salt=01020304 | awk '/Root hash/ { print $3 }')
	[ -n "$hash" ] || return
	attach /tmp/fec /dev/loop2 || return
	echo "0 8192 verity 1 /dev/loop0 /dev/loop1 4096 4096 1024 1 sha256 $hash 01020304 9 ignore_corruption use_fec_from_device /dev/loop2 fec_roots 2 fec_blocks 1034 fec_start 0" > /tmp/table
	echo "0 8192 verity 1 /dev/loop0 /dev/loop1 4096 4096 1024 1 sha256 $hash 01020304 2 check_at_most_once try_verify_in_tasklet" > /tmp/table2
}

work()
{
	F dmsetup --noudevsync create v --readonly --table "$(cat /tmp/table)" || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync reload v --readonly --table "$(cat /tmp/table2)" || return
	F dmsetup --noudevsync resume v || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync status v || return
	F dmsetup --noudevsync remove v
}

clean()
{
	dm_gone v || return
	return 0
}
