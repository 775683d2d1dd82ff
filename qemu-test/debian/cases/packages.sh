# SPDX-License-Identifier: GPL-2.0-only
#
# The case upgrades our packages, removes and purges them, and installs them again with apt.  Debian's
# kernel stays installed.  The programs of codetag-tools record under our kernel, and read the recording
# after the guest has booted Debian's kernel.
#
# The upgrade is in /qt/next: the packages of --next, or the same with a higher version and another line
# in the configuration, which the host makes.
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
	dpkg -i /qt/next/linux-*.deb
	for deb in /qt/next/linux-*.deb; do
		package=$(dpkg-deb -f "$deb" Package)
		eq "version of $package" "$(version_of "$package")" "$(dpkg-deb -f "$deb" Version)"
	done
	all_configured
	[ -s "/boot/initrd.img-$OURS" ] || fail "the upgrade made no initrd"
}

test_1_upgrade_brings_its_files()
{
	for deb in /qt/next/linux-*.deb; do
		dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./md5sums > /tmp/new
		dpkg-deb --ctrl-tarfile /qt/debs/"$(dpkg-deb -f "$deb" Package)"_*.deb | tar -xO ./md5sums > /tmp/old
		note "$(dpkg-deb -f "$deb" Package): $(grep -cvxFf /tmp/old /tmp/new) of $(wc -l < /tmp/new) files are new"
		! cmp -s /tmp/old /tmp/new || fail "$deb has the same files as the first build"
		(cd / && md5sum --quiet -c /tmp/new)
	done
}

test_1_upgrade_adds_no_entry()
{
	eq "entries" "$(grub_releases | grep -Fcx "$OURS")" 1
	grub_options sysctl.vm.mem_profiling=1
}

test_2_upgraded_kernel_boots()
{
	on_ours
	all_units_well
}

main_pid()
{
	systemctl show -p MainPID --value "$1"
}

# An upgrade of codetag-tools restarts allocinfod, with its new unit.  The timer of the export goes on.  So does
# kmemtraced, since a stop would end the recording.
test_2_upgrades_the_tools()
{
	needs_profiling
	mkdir -p /var/lib/prometheus/node-exporter
	systemctl start allocinfod.service allocinfo-export.timer
	starts_to_record
	server=$(main_pid allocinfod.service)
	recorder=$(main_pid kmemtraced.service)
	[ "$server" -gt 0 ] && [ "$recorder" -gt 0 ] || fail "server $server, recorder $recorder"
	cp /lib/systemd/system/allocinfod.service /tmp/unit
	dpkg -i /qt/next/codetag-tools_*.deb
	all_configured
	! cmp -s /tmp/unit /lib/systemd/system/allocinfod.service ||
		note "both builds have the same allocinfod.service"
	eq version "$(version_of codetag-tools)" "$(dpkg-deb -f /qt/next/codetag-tools_*.deb Version)"
	[ "$(main_pid allocinfod.service)" -gt 0 ] || fail "the server does not run"
	[ "$(main_pid allocinfod.service)" != "$server" ] || fail "the old server still runs"
	eq "the old unit is in use" "$(systemctl show -p NeedDaemonReload --value allocinfod.service)" no
	eq "the timer" "$(systemctl is-active allocinfo-export.timer)" active
	eq "the recorder" "$(main_pid kmemtraced.service)" "$recorder"
	systemctl stop allocinfod.service kmemtraced.service allocinfo-export.timer
	eq Result "$(systemctl show -p Result --value kmemtraced.service)" success
	all_units_well
}

test_2_records_for_later()
{
	needs_profiling
	allocinfo record -i 1 -n 2 -o /var/tmp/recording
}

test_2_chooses_debians_kernel()
{
	# Debian's kernel would complain about the sysctl
	grub_options
	grub_kernel "$(debian_release)"
}

test_3_debians_kernel_still_boots()
{
	eq kernel "$(uname -r)" "$(debian_release)"
	all_units_well
}

# Debian's kernel has no profiling: the programs say so, and read the recordings of others.
test_3_tools_run_under_debians_kernel()
{
	stand_in || [ ! -e $INFO ] || fail "Debian's kernel has $INFO"
	[ -e /var/tmp/recording ] || skip "nothing was recorded"
	for program in "allocinfo report" "alloctop -1" "allocinfo record -n 1 -o /var/tmp/none"; do
		! $program > /tmp/out 2> /tmp/err || fail "$program: exit code 0 without $INFO"
		cat /tmp/out /tmp/err
		grep -q "CONFIG_MEM_ALLOC_PROFILING" /tmp/err || fail "$program: $(head -n 1 /tmp/err)"
	done
	allocinfo diff /var/tmp/recording@0 /var/tmp/recording@1
	allocinfo report /var/tmp/recording@1 > /tmp/report
	head -n 5 /tmp/report
	grep -q '\.c:[0-9]' /tmp/report
}

test_3_removal_takes_the_kernel_away()
{
	for package in $(ours); do
		dpkg -L "$package"
	done > /tmp/files
	grep -vx "/\." /tmp/files | sort -u > $STATE/files
	ours > /tmp/ours
	xargs dpkg -r < /tmp/ours
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
	ours > /tmp/ours
	xargs dpkg -P < /tmp/ours
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

# The command of README.md
test_4_apt_installs_them_again()
{
	apt-get update
	apt-get -y install /qt/debs/*.deb
	all_configured
	for package in $(ours); do
		eq "$package" "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package")" "ii "
	done
	[ -s "/boot/initrd.img-$OURS" ] || fail "no initrd"
	grub_releases | grep -Fqx "$OURS" || fail "GRUB does not offer it"
}

run_boots
