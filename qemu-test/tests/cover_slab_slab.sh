# SPDX-License-Identifier: GPL-2.0-only
#
# cover_slab.sh with the other slab allocator.
#
# script: cover_slab
# config: slab
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slab_nomerge
# modules: ctag_cover_slab
# timeout: 240
# set: all
