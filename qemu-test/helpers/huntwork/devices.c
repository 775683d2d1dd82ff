// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of devices.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

static unsigned char bytes[65536];

static size_t parse(const char *text)
{
	size_t n = 0;
	unsigned int byte;

	memset(bytes, 0, sizeof(bytes));
	for (; *text && n < sizeof(bytes); text++) {
		if (*text == '.')
			continue;
		if (*text == ':' ) {
			/* :TEXT is the rest, as it is */
			n += snprintf((char *)bytes + n, sizeof(bytes) - n, "%s", text + 1);
			break;
		}
		if (sscanf(text, "%2x", &byte) != 1) {
			fprintf(stderr, "huntwork: no bytes: %s\n", text);
			exit(2);
		}
		bytes[n++] = byte;
		text++;
	}
	return n;
}

/*
 * ioctl PATH WORD ARGS...: opens PATH and runs these words on it. A word that begins with - may
 * fail because the device does not have it.
 *
 *	call CODE NUMBER	an ioctl with a number
 *	with CODE BYTES		one with a pointer to BYTES, which zeros follow
 *	write BYTES
 *	read SIZE		what is there; nothing is no failure
 *	map SIZE		memory of the device
 *	sleep MILLISECONDS
 *
 * BYTES are in hexadecimal, with '.' between them; ':' begins text.
 */
void do_ioctl(char **args)
{
	int fd = must(args[0], open(args[0], O_RDWR | O_NONBLOCK | O_CLOEXEC));
	char **a = args + 1;

	while (*a) {
		const char *word = *a++;
		bool optional = *word == '-';
		long status = 0;
		void *p;

		word += optional;
		if (!strcmp(word, "call")) {
			status = ioctl(fd, strtoul(a[0], NULL, 0), number(a[1]));
			a++;
		} else if (!strcmp(word, "with")) {
			parse(a[1]);
			status = ioctl(fd, strtoul(a[0], NULL, 0), bytes);
			a++;
		} else if (!strcmp(word, "write")) {
			status = write(fd, bytes, parse(a[0]));
		} else if (!strcmp(word, "read")) {
			status = read(fd, bytes, number(a[0]));
			if (status < 0 && errno == EAGAIN)
				status = 0;
		} else if (!strcmp(word, "map")) {
			p = mmap(NULL, number(a[0]), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			status = p == MAP_FAILED ? -1 : munmap(p, number(a[0]));
		} else if (!strcmp(word, "sleep")) {
			usleep(number(a[0]) * 1000);
		} else {
			fprintf(stderr, "huntwork: no word %s\n", word);
			exit(2);
		}
		if (optional)
			may(*a, status);
		else
			must(*a, status);
		a++;
	}
	close(fd);
}

/* For reading and writing, or only for reading if it cannot be written; never waits. */
int open_device(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EINVAL || errno == EROFS || errno == EOPNOTSUPP))
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd;
}

/* open PATH...: opens each of them, and closes all of them together. */
void do_open(char **args)
{
	int fds[64], n = 0;

	for (; *args && n < 64; args++) {
		fds[n] = must(*args, open_device(*args));
		n++;
	}
	while (n)
		close(fds[--n]);
}

static void use_discipline(int n)
{
	int master = open_or_fail("/dev/ptmx", O_RDWR | O_NOCTTY), slave, zero = 0;
	struct termios t;
	char name[64];

	must("unlock", ioctl(master, TIOCSPTLCK, &zero));
	must("number", ioctl(master, TIOCGPTN, &zero));
	snprintf(name, sizeof(name), "/dev/pts/%d", zero);
	slave = open_or_fail(name, O_RDWR | O_NOCTTY);
	must("tcgetattr", tcgetattr(slave, &t));
	cfmakeraw(&t);
	must("tcsetattr", tcsetattr(slave, TCSANOW, &t));
	if (!may("line discipline", ioctl(slave, TIOCSETD, &n))) {
		close(slave);
		close(master);
		return;
	}
	may("write", write(master, "\xc0" "abcdef\r\x7e" "0123\x7e", 14));
	usleep(2000);
	n = 0;
	must("line discipline", ioctl(slave, TIOCSETD, &n));
	close(slave);
	close(master);
}

/*
 * ldisc N...: for each N a pair of terminals, the line discipline N on the slave, a few bytes
 * through it. SLIP makes a network device, which goes away with the line.
 */
void do_ldisc(char **args)
{
	for (; *args; args++)
		use_discipline(number(*args));
}
