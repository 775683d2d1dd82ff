# SPDX-License-Identifier: GPL-2.0-only
#
# RDMA over Ethernet and TCP in software
#
# programs: rdma ip huntwork
# modules: rdma_rxe siw dummy rdma_ucm ib_uverbs

prepare()
{
	ip link add d0 type dummy
	ip link set d0 up
	ip addr add 10.1.0.1/24 dev d0
}

work()
{
	F rdma link add r0 type rxe netdev d0 || return
	F rdma link show || return
	F rdma resource show || return
	F rdma dev set r0 name r5 || return
	F rdma link delete r5 || return
	F rdma link add s0 type siw netdev d0 || return
	F huntwork open /dev/infiniband/rdma_cm || return
	F rdma link delete s0
}

clean()
{
	for link in r0 r5 s0; do
		[ ! -e /sys/class/infiniband/$link ] || rdma link delete $link
	done
}
