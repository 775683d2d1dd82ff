# SPDX-License-Identifier: GPL-2.0-only
#
# Upgrade, removal and purge of our packages, with Debian's kernel installed beside ours.
#
# The upgrade is in /qt/next: packages of image and headers with a higher version, and with
# another line in the configuration.  The host makes them.
#
# timeout: 1800

. /qt/lib.sh

version_of()
{
	dpkg-query -W -f '${Version}' "$1"
}

# The names of the packages that the kernel under test came with
ours()
{
	for deb in /qt/debs/*.deb; do
		dpkg-deb -f "$deb" Package
	done
}

test_1_upgrades_to_the_next_build()
{
	on_ours
	rm "/boot/initrd.img-$OURS"
	dpkg -i /qt/next/*.deb
	for deb in /qt/next/*.deb; do
		package=$(dpkg-deb -f "$deb" Package)
		eq "version of $package" "$(version_of "$package")" "$(dpkg-deb -f "$deb" Version)"
	done
	eq "dpkg --audit" "$(dpkg --audit)" ""
	[ -s "/boot/initrd.img-$OURS" ] || fail "the upgrade made no initrd"
}

test_1_upgrade_brings_its_files()
{
	for file in "/boot/config-$OURS" "/usr/src/$HEADERS/.config"; do
		grep -qx "# the next build" "$file" || fail "$file is still that of the first build"
	done
}

test_1_upgrade_adds_no_entry()
{
	eq "entries" "$(grub_releases | grep -Fcx "$OURS")" 1
}

test_2_upgraded_kernel_boots()
{
	on_ours
	all_units_well
}

test_2_chooses_debians_kernel()
{
	grub_kernel "$(debian_release)"
}

test_3_debians_kernel_still_boots()
{
	eq kernel "$(uname -r)" "$(debian_release)"
	all_units_well
}

test_3_removal_takes_the_kernel_away()
{
	for package in $(ours); do
		dpkg -L "$package"
	done | grep -vx "/\." | sort -u > $STATE/files
	ours | xargs dpkg -r
	[ ! -e "/boot/vmlinuz-$OURS" ] || fail "vmlinuz is still there"
	[ ! -e "/boot/initrd.img-$OURS" ] || fail "initrd.img is still there"
	! grub_releases | grep -Fqx "$OURS" || fail "GRUB still offers it"
}

test_3_removal_keeps_debians_kernel()
{
	grub_releases | grep -Fqx "$(debian_release)" || fail "GRUB does not offer Debian's kernel"
	for file in vmlinuz initrd.img config System.map; do
		[ -s "/boot/$file-$(debian_release)" ] || fail "no $file"
	done
}

# Nothing that the packages brought, and nothing named after the release
test_3_purge_leaves_no_files()
{
	ours | xargs dpkg -P
	while read -r path; do
		[ ! -e "$path" ] || dpkg -S "$path" > /dev/null 2>&1 || echo "$path"
	done < $STATE/files > $STATE/left
	find / -xdev -name "*$OURS*" ! -path '/proc/*' ! -path "$STATE/*" ! -path '/qt/*' >> $STATE/left
	sort -u $STATE/left
	[ ! -s $STATE/left ] || fail "left: $(sort -u $STATE/left | head -n 5 | tr '\n' ' ')"
}

test_4_debian_boots_alone()
{
	eq kernel "$(uname -r)" "$(debian_release)"
	all_units_well
}

run_boots
