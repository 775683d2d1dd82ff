# SPDX-License-Identifier: GPL-2.0-only
#
# moves.sh where everything that is nobody's warns.
#
# script: moves
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# memory: 768M
# disk: 256M
# timeout: 240
