# SPDX-License-Identifier: GPL-2.0-only
#
# A host that `qemu-test/fleet/hosts record` records: a workload that rises and falls, and
# snapshots of /proc/allocinfo on the disk.  The kernel command line has the parameters:
#
#	fleet.load=files or network
#	fleet.snaps=N		snapshots
#	fleet.interval=SECONDS	between two of them
#	fleet.leak=BYTES	a second, which the module ctag_leak leaks; 0 for none

. /qt/lib.sh

of_cmdline()
{
	sed -n "s/.*fleet\.$1=\([a-z0-9]*\).*/\1/p" /proc/cmdline
}

# wave STEP LOW HIGH: up in eight steps, and down again
wave()
{
	up=$(($1 % 16))
	[ $up -le 8 ] || up=$((16 - up))
	echo $(($2 + ($3 - $2) * up / 8))
}

# hold KIND N: starts a workload that lives until the next of its kind is there
hold()
{
	eval "old=\${held_$1:-}"
	load "$1" "$2"
	eval "held_$1=$LOAD"
	[ -z "$old" ] || { kill -9 "$old"; wait "$old" 2> /dev/null; }
}

# Files are written, read and removed; the page cache fills with them.
step_files()
{
	folder=/mnt/work/$(($1 % 12))
	rm -rf "$folder"
	mkdir -p "$folder"
	dd if=/dev/zero of="$folder/large" bs=64k count="$(wave "$1" 40 160)" 2> /dev/null
	seq "$(wave "$1" 100 600)" | while read -r i; do echo "$i" > "$folder/$i"; done
	ls -lR /sys/class /mnt/work > /dev/null
	hold anon "$(wave "$1" 16 48)"
}

# Connections, pipes, processes and threads come and go.
step_network()
{
	hold sockets "$(wave "$1" 200 900)"
	hold udp "$(wave $(($1 + 5)) 100 600)"
	hold unix "$(wave $(($1 + 3)) 50 400)"
	hold pipes "$(wave $(($1 + 8)) 50 300)"
	hold forks "$(wave "$1" 20 150)"
	hold threads "$(wave $(($1 + 11)) 20 200)"
	ls -lR /sys/class > /dev/null
}

test_record()
{
	mount_disk
	mkdir -p /mnt/work
	loopback_up
	leak=$(of_cmdline leak)
	[ "$leak" = 0 ] || insmod /modules/ctag_leak.ko rate="$leak" size=512 || fail "insmod ctag_leak"
	allocinfo record -o /mnt/snaps -i "$(of_cmdline interval)" -n "$(of_cmdline snaps)" &
	recorder=$!
	step=0
	while kill -0 $recorder 2> /dev/null; do
		"step_$(of_cmdline load)" $step
		step=$((step + 1))
		sleep 12
	done
	wait $recorder || fail "allocinfo record: $?"
	cd /
	sync
}

run_tests
