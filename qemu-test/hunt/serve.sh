# SPDX-License-Identifier: GPL-2.0-only
#
# serve.sh WORKLOAD: the shell that runs a workload of the hunt, for helpers/faultwalk/script.c.
#
# It runs prepare() and answers "STATUS 0 prepare".  Then it reads a request a line from file 3:
#
#	run	work(), and then clean()
#	clean	only clean()
#	idle	a program that does nothing
#
# and writes an answer to file 4: "WORK CLEAN COMMAND:STATUS", the exit codes of both functions,
# and the first command of F that failed.  All other output belongs to the programs.

FLINKS=${FLINKS:-/tmp/.faulted}
FAILED=

# The name of a task is the last part of the path that it was started by.
link_faulted()
{
	for folder in /bin /sbin /usr/bin /usr/sbin /qt/bin; do
		[ -x "$folder/$1" ] || continue
		mkdir -p "$FLINKS/$1"
		ln -s "$folder/$1" "$FLINKS/$1/faulted"
		return
	done
	echo "no program $1" >&2
	return 127
}

# F COMMAND ARGS...: run it as a task that faults can hit.
F()
{
	[ -e "$FLINKS/$1/faulted" ] || link_faulted "$1" || return
	(
		program=$1
		shift
		exec -a "$program" "$FLINKS/$program/faulted" "$@" 3<&- 4>&-
	)
	code=$?
	[ $code = 0 ] || [ -n "$FAILED" ] || FAILED=$1:$code
	return $code
}

prepare()
{
	:
}

clean()
{
	:
}

. "$1"

# The shell prefers its own `ip` and the like to the programs that the workload asks for.
for program in $(sed -n 's/^# programs: *//p' "$1"); do
	case $program in
	*[!a-zA-Z0-9_]*) ;;
	*) eval "$program() { /bin/$program \"\$@\"; }" ;;
	esac
done

run()
{
	work
	worked=$?
	clean > /dev/null 2>&1
	echo "$worked $? ${FAILED:-work:$worked}" >&4
	exit 77
}

# An `exit` or a signal must not end this shell.
guarded()
{
	( "$@" )
	status=$?
	[ $status = 77 ] || echo "$status 1 shell:$status" >&4
}

clean_only()
{
	clean
	echo "0 $? clean" >&4
	exit 77
}

prepare 3<&- 4>&-
echo "$? 0 prepare" >&4
while read -r request <&3; do
	case $request in
	run) guarded run ;;
	clean) guarded clean_only ;;
	idle)
		F true
		echo "0 0 idle" >&4
		;;
	esac
done
