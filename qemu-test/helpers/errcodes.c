// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks what user space sees of error codes in the result register.
 *
 *	errcodes ways		the ways out of the kernel, through /dev/ctag_err: each
 *				returns a plain error
 *	errcodes others		numbers that look like a code but are not one: they do
 *				not change
 *	errcodes leak		makes ctag_err leave a code in the register of a child
 *	errcodes mount DEV DIR TYPE
 *				prints the four errors of mount(2) and fsconfig(2), each
 *				from the 64-bit and the 32-bit entry
 *	errcodes remount DIR KEY VALUE
 *				prints the four errors of changing that option
 *	errcodes call NR ARG...	makes a system call by number and prints the result
 *
 * Exit code 0: all checks passed; 1: a check failed, with a note; 2: wrong usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define HELPER "errcodes"
#include "expect.h"
#include "../modules/ctag_err.h"

#define DEVICE "/dev/ctag_err"

/* The largest error of user space. */
#define MOST_OF_USERS	4095

/* Numbers of the 32-bit table; calls of the new mount API have the same number in both. */
#define NR32_READ	3
#define NR32_MOUNT	21
#define NR32_IOCTL	54

#define FSCONFIG_STRING	1
#define FSCONFIG_CREATE	6
#define FSCONFIG_RECONF	7

/* Below 4 GiB, for the 32-bit entry: the program is static and not relocated. */
static char device[256], dir[256], type[64];
static char source_key[] = "source";
static char buffer[4096];

/* Another architecture: no 32-bit entry, and library calls in place of registers. */
#ifdef __aarch64__
#include <elf.h>

static const int have_raw32;

static long raw(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0" : "+r" (x0)
			 : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4)
			 : "memory");
	return x0;
}

static long raw32(long nr, long a, long b, long c, long d, long e)
{
	(void)nr, (void)a, (void)b, (void)c, (void)d, (void)e;
	return -ENOSYS;
}

/* Returns from a signal's frame with the given value in the register. */
static long trap(long value)
{
	register long x0 __asm__("x0") = value;

	__asm__ volatile("brk #0" : "+r" (x0) : : "memory");
	return x0;
}

static void handle_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	((ucontext_t *)context)->uc_mcontext.pc += 4;
}

static int tracee_nr(pid_t child)
{
	int nr = -1;
	struct iovec iov = { &nr, sizeof(nr) };

	ptrace(PTRACE_GETREGSET, child, NT_ARM_SYSTEM_CALL, &iov);
	return nr;
}

static void tracee_skip(pid_t child)
{
	int nr = -1;
	struct iovec iov = { &nr, sizeof(nr) };

	ptrace(PTRACE_SETREGSET, child, NT_ARM_SYSTEM_CALL, &iov);
}

static void tracee_return(pid_t child, long value)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

	ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &iov);
	regs.regs[0] = value;
	ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &iov);
}

#else /* x86-64 */

static const int have_raw32 = 1;

/* Returns the register itself, without the conversion of a library. */
static long raw(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8)
			 : "rcx", "r11", "memory");
	return ret;
}

/* The entry of 32-bit programs; returns the part of the register that they see. */
static long raw32(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a" (ret)
			 : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

static long trap(long value)
{
	__asm__ volatile("int3" : "+a" (value) : : "memory");
	return value;
}

static void handle_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
}

static long tracee_nr(pid_t child)
{
	return ptrace(PTRACE_PEEKUSER, child,
		      offsetof(struct user_regs_struct, orig_rax), NULL);
}

static void tracee_skip(pid_t child)
{
	ptrace(PTRACE_POKEUSER, child,
	       offsetof(struct user_regs_struct, orig_rax), -1L);
}

static void tracee_return(pid_t child, long value)
{
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, rax), value);
}

#endif

static void is(const char *what, long got, long want)
{
	EXPECT(got == want, "%s: %ld, not %ld", what, got, want);
}

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR);

	EXPECT(fd >= 0, "%s: %s", DEVICE, strerror(errno));
	return fd;
}

/* The number of a code that was returned */
static int a_code(int fd)
{
	int code;

	EXPECT(!ioctl(fd, CTAG_ERR_CODE, &code), "ioctl: %s", strerror(errno));
	/* outside of the errors that user space can choose */
	EXPECT(code > MOST_OF_USERS && code < 32767, "the code is %d", code);
	return code;
}

/* The ways out */

static void by_system_call(int fd)
{
	struct iovec iov = { buffer, sizeof(buffer) };

	is("read", raw(SYS_read, fd, (long)buffer, 10, 0, 0), -EIO);
	is("write", raw(SYS_write, fd, (long)buffer, 10, 0, 0), -EINVAL);
	is("readv", raw(SYS_readv, fd, (long)&iov, 1, 0, 0), -EIO);
	is("ioctl", raw(SYS_ioctl, fd, CTAG_ERR_FAIL, 0, 0, 0), -EXDEV);
	if (have_raw32) {
		is("read, 32 bit", raw32(NR32_READ, fd, (long)buffer, 10, 0, 0),
		   -EIO);
		is("ioctl, 32 bit", raw32(NR32_IOCTL, fd, CTAG_ERR_FAIL, 0, 0, 0),
		   -EXDEV);
	}
	errno = 0;
	EXPECT(read(fd, buffer, 10) == -1 && errno == EIO, "errno is %d", errno);
}

static void by_aio(int fd)
{
	struct iocb cb = {
		.aio_fildes = fd,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_buf = (uintptr_t)buffer,
		.aio_nbytes = 10,
	}, *cbs = &cb;
	struct io_event event = { .res = 1 };
	aio_context_t ctx = 0;

	is("io_setup", raw(SYS_io_setup, 1, (long)&ctx, 0, 0, 0), 0);
	is("io_submit", raw(SYS_io_submit, ctx, 1, (long)&cbs, 0, 0), 1);
	is("io_getevents", raw(SYS_io_getevents, ctx, 1, 1, (long)&event, 0), 1);
	is("aio", event.res, -EIO);
	raw(SYS_io_destroy, ctx, 0, 0, 0, 0);
}

static void by_io_uring(int fd)
{
	struct io_uring_params p = { 0 };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	unsigned int *tail, *array;
	char *ring;
	int uring;

	uring = raw(SYS_io_uring_setup, 4, (long)&p, 0, 0, 0);
	EXPECT(uring >= 0, "io_uring_setup: %d", uring);
	EXPECT(p.features & IORING_FEAT_SINGLE_MMAP, "two rings");
	ring = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*cqe),
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, uring,
		    IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_POPULATE, uring, IORING_OFF_SQES);
	EXPECT(ring != MAP_FAILED && sqe != MAP_FAILED, "no ring: %s",
	       strerror(errno));

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_READ;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)buffer;
	sqe->len = 10;
	array = (unsigned int *)(ring + p.sq_off.array);
	tail = (unsigned int *)(ring + p.sq_off.tail);
	array[*tail % p.sq_entries] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	is("io_uring_enter", raw(SYS_io_uring_enter, uring, 1, 1,
				 IORING_ENTER_GETEVENTS, 0), 1);

	cqe = (struct io_uring_cqe *)(ring + p.cq_off.cqes);
	is("io_uring", cqe->res, -EIO);
	close(uring);
}

static void by_socket(int fd)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0), one = 1, err = -1;
	struct msghdr msg = { .msg_control = buffer,
			      .msg_controllen = sizeof(buffer) };
	struct sock_extended_err *ee;
	socklen_t len = sizeof(err);
	struct cmsghdr *c;

	EXPECT(s >= 0, "socket: %s", strerror(errno));
	is("ioctl", ioctl(fd, CTAG_ERR_SOCKET, &s), 0);
	is("getsockopt", getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &len), 0);
	is("SO_ERROR", err, EHOSTUNREACH);
	is("ioctl", ioctl(fd, CTAG_ERR_SOCKET, &s), 0);
	is("recvfrom", raw(SYS_recvfrom, s, (long)buffer, 10, 0, 0),
	   -EHOSTUNREACH);

	is("IP_RECVERR", setsockopt(s, IPPROTO_IP, IP_RECVERR, &one,
				    sizeof(one)), 0);
	is("ioctl", ioctl(fd, CTAG_ERR_QUEUE, &s), 0);
	EXPECT(recvmsg(s, &msg, MSG_ERRQUEUE) == 0, "MSG_ERRQUEUE: %s",
	       strerror(errno));
	c = CMSG_FIRSTHDR(&msg);
	EXPECT(c && c->cmsg_type == IP_RECVERR, "no IP_RECVERR");
	ee = (struct sock_extended_err *)CMSG_DATA(c);
	is("ee_errno", ee->ee_errno, ENETUNREACH);
	close(s);
}

/* Sends a request of generic netlink; returns the error in the answer, or 0. */
static int netlink(int s, int family, int flags, int cmd, const char *name)
{
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
		struct nlattr a;
		char name[16];
	} req = {
		.n = { sizeof(req.n) + sizeof(req.g), family,
		       NLM_F_REQUEST | flags, 1, 0 },
		.g = { .cmd = cmd, .version = 1 },
		.a = { sizeof(req.a) + sizeof(req.name),
		       CTRL_ATTR_FAMILY_NAME },
	};
	struct nlmsghdr *n = (struct nlmsghdr *)buffer;

	if (name) {
		strncpy(req.name, name, sizeof(req.name) - 1);
		req.n.nlmsg_len = sizeof(req);
	}
	EXPECT(send(s, &req, req.n.nlmsg_len, 0) > 0, "send: %s",
	       strerror(errno));
	EXPECT(recv(s, buffer, sizeof(buffer), 0) > 0, "recv: %s",
	       strerror(errno));
	if (n->nlmsg_type == NLMSG_ERROR || n->nlmsg_type == NLMSG_DONE)
		return *(int *)NLMSG_DATA(n);
	return 0;
}

static void by_netlink(void)
{
	int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC), family = 0;
	struct nlattr *a;

	EXPECT(s >= 0, "no netlink: %s", strerror(errno));
	is("family", netlink(s, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY,
			     CTAG_ERR_FAMILY), 0);
	a = (struct nlattr *)(buffer + NLMSG_HDRLEN + GENL_HDRLEN);
	while (!family) {
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(uint16_t *)(a + 1);
		a = (struct nlattr *)((char *)a + NLA_ALIGN(a->nla_len));
	}
	is("netlink", netlink(s, family, NLM_F_ACK, CTAG_ERR_REFUSE, NULL),
	   -EDOM);
	is("dump", netlink(s, family, NLM_F_DUMP, CTAG_ERR_DUMP, NULL),
	   -ERANGE);
	close(s);
}

/* A file system that reports an error, and a task that watches it */
static void by_fanotify(int fd)
{
	int fan = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY);
	struct fanotify_event_metadata *event = (void *)buffer;
	struct fanotify_event_info_header *info = (void *)(event + 1);
	int root, error = 0;
	ssize_t len;

	EXPECT(fan >= 0, "fanotify_init: %s", strerror(errno));
	EXPECT(!mount("none", "/mnt", "tmpfs", 0, NULL), "mount: %s",
	       strerror(errno));
	root = open("/mnt", O_RDONLY | O_DIRECTORY);
	EXPECT(root >= 0, "/mnt: %s", strerror(errno));
	EXPECT(!fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
			      FAN_FS_ERROR, AT_FDCWD, "/mnt"),
	       "fanotify_mark: %s", strerror(errno));
	is("ioctl", ioctl(fd, CTAG_ERR_REPORT, &root), 0);
	len = read(fan, buffer, sizeof(buffer));
	EXPECT(len > (ssize_t)sizeof(*event) && event->event_len == len &&
	       event->mask == FAN_FS_ERROR, "%zd bytes, events %llx", len,
	       (unsigned long long)event->mask);
	while ((char *)info < buffer + len && info->len) {
		if (info->info_type == FAN_EVENT_INFO_TYPE_ERROR)
			error = ((struct fanotify_event_info_error *)info)->error;
		info = (void *)((char *)info + info->len);
	}
	is("fanotify", error, -EUCLEAN);
	close(fan);
	close(root);
	umount("/mnt");
}

static int ways(void)
{
	int fd = open_device();

	by_system_call(fd);
	by_aio(fd);
	by_io_uring(fd);
	by_socket(fd);
	by_netlink();
	by_fanotify(fd);
	return 0;
}

/* Numbers that are no codes */

/* Check the verdict of a child about -code: its exit code is 0 if all is well. */
static void child_got(pid_t child, const char *what)
{
	int status;

	EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status),
	       "%s: the child died", what);
	is(what, WEXITSTATUS(status), 0);
}

/* A filter cannot return the number of a code: the kernel reduces it to the maximum. */
static void of_seccomp(int code)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, filter };
	pid_t child = fork();

	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
			_exit(2);
		_exit(raw(SYS_getppid, 0, 0, 0, 0, 0) != -MOST_OF_USERS);
	}
	child_got(child, "seccomp");
}

static void of_sigreturn(int code)
{
	struct sigaction action = { .sa_sigaction = handle_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	is("sigreturn", trap(-code), -code);
	signal(SIGTRAP, SIG_DFL);
}

/* at_entry: the system call is skipped; otherwise its value is replaced. */
static void of_tracer(int code, int at_entry)
{
	int status, stops = at_entry ? 1 : 2;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(raw(SYS_getppid, 0, 0, 0, 0, 0) != -code);
	}
	waitpid(child, &status, 0);
	/* raise() stops first, because it uses kill(): continue to getppid() */
	do {
		EXPECT(!ptrace(PTRACE_SYSCALL, child, NULL, NULL), "ptrace: %s",
		       strerror(errno));
		waitpid(child, &status, 0);
		EXPECT(WIFSTOPPED(status), "ptrace: the child ended");
	} while (tracee_nr(child) != SYS_getppid || --stops);
	if (at_entry)
		tracee_skip(child);
	tracee_return(child, -code);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	child_got(child, at_entry ? "tracer, at entry" : "tracer, at exit");
}

static void of_lseek(int fd, int code)
{
	int mem = open("/proc/self/mem", O_RDONLY);

	is("lseek", raw(SYS_lseek, mem, -code, SEEK_SET, 0, 0), -code);
	is("read behind it", raw(SYS_read, fd, (long)buffer, 1, 0, 0), -EIO);
	close(mem);
}

/* A process group whose number is that of the code */
static void of_getown(int fd, int code)
{
	pid_t want = code;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&want,
		.set_tid_size = 1,
	};
	pid_t child = raw(SYS_clone3, (long)&args, sizeof(args), 0, 0, 0);

	if (!child)
		for (;;)
			pause();
	EXPECT(child == code, "clone3: %d", child);
	EXPECT(!setpgid(child, child), "setpgid: %s", strerror(errno));
	is("F_SETOWN", raw(SYS_fcntl, fd, F_SETOWN, -code, 0, 0), 0);
	is("F_GETOWN", raw(SYS_fcntl, fd, F_GETOWN, 0, 0, 0), -code);
	is("read behind it", raw(SYS_read, fd, (long)buffer, 1, 0, 0), -EIO);
	if (have_raw32) {
		is("F_GETOWN, 32 bit", raw32(55, fd, F_GETOWN, 0, 0, 0), -code);
		is("read behind it",
		   raw32(NR32_READ, fd, (long)buffer, 1, 0, 0), -EIO);
	}
	raw(SYS_fcntl, fd, F_SETOWN, 0, 0, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int others(void)
{
	int fd = open_device(), code = a_code(fd);

	of_seccomp(code);
	of_sigreturn(code);
	of_tracer(code, 0);
	of_tracer(code, 1);
	of_lseek(fd, code);
	of_getown(fd, code);
	return 0;
}

/* Mounting */

typedef long (*call_t)(long, long, long, long, long, long);

/* Sets an option of the file system of fd, then runs a command on it. */
static long configure(call_t call, long fd, const char *key, const char *value, long command)
{
	long ret;

	if (fd < 0)
		return fd;
	ret = call(SYS_fsconfig, fd, FSCONFIG_STRING, (long)key, (long)value, 0);
	if (!ret)
		ret = call(SYS_fsconfig, fd, command, 0, 0, 0);
	close(fd);
	return ret;
}

static long create(call_t call)
{
	return configure(call, call(SYS_fsopen, (long)type, 0, 0, 0, 0),
			 source_key, device, FSCONFIG_CREATE);
}

static long reconfigure(call_t call, const char *key, const char *value)
{
	return configure(call, call(SYS_fspick, AT_FDCWD, (long)dir, 0, 0, 0),
			 key, value, FSCONFIG_RECONF);
}

static int mounting(char **argv)
{
	strncpy(device, argv[0], sizeof(device) - 1);
	strncpy(dir, argv[1], sizeof(dir) - 1);
	strncpy(type, argv[2], sizeof(type) - 1);
	printf("%ld %ld", raw(SYS_mount, (long)device, (long)dir, (long)type,
			      0, 0),
	       raw32(NR32_MOUNT, (long)device, (long)dir, (long)type, 0, 0));
	printf(" %ld %ld\n", create(raw), create(raw32));
	return 0;
}

static int remounting(char **argv)
{
	static char key[64], value[256], option[512];

	strncpy(dir, argv[0], sizeof(dir) - 1);
	strncpy(key, argv[1], sizeof(key) - 1);
	strncpy(value, argv[2], sizeof(value) - 1);
	snprintf(option, sizeof(option), "%s=%s", key, value);
	printf("%ld %ld", raw(SYS_mount, (long)device, (long)dir, (long)type,
			      MS_REMOUNT, (long)option),
	       raw32(NR32_MOUNT, (long)device, (long)dir, (long)type,
		     MS_REMOUNT, (long)option));
	printf(" %ld %ld\n", reconfigure(raw, key, value), reconfigure(raw32, key, value));
	return 0;
}

static int any_call(int argc, char **argv)
{
	long a[6] = { 0 };
	int i;

	for (i = 0; i < argc && i < 6; i++)
		a[i] = strtol(argv[i], NULL, 0);
	printf("%ld\n", raw(a[0], a[1], a[2], a[3], a[4], a[5]));
	return 0;
}

/* In the child, fork(2) or, without it, clone(2) returns the number of a code. */
#ifndef SYS_fork
#define SYS_fork	SYS_clone
#endif

static int leaking(int fd)
{
	long parent = raw(SYS_getpid, 0, 0, 0, 0, 0), ret;
	int status;

	EXPECT(!ioctl(fd, CTAG_ERR_LEAK), "ioctl: %s", strerror(errno));
	ret = raw(SYS_fork, SIGCHLD, 0, 0, 0, 0);
	if (raw(SYS_getpid, 0, 0, 0, 0, 0) != parent)
		_exit(ret >= -MOST_OF_USERS || ret <= -32767);
	EXPECT(ret > 0, "fork: %ld", ret);
	EXPECT(waitpid(ret, &status, 0) == ret && WIFEXITED(status) &&
	       !WEXITSTATUS(status), "the child has no code");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "ways"))
		return ways();
	if (argc == 2 && !strcmp(argv[1], "others"))
		return others();
	if (argc == 2 && !strcmp(argv[1], "leak"))
		return leaking(open_device());
	if (argc == 5 && !strcmp(argv[1], "mount"))
		return mounting(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "remount"))
		return remounting(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "call"))
		return any_call(argc - 2, argv + 2);
	fprintf(stderr, "usage: errcodes ways|others|leak|mount|remount|call\n");
	return 2;
}
