# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suite of slab references on x86_64.  It tests three things there that User Mode Linux
# does not have: multiplications with results of 128 bits, which find the place of a reference; the
# flat map; and KFENCE.
#
# KFENCE takes only one object each 20 ms, so that its pool is not full when the suite runs.  The
# suite needs several KFENCE objects of one call site.  Once a certain part of the pool is used,
# KFENCE takes no second object of a call site.  skip_covered_thresh sets this part in percent;
# with 100, KFENCE takes further objects until the pool is full.
#
# append: kunit.enable=1 kunit.filter_glob=slab_tag sysctl.vm.mem_profiling=1 kfence.sample_interval=20 kfence.skip_covered_thresh=100 log_buf_len=1M
# script: kunit
