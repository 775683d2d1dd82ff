# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: encryption with several modes, queues and integrity
#
# programs: dmsetup
# modules: dm-crypt xts cbc aes_generic essiv ecb sha256_generic md5 authenc

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
}

work()
{
	F dmsetup create a --table "0 16384 crypt aes-xts-plain64 0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f10 0 /dev/loop0 0 2 allow_discards no_read_workqueue" || return
	F dmsetup create b --table "0 16384 crypt aes-cbc-essiv:sha256 0102030405060708090a0b0c0d0e0f10 0 /dev/loop0 0" || return
	F dmsetup create c --table "0 16384 crypt capi:cbc(aes)-plain64 0102030405060708090a0b0c0d0e0f10 0 /dev/loop1 0 1 sector_size:4096" || return
	F dmsetup create d --table "0 16384 crypt aes:64-cbc-lmk 0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f10 0 /dev/loop1 0" || return
	F dmsetup create e --table "0 16384 crypt aes-cbc-eboiv 0102030405060708090a0b0c0d0e0f10 0 /dev/loop1 0 1 submit_from_crypt_cpus" || return
	F dd if=/dev/zero of=/dev/mapper/a bs=64k count=2 oflag=direct || return
	F dd if=/dev/mapper/a of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/mapper/b of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/mapper/c bs=64k count=2 oflag=direct || return
	F dd if=/dev/mapper/e of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup suspend a || return
	F dmsetup message a 0 "key wipe" || return
	F dmsetup message a 0 "key set 0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f11" || return
	F dmsetup resume a || return
	F dmsetup status e || return
	F dmsetup remove e || return
	F dmsetup remove d || return
	F dmsetup remove c || return
	F dmsetup remove b || return
	F dmsetup remove a
}

clean()
{
	for name in e d c b a; do
		[ ! -e /dev/mapper/$name ] || dmsetup remove --retry $name || return
	done
	return 0
}
