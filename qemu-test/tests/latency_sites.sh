# SPDX-License-Identifier: GPL-2.0-only
#
# The twenty lines that slept longest, all tasks together, after a boot and an ext4 workload:
# the table of Documentation/project/time-stats.rst.
#
# append: sysctl.vm.mem_profiling=0 codetag_time_stats=1
# cpus: 2
# disk: 64M
# timeout: 300

. /qt/lib.sh

STATS=/sys/kernel/debug/time_stats

# Waits for another process, not for the disk
others()
{
	mkfifo "$1/fifo"
	(sleep 0.1; exec cat "$1/fifo" > /dev/null) &
	dd if=/dev/zero of="$1/fifo" bs=64k count=32 2> /dev/null
	timeout 1 cat /proc/kmsg > /dev/null
	timeout 30 nc -l -p 7000 > /dev/null &
	for try in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		echo | nc 127.0.0.1 7000 && break
	done
	wait
}

test_sites()
{
	mount_disk
	loopback_up
	for round in 1 2 3; do
		mkdir -p /mnt/$round
		for n in $(seq 200); do
			echo "$n" > /mnt/$round/$n
		done
		dd if=/dev/zero of=/mnt/$round/large bs=64k count=128 2> /dev/null
		sync
		for n in 1 2 3 4; do
			(
				for i in $(seq 20); do
					dd if=/dev/zero of=/mnt/$round/own$n bs=4k count=16 conv=fsync 2> /dev/null
				done
			) &
		done
		wait
		for kind in sockets unix pipes threads; do
			load $kind 50
			unload
		done
		others /mnt/$round
		echo 3 > /proc/sys/vm/drop_caches
		cat /mnt/$round/[0-9lo]* > /dev/null
		find /mnt -type f | wc -l > /dev/null
		rm -r /mnt/$round
	done
	umount /mnt || fail umount
	echo "sort time" > $STATS
	cat $STATS > /tmp/all
	echo disable > $STATS
	note "$(grep -c ' func:' /tmp/all) lines sleep; the longest:"
	awk '
	/ module:/ { where = $1; func_ = substr($3, 6) }
	$1 == "count:" { count = $2 }
	/quantiles \(us\)/ { median = $10; high = $17 }
	$1 == "exact" {
		printf "# %9.3f s %7d  avg %10.1f  median %10s  15/16 %10s  max %10.1f us  %-36s %s\n",
			$10 / 1e9, count, $4 / 1e3, median, high, $8 / 1e3, where, func_
		if (++n == 20)
			exit
	}
	END { exit n < 20 }' /tmp/all || fail "fewer than twenty"
	sed -n '/ fs\/jbd2\/journal.c:.*func:jbd2_log_wait_commit$/,/^$/s/^/#/p' /tmp/all
	for f in jbd2_log_wait_commit kjournald2 journal_wait_on_commit_record \
		__filemap_fdatawait_range pipe_write; do
		grep -q " func:$f\$" /tmp/all || fail "$f has not slept"
	done
}

run_tests
