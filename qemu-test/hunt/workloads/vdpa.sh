# SPDX-License-Identifier: GPL-2.0-only
#
# vDPA: simulated network and block devices
#
# programs: vdpa
# modules: vdpa_sim_net vdpa_sim_blk virtio_vdpa vhost_vdpa

. /qt/workloads/lib.sh

work()
{
	F vdpa dev add name n mgmtdev vdpasim_net mac 02:00:00:00:00:05 || return
	F vdpa dev config show n || return
	F vdpa dev add name b mgmtdev vdpasim_blk || return
	F vdpa dev show || return
	F vdpa dev del b || return
	F vdpa dev del n
}

clean()
{
	for name in n b; do
		[ ! -e /sys/bus/vdpa/devices/$name ] || vdpa dev del $name || return
	done
}
