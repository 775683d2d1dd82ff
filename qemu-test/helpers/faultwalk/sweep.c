// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload sweep: loads the module of -m, whatever it is, and unloads it.  All that it
 * depends on must be loaded.
 *
 * A module that finds no device refuses to load, also without a fault.
 *
 * The points of the module itself exist only while it is loaded, so no command can set them
 * in time.  The boot parameter dynamic_faults= can: with "class memory probability 0 task
 * faulted" fail-nth of the task decides which of its allocations fails, and the walk tries
 * the first, the second, and so on.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAIL_NTH	"/proc/self/fail-nth"

static char module_name[64];

static void sweep_set_up(void)
{
	const char *name;

	if (!module)
		die("sweep needs a module, -m");
	name = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	snprintf(module_name, sizeof(module_name), "%.*s", (int)strcspn(name, "."), name);
	for (char *p = module_name; *p; p++)
		if (*p == '-')
			*p = '_';
	if (access(module, R_OK))
		die("%s: %s", module, strerror(errno));
}

/* The file is opened anew each time: a descriptor could be hit itself. */
static void set_nth(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (write_text(FAIL_NTH, text))
		die("%s cannot be written", FAIL_NTH);
}

static bool nth_has_fired(void)
{
	char text[16] = "";
	int fd = open(FAIL_NTH, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	return n > 0 && !strtol(text, NULL, 10);
}

static bool load(int fd)
{
	return ok("finit_module", syscall(SYS_finit_module, fd, "", 0)) &&
	       ok("delete_module", syscall(SYS_delete_module, module_name, O_NONBLOCK));
}

static void sweep_work(void)
{
	int fd;

	if (!ok("open", fd = keep(open(module, O_RDONLY | O_CLOEXEC))))
		return;
	if (report->nth)
		set_nth(report->nth);
	load(fd);
	if (report->nth) {
		report->nth_fired = nth_has_fired();
		set_nth(0);
	}
	close_kept();
}

static bool try_unload(void)
{
	for (unsigned int i = 0; syscall(SYS_delete_module, module_name, O_NONBLOCK); i++) {
		if (errno == ENOENT)
			break;
		if (i == 50)
			return false;
		pause_ms(20);
	}
	return true;
}

static void sweep_clean(void)
{
	close_kept();
	if (!try_unload())
		report->left = true;
}

const struct work sweep_workload = {
	.name = "sweep",
	.work = sweep_work,
	.clean = sweep_clean,
	.set_up = sweep_set_up,
	.restore = try_unload,
	.may_fail = true,
	.by_nth = true,
};
