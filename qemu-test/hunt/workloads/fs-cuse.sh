# SPDX-License-Identifier: GPL-2.0-only
#
# A character device in user space
#
# programs: trigger
# modules: cuse

. /qt/workloads/lib.sh

work()
{
	F trigger cuse
}
