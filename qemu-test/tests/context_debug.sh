# SPDX-License-Identifier: GPL-2.0-only
#
# context.sh under KASAN, lockdep and _DEBUG.
#
# script: context
# config: debug
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=4M
# modules: ctag_uses ctag_test ctag_life ctag_keep
# memory: 1G
# timeout: 400
# set: all
