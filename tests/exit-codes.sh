#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# exit-codes.sh DIR PROGRAM...: check that the programs in DIR exit with codes of the
# table in tools/lib/codetag/status.h, that their --help lists the codes, and that the
# sources use no number in place of a name.

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/lib/codetag/test-lib.sh
. "$top/tools/lib/codetag/test-lib.sh"
shift
cd "$tmp" || exit

table=$(sed -n 's/^\tEXIT_[A-Z]*[[:space:]]*= \([0-9]*\),$/\1/p' "$top/tools/lib/codetag/status.h" | xargs)
documented=$(sed -n '/^Exit codes/,/^If several/s/^\([0-9][0-9]*\)  .*/\1/p' "$top/Documentation/tools/codetag.rst" | xargs)
if [ "$table" = "0 1 2 3 4 64" ]; then pass; else fail "status.h has the codes $table"; fi
if [ "$documented" = "$table" ]; then pass; else fail "codetag.rst has the codes $documented, status.h has $table"; fi

# wrong PROGRAM: command lines that the program must refuse, one in each line
wrong() {
	case $1 in
	kmemtraced) printf '%s\n' '--seconds x' '--max 0' '-m 1x' 'word' '--output' ;;
	kmemtrace_check) printf '%s\n' '' '-m x' '--begins -1 x' '--all=a b' ;;
	kmemtrace-report) printf '%s\n' 'a b' '--sort x' '--top -1' '--moments 3' '--ctf a -o b' '-o' ;;
	kmonlog) printf '%s\n' '-b 1' '-t x' '-m 0' '-s x' 'word' '-o' ;;
	kmonparse) printf '%s\n' '-s 0' '--ctf a --json' '--top x' '-o' ;;
	alloctop) printf '%s\n' '-s x' '-b x' '-n -1' '-d 0' 'word' 'line x' '-m' ;;
	allocinfo-dump) printf '%s\n' '' 'a b' '-n 0 a' '-n x a' '--lin 1 a' '-m' ;;
	allocinfod) printf '%s\n' '-l localhost:1' '-l 1.2.3.4' '-c 0' '--timeout x' '--connections 0' '--tls-key x' 'word' '-u' ;;
	allocinfo) printf '%s\n' '' 'word' 'report --sort x' 'report --top -1' 'diff a' 'record -i 5' 'check x' 'export x' '-o' ;;
	*) echo 'who is this' ;;
	esac
}

# codes: print the numbers below "Exit status" in the help on stdin
codes() {
	sed -n '/^Exit status/,$p' | sed 's/^Exit status://' |
		tr ';' '\n' | grep -oE '^ *[0-9]+( |$)' | xargs
}

for program; do
	expect "$program --help" 0 "$bin/$program" --help
	said=$(codes <"$tmp/out")
	for code in $said; do
		case " $table " in
		*" $code "*) pass ;;
		*) fail "$program --help: $code is not in the table of exit codes" ;;
		esac
	done
	case "$program: $said" in
	*": 0 1 2 "*" 64" | "allocinfo-dump: 0 1 3 64") pass ;;
	*) fail "$program --help lists the exit codes $said" ;;
	esac
	grep -q -- ' -o, --output' "$tmp/out" && says "$program --help" '-f, --force '
	expect "$program --version" 0 "$bin/$program" --version
	for option in --no-such -Z; do
		expect "$program $option" 64 bash -c '"$@" 2>/dev/null' - "$bin/$program" "$option"
		if [ -s "$tmp/out" ]; then fail "$program $option: it prints to standard output"; else pass; fi
	done
	while read -r line; do
		# shellcheck disable=SC2086 # several words
		expect "$program $line" 64 "$bin/$program" $line
		if [ -s "$tmp/out" ]; then pass; else fail "$program $line: it prints nothing"; fi
	done < <(wrong "$program")
done
if [ "$(echo *)" = out ]; then pass; else fail "after wrong options there are files: $(echo *)"; fi

# The sources name each exit code: exit() has no number, and main() returns none.
sources=("$top"/tools/lib/codetag/*.c "$top"/tools/kmon/[!ft]*.c "$top"/tools/mm/kmemtrace/[!fb]*.c
	"$top"/tools/mm/allocinfo/[!f]*.c)
grep -nE '\b_?exit\([^E)]|\b_?exit\(EXIT_(SUCCESS|FAILURE)|EXIT_[A-Z]+[[:space:]]*=|define[[:space:]]+EXIT_' \
	"${sources[@]}" | grep -vE 'exit\((error|status|code)' >"$tmp/out"
for source in "${sources[@]}"; do
	sed -n '/^int main(/,/^}/p' "$source" | grep -HnE --label="$source" 'return [^a-zE]' >>"$tmp/out"
done
if [ -s "$tmp/out" ]; then fail "an exit code is not named"; else pass; fi
# The sources that were searched include the programs.
if [ "$(grep -l '^int main(' "${sources[@]}" | wc -l)" -ge 5 ]; then pass; else fail "fewer than 5 sources have a main()"; fi

finish
