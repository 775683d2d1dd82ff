# SPDX-License-Identifier: GPL-2.0-only
#
# An algorithm that runs in parallel on all CPUs. Lockdep reports it even without a fault, and
# is off from then on, so it has a workload of its own.
#
# programs: huntwork
# modules: af_alg algif_aead pcrypt gcm ctr aes_generic ghash-generic

work()
{
	F huntwork alg aead 'pcrypt(gcm_base(ctr(aes-generic),ghash-generic))' 16 12
}
