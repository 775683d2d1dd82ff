// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile files of snapshots. An input is read as it is, and then as pieces from which a file
 * with correct checksums is made: the type of a record, the size of its contents in two
 * bytes, and the contents, which are packed if the record is a full snapshot.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes files
 * without damage and reads each of them cut off at every byte: exactly the snapshots that
 * are whole must be read, unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "fuzz.h"
#include "snap-record.h"
#include "snap.h"
#include "util.h"

static int fd = -1;

static void put_file(const uint8_t *data, size_t size)
{
	if (fd < 0)
		fd = memfd_create("snapshots", 0);
	EXPECT(fd >= 0 && !ftruncate(fd, 0));
	EXPECT(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void count(const char *file, uint64_t place, const char *what, void *data)
{
	EXPECT(*file && *what && place <= UINT32_MAX);
	++*(uint64_t *)data;
}

static uint64_t sum_of(const struct snap *snap)
{
	uint64_t sum = snap->time ^ snap->boottime;
	size_t i;

	EXPECT(!snap->meminfo[snap->meminfo_size] && !snap->allocinfo[snap->allocinfo_size]);
	for (i = 0; i < snap->meminfo_size; i++)
		sum = hash_u64(sum ^ (unsigned char)snap->meminfo[i]);
	for (i = 0; i < snap->allocinfo_size; i++)
		sum = hash_u64(sum ^ (unsigned char)snap->allocinfo[i]);
	return sum;
}

/* Reads the file. Returns the number of snapshots, and the sum of each of the first @max. */
static size_t read_file(uint64_t *sums, size_t max, uint64_t *complaints)
{
	struct snap_reader *reader;
	struct snap snap;
	size_t nr = 0;
	char path[32];
	uint64_t sum;

	*complaints = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snap_is_file(path);
	reader = snap_open(path, &(struct complainer){ count, complaints });
	EXPECT(reader);
	while (snap_next(reader, &snap)) {
		EXPECT(snap.nr == nr && snap.header->boot_id && snap.header->cmdline);
		sum = sum_of(&snap);
		if (nr < max)
			sums[nr] = sum;
		nr++;
	}
	snap_close(reader);
	return nr;
}

/* Appends a record to the file. */
static void put_record(unsigned char type, const uint8_t *data, size_t size)
{
	struct record record = { .type = type, .size = size, .text_size = size };
	size_t bound = ZSTD_compressBound(size);
	uint8_t *whole = need_memory(RECORD_SIZE + bound, 1);

	if (type == RECORD_FULL)
		record.size = ZSTD_compress(whole + RECORD_SIZE, bound, data, size, 1);
	else
		memcpy(whole + RECORD_SIZE, data, size);
	record.data = whole + RECORD_SIZE;
	record_pack(whole, &record);
	EXPECT(write(fd, whole, RECORD_SIZE + record.size) ==
	       (ssize_t)(RECORD_SIZE + record.size));
	free(whole);
}

static void put_pieces(const uint8_t *data, size_t size)
{
	size_t piece;

	EXPECT(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	for (; size > 3; data += piece, size -= piece) {
		piece = data[1] | data[2] << 8;
		data += 3;
		size -= 3;
		piece = piece < size ? piece : size;
		put_record(data[-3], data, piece);
	}
}

/**
 * LLVMFuzzerTestOneInput - read an input
 * @data: contents of a file
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t complaints;

	put_file(data, size);
	read_file(NULL, 0, &complaints);
	put_pieces(data, size);
	read_file(NULL, 0, &complaints);
	return 0;
}

#ifdef FUZZ_MAIN

#define SNAPS_MAX	256u

/* Counts the snapshots that end at or before each byte, and whether a record ends there. */
static void find_ends(size_t size, uint16_t *whole, bool *ends)
{
	struct buffer buffer = { 0 };
	uint64_t at = 0, end;
	struct record record;

	ends[0] = true;
	while (record_read(fd, at, size, &record, &buffer)) {
		end = at + RECORD_SIZE + record.size;
		for (at++; at <= end; at++)
			whole[at] = whole[at - 1];
		at = end;
		whole[at] += record.type == RECORD_FULL || record.type == RECORD_DELTA;
		ends[at] = true;
	}
	EXPECT(at == size);
	free(buffer.data);
}

static void check_cuts(const uint8_t *data, size_t size)
{
	uint64_t sums[SNAPS_MAX], cut_sums[SNAPS_MAX], complaints;
	uint16_t *whole = need_memory(size + 1, sizeof(*whole));
	bool *ends = need_memory(size + 1, sizeof(*ends));
	size_t cut, nr;

	put_file(data, size);
	find_ends(size, whole, ends);
	nr = read_file(sums, SNAPS_MAX, &complaints);
	EXPECT(nr && nr <= SNAPS_MAX && nr == whole[size] && !complaints);
	for (cut = size; cut--; ) {
		EXPECT(!ftruncate(fd, cut));
		nr = read_file(cut_sums, SNAPS_MAX, &complaints);
		EXPECT(nr == whole[cut] && complaints == !ends[cut]);
		EXPECT(!memcmp(sums, cut_sums, nr * sizeof(*sums)));
	}
	printf("%zu cuts, %u snapshots\n", size, whole[size]);
	free(whole);
	free(ends);
}

/* Flips each byte: no snapshot may be changed, at most some are missing. */
static void check_damage(uint8_t *data, size_t size)
{
	uint64_t sums[SNAPS_MAX], got[SNAPS_MAX], complaints;
	size_t at, i, j, nr, all;

	put_file(data, size);
	all = read_file(sums, SNAPS_MAX, &complaints);
	for (at = 0; at < size; at++) {
		data[at] ^= 0x55;
		put_file(data, size);
		data[at] ^= 0x55;
		nr = read_file(got, SNAPS_MAX, &complaints);
		EXPECT(nr <= all && complaints);
		for (i = j = 0; i < nr; i++, j++) {
			while (j < all && sums[j] != got[i])
				j++;
			EXPECT(j < all);
		}
	}
	printf("%zu bytes damaged\n", size);
}

static void check_file(uint8_t *data, size_t size)
{
	check_cuts(data, size);
	check_damage(data, size);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_file);
}
#endif
