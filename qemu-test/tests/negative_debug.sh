# SPDX-License-Identifier: GPL-2.0-only
#
# negative.sh where the kernel compares references with counters.
#
# script: negative
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_life ctag_keep
# timeout: 240
