# SPDX-License-Identifier: GPL-2.0-only
#
# Algorithms for user space: hashes
#
# programs: huntwork
# modules: af_alg algif_hash cmac xcbc vmac sha3_generic blake2b_generic streebog_generic sm3_generic michael_mic wp512 rmd160 md4 xxhash_generic ghash-generic poly1305_generic nhpoly1305 hmac sha512_generic

work()
{
	F huntwork alg hash 'sha256' 0 0 \
		hash 'hmac(sha512)' 20 0 \
		hash 'cmac(aes)' 16 0 \
		hash 'xcbc(aes)' 16 0 \
		hash 'vmac64(aes)' 16 0 \
		hash 'sha3-256' 0 0 \
		hash 'blake2b-256' 16 0 \
		hash 'streebog256' 0 0 \
		hash 'sm3' 0 0 \
		hash 'michael_mic' 8 0 \
		hash 'wp512' 0 0 \
		hash 'rmd160' 0 0 \
		hash 'md4' 0 0 \
		hash 'crc32c' 0 0 \
		hash 'xxhash64' 8 0 \
		hash 'ghash' 16 0 \
		hash 'poly1305' 0 0 \
		hash 'nhpoly1305' 1088 0
}
