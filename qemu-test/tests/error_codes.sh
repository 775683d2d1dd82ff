# SPDX-License-Identifier: GPL-2.0-only
#
# Error codes: the console names the line that refused a mount; user space sees plain
# errors, whichever way they leave the kernel; numbers that only look like a code do not
# change; modules are loaded and unloaded.
#
# modules: ctag_err ctag_err_init ctag_err_many
# programs: mke2fs
# source: fs/ext4/super.c
# timeout: 300
# expect-console: WARNING: CPU: \d+ PID: \d+ at lib/error_codes\.c:\d+ error_codes_check_exit
# expect-console: Call Trace:
# expect-console: system call 57 returns -EIO at ctag_err\.c:\d+$

. /qt/lib.sh
. /qt/bin/refusals

CODES=/sys/kernel/debug/ctag_err/codes

module()
{
	[ -c /dev/ctag_err ] || insmod /modules/ctag_err.ko || fail "insmod ctag_err"
}

# refused NAME ERRNO CLASS WHAT: each way of mounting the image fails, and each time the
# console has first ext4's complaint and then the same source line, which contains an
# ERR().  The line goes to /tmp/lines.
refused()
{
	dmesg -c > /dev/null
	eq "$1: errno" "$(mount_errors "$1")" "-$2 -$2 -$2 -$2"
	dmesg > /tmp/log
	grep -qE "EXT4-fs.*: $4" /tmp/log || fail "$1: $(cat /tmp/log)"
	sed -n "s|.*EXT4-fs (loop[0-9]*): mount failed: -$3 at fs/ext4/super\\.c:\\([0-9]*\\)\$|\\1|p" \
		/tmp/log > /tmp/at
	eq "$1: lines named" "$(wc -l < /tmp/at)" 4
	eq "$1: different lines" "$(sort -u /tmp/at | wc -l)" 1
	line=$(head -1 /tmp/at)
	sed -n "${line}p" /src/fs/ext4/super.c | grep -q "ERR(-$3)" ||
		fail "$1: line $line is $(sed -n "${line}p" /src/fs/ext4/super.c)"
	note "$1: fs/ext4/super.c:$line"
	echo "$line" >> /tmp/lines
}

PATH=$PATH:/qt/bin

test_damaged_images()
{
	rm -f /tmp/lines
	damaged_images
	while read -r name errno class what; do
		refused "$name" "$errno" "$class" "$what"
	done <<- END
	$(damages)
	END
	eq "lines in all" "$(sort -u /tmp/lines | wc -l)" "$(damages | wc -l)"
}

# An undamaged image mounts.  With MS_SILENT, which busybox sets, the kernel logs nothing
# about an image that is not ext4.
test_whole_image()
{
	image whole
	mount -o loop -t ext4 /tmp/whole.img /mnt || fail "the whole image"
	umount /mnt
	truncate -s 8M /tmp/none.img
	dmesg -c > /dev/null
	DEV=$(losetup -f)
	losetup "$DEV" /tmp/none.img
	mount -t ext4 "$DEV" /mnt 2> /dev/null && fail "mounted nothing"
	losetup -d "$DEV"
	! dmesg | grep -q EXT4-fs || fail "$(dmesg | grep EXT4-fs)"
}

# not_mounted TEXT ARG...: mount fails, and its message contains TEXT
not_mounted()
{
	text=$1
	shift
	mount "$@" 2> /tmp/error && fail "mounted: $*"
	grep -q "$text" /tmp/error || fail "$*: $(cat /tmp/error)"
}

# by_code NAME FILE: since the last call some codes were returned for the first time, all
# with this error and by lines of this file, although user space saw no code
by_code()
{
	cat $CODES > /tmp/codes.now
	grep -vxFf /tmp/codes /tmp/codes.now > /tmp/new
	mv /tmp/codes.now /tmp/codes
	[ -s /tmp/new ] || fail "no code of $2"
	! grep -vE " -$1 at $2:[0-9]+\$" /tmp/new || fail "codes of other files than $2"
}

# The VFS itself refuses: user space sees the same as on the base.
test_plain_errors_of_the_vfs()
{
	module
	mkdir -p /tmp/dir /tmp/a
	: > /tmp/file
	cat $CODES > /tmp/codes
	while read -r line; do
		says $line
		set -- $line
		by_code "$2" "$3"
	done <<- END
	$(refused_calls)
	END
	not_mounted "Invalid argument" -t tmpfs -o mode=nonsense none /mnt
	by_code EINVAL 'fs/fs_parser\.c'
	not_mounted "Invalid argument" -t tmpfs -o nonsense=1 none /mnt
	by_code EINVAL 'fs/fs_context\.c'
	not_mounted "Not a directory" -t tmpfs none /tmp/file
	by_code ENOTDIR 'fs/namespace\.c'
	not_mounted "Invalid argument" -o move / /mnt
	by_code EINVAL 'fs/namespace\.c'
	not_mounted "Invalid argument" -o remount none /tmp/dir
	by_code EINVAL 'fs/namespace\.c'
	mount -t tmpfs none /tmp/a && mkdir /tmp/a/b || fail "tmpfs"
	not_mounted "Too many levels of symbolic links" -o move /tmp/a /tmp/a/b
	by_code ELOOP 'fs/namespace\.c'
	(cd /tmp/a && exec sleep 100 > /tmp/a/open) &
	sleep 1
	not_mounted "busy" -o remount,ro none /tmp/a
	kill $!
	wait $! 2> /dev/null
	umount /tmp/a
	# do_remount() uses a code for callers without permission
	by_code '(EBUSY|EPERM)' 'fs/(super|namespace)\.c'

	# these functions have no codes
	while read -r line; do
		says $line
	done <<- END
	$(plain_calls)
	END
	cmp -s $CODES /tmp/codes || fail "unexpected codes: $(grep -vxFf /tmp/codes $CODES)"
}

test_remounts_that_ext4_refuses()
{
	module
	image whole
	mount -o loop -t ext4 /tmp/whole.img /mnt || fail "the whole image"
	cat $CODES > /tmp/codes
	while read -r key value errno what; do
		dmesg -c > /dev/null
		eq "$key=$value" "$(errcodes remount /mnt "$key" "$value")" \
			"-$errno -$errno -$errno -$errno"
		eq "$key: what ext4 says" "$(dmesg | grep -c "EXT4-fs.*: $what")" 4
		by_code EINVAL 'fs/ext4/super\.c'
		eq "$key: codes" "$(wc -l < /tmp/new)" 1
	done <<- END
	$(remounts)
	END
	umount /mnt
}

test_ways_out()
{
	module
	errcodes ways || fail "see above"
	for name in EIO EINVAL EXDEV EHOSTUNREACH ENETUNREACH EDOM ERANGE EUCLEAN; do
		grep -qE "^[0-9]+ -$name at ctag_err\.c:[0-9]+\$" $CODES ||
			fail "no code of -$name: $(cat $CODES)"
	done
}

test_other_numbers()
{
	module
	errcodes others || fail "see above"
}

# A code keeps its line after the module is gone, and a module gets the same code again.
test_modules()
{
	module
	for i in 1 2 3 4 5 6 7 8 9 10; do
		if insmod /modules/ctag_err_init.ko 2> /tmp/error; then
			fail "ctag_err_init is loaded"
		fi
		grep -qi "no such device" /tmp/error || fail "$(cat /tmp/error)"
		grep "at ctag_err_init\.c:" $CODES > /tmp/now
		eq "codes of ctag_err_init" "$(wc -l < /tmp/now)" 1
		[ $i = 1 ] || cmp /tmp/now /tmp/was || fail "the code differs"
		cp /tmp/now /tmp/was
	done
	note "$(cat /tmp/was)"
	insmod /modules/ctag_err_init.ko other=1 2> /tmp/error &&
		fail "ctag_err_init is loaded"
	grep -qi "no such device or address" /tmp/error || fail "$(cat /tmp/error)"
	eq "codes of ctag_err_init" "$(grep -c "at ctag_err_init\.c:" $CODES)" 2

	# the same for a module whose device was in use
	grep "at ctag_err\.c:" $CODES > /tmp/was
	for i in 1 2 3; do
		rmmod ctag_err || fail rmmod
		module
		errcodes ways || fail "see above"
		grep "at ctag_err\.c:" $CODES > /tmp/now
		cmp /tmp/now /tmp/was || fail "the codes differ"
	done
}

# More lines at once than there are numbers below 4095; and the same numbers again.
test_thousands_of_lines()
{
	module
	for i in 1 2; do
		insmod /modules/ctag_err_many.ko 2> /tmp/error ||
			fail "ctag_err_many: $(cat /tmp/error)"
		rmmod ctag_err_many || fail rmmod
		grep "XFULL at ctag_err_many\.c:" $CODES > /tmp/now
		eq "codes of ctag_err_many" "$(wc -l < /tmp/now)" 4096
		[ $i = 1 ] || cmp /tmp/now /tmp/was || fail "the codes differ"
		cp /tmp/now /tmp/was
	done
	note "$(head -1 /tmp/was) ... $(tail -1 /tmp/was)"
	! dmesg | grep "error_codes: .*no numbers" || fail "some lines have no number"
}

# This case comes last, because the warning comes once.  No case before it warned.
test_leak_is_seen()
{
	zcat /proc/config.gz | grep -qx CONFIG_ERROR_CODES_DEBUG=y ||
		skip "no CONFIG_ERROR_CODES_DEBUG"
	module
	dmesg -c > /dev/null
	errcodes leak || fail leak
	eq warnings "$(dmesg | grep -c WARNING:)" 1
	dmesg | grep -q "system call 57 returns -EIO at ctag_err\.c:" ||
		fail "$(dmesg | grep 'system call')"
	errcodes leak
	eq "warnings of the second" "$(dmesg | grep -c WARNING:)" 1
	rmmod ctag_err
}

run_tests
