# SPDX-License-Identifier: GPL-2.0-only
#
# IPsec: states, policies, interfaces, VTI
#
# programs: ip
# modules: dummy xfrm_user xfrm_interface esp4 esp6 ah4 ipcomp xfrm_ipcomp xfrm4_tunnel gcm cbc hmac aes_generic seqiv authenc echainiv deflate ctr ghash-generic sha256_generic sha1_generic

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link set d0 up
	addr add 10.1.0.1/24 dev d0
	xfrm state add src 10.1.0.1 dst 10.1.0.2 proto esp spi 0x100 mode tunnel reqid 5 replay-window 32 flag esn aead 'rfc4106(gcm(aes))' 0x0102030405060708090a0b0c0d0e0f1011121314 128 sel src 10.2.0.0/16
	xfrm state add src 10.1.0.1 dst 10.1.0.3 proto esp spi 0x101 mode transport enc 'cbc(aes)' 0x0102030405060708090a0b0c0d0e0f10 auth-trunc 'hmac(sha256)' 0x0102030405060708090a0b0c0d0e0f10 128 encap espinudp 4500 4500 0.0.0.0
	xfrm state add src 10.1.0.1 dst 10.1.0.4 proto ah spi 0x102 mode transport auth 'hmac(sha1)' 0x0102030405060708090a0b0c0d0e0f1011121314
	xfrm state add src 10.1.0.1 dst 10.1.0.5 proto comp spi 0x103 mode tunnel comp deflate
	xfrm state add src fd01::1 dst fd01::2 proto esp spi 0x104 mode beet enc 'cbc(aes)' 0x0102030405060708090a0b0c0d0e0f10 auth 'hmac(sha256)' 0x0102030405060708090a0b0c0d0e0f10 mark 5 mask 0xff if_id 7
	xfrm state update src 10.1.0.1 dst 10.1.0.4 proto ah spi 0x102 mode transport auth 'hmac(sha1)' 0x0102030405060708090a0b0c0d0e0f1011121315
	xfrm policy add src 10.2.0.0/16 dst 10.3.0.0/16 dir out priority 5 tmpl src 10.1.0.1 dst 10.1.0.2 proto esp reqid 5 mode tunnel tmpl proto comp reqid 6 mode transport level use
	xfrm policy add src 10.4.0.0/16 dst 10.3.0.0/24 dir fwd action block
	xfrm policy add src fd02::/64 dst fd03::/64 dir in if_id 7 ptype sub tmpl src fd01::1 dst fd01::2 proto esp mode beet
	xfrm policy update src 10.4.0.0/16 dst 10.3.0.0/24 dir fwd priority 7
	xfrm state allocspi src 10.1.0.1 dst 10.1.0.9 proto esp mode transport reqid 9 min 0x200 max 0x300
	link add x0 type xfrm dev d0 if_id 7
	link set x0 up
	xfrm state list
	xfrm policy list
	xfrm state count
	xfrm policy set hthresh4 24 24
	xfrm policy flush
	xfrm policy flush ptype sub
	xfrm state flush
	link del x0
	link del d0
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	ip xfrm policy flush
	ip xfrm policy flush ptype sub
	ip xfrm state flush
	link_gone x0 d0
}
