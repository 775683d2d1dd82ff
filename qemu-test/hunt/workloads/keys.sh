# SPDX-License-Identifier: GPL-2.0-only
#
# Keys of all types
#
# programs: huntwork
# modules: cbc aes_generic sha256_generic hmac

work()
{
	F huntwork keys
}
