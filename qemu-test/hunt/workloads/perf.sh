# SPDX-License-Identifier: GPL-2.0-only
#
# Performance events: counters, groups, samples, breakpoints, probes
#
# programs: huntwork

work()
{
	F huntwork perf
}
