# SPDX-License-Identifier: GPL-2.0-only
#
# MACsec: channels, associations, keys
#
# programs: ip
# modules: macsec dummy gcm aes_generic ctr ghash-generic

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link set d0 up
	link add link d0 name s0 type macsec port 5 encrypt on cipher gcm-aes-256 icvlen 16 window 32 replay on
	macsec add s0 tx sa 0 pn 1 on key 01 81818181818181818181818181818181818181818181818181818181818181ff
	macsec add s0 rx port 7 address 02:00:00:00:00:07
	macsec add s0 rx port 7 address 02:00:00:00:00:07 sa 0 pn 1 on key 02 82828282828282828282828282828282828282828282828282828282828282ff
	macsec set s0 rx port 7 address 02:00:00:00:00:07 sa 0 pn 5
	link set s0 up
	macsec show
	macsec set s0 rx port 7 address 02:00:00:00:00:07 sa 0 off
	macsec del s0 rx port 7 address 02:00:00:00:00:07 sa 0
	macsec del s0 rx port 7 address 02:00:00:00:00:07
	macsec set s0 tx sa 0 off
	macsec del s0 tx sa 0
	link add link d0 name s1 type macsec port 6
	link del s1
	link del s0
	link del d0
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone s0 s1 d0
}
