# SPDX-License-Identifier: GPL-2.0-only
#
# ReiserFS. Removing extended attributes triggers a report of lockdep even without a fault, and it is
# off from then on.
#
# programs: huntwork mkfs.reiserfs
# modules: reiserfs

. /qt/workloads/lib.sh

prepare()
{
	# shellcheck disable=SC2034 # of lib.sh
	WHAT=plain
	on_image 48 reiserfs "" mkfs.reiserfs -q -f -f --journal-size 513
}
