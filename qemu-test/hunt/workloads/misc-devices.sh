# SPDX-License-Identifier: GPL-2.0-only
#
# Files of small devices: a proxy of TPMs, heaps of DMA buffers, vhost, non-volatile memory, CPUs
#
# programs: huntwork
# modules: tpm_vtpm_proxy vhost_net vhost_vsock vhost_scsi nvram msr cpuid

work()
{
	F huntwork ioctl /dev/vtpmx with 0xc014a100 01000000 sleep 20 || return
	F huntwork ioctl /dev/dma_heap/system with 0xc0184800 0010000000000000.00000000.02000800.0000000000000000 || return
	F huntwork ioctl /dev/vhost-net call 0xaf01 0 || return
	F huntwork ioctl /dev/vhost-vsock call 0xaf01 0 with 0x4008af60 0500000000000000 || return
	F huntwork ioctl /dev/vhost-scsi call 0xaf01 0 || return
	F huntwork open /dev/nvram /dev/cpu/0/msr /dev/cpu/0/cpuid
}
