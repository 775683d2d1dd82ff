# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suite of slab references on x86_64. Unlike User Mode Linux, x86_64 computes the
# place of a reference with products of 128 bits.  It also has the flat map and KFENCE.
#
# KFENCE takes an object each 20 ms, so its pool still has room when the suite runs.  The suite
# needs several objects of one call site.  KFENCE refuses them once its pool is filled to the
# threshold, so the threshold is 100 %.
#
# append: kunit.enable=1 kunit.filter_glob=slab_tag sysctl.vm.mem_profiling=1 kfence.sample_interval=20 kfence.skip_covered_thresh=100 log_buf_len=1M
# script: kunit32
