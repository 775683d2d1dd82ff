# SPDX-License-Identifier: GPL-2.0-only
#
# netdevsim: offloads of filters, IPsec, routes, programs, tunnels; virtual functions
#
# programs: devlink ip tc ethtool
# modules: act_gact xfrm_user netdevsim vxlan esp4 gcm aes_generic seqiv sch_ingress cls_matchall cls_bpf

. /qt/workloads/lib.sh

prepare()
{
	echo "6 1 4" > /sys/bus/netdevsim/new_device
	NAME=$(ls /sys/bus/netdevsim/devices/netdevsim6/net)
	ip link set "$NAME" name n0
	for port in /sys/kernel/debug/netdevsim/netdevsim6/ports/*; do
		echo Y > "$port/bpf_tc_non_bound_accept"
	done
	ip addr add 10.1.0.1/24 dev n0
}

work()
{
	F ip link set n0 up || return
	F ethtool -K n0 hw-tc-offload on || return
	put /sys/bus/netdevsim/devices/netdevsim6/sriov_numvfs 4 || return
	F ip link set n0 vf 1 mac 02:00:00:00:00:05 vlan 5 rate 100 spoofchk on trust on || return
	put /sys/bus/netdevsim/devices/netdevsim6/sriov_numvfs 0 || return
	F ip route add 10.2.0.0/16 via 10.1.0.5 || return
	F ip nexthop add id 1 via 10.1.0.5 dev n0 || return
	F ip nexthop add id 2 group 1 type resilient buckets 4 || return
	F ip nexthop flush || return
	F tc qdisc add dev n0 clsact || return
	F tc filter add dev n0 ingress protocol ip matchall action drop || return
	F tc filter add dev n0 ingress protocol all bpf skip_sw bytecode '1,6 0 0 0' || return
	F tc qdisc del dev n0 clsact || return
	F ethtool -k n0 || return
	F ethtool -L n0 combined 1 || return
	F ethtool -C n0 rx-usecs 5 || return
	F ethtool -G n0 rx 512 || return
	F ethtool -A n0 rx on || return
	F ethtool --set-fec n0 encoding rs || return
	F ip link add x0 type vxlan id 5 dstport 4789 remote 10.1.0.5 dev n0 || return
	F ip link del x0 || return
	F ip xfrm state add src 10.1.0.1 dst 10.1.0.2 proto esp spi 0x100 mode transport reqid 5 \
		aead 'rfc4106(gcm(aes))' 0x0102030405060708090a0b0c0d0e0f1011121314 128 offload dev n0 dir out || return
	F ip xfrm state flush || return
	F ip route del 10.2.0.0/16 || return
	F ip link set n0 down
}

clean()
{
	echo 0 > /sys/bus/netdevsim/devices/netdevsim6/sriov_numvfs
	ip xfrm state flush
	ip nexthop flush
	tc qdisc del dev n0 clsact
	ip route del 10.2.0.0/16
	ip link set n0 down
	link_gone x0
}
