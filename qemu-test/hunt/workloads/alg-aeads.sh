# SPDX-License-Identifier: GPL-2.0-only
#
# Algorithms for user space: authenticated encryption, random numbers
#
# programs: huntwork
# modules: af_alg algif_aead algif_rng gcm ccm chacha20poly1305 aegis128 ctr aes_generic ghash-generic ansi_cprng drbg seqiv echainiv authenc

work()
{
	F huntwork alg aead 'gcm(aes)' 16 12 \
		aead 'ccm(aes)' 16 16 \
		aead 'rfc4106(gcm(aes))' 20 8 \
		aead 'rfc4543(gcm(aes))' 20 8 \
		aead 'rfc7539(chacha20,poly1305)' 32 12 \
		aead 'aegis128' 16 16 \
		rng 'stdrng' 0 0 \
		rng 'ansi_cprng' 0 0
}
