// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload "ext4": it mounts the disk that the option -d names on /mnt, and uses every
 * feature that files of ext4 have.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MNT	"/mnt"
#define WALK	MNT "/walk"
#define NR_LONG	12

static bool mounted;

static const char *long_name(unsigned int i)
{
	static char name[256];

	/* five such names fill a block; with more, the directory becomes a tree */
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

/* Write more extents than the inode has room for. */
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
	/* returns an error where a store would raise a signal */
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

/* Remove a file while it is open, then all other files. */
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
 * The original contents of the disk: its chunks that are not all zero.  A fault may
 * damage the file system, which is then restored from here.  O_DIRECT bypasses all
 * caches.
 */
static char **chunks, *chunk;
static unsigned int nr_chunks;

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

const struct work ext4_workload = {
	.name = "ext4",
	.work = ext4_work,
	.clean = ext4_clean,
	.set_up = ext4_set_up,
	.restore = ext4_restore,
};
