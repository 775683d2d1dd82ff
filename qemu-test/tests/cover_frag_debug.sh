# SPDX-License-Identifier: GPL-2.0-only
#
# cover_frag.sh where everything that is nobody's warns, and there are pools.
#
# script: cover_frag
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# modules: ctag_cover_frag
# timeout: 240
