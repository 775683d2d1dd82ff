// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring: rings, what is registered with them, and many operations.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES	8

struct ring {
	int fd;
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
};

static char buffer[2][4096] __attribute__((aligned(4096)));

static void open_ring(struct ring *r, unsigned int flags)
{
	memset(r, 0, sizeof(*r));
	r->p.flags = flags;
	r->p.sq_thread_idle = 1;
	r->fd = must("io_uring_setup", syscall(SYS_io_uring_setup, ENTRIES, &r->p));
	r->sq = mmap(NULL, r->p.sq_off.array + ENTRIES * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd,
		     IORING_OFF_SQ_RING);
	r->cq = mmap(NULL, r->p.cq_off.cqes + 2 * ENTRIES * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_CQ_RING);
	r->sqes = mmap(NULL, ENTRIES * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       r->fd, IORING_OFF_SQES);
	if (r->sq == MAP_FAILED || r->cq == MAP_FAILED || r->sqes == MAP_FAILED)
		fail("mmap of a ring");
}

static void close_ring(struct ring *r)
{
	munmap(r->sq, r->p.sq_off.array + ENTRIES * 4);
	munmap(r->cq, r->p.cq_off.cqes + 2 * ENTRIES * sizeof(struct io_uring_cqe));
	munmap(r->sqes, ENTRIES * sizeof(struct io_uring_sqe));
	close(r->fd);
}

static unsigned int *word(char *ring, unsigned int offset)
{
	return (unsigned int *)(ring + offset);
}

/* Submit one operation, wait for it, and return its result. */
static int run(struct ring *r, struct io_uring_sqe sqe)
{
	unsigned int mask = *word(r->sq, r->p.sq_off.ring_mask), tail = *word(r->sq, r->p.sq_off.tail), head;
	struct io_uring_cqe *cqes = (void *)(r->cq + r->p.cq_off.cqes);
	int status;

	r->sqes[tail & mask] = sqe;
	word(r->sq, r->p.sq_off.array)[tail & mask] = tail & mask;
	__atomic_store_n(word(r->sq, r->p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	must("io_uring_enter", syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	head = *word(r->cq, r->p.cq_off.head);
	if (head == __atomic_load_n(word(r->cq, r->p.cq_off.tail), __ATOMIC_ACQUIRE)) {
		errno = ENODATA;
		return -1;
	}
	status = cqes[head & *word(r->cq, r->p.cq_off.ring_mask)].res;
	__atomic_store_n(word(r->cq, r->p.cq_off.head), head + 1, __ATOMIC_RELEASE);
	if (status < 0) {
		errno = -status;
		return -1;
	}
	return status;
}

static void register_with(struct ring *r, unsigned int what, void *arg, unsigned int n)
{
	may("io_uring_register", syscall(SYS_io_uring_register, r->fd, what, arg, n));
}

static void registrations(struct ring *r, int file)
{
	struct iovec parts[2] = { { buffer[0], 4096 }, { buffer[1], 4096 } };
	struct { struct io_uring_probe p; struct io_uring_probe_op ops[64]; } probe = { 0 };
	int files[4] = { file, -1, -1, file }, event = must("eventfd", eventfd(0, 0)), one = file;
	struct io_uring_files_update update = { .offset = 1, .fds = (unsigned long)&one };
	struct io_uring_buf_reg buffers = { .ring_entries = 8, .bgid = 1 };
	struct io_uring_rsrc_register sparse = { .nr = 4, .flags = IORING_RSRC_REGISTER_SPARSE };
	unsigned int workers[2] = { 1, 1 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	register_with(r, IORING_REGISTER_PROBE, &probe, 64);
	register_with(r, IORING_REGISTER_BUFFERS, parts, 2);
	register_with(r, IORING_REGISTER_FILES, files, 4);
	register_with(r, IORING_REGISTER_FILES_UPDATE, &update, 1);
	register_with(r, IORING_REGISTER_EVENTFD, &event, 1);
	register_with(r, IORING_REGISTER_IOWQ_AFF, &cpus, sizeof(cpus));
	register_with(r, IORING_REGISTER_IOWQ_MAX_WORKERS, workers, 2);
	buffers.ring_addr = (unsigned long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	register_with(r, IORING_REGISTER_PBUF_RING, &buffers, 1);
	register_with(r, IORING_REGISTER_SYNC_CANCEL, &(struct io_uring_sync_cancel_reg){ .fd = -1, .addr = 77 }, 1);
	run(r, (struct io_uring_sqe){ .opcode = IORING_OP_READ_FIXED, .fd = 0, .flags = IOSQE_FIXED_FILE,
				      .addr = (unsigned long)buffer[0], .len = 512 });
	if (errno == ENOMEM)
		fail("fixed read");
	register_with(r, IORING_UNREGISTER_PBUF_RING, &buffers, 1);
	register_with(r, IORING_UNREGISTER_IOWQ_AFF, NULL, 0);
	register_with(r, IORING_UNREGISTER_EVENTFD, NULL, 0);
	register_with(r, IORING_UNREGISTER_FILES, NULL, 0);
	register_with(r, IORING_UNREGISTER_BUFFERS, NULL, 0);
	register_with(r, IORING_REGISTER_FILES2, &sparse, sizeof(sparse));
	register_with(r, IORING_REGISTER_BUFFERS2, &sparse, sizeof(sparse));
	munmap((void *)(unsigned long)buffers.ring_addr, 4096);
	close(event);
}

static void operation(struct ring *r, const char *what, struct io_uring_sqe sqe)
{
	may(what, run(r, sqe));
	/* also by a worker */
	sqe.flags |= IOSQE_ASYNC;
	may(what, run(r, sqe));
}

static void file_operations(struct ring *r, int file)
{
	struct iovec part = { buffer[0], 4096 };
	struct statx status;
	int ends[2], fd;

	operation(r, "nop", (struct io_uring_sqe){ .opcode = IORING_OP_NOP });
	operation(r, "writev", (struct io_uring_sqe){ .opcode = IORING_OP_WRITEV, .fd = file,
						      .addr = (unsigned long)&part, .len = 1 });
	operation(r, "readv", (struct io_uring_sqe){ .opcode = IORING_OP_READV, .fd = file,
						     .addr = (unsigned long)&part, .len = 1 });
	operation(r, "fsync", (struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .fd = file });
	operation(r, "fallocate", (struct io_uring_sqe){ .opcode = IORING_OP_FALLOCATE, .fd = file, .addr = 8192 });
	operation(r, "statx", (struct io_uring_sqe){ .opcode = IORING_OP_STATX, .fd = AT_FDCWD,
						     .addr = (unsigned long)".", .off = (unsigned long)&status,
						     .len = STATX_ALL });
	operation(r, "fsetxattr", (struct io_uring_sqe){ .opcode = IORING_OP_FSETXATTR, .fd = file,
							 .addr = (unsigned long)"user.x", .addr2 = (unsigned long)"y",
							 .len = 1 });
	fd = run(r, (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD,
					   .addr = (unsigned long)"by-ring", .open_flags = O_RDWR | O_CREAT, .len = 0600 });
	if (may("openat", fd))
		may("close", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_CLOSE, .fd = fd }));
	operation(r, "renameat", (struct io_uring_sqe){ .opcode = IORING_OP_RENAMEAT, .fd = AT_FDCWD,
							.addr = (unsigned long)"by-ring", .len = AT_FDCWD,
							.addr2 = (unsigned long)"by-ring2" });
	operation(r, "unlinkat", (struct io_uring_sqe){ .opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD,
							.addr = (unsigned long)"by-ring2" });
	may("mkdirat", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_MKDIRAT, .fd = AT_FDCWD,
						     .addr = (unsigned long)"by-ring3", .len = 0700 }));
	rmdir("by-ring3");
	must("pipe", pipe(ends));
	operation(r, "splice", (struct io_uring_sqe){ .opcode = IORING_OP_SPLICE, .splice_fd_in = file, .splice_off_in = 0,
						      .fd = ends[1], .off = -1ULL, .len = 512 });
	operation(r, "poll", (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD, .fd = ends[0], .poll_events = POLLIN });
	close(ends[0]);
	close(ends[1]);
}

static void socket_operations(struct ring *r)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct iovec part = { buffer[0], 100 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	socklen_t size = sizeof(a);
	int listener = must("socket", socket(AF_INET, SOCK_STREAM, 0)), fd, ends[2];

	must("bind", bind(listener, (void *)&a, sizeof(a)));
	must("listen", listen(listener, 4));
	must("getsockname", getsockname(listener, (void *)&a, &size));
	fd = run(r, (struct io_uring_sqe){ .opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM });
	if (may("socket", fd)) {
		may("connect", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = fd,
							     .addr = (unsigned long)&a, .off = sizeof(a) }));
		close(fd);
		fd = run(r, (struct io_uring_sqe){ .opcode = IORING_OP_ACCEPT, .fd = listener });
		if (may("accept", fd))
			close(fd);
	}
	close(listener);
	must("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	operation(r, "sendmsg", (struct io_uring_sqe){ .opcode = IORING_OP_SENDMSG, .fd = ends[0],
						       .addr = (unsigned long)&m, .len = 1 });
	operation(r, "recvmsg", (struct io_uring_sqe){ .opcode = IORING_OP_RECVMSG, .fd = ends[1],
						       .addr = (unsigned long)&m, .len = 1 });
	operation(r, "send", (struct io_uring_sqe){ .opcode = IORING_OP_SEND, .fd = ends[0],
						    .addr = (unsigned long)buffer, .len = 10 });
	operation(r, "recv", (struct io_uring_sqe){ .opcode = IORING_OP_RECV, .fd = ends[1],
						    .addr = (unsigned long)buffer, .len = 10 });
	close(ends[0]);
	close(ends[1]);
}

static void other_operations(struct ring *r)
{
	struct __kernel_timespec soon = { .tv_nsec = 1000000 };

	run(r, (struct io_uring_sqe){ .opcode = IORING_OP_TIMEOUT, .addr = (unsigned long)&soon, .len = 1 });
	if (errno == ENOMEM)
		fail("timeout");
	may("provide buffers", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_PROVIDE_BUFFERS, .fd = 2, .buf_group = 3,
							     .addr = (unsigned long)buffer, .len = 4096 }));
	may("remove buffers", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_REMOVE_BUFFERS, .fd = 2, .buf_group = 3 }));
	may("message", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_MSG_RING, .fd = r->fd, .off = 5 }));
	may("cancel", run(r, (struct io_uring_sqe){ .opcode = IORING_OP_ASYNC_CANCEL, .addr = 99 }));
}

/* uring FOLDER: three kinds of rings; files in that folder */
void do_uring(char **args)
{
	struct ring r;
	int file;

	must("chdir", chdir(args[0]));
	file = open_or_fail("ring", O_RDWR | O_CREAT);
	must("write", pwrite(file, buffer, 4096, 0));
	open_ring(&r, 0);
	registrations(&r, file);
	file_operations(&r, file);
	socket_operations(&r);
	other_operations(&r);
	close_ring(&r);
	open_ring(&r, IORING_SETUP_SQPOLL);
	registrations(&r, file);
	close_ring(&r);
	open_ring(&r, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	file_operations(&r, file);
	close_ring(&r);
	close(file);
	must("unlink", unlink("ring"));
}
