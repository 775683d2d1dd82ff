# SPDX-License-Identifier: GPL-2.0-only
#
# DMA memory and device-managed memory are charged to the line of the driver.  From a CMA
# area it comes page by page, so there is none: the module counts calls.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU slab_nomerge
# append@arm64: sysctl.vm.mem_profiling=1 cma=0
# append@arm64: sysctl.vm.mem_profiling=1 slub_debug=FZPU slab_nomerge cma=0
# timeout: 300
# modules: ctag_cover_dev

COVER=ctag_cover_dev
. /qt/lib.sh
. /qt/bin/cover

test_each_function()
{
	cover_all
}

# These files may allocate for themselves, but never for a driver.
test_r27_no_line_of_the_helpers()
{
	cover_fresh
	cover_want 20
	bad=$(tags | grep -E '(include/linux/(device|dma-mapping|dmapool|scatterlist)\.h|drivers/base/devres\.c|kernel/dma/(direct|mapping)\.c|lib/scatterlist\.c|mm/dmapool\.c):' | grep -v 'func:dma_direct_set_offset ')
	[ -z "$bad" ] || fail "$(echo "$bad" | head -1)"
	cover_want 0
	cover_unload
}

run_tests
