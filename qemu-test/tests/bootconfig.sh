# SPDX-License-Identifier: GPL-2.0-only
#
# The boot parameter in a boot configuration; the command line overrules that.
#
# script: bootparam
# bootconfig: kernel.sysctl.vm.mem_profiling = 1
# append: bootconfig
# append: bootconfig sysctl.vm.mem_profiling=0
