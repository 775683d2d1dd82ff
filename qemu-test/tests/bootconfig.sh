# SPDX-License-Identifier: GPL-2.0-only
#
# The boot parameter in a boot configuration, which makes two parameters of it; the
# command line overrules that.
#
# script: bootparam
# bootconfig: kernel.sysctl.vm.mem_profiling = 1,compressed
# append: bootconfig
# append: bootconfig sysctl.vm.mem_profiling=0
