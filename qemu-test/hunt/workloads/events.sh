# SPDX-License-Identifier: GPL-2.0-only
#
# Events of files, memory, timers and processes
#
# programs: huntwork

prepare()
{
	mkdir -p /tmp/watched
}

work()
{
	F huntwork notify /tmp/watched
}

clean()
{
	rm -rf /tmp/watched/*
}
