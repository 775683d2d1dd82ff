/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A clock for costs. Under -icount it counts the instructions of the guest. The count is
 * exact on x86. On arm64 the clock counts nanoseconds, of which an instruction takes one, and
 * it advances by 16 at a time.
 */
#include <stdint.h>
#ifndef __aarch64__
#include <x86intrin.h>
#endif

static inline uint64_t cycles(void)
{
#ifdef __aarch64__
	uint64_t count, frequency;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count) :: "memory");
	return count * (1000000000 / frequency);
#else
	return __rdtsc();
#endif
}
