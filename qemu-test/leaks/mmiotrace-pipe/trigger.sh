# SPDX-License-Identifier: GPL-2.0-only
#
# The trace of accesses to devices is opened and closed.

prepare()
{
	mount -t tracefs none /sys/kernel/tracing
	echo mmiotrace > /sys/kernel/tracing/current_tracer
}

once()
{
	exec 3< /sys/kernel/tracing/trace_pipe
	exec 3<&-
}
