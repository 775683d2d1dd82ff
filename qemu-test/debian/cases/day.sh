# SPDX-License-Identifier: GPL-2.0-only
#
# A day of use in MINUTES: packages come and go, programs are compiled, containers run, and
# stress-ng loads everything.  Afterwards the table still adds up.
#
# The timeout is for the default of 5 minutes; `run` adds the rest of a longer day.
#
# timeout: 1800

. /qt/lib.sh

CONTAINER=/var/lib/machines/small
PACKAGES="sqlite3 nginx-light bc libprotobuf-dev"

test_1_prepares_the_next_boot()
{
	on_ours
	grub_options sysctl.vm.mem_profiling=1
}

test_2_starts_well()
{
	on_ours
	all_units_well
}

test_2_adds_up_before()
{
	needs_profiling
	adds_up 100
	cp $INFO $STATE/before
}

use_packages()
{
	apt-get -y install $PACKAGES
	systemctl is-active nginx
	rm -f /tmp/day.db
	sqlite3 /tmp/day.db "create table day (word); insert into day values ('stored');"
	eq sqlite "$(sqlite3 /tmp/day.db 'select word from day')" stored
	eq bc "$(echo '2^64' | bc)" 18446744073709551616
	apt-get -y purge $PACKAGES
	apt-get -y autoremove --purge
	[ ! -e /usr/bin/sqlite3 ] || fail "sqlite3 is still there"
}

test_2_apt_installs_and_removes()
{
	apt-get update
	use_packages
}

compile()
{
	rm -rf /tmp/tools /tmp/include
	cp -r /qt/tools /qt/include /tmp
	make -C /tmp/tools/kmon -j 2
	/tmp/tools/kmon/kmonparse --version
}

test_2_gcc_compiles_a_program()
{
	compile
}

# A container with its own namespaces and no network
contain()
{
	systemd-nspawn -q -D $CONTAINER --private-network --pipe "$@"
}

test_2_container_runs()
{
	mkdir -p $CONTAINER
	tar -C $CONTAINER -xf /srv/small.tar
	eq "first process" "$(contain sh -c 'echo $$')" 1
}

# One round: stress-ng loads the guest and a container for 20 s, both at the same time.  Then
# a program is compiled, and packages are installed and removed.
round()
{
	stress-ng --quiet --timeout 20 --vm 1 --vm-bytes 200M --hdd 1 --hdd-bytes 64M --fork 1 \
		--pipe 1 --sock 1 --temp-path /tmp &
	contain stress-ng --quiet --timeout 20 --fault 1 --mmap 1 --mmap-bytes 64M --dentry 1 \
		--sem-sysv 1 --switch 1 --temp-path /tmp
	wait $!
	compile
	use_packages
}

test_2_day_goes_by()
{
	end=$(($(date +%s) + MINUTES * 60))
	rounds=0
	while [ "$(date +%s)" -lt $end ]; do
		round
		rounds=$((rounds + 1))
	done
	[ $rounds -gt 0 ] || fail "no round"
	note "rounds of load: $rounds in $MINUTES minutes"
}

test_2_adds_up_after()
{
	needs_profiling
	rm -rf $CONTAINER /tmp/tools
	sync
	adds_up 100
}

test_2_adds_up_without_caches()
{
	needs_profiling
	echo 3 > /proc/sys/vm/drop_caches
	adds_up 100
	table_bounds
}

# The lines that hold over 1 MiB more than before
test_2_notes_what_grew()
{
	needs_profiling
	awk 'FNR < 3 { next } NR == FNR { was[$3 $4 $5] = $1; next }
	$1 - was[$3 $4 $5] > 1048576 { printf "%d KiB more: %s %s\n", ($1 - was[$3 $4 $5]) / 1024, $3, $4 }' \
		$STATE/before $INFO | sort -rn | head -n 5 | while read -r line; do note "$line"; done
}

test_2_nothing_is_negative()
{
	needs_profiling
	nothing_is_negative
}

test_2_machine_is_well()
{
	all_units_well
	no_splat
}

run_boots
