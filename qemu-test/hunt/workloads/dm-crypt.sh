# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: encryption with several modes, queues and integrity
#
# programs: dmsetup
# modules: dm-crypt xts cbc aes_generic essiv ecb sha256_generic md5 authenc

. /qt/workloads/lib.sh

prepare()
{
	for number in $(seq 64); do
		printf 0102030405060708090a0b0c0d0e0f%02x "$number"
	done > /tmp/keys
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
}

work()
{
	F dmsetup --noudevsync create --concise "a,,,rw,0 16384 crypt aes-xts-plain64 0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f10 0 /dev/loop0 0 2 allow_discards no_read_workqueue;\
		b,,,rw,0 16384 crypt aes-cbc-essiv:sha256 0102030405060708090a0b0c0d0e0f10 0 /dev/loop0 0;\
		c,,,rw,0 16384 crypt capi:cbc(aes)-plain64 0102030405060708090a0b0c0d0e0f10 0 /dev/loop1 0 1 sector_size:4096" || return
	F dmsetup --noudevsync create d --table "0 16384 crypt aes:64-cbc-lmk $(cat /tmp/keys) 0 /dev/loop1 0" || return
	F dmsetup --noudevsync create e --table "0 16384 crypt aes-cbc-eboiv 0102030405060708090a0b0c0d0e0f10 0 /dev/loop1 0 1 submit_from_crypt_cpus" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/dm-1 of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/dm-2 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-4 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync suspend a || return
	F dmsetup --noudevsync message a 0 "key wipe" || return
	F dmsetup --noudevsync message a 0 "key set 0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f11" || return
	F dmsetup --noudevsync resume a || return
	F dmsetup --noudevsync status e || return
	F dmsetup --noudevsync remove e d c b a
}

clean()
{
	for name in e d c b a; do
		dm_gone $name || return
	done
	return 0
}
