// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first program of a test guest: mounts file systems, runs one command,
 * reports its exit code, powers the machine off.
 *
 * The kernel command line names the command, so one initramfs serves every test:
 *
 *	qt.run=PATH	the command, run by /bin/sh; without it, a shell
 *	qt.tty=NAME	port for its standard output (default ttyS1)
 *	qt.interactive	give the command a controlling terminal on qt.tty
 *
 * The last line is "# qt: exit N".  If it is missing, the host reports a crash,
 * even if all cases before it passed.  So this program writes it after it has
 * reaped the command, and powers off after the line has left the port.
 *
 * Standard error stays on the console: errors of a test then appear among the
 * kernel's messages of the same time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const struct {
	const char *type, *where, *options;
} mounts[] = {
	{ "devtmpfs",	"/dev",			"mode=0755" },
	{ "proc",	"/proc",		NULL },
	{ "sysfs",	"/sys",			NULL },
	{ "debugfs",	"/sys/kernel/debug",	NULL },
	{ "tmpfs",	"/tmp",			"mode=1777" },
	{ "tmpfs",	"/run",			"mode=0755" },
	{ "tmpfs",	"/dev/shm",		"mode=1777" },
	{ "devpts",	"/dev/pts",		NULL },
};

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* no ACPI, or power-off failed: a reset ends qemu, which runs with -no-reboot */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void complain(const char *what)
{
	fprintf(stderr, "qt: %s: %s\n", what, strerror(errno));
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0,
			  mounts[i].options))
			complain(mounts[i].where);
	}
}

/* Without /dev/console in the initramfs the kernel starts process 1 without open files. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* The value of "name=" on the command line, "" for a bare "name", or NULL. */
static const char *parameter(const char *name)
{
	static char line[4096];
	static char value[512];
	size_t n = strlen(name);
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return NULL;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[len > 0 ? len : 0] = '\0';

	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		if (strncmp(word, name, n))
			continue;
		if (word[n] == '\0')
			return "";
		if (word[n] != '=')
			continue;
		snprintf(value, sizeof(value), "%s", word + n + 1);
		return value;
	}
	return NULL;
}

static int open_port(const char *name, bool interactive)
{
	struct termios t;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDWR | O_NOCTTY);
	if (fd < 0) {
		complain(path);
		return -1;
	}
	if (!interactive && !tcgetattr(fd, &t)) {
		cfmakeraw(&t);
		tcsetattr(fd, TCSANOW, &t);
	}
	return fd;
}

static void __attribute__((noreturn))
child(const char *command, int port, bool interactive)
{
	setsid();
	if (interactive) {
		ioctl(port, TIOCSCTTY, 1);
		dup2(port, STDIN_FILENO);
		dup2(port, STDERR_FILENO);
	} else {
		int null = open("/dev/null", O_RDONLY);

		if (null >= 0)
			dup2(null, STDIN_FILENO);
	}
	dup2(port, STDOUT_FILENO);
	close(port);
	if (chdir("/"))
		complain("chdir");
	if (command)
		execl("/bin/sh", "sh", command, (char *)NULL);
	else
		execl("/bin/sh", "-sh", (char *)NULL);
	complain("/bin/sh");
	_exit(127);
}

/* Also reaps orphans, as process 1 has to. */
static int wait_for(pid_t pid)
{
	int status;
	pid_t got;

	for (;;) {
		got = wait(&status);
		if (got == pid)
			break;
		if (got < 0 && errno != EINTR)
			return 126;
	}
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

int main(void)
{
	char command[512] = "", tty[32] = "ttyS1";
	const char *value;
	bool interactive;
	int port, code;
	pid_t pid;

	mount_all();
	open_console();
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin:/qt/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "linux", 0);

	value = parameter("qt.run");
	if (value)
		snprintf(command, sizeof(command), "%s", value);
	value = parameter("qt.tty");
	if (value)
		snprintf(tty, sizeof(tty), "%s", value);
	interactive = parameter("qt.interactive");

	port = open_port(tty, interactive);
	if (port < 0)
		port = dup(STDOUT_FILENO);

	pid = fork();
	if (pid < 0) {
		complain("fork");
		power_off();
	}
	if (!pid)
		child(*command ? command : NULL, port, interactive);

	code = wait_for(pid);
	/* a background job of the command must not write after our last line */
	kill(-1, SIGKILL);
	if (!interactive) {
		dprintf(port, "# qt: exit %d\n", code);
		tcdrain(port);
	}
	power_off();
}
