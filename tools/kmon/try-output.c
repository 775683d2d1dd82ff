// SPDX-License-Identifier: GPL-2.0-only
/*
 * try-output FILE MAX PIECE [force|undo]: test the output of kmonlog without a device.
 *
 * It reads records from standard input in pieces of PIECE bytes, and writes them with the
 * functions of kmonlog: to FILE, or to standard output if FILE is "-". It prints the result
 * to standard error. With undo, it takes the output back, as kmonlog does if it cannot
 * start the device.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "record.h"

static uint8_t buffer[1024 * 1024];

static bool wait_for_output(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

	return poll(&poll_fd, 1, 2000) == 1;
}

int main(int argc, char **argv)
{
	struct output output = { .wait = wait_for_output };
	size_t fill = 0, whole, piece;
	ssize_t n;

	if (argc < 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	output.max = strtoull(argv[2], NULL, 10);
	piece = strtoull(argv[3], NULL, 10);
	if (!output_open(&output, strcmp(argv[1], "-") ? argv[1] : NULL, argc > 4))
		return 1;
	if (argc > 4 && !strcmp(argv[4], "undo")) {
		output_undo(&output);
		return 0;
	}
	do {
		n = read(STDIN_FILENO, buffer + fill, piece);
		fill += n > 0 ? n : 0;
		whole = record_whole(buffer, fill);
		output_put(&output, buffer, whole);
		fill -= whole;
		memmove(buffer, buffer + whole, fill);
	} while (n > 0 && !output.failed && !output.full);
	output_close(&output);
	fprintf(stderr, "%" PRIu64 " records, %" PRIu64 " bytes%s%s\n", output.records,
		output.bytes, output.full ? ", full" : "", output.failed ? ", failed" : "");
	return 0;
}
