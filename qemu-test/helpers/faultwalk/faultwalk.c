// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the fault points of class memory that a workload comes by: each of them
 * fails, and what became of that is a line. See
 * Documentation/fault-injection/dynamic-fault.rst.
 *
 *	faultwalk WORK [-d DISK] [-m MODULE.ko] [-n MOST] [-k SKIP]
 *
 * WORK is one of
 *
 *	ext4	mounts DISK on /mnt and does to it what can be done to files
 *	sockets	TCP, UDP, unix, packet and netlink sockets, epoll, pipes and the like;
 *		lo has to be up
 *	module	loads MODULE.ko, in both ways, reads what it shows, unloads it
 *	exec	processes, threads, programs, and memory of all kinds
 *
 * MOST and SKIP choose among the points, in the order of the list. Output:
 *
 *	point FILE:LINE func:F module:M fired:N result:R splat:S leak:L bytes:N
 *		R: CALL:WHY, the first call that failed, in user space; succeeded;
 *		signal:N, of which the workload died; hung; unreached
 *		S: no, or a line of the kernel log, with _ for each space
 *		L: no, or LINE+N/4, ...: so many more calls after 4 more faults
 *		N: bytes that there are more of after 4 more faults, with what is
 *		chance in that
 *	broken FILE:LINE func:F module:M R
 *		the workload does R without a fault from then on, so the walk ends
 *	walked N fired N splats N leaks N hung N unreached N
 *	# ...				remarks
 *
 * This program is "walker", and who does the work "faulted": only that task, and
 * those it starts, can be hit. It says where it fails in memory shared with the
 * walker, since any other way could fail as well, and then cleans up; the fault has
 * fired by then.
 *
 * A leak is a line of /proc/allocinfo that has four calls more for four faults more,
 * still has them after all that is freed in time has been, and again for another
 * four. Needs vm.mem_profiling=1; without it there are no leaks.
 *
 * Exit code: 2 for wrong usage, and when this program itself cannot go on.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/if_packet.h>
#include <linux/membarrier.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define FAULTS		"/sys/kernel/debug/dynamic_faults"
#define INFO		"/proc/allocinfo"
#define KMSG		"/dev/kmsg"
#define DROP		"/proc/sys/vm/drop_caches"

#define WALKER		"walker"
#define FAULTED		"faulted"
#define PROGRAM		"/tmp/" FAULTED
#define SCRIPT_DIR	"/tmp/.faultwalk"
#define SCRIPT		SCRIPT_DIR "/" FAULTED
#define QUIT		"quit"

#define HANGS		20	/* s a run may take */
#define RETRIES		3	/* runs until a point is called unreached */
#define MORE		4	/* runs for leaks */
#define KIB		1024UL
#define MIB		(KIB * KIB)

static const char *disk, *module;
static char module_name[64];

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "faultwalk: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(2);
}

static void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* What a workload says. One page, shared by the walker and all it starts. */

static struct report {
	char call[32];		/* that failed first; empty: none */
	char why[32];
	bool left;		/* something could not be cleaned up */
	bool has_table;		/* of a module */
} *report;

static bool failed(const char *call, const char *why)
{
	if (!*report->call) {
		snprintf(report->why, sizeof(report->why), "%s", why ?: "?");
		snprintf(report->call, sizeof(report->call), "%s", call);
	}
	return false;
}

static bool ok(const char *call, long ret)
{
	return ret >= 0 || failed(call, strerrorname_np(errno));
}

/* A number that is an error, as pthreads return it. */
static bool ok_error(const char *call, int error)
{
	return !error || failed(call, strerrorname_np(error));
}

static bool ok_all(const char *call, long got, long want)
{
	return ok(call, got) && (got == want || failed(call, "short"));
}

static bool ok_map(const char *call, const void *p)
{
	return p != MAP_FAILED || failed(call, strerrorname_np(errno));
}

/* Files that a workload has open, however it ends. */
static int kept[64];
static unsigned int nr_kept;

static int keep(int fd)
{
	if (fd >= 0)
		kept[nr_kept++] = fd;
	return fd;
}

/* They are gone whatever close() says. */
static bool close_kept(void)
{
	bool good = true;

	while (nr_kept)
		good &= ok("close", close(kept[--nr_kept]));
	return good;
}

static _Alignas(4096) char data[64 * KIB];
static _Alignas(4096) char back[64 * KIB];

static bool read_some(const char *path)
{
	int fd;

	return ok("open", fd = keep(open(path, O_RDONLY))) &&
	       ok("read", read(fd, back, sizeof(back)));
}

/* WORK ext4 */

#define MNT	"/mnt"
#define WALK	MNT "/walk"
#define NR_LONG	12

static bool mounted;

static const char *long_name(unsigned int i)
{
	static char name[256];

	/* five of them fill a block of the directory, which becomes a tree */
	snprintf(name, sizeof(name), WALK "/%02u%0180u", i, i);
	return name;
}

static bool ext4_data(int fd)
{
	if (!ok_all("write", write(fd, data, sizeof(data)), sizeof(data)) ||
	    !ok("fsync", fsync(fd)) ||
	    !ok_error("fadvise", posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) ||
	    !ok_all("pread", pread(fd, back, sizeof(back), 0), sizeof(back)))
		return false;
	return !memcmp(data, back, sizeof(data)) || failed("pread", "other_data");
}

/* More pieces than an inode has room for. */
static bool ext4_pieces(int fd)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) + 4 * sizeof(struct fiemap_extent)];
	} m = { .map = { .fm_length = ~0ULL, .fm_extent_count = 4 } };

	for (unsigned int i = 2; i < 10; i++)
		if (!ok_all("pwrite", pwrite(fd, data, 100, i * 64 * KIB), 100))
			return false;
	return ok("fdatasync", fdatasync(fd)) &&
	       ok("fiemap", ioctl(fd, FS_IOC_FIEMAP, &m)) &&
	       ok("fallocate", fallocate(fd, 0, MIB, MIB)) &&
	       ok("fallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					 3 * 64 * KIB, 128 * KIB)) &&
	       ok("ftruncate", ftruncate(fd, 5 * 64 * KIB + 10)) &&
	       ok("fsync", fsync(fd));
}

static bool ext4_mapped(int fd)
{
	void *p;
	bool good;

	if (!ok_map("mmap", p = mmap(NULL, sizeof(data), PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0)))
		return false;
	/* an error, where a store would be a signal */
	good = ok("madvise", madvise(p, sizeof(data), MADV_POPULATE_WRITE)) &&
	       ok("msync", msync(p, sizeof(data), MS_SYNC));
	return ok("munmap", munmap(p, sizeof(data))) && good;
}

static bool ext4_direct(void)
{
	int fd;

	return ok("open", fd = keep(open(WALK "/direct", O_RDWR | O_CREAT | O_DIRECT, 0600))) &&
	       ok_all("write", write(fd, data, sizeof(data)), sizeof(data)) &&
	       ok_all("pread", pread(fd, back, sizeof(back), 0), sizeof(back));
}

static bool ext4_locks(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 100 };

	if (!ok("flock", flock(fd, LOCK_EX)) ||
	    !ok("fcntl", fcntl(fd, F_SETLK, &lock)))
		return false;
	lock.l_type = F_UNLCK;
	lock.l_start = 40;
	lock.l_len = 20;
	return ok("fcntl", fcntl(fd, F_SETLK, &lock));
}

static bool ext4_list(void)
{
	long n;
	int fd;

	if (!ok("open", fd = open(WALK, O_RDONLY | O_DIRECTORY)))
		return false;
	do
		n = syscall(SYS_getdents64, fd, back, sizeof(back));
	while (n > 0);
	if (!ok("getdents", n)) {
		close(fd);
		return false;
	}
	return ok("close", close(fd));
}

static bool ext4_links(void)
{
	char target[101] = "a";
	struct stat st;

	if (!ok("link", link(WALK "/a", WALK "/hard")) ||
	    !ok("symlink", symlink(target, WALK "/short")))
		return false;
	memset(target, 'x', sizeof(target) - 1);
	return ok("symlink", symlink(target, WALK "/long")) &&
	       ok("stat", stat(WALK "/short", &st)) &&
	       ok("readlink", readlink(WALK "/short", back, sizeof(back))) &&
	       ok("readlink", readlink(WALK "/long", back, sizeof(back)));
}

static bool ext4_names(void)
{
	int fd;

	if (!ok("inotify_init1", fd = keep(inotify_init1(IN_NONBLOCK))) ||
	    !ok("inotify_add_watch", inotify_add_watch(fd, WALK, IN_ALL_EVENTS)))
		return false;
	for (unsigned int i = 0; i < NR_LONG; i++)
		if (!ok("mknod", mknod(long_name(i), S_IFREG | 0600, 0)))
			return false;
	return ok("read", read(fd, back, sizeof(back))) &&
	       ok("mkdir", mkdir(WALK "/sub", 0700)) &&
	       ok("rename", rename(long_name(0), WALK "/sub/moved")) &&
	       ok("rename", rename(WALK "/sub/moved", WALK "/b")) &&
	       ok("renameat2", renameat2(AT_FDCWD, WALK "/a", AT_FDCWD, WALK "/b",
					 RENAME_EXCHANGE)) &&
	       ext4_links() && ext4_list();
}

static bool ext4_attributes(void)
{
	static const struct {
		uint32_t version;
		struct { uint16_t tag, perm; uint32_t id; } entries[5];
	} acl = { 2, { { 1, 6, -1 }, { 2, 4, 65534 }, { 4, 4, -1 }, { 0x10, 4, -1 },
		       { 0x20, 0, -1 } } };

	return ok("setxattr", setxattr(WALK "/b", "user.small", "1234", 4, 0)) &&
	       ok("setxattr", setxattr(WALK "/b", "user.large", data, 700, 0)) &&
	       ok("setxattr", setxattr(WALK "/b", "system.posix_acl_access", &acl,
				       sizeof(acl), 0)) &&
	       ok("chmod", chmod(WALK "/b", 0640)) &&
	       ok_all("getxattr", getxattr(WALK "/b", "user.large", back, 1000), 700) &&
	       ok("getxattr", getxattr(WALK "/b", "system.posix_acl_access", back, 1000)) &&
	       ok("listxattr", listxattr(WALK "/b", back, 1000)) &&
	       ok("removexattr", removexattr(WALK "/b", "user.small"));
}

/* A file that is gone while it is open, and all others. */
static bool ext4_remove(void)
{
	int fd;

	if (!ok("open", fd = keep(open(WALK "/orphan", O_RDWR | O_CREAT, 0600))) ||
	    !ok("unlink", unlink(WALK "/orphan")) ||
	    !ok_all("write", write(fd, data, 5000), 5000) ||
	    !close_kept())
		return false;
	for (unsigned int i = 1; i < NR_LONG; i++)
		if (!ok("unlink", unlink(long_name(i))))
			return false;
	return ok("truncate", truncate(WALK "/b", 0)) &&
	       ok("unlink", unlink(WALK "/a")) && ok("unlink", unlink(WALK "/b")) &&
	       ok("unlink", unlink(WALK "/direct")) && ok("unlink", unlink(WALK "/hard")) &&
	       ok("unlink", unlink(WALK "/short")) && ok("unlink", unlink(WALK "/long")) &&
	       ok("rmdir", rmdir(WALK "/sub")) && ok("rmdir", rmdir(WALK));
}

static void ext4_work(void)
{
	struct statfs st;
	int fd;

	if (!ok("mount", mount(disk, MNT, "ext4", 0, NULL)))
		return;
	mounted = true;
	if (ok("mkdir", mkdir(WALK, 0755)) &&
	    ok("open", fd = keep(open(WALK "/a", O_RDWR | O_CREAT, 0600))) &&
	    ext4_data(fd) && ext4_pieces(fd) && ext4_mapped(fd) && ext4_direct() &&
	    ext4_locks(fd) && ext4_names() && ext4_attributes() &&
	    ok("remount", mount(NULL, MNT, NULL, MS_REMOUNT | MS_NOATIME, "commit=7")) &&
	    ok("statfs", statfs(MNT, &st)) && ok("syncfs", syncfs(fd)) &&
	    ext4_remove() && ok("umount", umount(MNT)))
		mounted = false;
}

static bool try_umount(void)
{
	for (unsigned int i = 0; umount(MNT); i++) {
		if (errno == EINVAL)
			break;
		if (i == 50)
			return false;
		pause_ms(20);
	}
	return true;
}

static void ext4_clean(void)
{
	static const char * const names[] = { "a", "b", "direct", "hard", "short", "long",
					      "orphan", "sub/moved" };
	char path[64];

	close_kept();
	if (!mounted)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), WALK "/%s", names[i]);
		unlink(path);
	}
	for (unsigned int i = 0; i < NR_LONG; i++)
		unlink(long_name(i));
	rmdir(WALK "/sub");
	if (rmdir(WALK) && errno != ENOENT)
		report->left = true;
	if (!try_umount())
		report->left = true;
}

/*
 * The disk as it was, for what a fault makes of it: chunks that are not all zero.
 * It is read and written past all caches.
 */
static char **chunks, *chunk;
static unsigned int nr_chunks;

/* Memory of the walker alone, all there, so that a fork has no work with it. */
static void *big(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, size, MADV_DONTFORK))
		die("%zu bytes of memory: %s", size, strerror(errno));
	memset(p, 0, size);
	return p;
}

static int open_disk(void)
{
	int fd = open(disk, O_RDWR | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", disk, strerror(errno));
	return fd;
}

static void read_chunk(int fd, unsigned int i)
{
	if (pread(fd, chunk, MIB, i * MIB) != (ssize_t)MIB)
		die("%s: cannot be read", disk);
}

static bool is_zero(const char *p)
{
	return !*p && !memcmp(p, p + 1, MIB - 1);
}

static void ext4_set_up(void)
{
	uint64_t size;
	int fd;

	if (!disk)
		die("ext4 needs a disk, -d");
	fd = open_disk();
	if (ioctl(fd, BLKGETSIZE64, &size))
		die("%s: %s", disk, strerror(errno));
	nr_chunks = size / MIB;
	chunks = big(nr_chunks * sizeof(*chunks));
	chunk = big(MIB);
	for (unsigned int i = 0; i < nr_chunks; i++) {
		read_chunk(fd, i);
		if (is_zero(chunk))
			continue;
		chunks[i] = chunk;
		chunk = big(MIB);
	}
	close(fd);
}

static bool is_chunk(unsigned int i)
{
	return chunks[i] ? !memcmp(chunk, chunks[i], MIB) : is_zero(chunk);
}

static bool ext4_restore(void)
{
	int fd;

	if (!try_umount()) {
		umount2(MNT, MNT_DETACH);
		return false;
	}
	fd = open_disk();
	for (unsigned int i = 0; i < nr_chunks; i++) {
		read_chunk(fd, i);
		if (is_chunk(i))
			continue;
		if (chunks[i])
			memcpy(chunk, chunks[i], MIB);
		else
			memset(chunk, 0, MIB);
		if (pwrite(fd, chunk, MIB, i * MIB) != (ssize_t)MIB)
			die("%s: cannot be written", disk);
	}
	fsync(fd);
	close(fd);
	return true;
}

/* WORK sockets */

#define UNIX_PATH	"/tmp/.faultwalk.sock"

/* What does not come in three seconds is lost. */
static int patient(int fd)
{
	struct timeval limit = { .tv_sec = 3 };

	if (keep(fd) >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static socklen_t loopback(union address *a, int family)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	if (family == AF_INET) {
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->in);
	}
	a->in6.sin6_addr = in6addr_loopback;
	return sizeof(a->in6);
}

/* A socket that listens, or is just bound, on a port of its own. */
static bool bound(int *fd, int family, int type, union address *a, socklen_t *len)
{
	*len = loopback(a, family);
	return ok("socket", *fd = patient(socket(family, type | SOCK_CLOEXEC, 0))) &&
	       ok("bind", bind(*fd, &a->any, *len)) &&
	       (type != SOCK_STREAM || ok("listen", listen(*fd, 4))) &&
	       ok("getsockname", getsockname(*fd, &a->any, len));
}

static bool there_and_back(int a, int b)
{
	return ok_all("send", send(a, data, 1000, 0), 1000) &&
	       ok_all("recv", recv(b, back, 1000, MSG_WAITALL), 1000) &&
	       ok_all("send", send(b, data, 300, 0), 300) &&
	       ok_all("recv", recv(a, back, 300, MSG_WAITALL), 300);
}

static bool set_one(int fd, int level, int option)
{
	int one = 1;

	return ok("setsockopt", setsockopt(fd, level, option, &one, sizeof(one)));
}

static bool sockets_tcp(int family)
{
	struct linger at_once = { .l_onoff = 1 };
	union address a;
	socklen_t len;
	int l, c, s, size = 65536;

	return bound(&l, family, SOCK_STREAM, &a, &len) &&
	       ok("socket", c = patient(socket(family, SOCK_STREAM, 0))) &&
	       /* no TIME_WAIT */
	       ok("setsockopt", setsockopt(c, SOL_SOCKET, SO_LINGER, &at_once,
					   sizeof(at_once))) &&
	       ok("setsockopt", setsockopt(c, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size))) &&
	       set_one(c, IPPROTO_TCP, TCP_NODELAY) && set_one(c, SOL_SOCKET, SO_KEEPALIVE) &&
	       ok("connect", connect(c, &a.any, len)) &&
	       ok("accept", s = patient(accept(l, NULL, NULL))) &&
	       there_and_back(c, s) &&
	       set_one(c, SOL_SOCKET, SO_ZEROCOPY) &&
	       ok_all("send", send(c, data, 8000, MSG_ZEROCOPY), 8000) &&
	       ok_all("recv", recv(s, back, 8000, MSG_WAITALL), 8000) &&
	       read_some("/proc/net/tcp") && close_kept();
}

static bool sockets_udp(int family)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 0xffff) };
	struct sock_fprog filter = { 1, code };
	union address a;
	socklen_t len;
	int fd;

	return bound(&fd, family, SOCK_DGRAM, &a, &len) &&
	       ok("setsockopt", setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
					   sizeof(filter))) &&
	       ok("connect", connect(fd, &a.any, len)) &&
	       ok_all("send", send(fd, data, 20000, 0), 20000) &&
	       ok_all("recv", recv(fd, back, 20000, 0), 20000) && close_kept();
}

/* Hands a file and itself to the other side, which may never take them. */
static bool send_files(int fd, int a, int b)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(2 * sizeof(int)) } };
	struct iovec v = { data, 10 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int files[2] = { a, b };

	memcpy(CMSG_DATA(&control.head), files, sizeof(files));
	return ok("sendmsg", sendmsg(fd, &m, 0));
}

static bool receive_files(int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec v = { back, 10 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int files[2];
	size_t n;

	if (!ok("recvmsg", recvmsg(fd, &m, 0)))
		return false;
	n = CMSG_FIRSTHDR(&m) ? (control.head.cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	memcpy(files, CMSG_DATA(&control.head), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		keep(files[i]);
	return n == 2 || failed("recvmsg", "fewer_files");
}

static bool sockets_pairs(void)
{
	int s[2], d[2];

	return ok("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s)) &&
	       patient(s[0]) >= 0 && patient(s[1]) >= 0 &&
	       there_and_back(s[0], s[1]) &&
	       send_files(s[0], STDIN_FILENO, s[0]) && receive_files(s[1]) &&
	       /* for the garbage collector */
	       send_files(s[0], s[0], s[1]) &&
	       ok("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET, 0, d)) &&
	       patient(d[0]) >= 0 && patient(d[1]) >= 0 &&
	       set_one(d[1], SOL_SOCKET, SO_PASSCRED) &&
	       there_and_back(d[0], d[1]) && close_kept();
}

static bool sockets_unix(const char *path, size_t len)
{
	union address a = { .un = { .sun_family = AF_UNIX } };
	int l, c, s;

	memcpy(a.un.sun_path, path, len);
	len += offsetof(struct sockaddr_un, sun_path);
	return ok("socket", l = patient(socket(AF_UNIX, SOCK_STREAM, 0))) &&
	       ok("bind", bind(l, &a.any, len)) && ok("listen", listen(l, 4)) &&
	       ok("socket", c = patient(socket(AF_UNIX, SOCK_STREAM, 0))) &&
	       ok("connect", connect(c, &a.any, len)) &&
	       ok("accept", s = patient(accept(l, NULL, NULL))) &&
	       there_and_back(c, s) && read_some("/proc/net/unix") && close_kept();
}

static bool answer(const struct nlmsghdr *n, const char *what, bool *done)
{
	int error = 0;

	*done = n->nlmsg_type == NLMSG_DONE || n->nlmsg_type == NLMSG_ERROR;
	if (*done)
		memcpy(&error, NLMSG_DATA(n), sizeof(error));
	return error >= 0 || ok_error(what, -error);
}

/* Asks, and takes all that is answered. */
static bool netlink(int fd, struct nlmsghdr *request, const char *what)
{
	const struct nlmsghdr *n;
	bool done = false;
	ssize_t len;

	if (!ok(what, send(fd, request, request->nlmsg_len, 0)))
		return false;
	while (!done) {
		len = recv(fd, back, sizeof(back), 0);
		if (!ok(what, len))
			return false;
		for (n = (void *)back; !done && NLMSG_OK(n, len); n = NLMSG_NEXT(n, len))
			if (!answer(n, what, &done))
				return false;
	}
	return true;
}

static bool netlink_dump(int fd, int type)
{
	struct {
		struct nlmsghdr n;
		struct rtgenmsg g;
		char pad[3];
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

	return netlink(fd, &r.n, "netlink_dump");
}

static bool netlink_address(int fd, int type, const char *what)
{
	struct {
		struct nlmsghdr n;
		struct ifaddrmsg a;
		struct rtattr attr;
		struct in_addr addr;
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
				      NLM_F_REPLACE },
		.a = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1 },
		.attr = { .rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL },
		.addr.s_addr = htonl(0x7f4d0001) };

	return netlink(fd, &r.n, what);
}

static bool netlink_route(int fd, int type, const char *what)
{
	struct {
		struct nlmsghdr n;
		struct rtmsg m;
		struct rtattr dst_attr;
		struct in_addr dst;
		struct rtattr oif_attr;
		uint32_t oif;
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
				      NLM_F_REPLACE },
		.m = { .rtm_family = AF_INET, .rtm_dst_len = 16, .rtm_table = RT_TABLE_MAIN,
		       .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_LINK,
		       .rtm_type = RTN_UNICAST },
		.dst_attr = { RTA_LENGTH(4), RTA_DST }, .dst.s_addr = htonl(0x0a630000),
		.oif_attr = { RTA_LENGTH(4), RTA_OIF }, .oif = 1 };

	return netlink(fd, &r.n, what);
}

static bool sockets_netlink(void)
{
	int fd;

	return ok("socket", fd = patient(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))) &&
	       netlink_dump(fd, RTM_GETLINK) && netlink_dump(fd, RTM_GETADDR) &&
	       netlink_address(fd, RTM_NEWADDR, "RTM_NEWADDR") &&
	       netlink_route(fd, RTM_NEWROUTE, "RTM_NEWROUTE") &&
	       netlink_dump(fd, RTM_GETROUTE) &&
	       netlink_route(fd, RTM_DELROUTE, "RTM_DELROUTE") &&
	       netlink_address(fd, RTM_DELADDR, "RTM_DELADDR") && close_kept();
}

static bool sockets_packet(void)
{
	struct tpacket_req ring = { .tp_block_size = 4096, .tp_block_nr = 4,
				    .tp_frame_size = 2048, .tp_frame_nr = 8 };
	struct ifconf conf = { .ifc_len = sizeof(back), .ifc_buf = back };
	int fd;

	return ok("socket", fd = patient(socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)))) &&
	       ok("setsockopt", setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring,
					   sizeof(ring))) &&
	       ok("SIOCGIFCONF", ioctl(fd, SIOCGIFCONF, &conf)) && close_kept();
}

static bool poll_both(int a, int b)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd, outer;

	return ok("epoll_create1", fd = keep(epoll_create1(0))) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_ADD, a, &e)) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_ADD, b, &e)) &&
	       ok("epoll_create1", outer = keep(epoll_create1(0))) &&
	       ok("epoll_ctl", epoll_ctl(outer, EPOLL_CTL_ADD, fd, &e)) &&
	       ok("epoll_wait", epoll_wait(outer, &e, 1, 0)) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_DEL, a, NULL));
}

static bool sockets_events(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1 };
	uint64_t n = 1;
	sigset_t set;
	int e, t;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return ok("eventfd", e = keep(eventfd(0, 0))) &&
	       ok_all("write", write(e, &n, sizeof(n)), sizeof(n)) &&
	       ok("timerfd_create", t = keep(timerfd_create(CLOCK_MONOTONIC, 0))) &&
	       ok("timerfd_settime", timerfd_settime(t, 0, &soon, NULL)) &&
	       poll_both(e, t) &&
	       ok_all("read", read(e, &n, sizeof(n)), sizeof(n)) &&
	       ok_all("read", read(t, &n, sizeof(n)), sizeof(n)) &&
	       ok("signalfd", keep(signalfd(-1, &set, 0))) && close_kept();
}

static bool sockets_pipes(void)
{
	struct pollfd many[100];
	int p[2], q[2];

	for (size_t i = 0; i < 100; i++)
		many[i] = (struct pollfd) { .fd = STDIN_FILENO, .events = POLLOUT };
	return ok("pipe", pipe(p)) && keep(p[0]) >= 0 && keep(p[1]) >= 0 &&
	       ok("pipe", pipe(q)) && keep(q[0]) >= 0 && keep(q[1]) >= 0 &&
	       ok("fcntl", fcntl(p[1], F_SETPIPE_SZ, 32 * 4096)) &&
	       ok_all("write", write(p[1], data, 10000), 10000) &&
	       ok("tee", tee(p[0], q[1], 4000, 0)) &&
	       ok("splice", splice(p[0], NULL, q[1], NULL, 4000, 0)) &&
	       ok("read", read(q[0], back, 5000)) &&
	       ok("poll", poll(many, 100, 0)) && close_kept();
}

static void sockets_work(void)
{
	static const char name[] = "\0faultwalk";

	(void)(sockets_tcp(AF_INET) && sockets_tcp(AF_INET6) &&
	       sockets_udp(AF_INET) && sockets_udp(AF_INET6) && sockets_pairs() &&
	       sockets_unix(UNIX_PATH, sizeof(UNIX_PATH)) &&
	       ok("unlink", unlink(UNIX_PATH)) && sockets_unix(name, sizeof(name)) &&
	       sockets_netlink() && sockets_packet() && sockets_events() &&
	       sockets_pipes());
}

static void sockets_clean(void)
{
	int fd;

	close_kept();
	unlink(UNIX_PATH);
	if (!*report->call)
		return;
	/* one of them may be there still; that it is not is not the first failure */
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	netlink_route(fd, RTM_DELROUTE, "");
	netlink_address(fd, RTM_DELADDR, "");
	close(fd);
}

/* WORK module */

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
	/* not big(): this is for the workload */
	image = malloc(image_size);
	if (!image || read(fd, image, image_size) != st.st_size)
		die("%s: cannot be read", module);
	close(fd);
}

static bool unload(void)
{
	return ok("delete_module", syscall(SYS_delete_module, module_name, O_NONBLOCK));
}

/* What it shows in sysfs, and in a file "table" in debugfs, if it had one at first. */
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

/* WORK exec */

static char *no_words[] = { NULL };

static void copy_program(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	ssize_t n;

	while ((n = read(in, data, sizeof(data))) > 0)
		if (write(out, data, n) != n)
			n = -1;
	if (in < 0 || out < 0 || n < 0 || close(out))
		die("%s to %s: %s", from, to, strerror(errno));
	close(in);
}

/* Who executes a program is called as its file is, and so is who executes a script. */
static void exec_set_up(void)
{
	static const char text[] = "#!" PROGRAM " " QUIT "\n";
	int fd;

	copy_program("/proc/self/exe", PROGRAM);
	mkdir(SCRIPT_DIR, 0700);
	fd = open(SCRIPT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0 || close(fd))
		die("%s: %s", SCRIPT, strerror(errno));
}

static void exec_tear_down(void)
{
	unlink(SCRIPT);
	rmdir(SCRIPT_DIR);
	unlink(PROGRAM);
}

/*
 * Past the point of no return an exec that fails is a signal, and so is a program that
 * has no memory to begin with.
 */
static bool ended_well(const char *call, pid_t pid)
{
	int status;

	if (!ok("waitpid", waitpid(pid, &status, 0)))
		return false;
	if (WIFSIGNALED(status)) {
		char why[32];

		snprintf(why, sizeof(why), "SIG%s", sigabbrev_np(WTERMSIG(status)) ?: "?");
		return failed(call, why);
	}
	return !WEXITSTATUS(status) || failed(call, "exit");
}

static bool exec_fork(void)
{
	pid_t a, b;
	bool good;

	if (!ok("fork", a = fork()))
		return false;
	if (!a)
		_exit(0);
	if (!ok("fork", b = fork())) {
		waitpid(a, NULL, 0);
		return false;
	}
	if (!b)
		_exit(0);
	good = ended_well("child", a);
	return ended_well("child", b) && good;
}

static bool exec_program(char *path)
{
	char *words[] = { path, QUIT, NULL };
	pid_t pid;

	if (!ok("fork", pid = fork()))
		return false;
	if (!pid) {
		ok("execve", execve(path, words, no_words));
		_exit(1);
	}
	return ended_well("execve", pid);
}

static bool exec_spawn(void)
{
	char *words[] = { PROGRAM, QUIT, NULL };
	pid_t pid;

	return ok_error("posix_spawn", posix_spawn(&pid, PROGRAM, NULL, NULL, words,
						   no_words)) &&
	       ended_well("posix_spawn", pid);
}

static void *thread(void *unused)
{
	return unused;
}

static bool exec_threads(void)
{
	pthread_t a, b;
	bool good;

	if (!ok_error("pthread_create", pthread_create(&a, NULL, thread, NULL)))
		return false;
	good = ok_error("pthread_create", pthread_create(&b, NULL, thread, NULL)) &&
	       ok_error("pthread_join", pthread_join(b, NULL));
	return ok_error("pthread_join", pthread_join(a, NULL)) && good;
}

static bool exec_anonymous(void)
{
	char *p, *q;

	return ok_map("mmap", p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) &&
	       ok("madvise", madvise(p, 256 * KIB, MADV_POPULATE_WRITE)) &&
	       ok("mprotect", mprotect(p + 64 * KIB, 64 * KIB, PROT_READ)) &&
	       ok("munmap", munmap(p + 192 * KIB, 4096)) &&
	       ok("mlock", mlock(p + 8 * KIB, 8 * KIB)) &&
	       ok_map("mremap", q = mremap(p + MIB, 64 * KIB, 8 * MIB, MREMAP_MAYMOVE)) &&
	       /* a huge page fits into it somewhere, and is split then */
	       ok("madvise", madvise(q, 8 * MIB, MADV_HUGEPAGE)) &&
	       ok("madvise", madvise(q, 4 * MIB, MADV_POPULATE_WRITE)) &&
	       ok("madvise", madvise(q + 64 * KIB, 3 * MIB, MADV_DONTNEED));
}

static bool exec_shared(void)
{
	void *p;
	int fd, id;

	if (!ok("memfd_create", fd = keep(memfd_create("walk", 0))) ||
	    !ok_all("write", write(fd, data, sizeof(data)), sizeof(data)) ||
	    !ok_map("mmap", p = mmap(NULL, sizeof(data), PROT_READ | PROT_WRITE, MAP_SHARED,
				     fd, 0)) ||
	    !ok("madvise", madvise(p, sizeof(data), MADV_POPULATE_WRITE)) ||
	    !ok_map("mmap", p = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ||
	    !ok("shmget", id = shmget(IPC_PRIVATE, 64 * KIB, IPC_CREAT | 0600)))
		return false;
	p = shmat(id, NULL, 0);
	return ok("shmctl", shmctl(id, IPC_RMID, NULL)) && ok_map("shmat", p) &&
	       ok("madvise", madvise(p, 64 * KIB, MADV_POPULATE_WRITE)) &&
	       ok("shmdt", shmdt(p)) && close_kept();
}

static bool exec_signals(void)
{
	struct timespec second = { .tv_sec = 1 };
	union sigval value = { .sival_int = 1 };
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	timer_t timer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return ok("timer_create", timer_create(CLOCK_MONOTONIC, &none, &timer)) &&
	       ok("timer_delete", timer_delete(timer)) &&
	       ok("sigqueue", sigqueue(getpid(), SIGUSR1, value)) &&
	       ok("sigtimedwait", sigtimedwait(&set, NULL, &second));
}

static bool exec_self(void)
{
	gid_t groups[3] = { 1, 2, 3 };
	cpu_set_t cpus;

	return ok("sched_getaffinity", sched_getaffinity(0, sizeof(cpus), &cpus)) &&
	       ok("sched_setaffinity", sched_setaffinity(0, sizeof(cpus), &cpus)) &&
	       ok("setgroups", setgroups(3, groups)) && ok("setgid", setgid(0)) &&
	       ok("unshare", unshare(CLONE_NEWNS | CLONE_NEWUTS)) &&
	       ok("getcwd", syscall(SYS_getcwd, back, sizeof(back))) &&
	       ok("readlink", readlink("/proc/self/exe", back, sizeof(back))) &&
	       read_some("/proc/self/maps") && close_kept();
}

static void exec_work(void)
{
	(void)(exec_fork() && exec_program(PROGRAM) && exec_program(SCRIPT) && exec_spawn() &&
	       exec_threads() && exec_anonymous() && exec_shared() && exec_signals() &&
	       exec_self());
}

/* The process ends, and all it had. */
static void exec_clean(void)
{
	close_kept();
}

/* Running a workload */

static const struct work {
	const char *name;
	void (*work)(void);
	void (*clean)(void);		/* in the same process */
	void (*set_up)(void);		/* the walker: before all else */
	bool (*restore)(void);		/* after something was left */
	void (*tear_down)(void);
} works[] = {
	{ "ext4", ext4_work, ext4_clean, ext4_set_up, ext4_restore, NULL },
	{ "sockets", sockets_work, sockets_clean, NULL, NULL, NULL },
	{ "module", module_work, module_clean, module_set_up, try_unload, NULL },
	{ "exec", exec_work, exec_clean, exec_set_up, NULL, exec_tear_down },
}, *work;

/* How a run ended; what else there is to say is in the report. */
struct outcome {
	int sig;
	bool hung;
	bool stuck;		/* not even SIGKILL ends it */
};

static void __attribute__((noreturn)) child(void)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, FAULTED);
	alarm(HANGS);
	work->work();
	work->clean();
	_exit(0);
}

/* Whether it has ended, after so many seconds at most. */
static bool reap(pid_t pid, int *status, unsigned int seconds)
{
	const struct timespec tick = { .tv_sec = 1 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned int i = 0; i <= seconds; ) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		/* of others that end there are a few */
		if (sigtimedwait(&set, NULL, &tick) < 0 && errno == EAGAIN)
			i++;
	}
	return false;
}

/* What it has started is ours when it is gone. */
static void reap_all(pid_t group)
{
	kill(-group, SIGKILL);
	for (unsigned int i = 0; i < 100; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return;
		if (!pid)
			pause_ms(10);
	}
}

static struct outcome run(void)
{
	struct outcome o = { 0 };
	int status = 0;
	pid_t pid;

	*report->call = *report->why = '\0';
	report->left = false;
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid)
		child();
	if (!reap(pid, &status, HANGS + 5)) {
		kill(pid, SIGKILL);
		o.hung = true;
		o.stuck = !reap(pid, &status, 5);
	}
	reap_all(pid);
	if (!o.hung && WIFSIGNALED(status)) {
		o.hung = WTERMSIG(status) == SIGALRM;
		o.sig = o.hung ? 0 : WTERMSIG(status);
	}
	return o;
}

/* Files of the kernel */

struct text {
	char *p;
	size_t len;
};

#define TEXT_ROOM	(8 * MIB)

static void read_text(struct text *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (!t->p)
		t->p = big(TEXT_ROOM);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	t->len = 0;
	while ((n = read(fd, t->p + t->len, TEXT_ROOM - 1 - t->len)) > 0)
		t->len += n;
	if (n < 0 || t->len == TEXT_ROOM - 1)
		die("%s: %s", path, n < 0 ? strerror(errno) : "too long");
	t->p[t->len] = '\0';
	close(fd);
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

/* The line behind this one, NULL at the end. */
static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p && p[1] ? p + 1 : NULL;
}

/* The number in a line behind a word, -1 for none. */
static long number_in(const char *line, const char *word)
{
	size_t len = strlen(word);
	const char *p = memmem(line, strcspn(line, "\n"), word, len);

	return p ? strtol(p + len, NULL, 10) : -1;
}

/* The kernel log, from where the walk began */

static int kmsg = -1;
static char last_line[256];

static const char * const splats[] = {
	"BUG:", "WARNING:", "Oops", "general protection", "possible recursive",
	"possible circular", "possible irq lock", "inconsistent lock state",
	"suspicious RCU usage", "INFO: task", "INFO: rcu", " stall", "soft lockup",
	"KASAN", "KFENCE:", "UBSAN", "refcount_t", "corruption", "Bad page",
	"scheduling while atomic", "sleeping function called", "nable to handle",
	"Objects remaining", "Busy inodes", "cannot create duplicate",
	"waiting for lo to become free", "Call Trace:",
};

/* What became of one point. */
struct finding {
	unsigned int fired;
	char result[80];
	char splat[160];
	char leak[400];
	long bytes;
	bool hung, stuck;
	char broken[80];	/* how the workload then ends without a fault */
};

static bool is_splat(const char *line)
{
	for (size_t i = 0; i < sizeof(splats) / sizeof(splats[0]); i++)
		if (strstr(line, splats[i]))
			return true;
	return false;
}

/* A stack by itself says less than what was said before it. */
static void take_splat(struct finding *f, const char *line)
{
	if (*f->splat)
		return;
	if (strstr(line, "Call Trace:"))
		line = last_line;
	snprintf(f->splat, sizeof(f->splat), "%.150s", line);
	for (char *p = f->splat; *p; p++)
		if (*p <= ' ')
			*p = '_';
}

/* Returns whether the file system has said that it is in disorder. */
static bool read_log(struct finding *f)
{
	static char record[8192];
	bool disorder = false;
	ssize_t n;
	char *line;

	for (;;) {
		n = read(kmsg, record, sizeof(record) - 1);
		if (n < 0 && errno != EPIPE)
			return disorder;
		if (n <= 0)
			continue;
		record[n] = '\0';
		line = strchr(record, ';');
		if (!line)
			continue;
		line++;
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "faultwalk:", 10))
			continue;
		disorder |= strstr(line, "EXT4-fs error") || strstr(line, "borting journal");
		if (is_splat(line))
			take_splat(f, line);
		if (strncmp(line, "CPU: ", 5) && strncmp(line, "Hardware name", 13))
			snprintf(last_line, sizeof(last_line), "%s", line);
	}
}

/* Each open file may say ten lines in five seconds: so one for each. */
static void tell_console(const char *what)
{
	char line[200];

	snprintf(line, sizeof(line), "<6>faultwalk: %s: %s\n", work->name, what);
	write_text(KMSG, line);
}

/* Fault points */

struct point {
	char *key;		/* a line of the list as far as it stays the same */
	unsigned int index;	/* among lines of the same key */
	char *where;		/* the terms of a query */
	char *label;		/* what is printed */
};

static struct text faults;
static struct point *points;
static size_t nr_points;
static const struct point *armed;

static const char *find_point(const struct point *point)
{
	size_t len = strlen(point->key);
	unsigned int before = point->index;

	for (const char *p = faults.p; p; p = next_line(p))
		if (!strncmp(p, point->key, len) && !before--)
			return p;
	return NULL;
}

/* How many lines before this one are like it. */
static unsigned int index_of(const char *line, const char *key)
{
	size_t len = strlen(key);
	unsigned int n = 0;

	for (const char *p = faults.p; p != line; p = next_line(p))
		n += !strncmp(p, key, len);
	return n;
}

static char __attribute__((format(printf, 1, 2))) *text_of(const char *format, ...)
{
	va_list ap;
	char *s;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		die("out of memory");
	va_end(ap);
	return s;
}

static void add_point(const char *line)
{
	char file[256], mod[64], func[128];
	struct point *p = &points[nr_points];
	unsigned int number;

	if (sscanf(line, "%255[^:]:%u module:%63s func:%127s class:memory", file, &number,
		   mod, func) != 4)
		die("not a fault point: %.100s", line);
	p->key = text_of("%s:%u module:%s func:%s class:memory ", file, number, mod, func);
	p->index = index_of(line, p->key);
	p->where = text_of("file %s line %u func %s module %s class memory index %u",
			   file, number, func, mod, p->index);
	p->label = text_of("%s:%u func:%s module:%s", file, number, func, mod);
	nr_points++;
}

/* The points that the workload came by, by the list as it is. */
static void find_points(void)
{
	size_t most = 0;

	read_text(&faults, FAULTS);
	for (const char *p = faults.p; p; p = next_line(p))
		most++;
	points = calloc(most, sizeof(*points));
	for (const char *p = faults.p; p; p = next_line(p))
		if (number_in(p, " evaluated:") > 0)
			add_point(p);
}

static void fault_command(const char *where, const char *what)
{
	char line[700];
	int error;

	snprintf(line, sizeof(line), "%s %s", where, what);
	error = write_text(FAULTS, line);
	if (error)
		die("\"%s\": %s", line, strerror(error));
}

static void arm(const struct point *p)
{
	const struct point *before = armed;

	fault_command(p->where, "oneshot task " FAULTED);
	armed = p;
	/* afterwards: there is always one, and no switch to be patched */
	if (before && before != p)
		fault_command(before->where, "disable");
}

static void disarm(void)
{
	if (armed)
		fault_command(armed->where, "disable");
	armed = NULL;
}

static unsigned int times_fired(const struct point *p)
{
	const char *line;
	long n;

	read_text(&faults, FAULTS);
	line = find_point(p);
	n = line ? number_in(line, " fired:") : 0;
	return n > 0 ? n : 0;
}

/* Lines of /proc/allocinfo */

enum reading {
	AFTER_ONE,
	AFTER_MORE,
	RESTED,
	AFTER_AGAIN,
	NR_READINGS,
};

static struct tag {
	char *name;
	bool chance;		/* what it has depends on more than who allocates */
	long calls[NR_READINGS];
	long bytes[NR_READINGS];
} *tags;

#define NR_TAGS		(1U << 15)

static struct text info;

static struct tag *find_tag(const char *name, size_t len)
{
	uint32_t hash = 2166136261;
	struct tag *t;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619;
	for (uint32_t i = 0; i < NR_TAGS; i++) {
		t = &tags[(hash + i) % NR_TAGS];
		if (!t->name)
			break;
		if (!strncmp(t->name, name, len) && !t->name[len])
			return t;
		t = NULL;
	}
	if (!t)
		die("too many lines in " INFO);
	t->name = strndup(name, len);
	/* how many slabs a few objects are in is chance */
	t->chance = strstr(t->name, "func:alloc_slab_page") ||
		    strstr(t->name, "func:memcg_alloc_slab_cgroups");
	return t;
}

/* "  BYTES  CALLS FILE:LINE [MODULE] func:FUNC accurate:no " */
static void add_line(enum reading r, const char *line)
{
	char *p;
	long bytes = strtol(line, &p, 10);
	long calls;
	size_t len;
	struct tag *t;

	if (p == line)
		return;		/* the head */
	calls = strtol(p, &p, 10);
	p += strspn(p, " ");
	len = strcspn(p, "\n");
	while (len && p[len - 1] == ' ')
		len--;
	t = find_tag(p, len);
	t->bytes[r] += bytes;
	t->calls[r] += calls;
}

static void grace_period(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* Caches, and what kfree_rcu() holds back, which a shrinker lets go of. */
static void drop_caches(void)
{
	write_text(DROP, "3");
}

static void settle(unsigned int ms)
{
	grace_period();
	drop_caches();
	drop_caches();
	grace_period();
	grace_period();
	pause_ms(ms);
}

static void take_reading(enum reading r, unsigned int ms)
{
	settle(ms);
	read_text(&info, INFO);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		tags[i].calls[r] = tags[i].bytes[r] = 0;
	for (const char *p = info.p; p; p = next_line(p))
		add_line(r, p);
}

static bool grew(const struct tag *t, enum reading from, enum reading to)
{
	return t->calls[to] - t->calls[from] >= MORE;
}

static bool any_grew(enum reading to)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].name && !tags[i].chance && grew(&tags[i], AFTER_ONE, to))
			return true;
	return false;
}

static bool is_leak(const struct tag *t)
{
	return t->name && !t->chance && grew(t, AFTER_ONE, AFTER_MORE) &&
	       grew(t, AFTER_ONE, RESTED) && grew(t, RESTED, AFTER_AGAIN);
}

static long bytes_more(void)
{
	long n = 0;

	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].name && !tags[i].chance)
			n += tags[i].bytes[AFTER_MORE] - tags[i].bytes[AFTER_ONE];
	return n;
}

/* As far as there is room. */
static void name_leak(struct finding *f, const struct tag *t)
{
	size_t len = strlen(f->leak);

	snprintf(f->leak + len, sizeof(f->leak) - len, "%s%s+%ld/%d", len ? "," : "", t->name,
		 t->calls[AFTER_AGAIN] - t->calls[RESTED], MORE);
	for (char *p = f->leak + len; *p; p++)
		if (*p == ' ')
			*p = ':';
}

/* The walk */

static void name_result(char *result, size_t size, struct outcome o)
{
	if (o.hung)
		snprintf(result, size, "hung");
	else if (o.sig)
		snprintf(result, size, "signal:%d", o.sig);
	else if (*report->call)
		snprintf(result, size, "%s:%s", report->call, report->why);
	else
		snprintf(result, size, "succeeded");
}

/* The first result, but for one that is worse. */
static void conclude(struct finding *f, struct outcome o)
{
	if (!*f->result || o.hung || o.sig)
		name_result(f->result, sizeof(f->result), o);
	f->hung |= o.hung;
	f->stuck |= o.stuck;
}

/* Does the workload do again what it should, without a fault? */
static bool works_again(struct outcome *o)
{
	for (unsigned int i = 0; i < 2; i++) {
		*o = run();
		if (!*report->call && !o->sig && !o->hung)
			return true;
		if (o->stuck)
			return false;
		if (work->restore)
			work->restore();
	}
	return false;
}

static bool is_over(const struct finding *f)
{
	return f->stuck || *f->broken;
}

/* After a run: what was left goes, and the walk does not go on if it cannot. */
static void clean_up(struct finding *f, struct outcome o, bool force)
{
	bool disorder = read_log(f);

	if (is_over(f) || (!force && !disorder && !report->left && !o.sig && !o.hung))
		return;
	disarm();
	if (work->restore && !work->restore())
		snprintf(f->broken, sizeof(f->broken), "busy");
	else if (!works_again(&o))
		name_result(f->broken, sizeof(f->broken), o);
	f->stuck |= o.stuck;
	read_log(f);
}

/* One run with the fault, or with none for lack of a point. */
static void fault_once(const struct point *p, struct finding *f)
{
	struct outcome o;

	if (is_over(f))
		return;
	drop_caches();
	if (p)
		arm(p);
	o = run();
	conclude(f, o);
	clean_up(f, o, false);
}

static void fault_more(const struct point *p, struct finding *f)
{
	for (unsigned int i = 0; i < MORE; i++)
		fault_once(p, f);
}

/* What is freed in time is freed after this. */
static void rest(struct finding *f)
{
	struct outcome o;

	disarm();
	sleep(6);
	drop_caches();
	o = run();
	clean_up(f, o, *report->call);
	sleep(1);
}

/* Tells of what is there for good. Once more is asked at each step of doubt only. */
static void look_for_leaks(const struct point *p, struct finding *f)
{
	take_reading(AFTER_ONE, 20);
	fault_more(p, f);
	take_reading(AFTER_MORE, 20);
	if (any_grew(AFTER_MORE))
		take_reading(AFTER_MORE, 300);
	f->bytes = bytes_more();
	if (!any_grew(AFTER_MORE) || is_over(f))
		return;
	rest(f);
	take_reading(RESTED, 20);
	if (!any_grew(RESTED))
		return;
	fault_more(p, f);
	rest(f);
	take_reading(AFTER_AGAIN, 20);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (is_leak(&tags[i]))
			name_leak(f, &tags[i]);
}

/* A cache that has what it takes is no evaluation: then once more. */
static bool fault_first(const struct point *p, struct finding *f)
{
	struct outcome o;

	drop_caches();
	arm(p);
	for (unsigned int i = 0; i < RETRIES && !is_over(f); i++) {
		if (armed != p)
			arm(p);
		o = run();
		f->fired = times_fired(p);
		if (f->fired || o.hung || o.sig) {
			conclude(f, o);
			clean_up(f, o, false);
			return true;
		}
		/* a failure that no fault explains is of the one before */
		clean_up(f, o, *report->call);
		settle(20);
	}
	snprintf(f->result, sizeof(f->result), "unreached");
	return false;
}

static void print_finding(const struct point *p, const struct finding *f)
{
	printf("point %s fired:%u result:%s splat:%s leak:%s bytes:%+ld\n", p->label, f->fired,
	       f->result, *f->splat ? f->splat : "no", *f->leak ? f->leak : "no", f->bytes);
	if (*f->broken)
		printf("broken %s %s\n", p->label, f->broken);
	fflush(stdout);
}

static struct {
	unsigned int walked, fired, splats, leaks, hung, unreached;
} sum;

/* Whether the walk can go on. */
static bool walk_point(const struct point *p)
{
	struct finding f = { 0 };

	tell_console(p->where);
	if (!fault_first(p, &f))
		sum.unreached++;
	else if (!f.hung)
		look_for_leaks(p, &f);
	print_finding(p, &f);
	sum.walked++;
	sum.fired += f.fired > 0;
	sum.splats += *f.splat != '\0';
	sum.leaks += *f.leak != '\0';
	sum.hung += f.hung;
	return !is_over(&f);
}

/* Faults have no part in what grows without them: say so, and look no further. */
static void measure_plain(void)
{
	struct finding f = { 0 };

	look_for_leaks(NULL, &f);
	if (strcmp(f.result, "succeeded"))
		die("%s fails without a fault: %s", work->name, f.result);
	if (!*f.leak)
		return;
	printf("# without a fault: %s\n", f.leak);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (is_leak(&tags[i]))
			tags[i].chance = true;
}

/* What is set up once and kept is there after the first run, and is no point. */
static void take_stock(void)
{
	struct finding f = { 0 };

	fault_command("", "disable");
	fault_once(NULL, &f);
	if (strcmp(f.result, "succeeded"))
		die("%s fails without a fault: %s", work->name, f.result);
	measure_plain();
	fault_command("class memory", "probability 0 task " FAULTED);
	settle(20);
	fault_once(NULL, &f);
	fault_once(NULL, &f);
	find_points();
	fault_command("", "disable");
}

static void walk(unsigned long skip, unsigned long most)
{
	for (size_t i = skip; i < nr_points && i - skip < most; i++)
		if (!walk_point(&points[i]))
			break;
	printf("walked %u fired %u splats %u leaks %u hung %u unreached %u\n", sum.walked,
	       sum.fired, sum.splats, sum.leaks, sum.hung, sum.unreached);
	fflush(stdout);
}

static void set_up(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_NAME, WALKER);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	memset(data, 'f', sizeof(data));
	memset(back, 'b', sizeof(back));
	report = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	kmsg = open(KMSG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (report == MAP_FAILED || kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0)
		die("%s: %s", KMSG, strerror(errno));
	memset(report, 0, sizeof(*report));
	tags = big(NR_TAGS * sizeof(*tags));
	/* dropping caches is not news */
	write_text(DROP, "4");
	if (work->set_up)
		work->set_up();
}

static void tear_down(void)
{
	fault_command("", "disable");
	if (work->restore)
		work->restore();
	if (work->tear_down)
		work->tear_down();
}

static void __attribute__((noreturn)) usage(FILE *to, int code)
{
	fprintf(to, "usage: faultwalk ext4 | sockets | module | exec [-d DISK] [-m MODULE.ko]\n"
		    "                 [-n MOST] [-k SKIP]\n");
	exit(code);
}

int main(int argc, char **argv)
{
	unsigned long skip = 0, most = -1;
	int c;

	if (argc > 1 && !strcmp(argv[1], QUIT))
		_exit(0);
	while ((c = getopt(argc, argv, "d:m:n:k:h")) != -1) {
		switch (c) {
		case 'd': disk = optarg; break;
		case 'm': module = optarg; break;
		case 'n': most = strtoul(optarg, NULL, 0); break;
		case 'k': skip = strtoul(optarg, NULL, 0); break;
		case 'h': usage(stdout, 0);
		default: usage(stderr, 2);
		}
	}
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]) && optind == argc - 1; i++)
		if (!strcmp(works[i].name, argv[optind]))
			work = &works[i];
	if (!work)
		usage(stderr, 2);
	set_up();
	take_stock();
	walk(skip, most);
	tear_down();
	return 0;
}
