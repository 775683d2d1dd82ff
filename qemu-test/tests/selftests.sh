# SPDX-License-Identifier: GPL-2.0-only
#
# The selftests of our interfaces, in the kernel's own form: each of their tests is a case
# here, and so is the exit code of each program, which must fit its results.  Without
# profiling they must skip the missing features, and report no failure.  Under lockdown, as
# with Secure Boot, they use the files in /proc.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 lockdown=integrity
# append: sysctl.vm.mem_profiling=never
# selftests: codetag kmon mem_profiling

. /qt/lib.sh

# results PROGRAM CODE < TAP: a case for each result and one for the program, numbered
# from $number.  In the TAP of a C program a skipped test has no name; the line before, which
# says that it runs, has the name.
results()
{
	awk -v program="$1" -v code="$2" -v number="$number" '
	function result(ok, name, rest)
	{
		print ok " " ++number " " program ":" name rest
		n++
		if (ok != "ok") bad++
	}
	/^1\.\.[0-9]+/ { planned = substr($1, 4); all_skipped = / # SKIP/ ? substr($0, index($0, "#")) : ""; next }
	/^# +RUN +/ { running = $3; print; next }
	/^ok [0-9]+ # SKIP/ { result("ok", running, substr($0, index($0, " #"))); next }
	/^ok [0-9]+ /	{ result("ok", $3, NF > 3 ? substr($0, index($0, " #")) : ""); next }
	/^not ok [0-9]+ / { result("not ok", $4, ""); next }
	/^TAP version/ { next }
	/^#/ { print; next }
	{ print "# " $0 }
	END {
		# "skips" below decides whether that is right
		if (all_skipped) print all_skipped
		want = bad ? 1 : all_skipped ? 4 : 0
		n += 0
		if (n != planned) print "# " n " results of " planned + 0
		if (code != want) print "# exit code " code ", want " want
		result(n != planned || code != want ? "not ok" : "ok", "exit", "")
	}'
}

echo "KTAP version 1"
number=0
while IFS=: read -r folder name; do
	cd "/selftests/$folder" || exit 1
	echo "qt: $folder/$name" > /dev/kmsg
	timeout 60 "./$name" > /tmp/tap 2>&1 < /dev/null
	results "$folder/$name" $? < /tmp/tap >> /tmp/results
	number=$(grep -cE '^(not )?ok ' /tmp/results)
done < /selftests/kselftest-list.txt

# With profiling, only the test of a read-only sysctl may be skipped.  Under lockdown, the
# test of fault injection must be skipped, too.
ok=ok
skipped=$(grep '# SKIP' /tmp/results | grep -v :sysctl.read_only_means_that)
if grep -q lockdown=integrity /proc/cmdline; then
	if echo "$skipped" | grep -q 'dynamic_faults is refused by lockdown$'; then
		skipped=$(echo "$skipped" | grep -v 'dynamic_faults is refused by lockdown$')
	else
		skipped="the test of fault injection is not skipped under lockdown"
	fi
fi
if [ "$(cat $MP)" = 1 ] && [ -n "$skipped" ] && ! debug_kernel; then
	note "$(echo "$skipped" | head -1)"
	ok="not ok"
fi
echo "$ok $((number + 1)) skips" >> /tmp/results
echo "1..$((number + 1))"
cat /tmp/results
! grep -q '^not ok' /tmp/results
