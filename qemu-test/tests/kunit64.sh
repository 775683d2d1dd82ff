# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suite of slab references on x86_64, which computes the place of a
# reference by products of 128 bits and has the flat map. User Mode Linux has neither.
#
# append: kunit.enable=1 kunit.filter_glob=slab_tag sysctl.vm.mem_profiling=1 log_buf_len=1M
# script: kunit32
