# SPDX-License-Identifier: GPL-2.0-only
#
# kmemtrace with SLAB in place of SLUB.
#
# config: slab
# set: all
# script: kmemtrace
# append: sysctl.vm.mem_profiling=1 kmemtrace.subbufs=160
# modules: ctag_test ctag_keep alloc_rate
# programs: kmemtraced kmemtrace_check kmemtrace-report
# memory: 1G
# disk: 512M
# timeout: 300
