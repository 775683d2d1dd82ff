# SPDX-License-Identifier: GPL-2.0-only
#
# Algorithms for user space: ciphers
#
# programs: huntwork
# modules: af_alg algif_skcipher cbc ctr xts ecb cts lrw pcbc cfb ofb adiantum chacha_generic serpent_generic twofish_generic camellia_generic cast6_generic anubis khazad arc4 keywrap hctr2 essiv cryptd fcrypt des_generic aes_generic nhpoly1305 xctr polyval-generic

work()
{
	F huntwork alg skcipher 'cbc(aes)' 16 16 || return
	F huntwork alg skcipher 'ctr(aes)' 24 16 || return
	F huntwork alg skcipher 'xts(aes)' 32 16 || return
	F huntwork alg skcipher 'ecb(des3_ede)' 24 0 || return
	F huntwork alg skcipher 'cts(cbc(aes))' 16 16 || return
	F huntwork alg skcipher 'lrw(aes)' 32 16 || return
	F huntwork alg skcipher 'pcbc(fcrypt)' 8 8 || return
	F huntwork alg skcipher 'cfb(aes)' 16 16 || return
	F huntwork alg skcipher 'ofb(aes)' 16 16 || return
	F huntwork alg skcipher 'rfc3686(ctr(aes))' 20 8 || return
	F huntwork alg skcipher 'adiantum(xchacha12,aes)' 32 32 || return
	F huntwork alg skcipher 'chacha20' 32 16 || return
	F huntwork alg skcipher 'ecb(serpent)' 16 0 || return
	F huntwork alg skcipher 'cbc(twofish)' 16 16 || return
	F huntwork alg skcipher 'cbc(camellia)' 16 16 || return
	F huntwork alg skcipher 'ecb(cast6)' 16 0 || return
	F huntwork alg skcipher 'ecb(anubis)' 16 0 || return
	F huntwork alg skcipher 'ecb(khazad)' 16 0 || return
	F huntwork alg skcipher 'ecb(arc4)' 16 0 || return
	F huntwork alg skcipher 'kw(aes)' 16 8 || return
	F huntwork alg skcipher 'hctr2(aes)' 16 32 || return
	F huntwork alg skcipher 'essiv(cbc(aes),sha256)' 16 16 || return
	F huntwork alg skcipher 'cryptd(cbc(aes-generic))' 16 16
}
