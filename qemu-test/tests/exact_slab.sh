# SPDX-License-Identifier: GPL-2.0-only
#
# exact.sh with the other slab allocator.
#
# script: exact
# config: slab
# set: all
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# timeout: 480
