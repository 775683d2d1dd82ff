// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps and programs of BPF.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/if_ether.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSN(c, d, s, o, i)	((struct bpf_insn){ c, d, s, o, i })
#define MOV(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define STORE(d, o, i)		INSN(BPF_ST | BPF_MEM | BPF_W, d, 0, o, i)
#define MAP(d, fd)		INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), \
				INSN(0, 0, 0, 0, 0)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define CALL_HERE(o)		INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, o)
#define IF_ZERO(d, o)		INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static long call(int command, union bpf_attr *a)
{
	return syscall(SYS_bpf, command, a, sizeof(*a));
}

static int make_map(unsigned int type, unsigned int key, unsigned int value, unsigned int n, unsigned int flags,
		    int inner)
{
	union bpf_attr a = {
		.map_type = type, .key_size = key, .value_size = value, .max_entries = n, .map_flags = flags,
		.inner_map_fd = inner, .map_name = "hunt",
	};

	return call(BPF_MAP_CREATE, &a);
}

static long element(int command, int map, const void *key, void *value, unsigned long flags)
{
	union bpf_attr a = { .map_fd = map, .key = (unsigned long)key, .value = (unsigned long)value, .flags = flags };

	return call(command, &a);
}

static const struct { unsigned int type, key, value, entries, flags; } kinds[] = {
	{ BPF_MAP_TYPE_HASH, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_HASH, 4, 8, 16, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_ARRAY, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_ARRAY, 4, 8, 16, BPF_F_MMAPABLE },
	{ BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 16, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_LRU_HASH, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_LRU_HASH, 4, 8, 256, BPF_F_NO_COMMON_LRU },
	{ BPF_MAP_TYPE_LRU_PERCPU_HASH, 4, 8, 16, 0 },
	{ BPF_MAP_TYPE_LPM_TRIE, 8, 8, 16, BPF_F_NO_PREALLOC },
	{ BPF_MAP_TYPE_STACK_TRACE, 4, 64, 16, 0 },
	{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_CGROUP_ARRAY, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_SOCKMAP, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_SOCKHASH, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_DEVMAP, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_DEVMAP_HASH, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_CPUMAP, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_XSKMAP, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_REUSEPORT_SOCKARRAY, 4, 4, 4, 0 },
	{ BPF_MAP_TYPE_QUEUE, 0, 8, 16, 0 },
	{ BPF_MAP_TYPE_STACK, 0, 8, 16, 0 },
	{ BPF_MAP_TYPE_BLOOM_FILTER, 0, 8, 16, 0 },
	{ BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0 },
	{ BPF_MAP_TYPE_USER_RINGBUF, 0, 0, 4096, 0 },
};

static void use_map(int map, unsigned int i)
{
	unsigned int key[2] = { 32, 1 };
	unsigned long value[64] = { 1 };

	for (unsigned int n = 0; n < 3; n++) {
		key[kinds[i].key > 4] = n;
		attempt("update", element(BPF_MAP_UPDATE_ELEM, map, kinds[i].key ? key : NULL, value, BPF_ANY));
	}
	attempt("lookup", element(BPF_MAP_LOOKUP_ELEM, map, kinds[i].key ? key : NULL, value, 0));
	attempt("next", element(BPF_MAP_GET_NEXT_KEY, map, NULL, value, 0));
	attempt("delete", element(BPF_MAP_DELETE_ELEM, map, key, NULL, 0));
	attempt("lookup and delete", element(BPF_MAP_LOOKUP_AND_DELETE_ELEM, map, kinds[i].key ? key : NULL, value, 0));
}

static void batch(int map)
{
	unsigned int keys[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, next = 0;
	unsigned long values[8 * 64] = { 0 };
	union bpf_attr a = { .batch = { .keys = (unsigned long)keys, .values = (unsigned long)values, .count = 8, .map_fd = map } };

	attempt("update a batch", call(BPF_MAP_UPDATE_BATCH, &a));
	a.batch.count = 8;
	a.batch.out_batch = (unsigned long)&next;
	attempt("look up a batch", call(BPF_MAP_LOOKUP_BATCH, &a));
	a.batch.count = 8;
	attempt("delete a batch", call(BPF_MAP_DELETE_BATCH, &a));
}

static void maps(void)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int map = make_map(kinds[i].type, kinds[i].key, kinds[i].value, kinds[i].entries, kinds[i].flags, 0);

		if (!may("map", map))
			continue;
		if (kinds[i].type == BPF_MAP_TYPE_RINGBUF || kinds[i].flags == BPF_F_MMAPABLE) {
			void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, map, 0);

			if (p == MAP_FAILED)
				fail("mmap of a map");
			munmap(p, 4096);
		} else {
			use_map(map, i);
			batch(map);
		}
		close(map);
	}
}

static void maps_of_maps(void)
{
	static const unsigned int outer[] = { BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_HASH_OF_MAPS };
	int inner = must("map", make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 2, 0, 0));

	for (unsigned int i = 0; i < 2; i++) {
		int map = must("map of maps", make_map(outer[i], 4, 4, 2, 0, inner));
		unsigned int key = 1, value = inner;

		must("update", element(BPF_MAP_UPDATE_ELEM, map, &key, &value, BPF_ANY));
		must("lookup", element(BPF_MAP_LOOKUP_ELEM, map, &key, &value, 0));
		close(map);
	}
	close(inner);
}

/* Type information with one integer */
static int types(void)
{
	struct {
		struct btf_header head;
		struct btf_type type;
		unsigned int encoding;
		struct btf_type record;
		struct btf_member member;
		char names[16];
	} __attribute__((packed)) b = {
		.head = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(b.head),
			  .type_len = offsetof(__typeof__(b), names) - sizeof(b.head),
			  .str_off = offsetof(__typeof__(b), names) - sizeof(b.head), .str_len = sizeof(b.names) },
		.type = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.encoding = BTF_INT_SIGNED << 24 | 32,
		.record = { .name_off = 5, .info = BTF_KIND_STRUCT << 24 | 1, .size = 4 },
		.member = { .name_off = 12, .type = 1 },
		.names = "\0int\0record\0one",
	};
	union bpf_attr a = { .btf = (unsigned long)&b, .btf_size = sizeof(b) };

	return must("types", call(BPF_BTF_LOAD, &a));
}

static int load(unsigned int type, unsigned int attach, const struct bpf_insn *insns, unsigned int n)
{
	static char log[65536];
	union bpf_attr a = {
		.prog_type = type, .expected_attach_type = attach, .insns = (unsigned long)insns, .insn_cnt = n,
		.license = (unsigned long)"GPL", .log_buf = (unsigned long)log, .log_size = sizeof(log), .log_level = 1,
		.prog_name = "hunt",
	};

	return call(BPF_PROG_LOAD, &a);
}

#define LOAD(type, attach, insns)	load(type, attach, insns, sizeof(insns) / sizeof((insns)[0]))

/* A program with a map, a function of its own and a loop of the verifier's states */
static int counting(unsigned int type, int map)
{
	const struct bpf_insn program[] = {
		MOV_REG(6, 1),
		STORE(10, -4, 0),
		MOV_REG(2, 10), ADD(2, -4),
		MAP(1, map),
		CALL(BPF_FUNC_map_lookup_elem),
		IF_ZERO(0, 1),
		STORE(0, 0, 7),
		MOV(1, 5),
		CALL_HERE(2),
		MOV(0, 0),
		EXIT,
		MOV_REG(0, 1),
		ADD(0, 1),
		EXIT,
	};

	return LOAD(type, 0, program);
}

static void run_once(int program)
{
	char in[ETH_HLEN + 50] = "", out[256];
	union bpf_attr a = { .test = { .prog_fd = program, .repeat = 2, .data_in = (unsigned long)in,
				       .data_size_in = sizeof(in), .data_out = (unsigned long)out,
				       .data_size_out = sizeof(out) } };

	may("run", call(BPF_PROG_TEST_RUN, &a));
}

static void programs(void)
{
	static const struct bpf_insn nothing[] = { MOV(0, 0), EXIT };
	static const struct bpf_insn one[] = { MOV(0, 1), EXIT };
	static const struct { unsigned int type, attach; bool one; } all[] = {
		{ BPF_PROG_TYPE_SOCKET_FILTER, 0, 0 }, { BPF_PROG_TYPE_SCHED_CLS, 0, 0 },
		{ BPF_PROG_TYPE_SCHED_ACT, 0, 0 }, { BPF_PROG_TYPE_XDP, 0, 1 }, { BPF_PROG_TYPE_KPROBE, 0, 0 },
		{ BPF_PROG_TYPE_TRACEPOINT, 0, 0 }, { BPF_PROG_TYPE_PERF_EVENT, 0, 0 },
		{ BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0 }, { BPF_PROG_TYPE_LWT_IN, 0, 0 },
		{ BPF_PROG_TYPE_LWT_XMIT, 0, 0 }, { BPF_PROG_TYPE_SK_SKB, 0, 1 }, { BPF_PROG_TYPE_SK_MSG, 0, 1 },
		{ BPF_PROG_TYPE_FLOW_DISSECTOR, 0, 0 }, { BPF_PROG_TYPE_LIRC_MODE2, 0, 0 },
		{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 1 },
		{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, 1 },
		{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 1 },
		{ BPF_PROG_TYPE_CGROUP_DEVICE, 0, 1 }, { BPF_PROG_TYPE_CGROUP_SYSCTL, 0, 1 },
		{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT, 1 }, { BPF_PROG_TYPE_SOCK_OPS, 0, 1 },
		{ BPF_PROG_TYPE_SK_REUSEPORT, 0, 1 }, { BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, 1 },
		{ BPF_PROG_TYPE_SYSCALL, 0, 0 },
	};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int fd = all[i].one ? LOAD(all[i].type, all[i].attach, one) : LOAD(all[i].type, all[i].attach, nothing);

		if (!may("program", fd))
			continue;
		run_once(fd);
		close(fd);
	}
}

/* Programs at work: on a socket, in a cgroup, at a trace point, in an array, in a file */
static void attachments(const char *cgroup)
{
	int map = must("map", make_map(BPF_MAP_TYPE_HASH, 4, 8, 4, 0, 0)), array, fd, s, dir;
	int filter = must("program", counting(BPF_PROG_TYPE_SOCKET_FILTER, map));
	unsigned int key = 0, value = filter;
	union bpf_attr a;
	static const struct bpf_insn one[] = { MOV(0, 1), EXIT };

	s = must("socket", socket(AF_INET, SOCK_DGRAM, 0));
	must("attach", setsockopt(s, SOL_SOCKET, SO_ATTACH_BPF, &filter, sizeof(filter)));
	close(s);
	array = must("map", make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0, 0));
	must("update", element(BPF_MAP_UPDATE_ELEM, array, &key, &value, BPF_ANY));
	must("delete", element(BPF_MAP_DELETE_ELEM, array, &key, NULL, 0));
	close(array);
	a = (union bpf_attr){ .map_fd = map };
	must("freeze", call(BPF_MAP_FREEZE, &a));
	a = (union bpf_attr){ .pathname = (unsigned long)"/sys/fs/bpf/hunt", .bpf_fd = filter };
	if (may("pin", call(BPF_OBJ_PIN, &a))) {
		a.bpf_fd = 0;
		fd = must("get", call(BPF_OBJ_GET, &a));
		close(fd);
		unlink("/sys/fs/bpf/hunt");
	}
	fd = counting(BPF_PROG_TYPE_RAW_TRACEPOINT, map);
	if (may("program", fd)) {
		a = (union bpf_attr){ .raw_tracepoint = { .name = (unsigned long)"sched_switch", .prog_fd = fd } };
		s = call(BPF_RAW_TRACEPOINT_OPEN, &a);
		if (may("raw trace point", s))
			close(s);
		close(fd);
	}
	dir = open(cgroup, O_RDONLY | O_DIRECTORY);
	if (dir >= 0) {
		fd = must("program", LOAD(BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, one));
		a = (union bpf_attr){ .target_fd = dir, .attach_bpf_fd = fd, .attach_type = BPF_CGROUP_INET_EGRESS,
				      .attach_flags = BPF_F_ALLOW_MULTI };
		must("attach", call(BPF_PROG_ATTACH, &a));
		/* the kernel refuses fields that a command does not have */
		a.attach_flags = 0;
		must("detach", call(BPF_PROG_DETACH, &a));
		a = (union bpf_attr){ .link_create = { .prog_fd = fd, .target_fd = dir, .attach_type = BPF_CGROUP_INET_EGRESS } };
		s = must("link", call(BPF_LINK_CREATE, &a));
		close(s);
		close(fd);
		close(dir);
	}
	close(filter);
	close(map);
}

/* bpf CGROUP: maps of all types, programs of most, and what they are attached to */
void do_bpf(char **args)
{
	maps();
	maps_of_maps();
	close(types());
	programs();
	attachments(args[0] ? args[0] : "/none");
}
