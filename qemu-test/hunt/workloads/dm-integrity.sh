# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: integrity with a journal and with a bitmap, encryption on top of it
#
# programs: dmsetup
# modules: dm-integrity dm-crypt sha256_generic xts aes_generic authenc hmac crc32c_generic

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
	zeros /tmp/disk2 16
	attach /tmp/disk2 /dev/loop2 || return
}

work()
{
	F dmsetup --noudevsync create --concise "a,,,rw,0 8192 integrity /dev/loop0 0 - J 6 journal_sectors:128 interleave_sectors:32768 buffer_sectors:128 internal_hash:crc32c commit_time:100 block_size:512;\
		b,,,rw,0 8192 integrity /dev/loop1 0 - B 3 internal_hash:sha256 sectors_per_bit:4096 bitmap_flush_interval:1000;\
		c,,,rw,0 8192 integrity /dev/loop2 0 48 D 1 journal_sectors:128" || return
	F dmsetup --noudevsync create d --table "0 8192 crypt capi:authenc(hmac(sha256),xts(aes))-random 01010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101 0 /dev/dm-2 0 1 integrity:48:aead" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=2 oflag=direct || return
	F dd if=/dev/zero of=/dev/dm-3 bs=64k count=2 oflag=direct || return
	F dmsetup --noudevsync status d || return
	F dmsetup --noudevsync remove d c b a
}

clean()
{
	for name in d c b a; do
		dm_gone $name || return
	done
	for disk in 0 1 2; do
		dd if=/dev/zero of=/dev/loop$disk bs=4096 count=1 oflag=direct
	done
	return 0
}
