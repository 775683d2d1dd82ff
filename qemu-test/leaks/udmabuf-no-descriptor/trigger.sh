# SPDX-License-Identifier: GPL-2.0-only
#
# A program that has all the descriptors it may have asks for a buffer.

once()
{
	trigger udmabuf
}
