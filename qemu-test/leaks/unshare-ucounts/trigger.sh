# SPDX-License-Identifier: GPL-2.0-only
#
# A program enters new namespaces, and there is no memory for the counters of its user.

prepare()
{
	# the program needs three: when it changes its user, for the namespaces, for itself
	echo "func alloc_ucounts frequency 3 task trigger" > $FAULTS
}

once()
{
	trigger unshare
}
