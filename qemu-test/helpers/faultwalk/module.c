// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload module: loads the module of -m with both system calls, reads its
 * files, and unloads it.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char module_name[64];
static char *image;
static size_t image_size;

static void module_set_up(void)
{
	const char *name;
	struct stat st;
	int fd;

	if (!module)
		die("module needs a module, -m");
	name = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	snprintf(module_name, sizeof(module_name), "%.*s", (int)strcspn(name, "."), name);
	for (char *p = module_name; *p; p++)
		if (*p == '-')
			*p = '_';
	fd = open(module, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", module, strerror(errno));
	image_size = st.st_size;
	/* not big(), because the workload needs it after fork() */
	image = malloc(image_size);
	if (!image || read(fd, image, image_size) != st.st_size)
		die("%s: cannot be read", module);
	close(fd);
}

static bool unload(void)
{
	return ok("delete_module", syscall(SYS_delete_module, module_name, O_NONBLOCK));
}

/*
 * Read refcnt in sysfs, and "table" in debugfs if the module had that file in any
 * earlier run.
 */
static bool module_read(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module_name);
	if (!read_some(path) || !close_kept())
		return false;
	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/table", module_name);
	if (!access(path, R_OK))
		report->has_table = true;
	return !report->has_table || (read_some(path) && close_kept());
}

static void module_work(void)
{
	int fd;

	(void)(ok("init_module", syscall(SYS_init_module, image, image_size, "")) &&
	       module_read() && unload() &&
	       ok("open", fd = keep(open(module, O_RDONLY))) &&
	       ok("finit_module", syscall(SYS_finit_module, fd, "", 0)) &&
	       module_read() && read_some("/proc/modules") && unload());
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

static void module_clean(void)
{
	close_kept();
	if (!try_unload())
		report->left = true;
}

const struct work module_workload = {
	.name = "module",
	.work = module_work,
	.clean = module_clean,
	.set_up = module_set_up,
	.restore = try_unload,
};
