# SPDX-License-Identifier: GPL-2.0-only
#
# The unpatched kernel returns the errors that error_codes.sh expects.
#
# programs: mke2fs

. /qt/lib.sh
. /qt/bin/refusals

PATH=$PATH:/qt/bin

test_damaged_images()
{
	damaged_images
	while read -r name errno class what; do
		eq "$name" "$(mount_errors "$name")" "-$errno -$errno -$errno -$errno"
	done <<- END
	$(damages)
	END
}

test_remounts()
{
	mount -o loop -t ext4 /tmp/whole.img /mnt || fail "the whole image"
	while read -r key value errno what; do
		eq "$key=$value" "$(errcodes remount /mnt "$key" "$value")" \
			"-$errno -$errno -$errno -$errno"
	done <<- END
	$(remounts)
	END
	umount /mnt
}

test_calls()
{
	while read -r line; do
		says $line
	done <<- END
	$(refused_calls; plain_calls)
	END
}

run_tests
