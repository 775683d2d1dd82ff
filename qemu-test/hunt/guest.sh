# SPDX-License-Identifier: GPL-2.0-only
#
# The walks of one guest of the hunt.  /qt/tasks calls these functions:
#
#	script NAME OPTION...		/qt/workloads/NAME.sh, with these options of faultwalk
#	sweep NAME MODULE OPTION...	a kernel module
#
# Points that are not to be walked are in /qt/done/NAME.  The output is for qemu-test/hunt/run,
# which takes each line as it comes.

# modules to load before a walk: of a script, those that it asks for; of a module, those that it needs
load_modules()
{
	for wanted in $1; do
		modprobe "$wanted" || echo "# cannot load $wanted"
	done
}

# A module may be in use by others: try several times.
unload_all()
{
	for round in 1 2 3 4 5 6; do
		awk '$3 == 0 { print $1 }' /proc/modules > /tmp/unused
		[ -s /tmp/unused ] || break
		while read -r unused; do
			rmmod "$unused" 2> /dev/null
		done < /tmp/unused
	done
	rm -f /tmp/unused
}

needs_of()
{
	sed -n "s|^[^ ]*/$1:||p" "/lib/modules/$(uname -r)/modules.dep" | tr ' ' '\n' | sed 's|.*/||;s|\.ko$||'
}

script()
{
	name=$1
	shift
	echo "task $name"
	load_modules "$(sed -n 's/^# modules: *//p' "/qt/workloads/$name.sh")"
	faultwalk script -s "/qt/workloads/$name.sh" -x "/qt/done/$name" "$@" 2>&1
	echo "ended $name $?"
}

sweep()
{
	name=$1
	module=$2
	shift 2
	echo "task $name"
	unload_all
	load_modules "$(needs_of "${module##*/}")"
	faultwalk sweep -m "/lib/modules/$(uname -r)/$module" -x "/qt/done/$name" "$@" 2>&1
	echo "ended $name $?"
}

ip link set lo up
. /qt/tasks
