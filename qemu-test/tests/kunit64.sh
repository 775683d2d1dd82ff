# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suite of slab references on x86_64. Unlike User Mode Linux, x86_64 computes the
# place of a reference with products of 128 bits, and has the flat map and KFENCE.
#
# A sample each 20 ms leaves room in KFENCE's pool until the suite runs.  With a threshold of
# 100, KFENCE accepts several objects of one call site while its pool is nearly full.
#
# append: kunit.enable=1 kunit.filter_glob=slab_tag sysctl.vm.mem_profiling=1 kfence.sample_interval=20 kfence.skip_covered_thresh=100 log_buf_len=1M
# script: kunit32
