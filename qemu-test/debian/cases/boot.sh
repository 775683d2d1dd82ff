# SPDX-License-Identifier: GPL-2.0-only
#
# Our kernel runs Debian: no unit fails, sysctl.d switches profiling, the table adds up.
#
# The first two boots have no parameter, so profiling is at its default, never; in the second, a file
# of sysctl.d requests profiling.  The third boot has sysctl.vm.mem_profiling=0, too, and the fourth
# sysctl.vm.mem_profiling=1 and no file.
#
# timeout: 1200

. /qt/lib.sh

CONF=/etc/sysctl.d/90-mem-profiling.conf

test_1_our_kernel_is_the_default()
{
	on_ours
	all_units_well
}

test_1_has_btf_as_its_packages_promise()
{
	note "BTF: $BTF"
	# the guest's disk needs virtio_blk, so this module is always loaded
	for name in vmlinux virtio_blk; do
		[ -s /sys/kernel/btf/$name ] && has=yes || has=no
		eq "BTF of $name" $has "$BTF"
	done
}

test_1_never_shows_only_the_heading()
{
	needs_profiling
	eq lines "$(wc -l < $INFO)" 2
	eq "mode of $INFO" "$(stat -c %a $INFO)" 400
}

test_1_never_refuses_the_sysctl()
{
	needs_profiling
	eq "mode of $MP" "$(stat -c %a $MP)" 444
	! sh -c "echo 1 > $MP" 2> /tmp/said || fail "a write succeeded"
	grep -q "Permission denied" /tmp/said || fail "the write said: $(cat /tmp/said)"
	# Debian's sysctl does not try to write a read-only file: it warns and exits with 0
	sysctl -w vm.mem_profiling=1 > /tmp/said 2>&1
	cat /tmp/said
	grep -q 'setting key "vm.mem_profiling"' /tmp/said || fail "sysctl said: $(cat /tmp/said)"
	eq vm.mem_profiling "$(cat $MP)" 0
}

test_1_prepares_the_next_boot()
{
	echo vm.mem_profiling=1 > $CONF
}

# A machine with the file, booted once without the parameter, still boots without an error.
test_2_never_with_sysctl_d_fails_no_unit()
{
	on_ours
	all_units_well
	needs_profiling
	! grep mem_profiling /proc/cmdline || fail "there is a parameter"
	eq vm.mem_profiling "$(cat $MP)" 0
	systemctl restart systemd-sysctl.service
	eq vm.mem_profiling "$(cat $MP)" 0
}

test_2_prepares_the_next_boot()
{
	grub_options sysctl.vm.mem_profiling=0
}

test_3_multi_user_without_a_failed_unit()
{
	on_ours
	all_units_well
}

test_3_sysctl_d_has_switched_profiling_on()
{
	needs_profiling
	grep -q sysctl.vm.mem_profiling=0 /proc/cmdline || fail "booted without the parameter"
	eq vm.mem_profiling "$(cat $MP)" 1
}

test_3_sysctl_system_switches_it_on_again()
{
	needs_profiling
	sysctl -w vm.mem_profiling=0
	eq "after 0" "$(cat $MP)" 0
	sysctl --system
	eq "after sysctl --system" "$(cat $MP)" 1
}

test_3_prepares_the_next_boot()
{
	rm $CONF
	grub_options sysctl.vm.mem_profiling=1
}

test_4_multi_user_without_a_failed_unit()
{
	on_ours
	all_units_well
}

test_4_table_and_meminfo_agree()
{
	needs_profiling
	adds_up 500
}

test_4_stacks_and_slabs_agree()
{
	needs_profiling
	table_bounds
}

test_4_nothing_is_negative()
{
	needs_profiling
	nothing_is_negative
}

test_4_console_is_clean()
{
	no_splat
}

run_boots
