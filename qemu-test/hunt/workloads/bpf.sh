# SPDX-License-Identifier: GPL-2.0-only
#
# BPF: maps of all types, programs of most, links
#
# programs: huntwork

prepare()
{
	mount -t bpf x /sys/fs/bpf
	mkdir -p /tmp/cgroup
	mount -t cgroup2 x /tmp/cgroup
}

work()
{
	F huntwork bpf /tmp/cgroup
}

clean()
{
	rm -f /sys/fs/bpf/hunt
}
