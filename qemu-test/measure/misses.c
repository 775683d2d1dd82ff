// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU: models of caches and of a branch predictor, for a guest of x86_64 with
 * one CPU.
 *
 * The guest marks a workload by the instructions MARK_BEGIN() and MARK_END() of
 * helpers/marks.h. Between the two marks every access and every conditional jump passes
 * through the models; at the end the plugin writes one line to QEMU's log:
 *
 *	misses: instructions N l1i N l1d N l2 N jumps N wrong N
 *
 * What the models are, and leave out:
 *  - An L1 of 32 KiB for instructions and one for data, an L2 of 512 KiB for both, 8 ways
 *    each, lines of 64 bytes. The least recently used line is replaced. There is no
 *    prefetcher, so a walk over memory misses more often than on a real machine. Writing
 *    a line back costs nothing. QEMU shows a plugin no physical addresses of code, so a
 *    line that is both executed and accessed as data is in the L2 twice.
 *  - Conditional jumps are predicted by counters of two bits, which the address and the
 *    last 12 jumps select. Where a jump goes is always known: direct jumps, calls, returns
 *    and indirect jumps cost nothing.
 *  - There is no TLB. map-tlb.c measures one effect of it.
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
#define HISTORY_BITS 12

struct cache {
	unsigned int sets;
	uint64_t misses;
	uint64_t tag[1024][WAYS];	/* the most recently used comes first; 0 is empty */
};

static struct cache l1i = { .sets = 64 };
static struct cache l1d = { .sets = 64 };
static struct cache l2 = { .sets = 1024 };
static uint64_t instructions, jumps, wrong;
static bool counting;

/* Instructions that run in a row */
struct block {
	uint64_t start;
	uint64_t jump, taken, not_taken;	/* 0 if the last one is no conditional jump */
	unsigned int length;
};

static const struct block *last;
static uint8_t counter[1 << HISTORY_BITS];
static uint32_t history;

/* Is this line in the cache? It is afterwards, as the most recently used one. */
static bool hit(struct cache *c, uint64_t line)
{
	uint64_t *tag = c->tag[line % c->sets];
	unsigned int way;
	bool found;

	line++;
	for (way = 0; way < WAYS - 1; way++)
		if (tag[way] == line)
			break;
	found = tag[way] == line;
	memmove(tag + 1, tag, way * sizeof(*tag));
	tag[0] = line;
	c->misses += !found;
	return found;
}

/*
 * Counts one conditional jump, and one wrong prediction if the predictor expected the other
 * direction. Then tells the predictor which direction was right.
 */
static void predict(uint64_t jump, bool taken)
{
	uint8_t *c = &counter[(jump ^ history) % (1 << HISTORY_BITS)];

	jumps++;
	wrong += (*c >= 2) != taken;
	if (taken && *c < 3)
		++*c;
	else if (!taken && *c)
		--*c;
	history = history << 1 | taken;
}

static void fetched(unsigned int cpu, void *line)
{
	if (counting && !hit(&l1i, (uintptr_t)line))
		hit(&l2, (uintptr_t)line);
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *unused)
{
	struct qemu_plugin_hwaddr *where;
	uint64_t first, end, line;

	if (!counting)
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	first = qemu_plugin_hwaddr_phys_addr(where);
	end = (first + (1 << qemu_plugin_mem_size_shift(info)) - 1) >> LINE_SHIFT;
	for (line = first >> LINE_SHIFT; line <= end; line++)
		if (!hit(&l1d, line))
			hit(&l2, line);
}

/*
 * The next block shows whether the jump at the end of the previous block was taken. If an
 * exception or an interrupt comes before the jump, the next block is the handler. In this case
 * no jump is counted.
 */
static void entered(unsigned int cpu, void *data)
{
	const struct block *block = data;

	if (!counting)
		return;
	if (last && last->jump &&
	    (block->start == last->taken || block->start == last->not_taken))
		predict(last->jump, block->start == last->taken);
	last = block;
	instructions += block->length;
}

static void begin(unsigned int cpu, void *unused)
{
	l1i.misses = l1d.misses = l2.misses = 0;
	instructions = jumps = wrong = 0;
	last = NULL;
	counting = true;
}

static void end(unsigned int cpu, void *unused)
{
	char line[160];

	counting = false;
	snprintf(line, sizeof(line),
		 "misses: instructions %" PRIu64 " l1i %" PRIu64 " l1d %" PRIu64 " l2 %" PRIu64
		 " jumps %" PRIu64 " wrong %" PRIu64 "\n",
		 instructions, l1i.misses, l1d.misses, l2.misses, jumps, wrong);
	qemu_plugin_outs(line);
}

/* How far a conditional jump of x86 goes, in bytes; 0 for any other instruction. */
static int32_t jump_distance(const uint8_t *code, size_t size)
{
	int32_t distance = 0;

	if (size == 2 && (code[0] & 0xf0) == 0x70)
		distance = (int8_t)code[1];
	else if (size == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		memcpy(&distance, code + 2, sizeof(distance));
	return distance;
}

static void when_executed(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t callback,
			  void *data)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS, data);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static const uint8_t marks[2][3] = { { 0x66, 0x87, 0xdb }, { 0x66, 0x87, 0xc9 } };
	struct block *block = calloc(1, sizeof(*block));
	size_t n = qemu_plugin_tb_n_insns(tb);
	uintptr_t line = 0;

	if (!block)
		abort();
	block->start = qemu_plugin_tb_vaddr(tb);
	block->length = n;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint8_t *code = qemu_plugin_insn_data(insn);
		size_t size = qemu_plugin_insn_size(insn);
		uintptr_t place = (uintptr_t)qemu_plugin_insn_haddr(insn);
		int32_t distance = jump_distance(code, size);

		if (place >> LINE_SHIFT != line)
			when_executed(insn, fetched, (void *)(place >> LINE_SHIFT));
		line = (place + size - 1) >> LINE_SHIFT;
		if (place >> LINE_SHIFT != line)
			when_executed(insn, fetched, (void *)line);
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
		if (size == sizeof(marks[0]) && !memcmp(code, marks[0], size))
			when_executed(insn, begin, NULL);
		if (size == sizeof(marks[1]) && !memcmp(code, marks[1], size))
			when_executed(insn, end, NULL);
		if (i == n - 1 && distance) {
			block->jump = qemu_plugin_insn_vaddr(insn);
			block->not_taken = block->jump + size;
			block->taken = block->not_taken + distance;
		}
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS, block);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	if (argc || !info->system_emulation || info->system.smp_vcpus != 1) {
		fprintf(stderr, "misses: no arguments, and a guest with one CPU only\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
