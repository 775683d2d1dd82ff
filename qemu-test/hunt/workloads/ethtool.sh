# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink interface of ethtool, on a virtual device
#
# programs: ethtool ip
# modules: veth

. /qt/workloads/lib.sh

prepare()
{
	ip link add v0 type veth peer name v1
}

work()
{
	for option in -k -c -g -l -a -i -T --show-features; do
		try F ethtool $option v0
	done
	F ethtool -K v0 gro on tso off || return
	F ethtool -L v0 rx 2 tx 2 || return
	F ethtool -L v0 rx 1 tx 1
}

clean()
{
	ethtool -L v0 rx 1 tx 1
}
