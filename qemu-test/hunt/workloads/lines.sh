# SPDX-License-Identifier: GPL-2.0-only
#
# Line disciplines of terminals: n_gsm, n_hdlc, SLIP, PPP, CAN, CAIF, X.25, radio, Bluetooth, input ports
#
# programs: huntwork
# modules: slip ppp_async ppp_synctty n_gsm n_hdlc hci_uart slcan can327 caif_serial nci_uart lapb

. /qt/workloads/lib.sh

work()
{
	F huntwork ldisc 1 2 3 5 6 7 13 15 17 20 21 25 28 29 30
}
