/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A clock for costs. Under -icount it counts the instructions of the guest: exactly on x86,
 * in steps of 16 on arm64, where it counts nanoseconds and an instruction takes one.
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
