# SPDX-License-Identifier: GPL-2.0-only
#
# life.sh where everything that is nobody's warns.
#
# script: life
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# modules: ctag_life ctag_keep
# timeout: 240
