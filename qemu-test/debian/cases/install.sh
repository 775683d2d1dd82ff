# SPDX-License-Identifier: GPL-2.0-only
#
# dpkg installs the packages in the running guest, and GRUB offers both kernels.
#
# base: debian
# timeout: 1200

. /qt/lib.sh

test_1_debian_boots_well()
{
	all_units_well
	no_splat
}

test_1_dpkg_installs_all()
{
	dpkg -i /qt/debs/*.deb
	all_configured
	for file in "/boot/vmlinuz-$OURS" "/boot/initrd.img-$OURS" "/lib/modules/$OURS/modules.dep"; do
		[ -s "$file" ] || fail "no $file"
	done
}

test_1_grub_offers_both()
{
	grub_releases
	grub_releases | grep -Fqx "$(uname -r)" || fail "no entry for Debian's kernel"
	grub_releases | grep -Fqx "$OURS" || fail "no entry for $OURS"
}

test_1_grub_has_each_initrd()
{
	for release in "$OURS" "$(uname -r)"; do
		grep -q "initrd.*initrd.img-$release$" /boot/grub/grub.cfg || fail "no initrd for $release"
	done
}

# 6.1.192 sorts above Debian's 6.1.0, so a kernel of Debian that stands in for ours has to be
# chosen.
test_1_our_kernel_is_the_default()
{
	if stand_in; then
		grub_kernel "$OURS"
	else
		eq "first entry" "$(grub_releases | head -n 1)" "$OURS"
	fi
}

run_boots
