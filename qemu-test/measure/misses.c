// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU: models of caches, of a TLB and of a branch predictor, for a guest of
 * x86_64 with one CPU.
 *
 * The guest marks a workload: MARK_BEGIN and MARK_END of helpers/marks.h are exchanges
 * of a register with itself. Between the two marks every access and every branch passes
 * through the models; at the end the plugin prints one line:
 *
 *	misses: instructions N l1i N l1d N l2 N dtlb N map N branches N wrong N
 *
 * map is the part of dtlb that accesses to the range map=FIRST-LAST (two addresses,
 * hexadecimal, an argument of the plugin) cause.
 *
 * What the models are, and leave out:
 *  - L1 of 32 KiB for instructions and one for data, L2 of 512 KiB for both, 8 ways
 *    each, lines of 64 bytes, the least recently used line goes. No prefetcher, so a
 *    loop over memory misses more often than on a real machine.
 *  - A TLB for data with 64 entries in 8 ways. Entries are of 2 MiB in the direct map and
 *    in the struct pages of the kernel, which a kernel with KASLR off has at fixed addresses,
 *    and of 4 KiB elsewhere. A switch of the address space does not empty it.
 *  - Conditional branches are predicted by two bits, which 12 bits of history and the
 *    address select. Calls, returns and indirect jumps are not modelled.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define WAYS 8
#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define LARGE_SHIFT 21
#define HISTORY_BITS 12

struct cache {
	unsigned int sets;
	uint64_t misses;
	uint64_t tag[1024][WAYS];	/* the most recently used comes first; 0 is empty */
};

static struct cache l1i = { .sets = 64 };
static struct cache l1d = { .sets = 64 };
static struct cache l2 = { .sets = 1024 };
static struct cache dtlb = { .sets = 8 };
static uint64_t instructions, map_misses, branches, wrong;
static uint64_t map_first, map_last;
static bool counting;

/* The predictor, and the conditional branch that ran last */
static uint8_t counter[1 << HISTORY_BITS];
static uint32_t history;
static uint64_t branch_from, branch_not_taken;

struct block {
	uint64_t start, branch, after;	/* branch is 0 if the last instruction is none */
	unsigned int length;
};

/* Looks a key up and makes it the most recently used. */
static bool hit(struct cache *c, uint64_t key)
{
	uint64_t *tag = c->tag[key % c->sets];
	unsigned int way;
	bool found;

	key++;
	for (way = 0; way < WAYS - 1; way++)
		if (tag[way] == key)
			break;
	found = tag[way] == key;
	memmove(tag + 1, tag, way * sizeof(*tag));
	tag[0] = key;
	c->misses += !found;
	return found;
}

static void fetched(unsigned int cpu, void *line)
{
	if (counting && !hit(&l1i, (uintptr_t)line))
		hit(&l2, (uintptr_t)line);
}

static bool is_large(uint64_t address)
{
	return (address >= 0xffff888000000000 && address < 0xffffc88000000000) ||
	       (address >= 0xffffea0000000000 && address < 0xffffeb0000000000) ||
	       address >= 0xffffffff80000000;
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *unused)
{
	struct qemu_plugin_hwaddr *where;
	uint64_t physical, last, line;
	bool large;

	if (!counting)
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(where);
	large = is_large(address);
	if (!hit(&dtlb, large ? physical >> LARGE_SHIFT | 1ULL << 62 : physical >> PAGE_SHIFT))
		map_misses += address >= map_first && address < map_last;
	last = (physical + (1 << qemu_plugin_mem_size_shift(info)) - 1) >> LINE_SHIFT;
	for (line = physical >> LINE_SHIFT; line <= last; line++)
		if (!hit(&l1d, line))
			hit(&l2, line);
}

static void predict(bool taken)
{
	uint8_t *c = &counter[(branch_from ^ history) % (1 << HISTORY_BITS)];

	branches++;
	wrong += (*c >= 2) != taken;
	if (taken && *c < 3)
		++*c;
	else if (!taken && *c)
		--*c;
	history = history << 1 | taken;
}

static void entered(unsigned int cpu, void *data)
{
	struct block *block = data;

	if (!counting)
		return;
	if (branch_from)
		predict(block->start != branch_not_taken);
	branch_from = block->branch;
	branch_not_taken = block->after;
	instructions += block->length;
}

static void begin(unsigned int cpu, void *unused)
{
	l1i.misses = l1d.misses = l2.misses = dtlb.misses = 0;
	instructions = map_misses = branches = wrong = branch_from = 0;
	counting = true;
}

static void end(unsigned int cpu, void *unused)
{
	char line[256];

	counting = false;
	snprintf(line, sizeof(line),
		 "misses: instructions %" PRIu64 " l1i %" PRIu64 " l1d %" PRIu64 " l2 %" PRIu64
		 " dtlb %" PRIu64 " map %" PRIu64 " branches %" PRIu64 " wrong %" PRIu64 "\n",
		 instructions, l1i.misses, l1d.misses, l2.misses, dtlb.misses, map_misses,
		 branches, wrong);
	qemu_plugin_outs(line);
}

static bool is_conditional(const uint8_t *code, size_t size)
{
	return (size >= 2 && (code[0] & 0xf0) == 0x70) ||
	       (size >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const uint8_t marks[][3] = { { 0x66, 0x87, 0xdb }, { 0x66, 0x87, 0xc9 } };
	size_t n = qemu_plugin_tb_n_insns(tb), size = 0;
	struct block *block = calloc(1, sizeof(*block));
	struct qemu_plugin_insn *insn = NULL;
	uint64_t line, before = 0;
	const uint8_t *code = NULL;

	if (!block)
		abort();
	for (size_t i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		code = qemu_plugin_insn_data(insn);
		size = qemu_plugin_insn_size(insn);
		/* The address in QEMU stands for the physical one: equal pages share it */
		line = (uintptr_t)qemu_plugin_insn_haddr(insn) >> LINE_SHIFT;
		if (line != before)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, fetched,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)line);
		before = line;
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
		if (size == sizeof(marks[0]) && !memcmp(code, marks[0], size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begin,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		if (size == sizeof(marks[1]) && !memcmp(code, marks[1], size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
	block->start = qemu_plugin_tb_vaddr(tb);
	block->length = n;
	block->after = qemu_plugin_insn_vaddr(insn) + size;
	if (is_conditional(code, size))
		block->branch = qemu_plugin_insn_vaddr(insn);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS, block);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (sscanf(argv[i], "map=%" SCNx64 "-%" SCNx64, &map_first, &map_last) != 2) {
			fprintf(stderr, "misses: wrong argument %s\n", argv[i]);
			return -1;
		}
	if (!info->system_emulation || info->system.smp_vcpus != 1) {
		fprintf(stderr, "misses: for a guest with one CPU only\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
