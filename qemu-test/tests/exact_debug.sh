# SPDX-License-Identifier: GPL-2.0-only
#
# exact.sh where everything that is nobody's warns.
#
# script: exact
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=1
# modules: ctag_test ctag_keep
# timeout: 240
# set: all
