# SPDX-License-Identifier: GPL-2.0-only
#
# A security association is added whose algorithm is given in two forms.

once()
{
	trigger xfrm
}
