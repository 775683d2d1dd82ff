# SPDX-License-Identifier: GPL-2.0-only
#
# Tracing: one more function for a command of ftrace that has one already
#
# programs: huntwork

. /qt/workloads/lib.sh

prepare()
{
	cd /sys/kernel/debug/tracing || return
	echo vfs_open:traceoff:5 > set_ftrace_filter
	cat > /tmp/steps <<-'END'
	put set_ftrace_filter vfs_fsync:traceoff:5
	put set_ftrace_filter !vfs_fsync:traceoff:0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	echo '!vfs_fsync:traceoff:0' > set_ftrace_filter
	echo 1 > tracing_on
}
