# SPDX-License-Identifier: GPL-2.0-only
#
# ISO 9660 with the Rock Ridge and Joliet extensions
#
# programs: huntwork genisoimage
# modules: isofs nls_utf8

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	genisoimage -quiet -R -J -o /tmp/iso /tmp/tree || return
	on_file /tmp/iso iso9660 ""
}

work()
{
	F mount -t iso9660 -o ro "$DEVICE" /mnt || return
	F huntwork read /mnt || return
	F umount /mnt || return
	F mount -t iso9660 -o ro,norock,iocharset=utf8 "$DEVICE" /mnt || return
	F huntwork read /mnt || return
	F umount /mnt
}
