// SPDX-License-Identifier: GPL-2.0-only
/*
 * Empty file systems of kinds for which Debian has no program. Numbers and names of fields are
 * those of the kernel's headers of these file systems.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned char *disk;

static void set16(size_t at, uint16_t value)
{
	value = htobe16(value);
	memcpy(disk + at, &value, sizeof(value));
}

static void set32(size_t at, uint32_t value)
{
	value = htobe32(value);
	memcpy(disk + at, &value, sizeof(value));
}

static void set64(size_t at, uint64_t value)
{
	value = htobe64(value);
	memcpy(disk + at, &value, sizeof(value));
}

static void le16(size_t at, uint16_t value)
{
	value = htole16(value);
	memcpy(disk + at, &value, sizeof(value));
}

static void le32(size_t at, uint32_t value)
{
	value = htole32(value);
	memcpy(disk + at, &value, sizeof(value));
}

/* HFS+: blocks and nodes of 4 KiB; the header, the bitmap, two trees */

#define HFS_BLOCK	4096
#define HFS_BITMAP	1
#define HFS_EXTENTS	2
#define HFS_EXTENT_NODES	4
#define HFS_CATALOG	6
#define HFS_CATALOG_NODES	32
#define HFS_USED	(HFS_CATALOG + HFS_CATALOG_NODES)
#define HFS_HEADER	1024
#define HFS_DATE	3600000000U

static void hfs_fork(size_t at, unsigned int start, unsigned int blocks)
{
	set64(at, (uint64_t)blocks * HFS_BLOCK);
	set32(at + 8, HFS_BLOCK);
	set32(at + 12, blocks);
	set32(at + 16, start);
	set32(at + 20, blocks);
}

static void hfs_header(size_t at, unsigned int blocks)
{
	memcpy(disk + at, "H+", 2);
	set16(at + 2, 4);			/* version */
	set32(at + 4, 1 << 8);			/* unmounted cleanly */
	for (unsigned int i = 0; i < 4; i++)
		set32(at + 16 + 4 * i, HFS_DATE);
	set32(at + 40, HFS_BLOCK);
	set32(at + 44, blocks);
	set32(at + 48, blocks - HFS_USED - 1);	/* free */
	set32(at + 52, HFS_USED);		/* next to allocate */
	set32(at + 56, HFS_BLOCK);
	set32(at + 60, HFS_BLOCK);
	set32(at + 64, 16);			/* next ID */
	set64(at + 72, 1);			/* encodings */
	hfs_fork(at + 112, HFS_BITMAP, 1);
	hfs_fork(at + 192, HFS_EXTENTS, HFS_EXTENT_NODES);
	hfs_fork(at + 272, HFS_CATALOG, HFS_CATALOG_NODES);
}

/* The first node of a tree, of whose nodes `used` are in use */
static void hfs_tree(size_t at, unsigned int nodes, unsigned int used, unsigned int key, unsigned int flags)
{
	static const unsigned int offsets[] = { 14, 120, 248, HFS_BLOCK - 8 };
	unsigned int leaf = used > 1;

	disk[at + 8] = 1;			/* a header */
	set16(at + 10, 3);			/* records */
	set16(at + 14, leaf);			/* depth */
	set32(at + 16, leaf);			/* root */
	set32(at + 20, 2 * leaf);		/* records of leaves */
	set32(at + 24, leaf);
	set32(at + 28, leaf);
	set16(at + 32, HFS_BLOCK);
	set16(at + 34, key);
	set32(at + 36, nodes);
	set32(at + 40, nodes - used);
	set32(at + 46, HFS_BLOCK);
	set32(at + 52, flags);
	disk[at + 248] = used > 1 ? 0xc0 : 0x80;
	for (unsigned int i = 0; i < 4; i++)
		set16(at + HFS_BLOCK - 2 - 2 * i, offsets[i]);
}

static size_t hfs_name(size_t at, const char *name)
{
	unsigned int n = strlen(name);

	set16(at, n);
	for (unsigned int i = 0; i < n; i++)
		set16(at + 2 + 2 * i, name[i]);
	return at + 2 + 2 * n;
}

/* The root folder, and the record that leads from its ID to it */
static void hfs_catalog(size_t at)
{
	size_t p = at + 14, second;

	disk[at + 8] = 0xff;			/* a leaf */
	disk[at + 9] = 1;
	set16(at + 10, 2);
	set16(p, 4 + 2 + 8);
	set32(p + 2, 1);
	p = hfs_name(p + 6, "hunt");
	set16(p, 1);				/* a folder */
	set32(p + 8, 2);
	for (unsigned int i = 0; i < 5; i++)
		set32(p + 12 + 4 * i, HFS_DATE);
	set16(p + 42, 040755);
	second = p + 88;
	set16(second, 4 + 2);
	set32(second + 2, 2);
	p = hfs_name(second + 6, "");
	set16(p, 3);				/* a thread */
	set32(p + 4, 1);
	p = hfs_name(p + 8, "hunt");
	set16(at + HFS_BLOCK - 2, 14);
	set16(at + HFS_BLOCK - 4, second - at);
	set16(at + HFS_BLOCK - 6, p - at);
}

static void make_hfsplus(size_t size)
{
	unsigned int blocks = size / HFS_BLOCK;

	hfs_header(HFS_HEADER, blocks);
	hfs_header((size_t)blocks * HFS_BLOCK - 1024, blocks);
	for (unsigned int i = 0; i < HFS_BLOCK * 8; i++)
		if (i < HFS_USED || i >= blocks - 1)
			disk[HFS_BITMAP * HFS_BLOCK + i / 8] |= 0x80 >> (i & 7);
	hfs_tree(HFS_EXTENTS * HFS_BLOCK, HFS_EXTENT_NODES, 1, 10, 2);
	hfs_tree(HFS_CATALOG * HFS_BLOCK, HFS_CATALOG_NODES, 2, 516, 6);
	hfs_catalog((HFS_CATALOG + 1) * HFS_BLOCK);
}

/* FFS of the Amiga: the root in the middle, and the bitmap behind it */

#define AFFS_BLOCK	512
#define AFFS_MOST	4000

static void affs_sum(size_t at, size_t where)
{
	uint32_t sum = 0, word;

	for (unsigned int i = 0; i < AFFS_BLOCK; i += 4) {
		memcpy(&word, disk + at + i, sizeof(word));
		sum += be32toh(word);
	}
	set32(at + where, -sum);
}

static void make_affs(size_t size)
{
	unsigned int blocks = size / AFFS_BLOCK, root = (2 + blocks - 1) / 2;
	size_t at = (size_t)root * AFFS_BLOCK, map = at + AFFS_BLOCK;

	if (blocks > AFFS_MOST) {
		fprintf(stderr, "huntwork: at most %u KiB for affs\n", AFFS_MOST / 2);
		exit(2);
	}
	memcpy(disk, "DOS\1", 4);
	set32(at, 2);				/* T_SHORT */
	set32(at + 12, AFFS_BLOCK / 4 - 56);
	set32(at + AFFS_BLOCK - 200, ~0U);	/* the bitmap is valid */
	set32(at + AFFS_BLOCK - 196, root + 1);
	memcpy(disk + at + AFFS_BLOCK - 80, "\4hunt", 5);
	set32(at + AFFS_BLOCK - 4, 1);		/* ST_ROOT */
	affs_sum(at, 20);
	/* a bit is a free block, from block 2 on */
	for (unsigned int i = 2; i < blocks; i++) {
		unsigned int bit = i - 2, word;

		if (i == root || i == root + 1)
			continue;
		memcpy(&word, disk + map + 4 + bit / 32 * 4, sizeof(word));
		set32(map + 4 + bit / 32 * 4, be32toh(word) | 1U << bit % 32);
	}
	affs_sum(map, 0);
}

/* OMFS: blocks of 2 KiB */

#define OMFS_BLOCK	2048
#define OMFS_ROOT	4
#define OMFS_FOLDER	6
#define OMFS_BITMAP	8

static void omfs_head(unsigned int block, char type)
{
	size_t at = (size_t)block * OMFS_BLOCK;

	set64(at, block);
	set32(at + 8, OMFS_BLOCK - 24);
	disk[at + 16] = 1;
	disk[at + 17] = type;
	disk[at + 18] = 0xd2;
}

static void make_omfs(size_t size)
{
	unsigned int blocks = size / OMFS_BLOCK;
	unsigned int map = (blocks / 8 + OMFS_BLOCK - 1) / OMFS_BLOCK;
	size_t at = OMFS_ROOT * OMFS_BLOCK;

	set64(256, OMFS_ROOT);
	set64(264, blocks);
	set32(272, 0xc2993d87);
	set32(276, OMFS_BLOCK);
	set32(280, 2);				/* mirrors */
	set32(284, OMFS_BLOCK);
	omfs_head(OMFS_ROOT, 's');
	set64(at + 32, blocks);
	set64(at + 40, OMFS_FOLDER);
	set64(at + 48, OMFS_BITMAP);
	set32(at + 56, OMFS_BLOCK);
	set32(at + 60, 1);			/* cluster */
	set64(at + 64, 2);
	at = OMFS_FOLDER * OMFS_BLOCK;
	omfs_head(OMFS_FOLDER, 'e');
	set64(at + 24, ~0ULL);
	set64(at + 32, ~0ULL);
	disk[at + 83] = 'D';
	set64(at + 408, OMFS_BLOCK);
	memset(disk + at + 0x1b8, 0xff, OMFS_BLOCK - 0x1b8);
	/* the bits are in the order of the machine */
	for (unsigned int i = 0; i < OMFS_BITMAP + map; i++)
		disk[OMFS_BITMAP * OMFS_BLOCK + i / 8] |= 1 << (i & 7);
}

/* System V, release 4: blocks of 1 KiB; the list of free blocks is a chain of chunks */

#define SYSV_BLOCK	1024
#define SYSV_DATA	18	/* behind 16 blocks of inodes */
#define SYSV_CHUNK	50
#define SYSV_SUPER	512
#define SYSV_TIME	1000000000

static void sysv_free(unsigned int block)
{
	unsigned int n = disk[SYSV_SUPER + 8];
	size_t at = (size_t)block * SYSV_BLOCK;

	if (!n || n == SYSV_CHUNK) {
		le16(at, n);
		memcpy(disk + at + 4, disk + SYSV_SUPER + 12, 4 * n);
		n = 0;
	}
	le32(SYSV_SUPER + 12 + 4 * n, block);
	le16(SYSV_SUPER + 8, n + 1);
}

static void make_sysv(size_t size)
{
	unsigned int blocks = size / SYSV_BLOCK;
	size_t inode = 2 * SYSV_BLOCK + 64, folder = SYSV_DATA * SYSV_BLOCK;

	le16(SYSV_SUPER, SYSV_DATA);
	le32(SYSV_SUPER + 4, blocks);
	for (unsigned int i = blocks - 1; i > SYSV_DATA; i--)
		sysv_free(i);
	le32(SYSV_SUPER + 420, SYSV_TIME);
	le32(SYSV_SUPER + 432, blocks - SYSV_DATA - 1);
	le16(SYSV_SUPER + 436, 16 * 16 - 2);
	le32(SYSV_SUPER + 500, 0x7c269d38 - SYSV_TIME);
	le32(SYSV_SUPER + 504, 0xfd187e20);
	le32(SYSV_SUPER + 508, 2);
	le16(inode, 040755);
	le16(inode + 2, 2);
	le32(inode + 8, 32);
	disk[inode + 12] = SYSV_DATA;
	le16(folder, 2);
	disk[folder + 2] = '.';
	le16(folder + 16, 2);
	memcpy(disk + folder + 18, "..", 2);
}

static const struct {
	const char *name;
	void (*make)(size_t size);
} systems[] = {
	{ "affs", make_affs },
	{ "hfsplus", make_hfsplus },
	{ "omfs", make_omfs },
	{ "sysv", make_sysv },
};

/* mkfs TYPE FILE: an empty file system of the size of that file or device */
void do_mkfs(char **args)
{
	int fd = open_or_fail(args[1], O_RDWR);
	off_t size = must("lseek", lseek(fd, 0, SEEK_END));

	disk = room(size);
	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		if (strcmp(systems[i].name, args[0]))
			continue;
		systems[i].make(size);
		must("pwrite", pwrite(fd, disk, size, 0));
		must("fsync", fsync(fd));
		close(fd);
		free(disk);
		return;
	}
	fprintf(stderr, "huntwork: no file system %s\n", args[0]);
	exit(2);
}
