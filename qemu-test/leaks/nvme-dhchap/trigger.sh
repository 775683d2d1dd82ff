# SPDX-License-Identifier: GPL-2.0-only
#
# A host connects to an NVMe target with a secret in the wrong format.

once()
{
	echo "transport=tcp,traddr=10.0.0.1,nqn=target,dhchap_secret=wrong" > /dev/nvme-fabrics
}
