# SPDX-License-Identifier: GPL-2.0-only
#
# Algorithms for user space: ciphers
#
# programs: huntwork
# modules: af_alg algif_skcipher cbc ctr xts ecb cts lrw pcbc cfb ofb adiantum chacha_generic serpent_generic twofish_generic camellia_generic cast6_generic anubis khazad arc4 keywrap hctr2 essiv cryptd fcrypt des_generic aes_generic nhpoly1305 xctr polyval-generic

work()
{
	F huntwork alg skcipher 'cbc(aes)' 16 16 \
		skcipher 'ctr(aes)' 24 16 \
		skcipher 'xts(aes)' 32 16 \
		skcipher 'ecb(des3_ede)' 24 0 \
		skcipher 'cts(cbc(aes))' 16 16 \
		skcipher 'lrw(aes)' 32 16 \
		skcipher 'pcbc(fcrypt)' 8 8 \
		skcipher 'cfb(aes)' 16 16 \
		skcipher 'ofb(aes)' 16 16 \
		skcipher 'rfc3686(ctr(aes))' 20 8 \
		skcipher 'adiantum(xchacha12,aes)' 32 32 \
		skcipher 'chacha20' 32 16 \
		skcipher 'ecb(serpent)' 16 0 \
		skcipher 'cbc(twofish)' 16 16 \
		skcipher 'cbc(camellia)' 16 16 \
		skcipher 'ecb(cast6)' 16 0 \
		skcipher 'ecb(anubis)' 16 0 \
		skcipher 'ecb(khazad)' 16 0 \
		skcipher 'ecb(arc4)' 16 0 \
		skcipher 'kw(aes)' 16 8 \
		skcipher 'hctr2(aes)' 16 32 \
		skcipher 'essiv(cbc(aes),sha256)' 16 16 \
		skcipher 'cryptd(cbc(aes-generic))' 16 16
}
