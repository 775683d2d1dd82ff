# SPDX-License-Identifier: GPL-2.0-only
#
# fault.sh under KASAN, lockdep and _DEBUG.
#
# script: fault
# config: debug
# append: sysctl.vm.mem_profiling=1
# modules: ctag_uses ctag_test ctag_keep
# memory: 1G
# timeout: 300
# set: all
