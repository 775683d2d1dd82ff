# SPDX-License-Identifier: GPL-2.0-only
#
# IEEE 802.15.4: simulated radios, and 6LoWPAN on them
#
# programs: huntwork ip
# modules: mac802154_hwsim ieee802154_6lowpan ieee802154_socket

. /qt/workloads/lib.sh

prepare()
{
	modprobe mac802154_hwsim
	ip link set wpan0 up
	ip link set wpan1 up
}

work()
{
	F ip link add link wpan0 name l0 type lowpan || return
	F ip link set l0 up || return
	F huntwork socket socket 36 2 0 names || return
	F ip link del l0
}

clean()
{
	link_gone l0
}
