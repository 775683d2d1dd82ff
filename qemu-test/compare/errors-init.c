// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first program of the guest of qemu-test/compare/errors: loads ctag_err.ko and runs
 * errcodes, which checks what the kernel returns. Prints "errors: ok NAME" or
 * "errors: not ok NAME # WHY" for each case, and "errors: done" at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CODES	"/sys/kernel/debug/ctag_err/codes"

static void verdict(const char *name, const char *why)
{
	printf("errors: %sok %s%s%s\n", why ? "not " : "", name, why ? " # " : "", why ?: "");
	fflush(stdout);
}

static const char *load(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		return strerror(errno);
	close(fd);
	return NULL;
}

static const char *run(const char *what)
{
	pid_t child = fork();
	int status;

	if (!child) {
		execl("/bin/errcodes", "errcodes", what, NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return "errcodes died";
	return WEXITSTATUS(status) ? "see above" : NULL;
}

/* Count the returned codes whose names contain the text, and print them. */
static int codes(const char *text)
{
	FILE *f = fopen(CODES, "r");
	char line[256];
	int nr = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, text)) {
			printf("errors: # %s", line);
			nr++;
		}
	if (f)
		fclose(f);
	return nr;
}

/* Return NULL if fs/namespace.c refuses a mount with a code, else the complaint. */
static const char *refused_mount(void)
{
	int before = codes("-ENODEV at fs/namespace.c:");

	if (!mount("none", "/mnt", "no such type", 0, NULL) || errno != ENODEV)
		return strerror(errno);
	return codes("-ENODEV at fs/namespace.c:") > before ? NULL : "no line returned a code";
}

static const char *eight_codes(void)
{
	int nr = codes("at ctag_err.c:");

	return nr >= 8 ? NULL : "too few lines have returned a code";
}

int main(void)
{
	mkdir("/mnt", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) ||
	    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL))
		verdict("mounts", strerror(errno));
	verdict("module", load("/ctag_err.ko"));
	verdict("ways", run("ways"));
	verdict("others", run("others"));
	verdict("refused_mount", refused_mount());
	verdict("codes", eight_codes());
	verdict("thousands_of_lines", load("/ctag_err_many.ko"));
	printf("errors: done\n");
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}
