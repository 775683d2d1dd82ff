# SPDX-License-Identifier: GPL-2.0-only
#
# A tunnel in external mode receives packets while there is no memory for their metadata.
#
# programs: ip

prepare()
{
	ip link set lo up
	ip link add tunnel0 type ipip external
	ip link set tunnel0 up
	echo "func ipip_tunnel_rcv enable" > $FAULTS
}

once()
{
	trigger ipip
}
