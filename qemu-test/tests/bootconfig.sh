# SPDX-License-Identifier: GPL-2.0-only
#
# The boot parameter in a boot configuration, which splits it at the comma into two
# parameters.  The command line has precedence.
#
# script: bootparam
# bootconfig: kernel.sysctl.vm.mem_profiling = 1,compressed
# append: bootconfig
# append: bootconfig sysctl.vm.mem_profiling=0
