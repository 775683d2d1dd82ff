# SPDX-License-Identifier: GPL-2.0-only
#
# teardown.sh where everything that is nobody's warns.
#
# script: teardown
# config: alloc-debug
# append: sysctl.vm.mem_profiling=1
# disk: 256M
# modules: ctag_test ctag_keep
# timeout: 600
# set: all
