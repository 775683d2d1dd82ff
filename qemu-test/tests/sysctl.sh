# SPDX-License-Identifier: GPL-2.0-only
#
# vm.mem_profiling: the values that it accepts and refuses.
#
# append: sysctl.vm.mem_profiling=0

. /qt/lib.sh

needs_switch

refused()
{
	# one write(2) of exactly these bytes
	if (echo -ne "$1" > $MP) 2>/tmp/err; then
		fail "took '$1'"
	fi
	grep -qi 'invalid argument' /tmp/err || fail "'$1': $(cat /tmp/err)"
	eq "after '$1'" "$(cat $MP)" "$2"
}

test_mode()
{
	eq mode "$(stat -c '%a %u' $MP)" "644 0"
	eq value "$(cat $MP)" 0
}

test_takes()
{
	for v in 1 0 1 1 0 0; do
		echo $v > $MP || fail "refused $v"
		eq value "$(cat $MP)" $v
	done
	printf 1 > $MP || fail "refused 1 without a newline"
	eq value "$(cat $MP)" 1
	sysctl -w vm.mem_profiling=0 > /dev/null || fail "sysctl -w"
	eq value "$(sysctl -n vm.mem_profiling)" 0
}

test_junk()
{
	for v in 0 1; do
		echo $v > $MP
		for junk in 2 -1 abc 1x 0x 10 99999999999999999999 never 1,compressed '\n' ' '; do
			refused "$junk" $v
		done
	done
}

test_ordinary_user()
{
	v=$(cat $MP)
	su nobody -s /bin/sh -c "echo 0 > $MP" 2>/dev/null && fail "nobody may"
	eq value "$(cat $MP)" "$v"
	su nobody -s /bin/sh -c "cat $MP" > /dev/null || fail "user nobody cannot read it"
}

run_tests
