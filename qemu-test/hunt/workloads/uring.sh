# SPDX-License-Identifier: GPL-2.0-only
#
# io_uring: three kinds of rings and what is registered with them
#
# programs: huntwork

prepare()
{
	ip link set lo up
	mkdir -p /tmp/ring
}

work()
{
	F huntwork uring /tmp/ring
}

clean()
{
	rm -rf /tmp/ring/*
}
