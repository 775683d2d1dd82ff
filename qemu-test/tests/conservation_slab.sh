# SPDX-License-Identifier: GPL-2.0-only
#
# conservation.sh with the other slab allocator, whose lists of free objects are
# others.
#
# script: conservation
# config: slab
# append: sysctl.vm.mem_profiling=1
# memory: 768M
# disk: 256M
# modules: ctag_test ctag_life ctag_keep
# timeout: 480
# set: all
