// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices and file systems.
 */
#define _GNU_SOURCE
#include "trigger.h"
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fuse.h>
#include <linux/io_uring.h>
#include <linux/udmabuf.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A character device in user space, with another name and number each time. */
void do_cuse(void)
{
	struct {
		struct fuse_in_header head;
		struct cuse_init_in init;
		char rest[8192];
	} in;
	struct {
		struct fuse_out_header head;
		struct cuse_init_out init;
		char name[32];
	} __attribute__((packed)) out = {
		.init = {
			.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
			.dev_major = 60, .dev_minor = getpid(),
		},
	};
	int len, fd = open("/dev/cuse", O_RDWR);

	if (fd < 0)
		die("/dev/cuse");
	if (read(fd, &in, sizeof(in)) < (ssize_t)(sizeof(in.head) + sizeof(in.init)))
		die("request of cuse");
	len = snprintf(out.name, sizeof(out.name), "DEVNAME=trigger%d", getpid()) + 1;
	out.head.unique = in.head.unique;
	out.head.len = (char *)out.name - (char *)&out + len;
	if (write(fd, &out, out.head.len) != (ssize_t)out.head.len)
		die("answer to cuse");
	close(fd);
}

/*
 * Data that are compressed already, for a file on /mnt. The kernel does not decompress
 * them before somebody reads the file.
 */
void do_encoded(void)
{
	static char data[4096];
	struct iovec iov = { data, sizeof(data) };
	struct btrfs_ioctl_encoded_io_args args = {
		.iov = &iov,
		.iovcnt = 1,
		.len = 2 * sizeof(data),
		.unencoded_len = 2 * sizeof(data),
		.compression = BTRFS_ENCODED_IO_COMPRESSION_ZLIB,
	};
	int fd = open("/mnt/file", O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		die("/mnt/file");
	memset(data, 0x5a, sizeof(data));
	if (ioctl(fd, BTRFS_IOC_ENCODED_WRITE, &args) < 0)
		die("encoded write");
	close(fd);
}

/* A buffer for devices is made of a memfd while no descriptor is left. */
void do_udmabuf(void)
{
	struct udmabuf_create create = { .size = 4 * 4096 };
	struct rlimit limit;
	int dev = open("/dev/udmabuf", O_RDWR);
	int mem = memfd_create("trigger", MFD_ALLOW_SEALING);

	if (dev < 0 || mem < 0)
		die("/dev/udmabuf");
	if (ftruncate(mem, create.size) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	create.memfd = mem;
	limit.rlim_cur = limit.rlim_max = (dev > mem ? dev : mem) + 1;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	ioctl(dev, UDMABUF_CREATE, &create);
}

/* New namespaces for a program whose effective user is not its real one. */
void do_unshare(void)
{
	if (setresuid(1000, 0, 0))
		die("setresuid");
	unshare(CLONE_NEWUSER | CLONE_NEWUTS);
}

/* A program that prepares io_uring and ends. */
void do_uring(void)
{
	struct io_uring_params params = { 0 };

	if (syscall(__NR_io_uring_setup, 4, &params) < 0)
		die("io_uring_setup");
}
