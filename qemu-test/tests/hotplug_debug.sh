# SPDX-License-Identifier: GPL-2.0-only
#
# hotplug.sh where everything that is nobody's warns.
#
# script: hotplug
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1 movablecore=256M
# memory: 768M
# modules: ctag_test ctag_life ctag_keep
# expect-console: Memory failure: 0x[0-9a-f]+: recovery action
