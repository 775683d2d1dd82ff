#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Damaged images of ext4 and system calls that the kernel refuses, for tests of the
# errors.  Source it after lib.sh.

SB=1024		# offset of the superblock
# no checksums: with them, a damaged field is refused for its checksum
FEATURES=none,has_journal,ext_attr,filetype,extent,flex_bg,sparse_super,large_file

# image NAME: makes an ext4 in a file
image()
{
	truncate -s 8M "/tmp/$1.img" || fail truncate
	/bin/mke2fs -q -F -t ext4 -b 1024 -O "$FEATURES" "/tmp/$1.img" || fail mke2fs
}

# poke NAME OFFSET BYTES: copies the whole image and writes BYTES, given as \xNN
poke()
{
	cp /tmp/whole.img "/tmp/$1.img" || fail cp
	# shellcheck disable=SC2059
	printf "$3" | dd of="/tmp/$1.img" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

# Makes /tmp/NAME.img for each line of damages
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

# NAME ERRNO CLASS WHAT: the error of mounting it, as on the base, and the message of ext4
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

# KEY VALUE ERRNO WHAT: the error of changing that option of an undamaged image, as on the
# base, and the message of ext4
remounts()
{
	cat <<- 'END'
	data writeback 22 Cannot change data mode on remount
	journal_dev 1 22 Cannot specify journal on remount
	journal_path /dev/loop0 22 Cannot specify journal on remount
	END
}

# mount_errors NAME: the errors of mounting that image in each way, from errcodes
mount_errors()
{
	DEV=$(losetup -f)
	losetup "$DEV" "/tmp/$1.img" || fail "losetup $1"
	errcodes mount "$DEV" /mnt ext4
	losetup -d "$DEV"
}

# RESULT CLASS FILE ARG...: the result of a call by errcodes, as on the base, and the file of
# its code; the four results of a mount are equal
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

# The same for functions that have no codes.
plain_calls()
{
	cat <<- 'END'
	-2 - - mount /dev/nosuch /mnt ext4
	-15 - - mount /dev/null /mnt ext4
	-14 - - call 165 0 0 0 8192 0
	END
}

# says RESULT CLASS FILE ARG...: checks that errcodes prints RESULT
says()
{
	want=$1
	shift 3
	[ "$1" = call ] || want="$want $want $want $want"
	eq "$*" "$(errcodes "$@")" "$want"
}
