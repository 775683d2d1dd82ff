// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dropping every privilege, once everything is open.
 *
 * If a client takes over the daemon, it still has the open files, which can only be read, the
 * listening socket and the connections. It can open no file, run no program, make no
 * connection and send no signal to another process.
 *
 * connect() is not the only call that connects: with MSG_FASTOPEN, sendto() and sendmsg() do,
 * and with an address, they reach any datagram socket. So sendto() may not have an address,
 * neither may have this flag. The filter cannot see the address of sendmsg(), so no datagram
 * socket may be open while clients are served: notify_ready() closes the only one.
 *
 * A system call that is not on the list fails with ENOSYS, as on a kernel that does not
 * have it. Then the C library and GnuTLS use an older call, or do without. A filter that kills
 * would end the daemon when a later version of them tries a new call. The daemon has one
 * thread, so no call that makes a thread is on the list.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve.h"

/* Data */

static const int allowed_calls[] = {
	/* the files, the clients, messages */
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(_llseek),
	SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64), SCMP_SYS(fstat), SCMP_SYS(fstat64),
	SCMP_SYS(accept4), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(recv),
	SCMP_SYS(shutdown),
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	/* the loop */
	SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(ppoll_time64), SCMP_SYS(restart_syscall),
	/* time and random numbers */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(gettimeofday),
	SCMP_SYS(time), SCMP_SYS(getrandom), SCMP_SYS(getrusage), SCMP_SYS(uname),
	/* memory */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(futex), SCMP_SYS(futex_time64), SCMP_SYS(sysinfo),
	/* the end, also by abort() */
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
	SCMP_SYS(getpid), SCMP_SYS(gettid),
};

/* Internals */

static bool failed(const char *what, int err)
{
	fprintf(stderr, "%s: cannot drop privileges: %s: %s\n", program_invocation_short_name,
		what, strerror(err));
	return false;
}

/* The hard limit stays if only root could raise it. */
static bool set_limit(const char *name, int resource, rlim_t value)
{
	struct rlimit limit = { value, value };

	return !setrlimit(resource, &limit) || failed(name, errno);
}

/*
 * Files are for the clients. There is no core file, because it would have the passwords, no
 * further process, and no locked memory.
 */
static bool limit_resources(uint64_t files)
{
	return set_limit("open files", RLIMIT_NOFILE, files) &&
	       set_limit("core file", RLIMIT_CORE, 0) &&
	       set_limit("processes", RLIMIT_NPROC, 0) &&
	       set_limit("locked memory", RLIMIT_MEMLOCK, 0);
}

static bool change_user(const struct passwd *user)
{
	if (setgroups(0, NULL))
		return failed("setgroups", errno);
	if (setresgid(user->pw_gid, user->pw_gid, user->pw_gid))
		return failed("setresgid", errno);
	if (setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return failed("setresuid", errno);
	return true;
}

/*
 * A daemon that systemd starts as a user has ambient capabilities, which no change of the
 * user drops. The bounding set can be emptied only with CAP_SETPCAP; it has no effect
 * without an execve().
 */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, none))
		return failed("capset", errno);
	return true;
}

static void empty_bounding_set(void)
{
	int cap;

	/* below 0 there is no such capability */
	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/* Calls that are allowed only with some arguments. */
static int allow_in_part(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp not_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	const struct {
		int call;
		unsigned int nr;
		struct scmp_arg_cmp args[2];
	} rules[] = {
		{ SCMP_SYS(mmap), 1, { not_code } },
		{ SCMP_SYS(mprotect), 1, { not_code } },
		/* the C library calls newfstatat() with this flag for fstat() */
		{ SCMP_SYS(newfstatat), 1, { SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH, 0) } },
		{ SCMP_SYS(sendto), 2, { SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0),
					 SCMP_A4(SCMP_CMP_EQ, 0, 0) } },
		{ SCMP_SYS(send), 1, { SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0) } },
		{ SCMP_SYS(sendmsg), 1, { SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0) } },
		{ SCMP_SYS(tgkill), 1, { SCMP_A0(SCMP_CMP_EQ, getpid(), 0) } },
	};
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules) && !err; i++)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rules[i].call, rules[i].nr,
					     rules[i].args);
	return err;
}

static int allow_calls(scmp_filter_ctx filter)
{
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(allowed_calls) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	return err ? err : allow_in_part(filter);
}

static bool filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = filter ? allow_calls(filter) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return !err || failed("seccomp", -err);
}

/* Interface */

/**
 * confine - drop every privilege
 * @user: user to become if this one is root
 * @files: number of files that may be open
 *
 * Return: false after a message.
 */
bool confine(const char *user, uint64_t files)
{
	const struct passwd *entry = NULL;

	if (!geteuid()) {
		errno = 0;
		entry = getpwnam(user);
		if (!entry || !entry->pw_uid)
			return failed(user, entry ? EPERM : errno ? errno : ENOENT);
	}
	if (!limit_resources(files))
		return false;
	empty_bounding_set();
	if (entry && !change_user(entry))
		return false;
	if (!drop_capabilities())
		return false;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return failed("PR_SET_DUMPABLE", errno);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return failed("PR_SET_NO_NEW_PRIVS", errno);
	return filter_calls();
}
