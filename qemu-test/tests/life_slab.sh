# SPDX-License-Identifier: GPL-2.0-only
#
# life.sh with the other slab allocator, which has the size of a cache only under a
# name of its own.
#
# script: life
# config: slab
# append: sysctl.vm.mem_profiling=1 slab_nomerge
# modules: ctag_life ctag_keep
# timeout: 240
# set: all
