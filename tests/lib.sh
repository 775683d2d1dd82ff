# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions that the tests of the tooling share.
#
# Each test is a shell function test_*.  It runs in a subshell under set -e, in a fresh
# directory $work in build/tests/.  It tests the scripts of this repository, copied into
# a repository of their own, on the real kernel source.  Most tests do not need a whole
# kernel: their base is a slice of it, a few files under their own names
# (KERNEL_SRC=slice).

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$top/build/tests
export GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=tester@localhost
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@localhost
unset MAKEFLAGS MFLAGS MAKELEVEL KERNEL_SRC CONFIG ARCH FORCE

# run_tests [WORD]: run every test_* function of the calling script, or those with WORD
# in the name; print a result line for each
run_tests() {
	local fn name rc reason status=0
	for fn in $(declare -F | awk -v word="${1:-}" '$3 ~ /^test_/ && index($3, word) { print $3 }'); do
		name=${fn#test_}
		work=$scratch/$name
		rm -rf "$work"
		mkdir -p "$work"
		(set -eu; cd "$work"; "$fn") >"$work.log" 2>&1
		rc=$?
		if [ $rc = 0 ]; then
			echo "ok tools: $name"
			rm -rf "$work" "$work.log"
		elif [ $rc = 77 ]; then
			echo "skip tools: $name # $(tail -n 1 "$work.log")"
		else
			# The last line may be a count, or a check that passed. So also print the first
			# check that failed.
			reason=$(grep -a -m 1 -E '^(FAILED|not ok kmemtrace-report): ' "$work.log")
			echo "not ok tools: $name # $(tail -n 1 "$work.log")${reason:+: $reason} (build/tests/$name.log)"
			status=1
		fi
	done
	return "$status"
}

# in_order TEST...: run the tests in this order, for example because the first one builds what
# the others test.  run_tests must not run inside a condition, where bash ignores set -e.
in_order() {
	local t status=0

	for t in "$@"; do
		run_tests "$t"
		# shellcheck disable=SC2181
		[ $? = 0 ] || status=1
	done
	return $status
}

# build_tools: build the tools of $src without the sanitizers in $out, and with the sanitizers in
# $out/sanitized.  Programs that only tests use are built in $out/sanitized.  With TEST_ALL, they
# are also built in $out.
build_tools() {
	make -C "$src" O="$out" ${TEST_ALL:+tests}
	make -C "$src" O="$out/sanitized" SANITIZE=1 tests
}

# on_builds TEST: run $src/TEST, a test of the tools, on the build with the sanitizers.  With
# TEST_ALL, run it on the build without them, too.  Both runs go on at the same time, because a test
# mostly waits.  If only one of them fails, print its output last: run_tests shows the last line.
on_builds() {
	local plain= status=0

	: >plain.log
	if [ -n "${TEST_ALL:-}" ]; then
		"$src/$1" "$out" >plain.log 2>&1 &
		plain=$!
		# shellcheck disable=SC2064 # $plain is local, so expand it now
		trap "kill $plain" EXIT
	fi
	"$src/$1" "$out/sanitized" >sanitized.log 2>&1 || status=$?
	if [ -z "$plain" ] || wait "$plain"; then
		cat plain.log sanitized.log
	else
		status=1
		cat sanitized.log plain.log
	fi
	trap - EXIT
	return "$status"
}

die() {
	echo "$*"
	exit 1
}

# refuses TEXT COMMAND...: check that the command fails and its output has TEXT
refuses() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		die "must fail, but did not: $*: $out"
	fi
	case $out in
	*"$text"*) ;;
	*) die "no '$text' in the output of $*: $out" ;;
	esac
}

# says TEXT COMMAND...: check that the command succeeds and its output has TEXT
says() {
	local text=$1 out
	shift
	out=$("$@" 2>&1) || die "failed: $*: $out"
	case $out in
	*"$text"*) ;;
	*) die "no '$text' in the output of $*: $out" ;;
	esac
}

# quiet COMMAND...: check that the command succeeds and prints nothing
quiet() {
	local out
	out=$("$@" 2>&1) || die "failed: $*: $out"
	[ -z "$out" ] || die "must print nothing: $*: $out"
}

# fingerprint DIR: print every file in it with the hash of its content, and every link
# with its target
fingerprint() {
	(
		cd "$1" || exit
		find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 -r sha256sum
		find . -path ./.git -prune -o -type l -printf '%p -> %l\n' | sort
	)
}

# slice DIR FILE...: make a 6.1 tree of those files of the base, its Makefile, and
# .gitattributes, by which git diff recognises functions
slice() {
	local dir=$1
	shift
	mkdir -p "$dir"
	(cd "$top/build/linux-base" && cp -p --parents -t "$dir" Makefile .gitattributes "$@")
}

# Print the files that the real queue touches.
queue_files() {
	grep -h '^diff --git ' "$top"/patches/*.patch 2>/dev/null | sed 's|^diff --git a/\([^ ]*\) .*|\1|' | sort -u
}

need_queue() {
	[ -n "$(queue_files)" ] || { echo "the queue is empty"; exit 77; }
}

# clone_tools DIR: make a repository with only the tooling
clone_tools() {
	mkdir -p "$1"
	(cd "$top" && tar -c --exclude=__pycache__ --exclude=scripts/gdb .gitignore scripts Makefile packages.txt patches/cover-letter.txt patches/identity) |
		tar -x -C "$1"
	git -C "$1" init -q -b main
}

# clone_all DIR: make a repository with everything that this one has
clone_all() {
	mkdir -p "$1"
	(cd "$top" && git ls-files -zco --exclude-standard | rsync -a --ignore-missing-args --from0 --files-from=- ./ "$1/")
	git -C "$1" init -q -b main
	git -C "$1" add -A
	git -C "$1" commit -q -m everything
}

# fake_deb DIR PACKAGE VERSION ARCH [FILE...]: make a package; each file has its own name as text
fake_deb() {
	local dir=$1 package=$2 version=$3 arch=$4 root file
	shift 4
	root=$(mktemp -d "$work/deb.XXXXXX")
	mkdir -p "$dir" "$root/DEBIAN"
	chmod 755 "$root"
	printf '%s\n' "Package: $package" "Version: $version" "Architecture: $arch" \
		'Maintainer: tester <tester@localhost>' 'Description: none' >"$root/DEBIAN/control"
	for file; do
		mkdir -p "$root/$(dirname "$file")"
		echo "$file" >"$root/$file"
	done
	(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | xargs -0 -r md5sum >DEBIAN/md5sums)
	dpkg-deb -Zgzip -z1 --root-owner-group -b "$root" "$dir" >/dev/null
	rm -rf "$root"
}

# fixture: make ./repo with a base of three files, a queue of two patches that add
# lib/answer.c and a KUnit source, and build/linux made from both
fixture() {
	clone_tools repo
	slice "$PWD/kernel" lib/Makefile mm/slub.c mm/vmalloc.c
	cd repo || exit
	mkdir -p lib kunit
	printf '// SPDX-License-Identifier: GPL-2.0-only\nint answer;\n' >lib/answer.c
	printf '// SPDX-License-Identifier: GPL-2.0-only\nint question;\n' >kunit/answer_kunit.c
	KERNEL_SRC=../kernel scripts/tree
	echo 'obj-y += answer.o' >>build/linux/lib/Makefile
	record 'lib: hold an answer' 110-answer \
		'Adds: lib/answer.c' 'Adds: lib/answer_kunit.c (from kunit/answer_kunit.c)'
	sed -i '30s/^/\n/' build/linux/mm/slub.c
	record 'mm/slub: breathe' 210-breathe
	scripts/refresh
	git add -A
	git commit -q -m fixture
}

# record SUBJECT NAME [TRAILER...]: commit the edits of build/linux as that patch
record() {
	local subject=$1 name=$2
	shift 2
	git -C build/linux commit -q -a -m "$subject" -m 'Because it was not so before.' \
		-m "$(printf '%s\n' "$@" "Patch: $name" | sed '/^$/d')"
}
