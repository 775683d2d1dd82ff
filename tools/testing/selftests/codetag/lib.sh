# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Helpers for tests of files in debugfs. A case is a function test_*; run_cases runs each
# case in a subshell, in the order of the file, and prints TAP. `fail WHY` and `skip WHY`
# end a case; a case that reaches its end has passed.
#
# skip_all skips the whole test with exit code 4, before the plan is printed.

DEBUGFS=/sys/kernel/debug
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
# dash does not run the EXIT trap when a signal kills it: call exit, which restores all.
trap 'exit 1' HUP INT TERM

fail()
{
	echo "# $*"
	exit 1
}

skip()
{
	echo "$*" > "$WORK/skipped"
	exit 4
}

skip_all()
{
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit 4
}

# file NAME: print the path of a file. Under lockdown, debugfs refuses files that can be
# written; these are in /proc, too.
file()
{
	if [ -e "/proc/$1" ] && ! (: < "$DEBUGFS/$1") 2> /dev/null; then
		echo "/proc/$1"
	else
		echo "$DEBUGFS/$1"
	fi
}

# locked_down: is this kernel under lockdown?
locked_down()
{
	SECURITY=/sys/kernel/security
	[ -e $SECURITY/lockdown ] || mount -t securityfs none $SECURITY 2> /dev/null
	grep -qsE '\[(integrity|confidentiality)\]' $SECURITY/lockdown
}

# needs FILE OPTION: skip the test without this file in debugfs, which OPTION adds
needs()
{
	[ "$(id -u)" = 0 ] || skip_all "only root may use debugfs"
	grep -qs " $DEBUGFS debugfs " /proc/mounts || mount -t debugfs none $DEBUGFS 2> /dev/null ||
		skip_all "no debugfs"
	[ -e "$DEBUGFS/$1" ] || skip_all "no $DEBUGFS/$1: $2 is not set"
	(: < "$(file "$1")") 2> /dev/null || ! locked_down ||
		skip_all "$DEBUGFS/$1 is refused by lockdown"
}

run_cases()
{
	cases=$(sed -n 's/^test_\([A-Za-z0-9_]*\)()$/\1/p' "$0")
	echo "TAP version 13"
	echo "1..$(echo "$cases" | wc -l)"
	number=0
	failed=0
	for case in $cases; do
		number=$((number + 1))
		rm -f "$WORK/skipped"
		("test_$case"; exit 0)
		case $? in
		0) echo "ok $number $case" ;;
		4) echo "ok $number $case # SKIP $(cat "$WORK/skipped")" ;;
		*) echo "not ok $number $case"; failed=1 ;;
		esac
	done
	exit $failed
}

# eq WHAT GOT WANT
eq()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# mode FILE MODE: FILE must have this mode and belong to root, in /proc, too, if it is there
mode()
{
	eq "$1" "$(stat -c '%a %u' "$DEBUGFS/$1")" "$2 0"
	[ ! -e "/proc/$1" ] || eq "/proc/$1" "$(stat -c '%a %u' "/proc/$1")" "$2 0"
}

# put FILE TEXT: write TEXT with one write(). The printf of some shells does not print the
# error, so cat writes.
put()
{
	printf '%s\n' "$2" | cat > "$(file "$1")"
}

# write FILE TEXT: must succeed
write()
{
	put "$1" "$2" || fail "$1 refused: $2"
}

# state FILE: print the part of FILE that a refused command must not change. A test defines
# its own state() if FILE also contains counts that change by themselves.
state()
{
	cat "$(file "$1")"
}

# refuses FILE TEXT [ERROR]: the write must fail with ERROR and change nothing
refuses()
{
	state "$1" > "$WORK/before"
	if put "$1" "$2" 2> "$WORK/error"; then
		fail "$1 accepted: $2"
	fi
	grep -q "${3:-Invalid argument}" "$WORK/error" || fail "$1: $2: $(cat "$WORK/error")"
	state "$1" | cmp -s - "$WORK/before" || fail "$1 is changed by: $2"
}

# refuses_queries FILE: FILE must refuse commands with a wrong selection of call sites
refuses_queries()
{
	refuses "$1" "func"
	refuses "$1" "line x enable"
	refuses "$1" "line 5-3 enable"
	refuses "$1" "func a func b enable"
	refuses "$1" "func 'a enable"
	refuses "$1" "func a index -1- enable"
	refuses "$1" "no_such_word"
	refuses "$1" "enable enable"
	refuses "$1" "func a"
}
