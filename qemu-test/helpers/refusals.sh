#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What is refused, for tests that ask how: damaged images of ext4, and system calls. To
# be sourced after lib.sh.

SB=1024		# where the superblock is
# what a checksum protects is refused for that
FEATURES=none,has_journal,ext_attr,filetype,extent,flex_bg,sparse_super,large_file

# image NAME: an ext4 in a file
image()
{
	truncate -s 8M "/tmp/$1.img" || fail truncate
	/bin/mke2fs -q -F -t ext4 -b 1024 -O "$FEATURES" "/tmp/$1.img" || fail mke2fs
}

# poke NAME OFFSET BYTES: as \xNN, in a copy of the whole image
poke()
{
	cp /tmp/whole.img "/tmp/$1.img" || fail cp
	# shellcheck disable=SC2059
	printf "$3" | dd of="/tmp/$1.img" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

# /tmp/NAME.img, for each of damages
damaged_images()
{
	image whole
	poke features	$((SB + 0x63)) '\x80'
	poke blocksize	$((SB + 0x18)) '\x63'
	poke inodesize	$((SB + 0x58)) '\x03\x00'
	poke pergroup	$((SB + 0x20)) '\x00\x00\x01\x00'
	poke first	$((SB + 0x14)) '\xff\xff\xff\x00'
	poke group	$((2 * SB)) '\xff\xff\xff\x7f'
	poke inodes	$((SB + 0x00)) '\x01\x00\x00\x00'
	poke hash	$((SB + 0xfc)) '\x4d'
	poke journal	$((SB + 0xe0)) '\x09\x00\x00\x00'
	truncate -s 1K /tmp/short.img
	truncate -s 8M /tmp/none.img
}

# NAME ERRNO CLASS WHAT: what mounting it fails with, as in the base, and what ext4 says
damages()
{
	cat <<- 'END'
	features 22 EINVAL Couldn't mount because of unsupported optional features
	blocksize 22 EINVAL Invalid log block size: 99
	inodesize 22 EINVAL unsupported inode size: 3
	pergroup 22 EINVAL #blocks per group too big: 65536
	first 22 EINVAL bad geometry: first data block
	group 117 EFSCORRUPTED group descriptors corrupted!
	inodes 22 EINVAL inodes count not valid
	hash 22 EINVAL Invalid default hash set
	journal 22 EINVAL journal inode is deleted|no journal found
	short 12 ENOMEM unable to read superblock
	none 22 EINVAL VFS: Can't find ext4 filesystem
	END
}

# KEY VALUE ERRNO WHAT: what changing that option of a whole image fails with, as in the
# base, and what ext4 says
remounts()
{
	cat <<- 'END'
	data writeback 22 Cannot change data mode on remount
	journal_dev 1 22 Cannot specify journal on remount
	journal_path /dev/loop0 22 Cannot specify journal on remount
	END
}

# mount_errors NAME: of that image, by each way, as errcodes says it
mount_errors()
{
	DEV=$(losetup -f)
	losetup "$DEV" "/tmp/$1.img" || fail "losetup $1"
	errcodes mount "$DEV" /mnt ext4
	losetup -d "$DEV"
}

# RESULT CLASS FILE ARG...: what errcodes says of a call, as in the base, and of which
# file the code is; four results of a mount are alike
refused_calls()
{
	cat <<- 'END'
	-19 ENODEV fs/(namespace|fsopen)\.c mount none /mnt nosuch
	-22 EINVAL fs/fsopen\.c call 431 1 6 0 0 0
	-22 EINVAL fs/fsopen\.c call 431 -1 6 0 0 0
	-22 EINVAL fs/fsopen\.c call 430 0 8
	-22 EINVAL fs/fsopen\.c call 433 0 0 16
	-22 EINVAL fs/namespace\.c call 432 1 0 0
	-22 EINVAL fs/namespace\.c call 432 1 2 0
	-22 EINVAL fs/namespace\.c call 429 0 0 0 0 32768
	END
}

# The same of functions that have no codes.
plain_calls()
{
	cat <<- 'END'
	-2 - - mount /dev/nosuch /mnt ext4
	-15 - - mount /dev/null /mnt ext4
	-14 - - call 165 0 0 0 8192 0
	END
}

# says RESULT CLASS FILE ARG...: it does
says()
{
	want=$1
	shift 3
	[ "$1" = call ] || want="$want $want $want $want"
	eq "$*" "$(errcodes "$@")" "$want"
}
