# SPDX-License-Identifier: GPL-2.0-only
#
# mac80211_hwsim: radios, interfaces of all types, scans, a mesh, a network of its own kind
#
# programs: iw ip
# modules: mac80211_hwsim

. /qt/workloads/lib.sh

prepare()
{
	modprobe mac80211_hwsim radios=2
	ip link set wlan0 up
}

work()
{
	F iw dev wlan0 interface add m0 type monitor || return
	F iw dev wlan0 interface add a0 type __ap || return
	F iw dev wlan0 interface add p0 type mp mesh_id hunt || return
	F ip link set m0 up || return
	F ip link set p0 address 02:00:00:00:05:00 || return
	F ip link set p0 up || return
	F iw dev p0 del || return
	F iw dev a0 del || return
	F iw dev m0 del || return
	F iw phy || return
	F iw reg set DE || return
	F iw dev wlan0 scan trigger freq 2412 ssid hunt || return
	try F iw dev wlan0 scan abort
	F iw dev wlan0 set power_save on || return
	F ip link set wlan1 down || return
	F iw dev wlan1 set type ibss || return
	F ip link set wlan1 up || return
	F iw dev wlan1 ibss join hunt 2412 fixed-freq || return
	F iw dev wlan1 ibss leave || return
	F ip link set wlan1 down || return
	F iw dev wlan1 set type managed || return
	F iw dev wlan0 offchannel 2437 50 || return
	F iw dev wlan0 info
}

clean()
{
	for device in m0 a0 p0; do
		[ ! -e /sys/class/net/$device ] || iw dev $device del
	done
	iw dev wlan1 ibss leave
	ip link set wlan1 down
	iw dev wlan1 set type managed
}
