// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of any file system.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define BLOCK	4096

static char block[16 * BLOCK] __attribute__((aligned(BLOCK)));

static int create(const char *name)
{
	return open_or_fail(name, O_RDWR | O_CREAT | O_EXCL);
}

static void fill(int fd, size_t size, off_t offset)
{
	ssize_t n = must("pwrite", pwrite(fd, block, size, offset));

	if ((size_t)n != size) {
		errno = ENOSPC;
		fail("pwrite");
	}
}

/* Read it from the device and not from memory. */
static void read_again(int fd, size_t size, off_t offset)
{
	/* some file systems have none */
	may("fsync", fsync(fd));
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must("pread", pread(fd, block, size, offset));
}

static void map(int fd, int protection)
{
	char *p = mmap(NULL, 2 * BLOCK, protection, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		may("mmap", -1);
		return;
	}
	/* a fault would kill this task if it went through the memory itself */
	if (!may("madvise", madvise(p, 2 * BLOCK, protection & PROT_WRITE ?
				    MADV_POPULATE_WRITE : MADV_POPULATE_READ))) {
		munmap(p, 2 * BLOCK);
		return;
	}
	if (protection & PROT_WRITE) {
		p[BLOCK + 17] = 'm';
		may("msync", msync(p, 2 * BLOCK, MS_SYNC));
	}
	must("munmap", munmap(p, 2 * BLOCK));
}

static void extents(int fd)
{
	struct fiemap *f = room(sizeof(*f) + 16 * sizeof(struct fiemap_extent));

	/* some file systems look at each block of a hole */
	f->fm_length = 64 * BLOCK;
	f->fm_flags = FIEMAP_FLAG_SYNC;
	f->fm_extent_count = 16;
	may("FIEMAP", ioctl(fd, FS_IOC_FIEMAP, f));
	f->fm_flags = FIEMAP_FLAG_XATTR;
	f->fm_extent_count = 16;
	may("FIEMAP of attributes", ioctl(fd, FS_IOC_FIEMAP, f));
	free(f);
}

static void reserve(int fd)
{
	static const int modes[] = {
		0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
		FALLOC_FL_ZERO_RANGE, FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE,
		FALLOC_FL_UNSHARE_RANGE,
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		may("fallocate", fallocate(fd, modes[i], 2 * BLOCK, 3 * BLOCK));
}

static void flags_of(int fd)
{
	struct fsxattr x;
	long flags = 0;

	if (may("GETFLAGS", ioctl(fd, FS_IOC_GETFLAGS, &flags))) {
		flags |= FS_NODUMP_FL;
		may("SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
	}
	if (may("FSGETXATTR", ioctl(fd, FS_IOC_FSGETXATTR, &x)))
		may("FSSETXATTR", ioctl(fd, FS_IOC_FSSETXATTR, &x));
	may("GETVERSION", ioctl(fd, FS_IOC_GETVERSION, &flags));
}

static void attributes(const char *name)
{
	/* version 2; user, one named user, group, mask, others */
	static const unsigned int acl[] = {
		2, 0x60001, ~0U, 0x60002, 1000, 0x40004, ~0U, 0x60010, ~0U, 0x40020, ~0U,
	};
	char list[1024];

	memset(block, 'x', 1500);
	if (may("setxattr", setxattr(name, "user.short", "value", 5, 0))) {
		may("setxattr", setxattr(name, "user.long", block, 1500, 0));
		may("setxattr", setxattr(name, "user.short", "changed", 7, XATTR_REPLACE));
	}
	may("setxattr", setxattr(name, "trusted.one", "value", 5, 0));
	may("setxattr", setxattr(name, "security.one", "value", 5, 0));
	may("setxattr", setxattr(name, "system.posix_acl_access", acl, sizeof(acl), 0));
	if (may("listxattr", listxattr(name, list, sizeof(list)))) {
		may("getxattr", getxattr(name, "user.long", block, sizeof(block)));
		may("getxattr", getxattr(name, "system.posix_acl_access", block, sizeof(block)));
		may("removexattr", removexattr(name, "user.long"));
		may("removexattr", removexattr(name, "trusted.one"));
	}
}

static void handle(const char *name)
{
	struct file_handle *h = room(sizeof(*h) + MAX_HANDLE_SZ);
	int mount_id, dir, fd;

	h->handle_bytes = MAX_HANDLE_SZ;
	if (!may("name_to_handle_at", name_to_handle_at(AT_FDCWD, name, h, &mount_id, 0))) {
		free(h);
		return;
	}
	dir = open_or_fail(".", O_RDONLY | O_DIRECTORY);
	fd = open_by_handle_at(dir, h, O_RDONLY);
	if (fd >= 0)
		close(fd);
	else if (errno != ESTALE)
		may("open_by_handle_at", -1);
	close(dir);
	free(h);
}

static void locks(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100 };

	attempt("fcntl lock", fcntl(fd, F_SETLK, &l));
	attempt("OFD lock", fcntl(fd, F_OFD_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_start = 200, .l_len = 9 }));
	attempt("flock", flock(fd, LOCK_EX | LOCK_NB));
	l.l_type = F_UNLCK;
	attempt("fcntl unlock", fcntl(fd, F_SETLK, &l));
	attempt("lease", fcntl(fd, F_SETLEASE, F_WRLCK));
}

static void direct(const char *name)
{
	int fd = open(name, O_RDWR | O_DIRECT);

	if (!may("open direct", fd))
		return;
	if (may("direct write", pwrite(fd, block, 2 * BLOCK, 0)))
		may("direct read", pread(fd, block, BLOCK, BLOCK));
	close(fd);
}

static void copies(const char *from, const char *to)
{
	struct file_clone_range range;
	int in = open_or_fail(from, O_RDONLY), out = create(to);
	off_t start = 0, at = 0;
	int ends[2];

	range = (struct file_clone_range){ .src_fd = in, .src_length = 0 };
	may("FICLONERANGE", ioctl(out, FICLONERANGE, &range));
	may("copy_file_range", copy_file_range(in, &start, out, &at, 2 * BLOCK, 0));
	start = 0;
	may("sendfile", sendfile(out, in, &start, BLOCK));
	must("pipe", pipe(ends));
	start = 0;
	if (may("splice", splice(in, &start, ends[1], NULL, BLOCK, 0)))
		may("splice", splice(ends[0], NULL, out, NULL, BLOCK, SPLICE_F_NONBLOCK));
	close(ends[0]);
	close(ends[1]);
	may("fdatasync", fdatasync(out));
	close(out);
	close(in);
}

static void unnamed(void)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	if (fd < 0 && errno == EISDIR)
		return;
	if (!may("O_TMPFILE", fd))
		return;
	fill(fd, 100, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	may("linkat", linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	close(fd);
	unlink("named");
}

static void links(void)
{
	char target[200], text[256];

	memset(target, 't', sizeof(target));
	target[sizeof(target) - 1] = '\0';
	if (may("symlink", symlink("short", "link.short"))) {
		may("symlink", symlink(target, "link.long"));
		may("readlink", readlink("link.short", text, sizeof(text)));
		may("readlink", readlink("link.long", text, sizeof(text)));
		may("unlink", unlink("link.short"));
		may("unlink", unlink("link.long"));
	}
	if (may("link", link("a", "a.link")))
		must("unlink", unlink("a.link"));
	if (may("mknod", mknod("fifo", S_IFIFO | 0600, 0)))
		must("unlink", unlink("fifo"));
	if (may("mknod", mknod("device", S_IFCHR | 0600, makedev(300, 70000))))
		must("unlink", unlink("device"));
}

static void renames(void)
{
	if (!may("mkdir", mkdir("d", 0700))) {
		must("unlink", unlink("a"));
		return;
	}
	must("mkdir", mkdir("d/e", 0700));
	must("rename", rename("a", "d/e/a2"));
	must("rename", rename("d/e", "e"));
	may("exchange", syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e/a2", RENAME_EXCHANGE));
	may("exchange", syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e/a2", RENAME_EXCHANGE));
	may("whiteout", syscall(SYS_renameat2, AT_FDCWD, "e/a2", AT_FDCWD, "e/a3", RENAME_WHITEOUT));
	unlink("e/a2");
	unlink("e/a3");
	must("rmdir", rmdir("e"));
	must("rmdir", rmdir("d"));
}

/* A directory that grows beyond a block, and shrinks again */
static void many(unsigned int n)
{
	char name[64];

	if (!may("mkdir", mkdir("many", 0700)))
		return;
	must("chdir", chdir("many"));
	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "file-name-%u", i);
		close(create(name));
	}
	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "file-name-%u", i);
		must("unlink", unlink(name));
	}
	must("chdir", chdir(".."));
	must("rmdir", rmdir("many"));
}

static void whole_system(void)
{
	struct fstrim_range range = { .len = ~0ULL };
	struct statfs s;
	char label[256];
	int fd = open_or_fail(".", O_RDONLY | O_DIRECTORY);

	must("statfs", statfs(".", &s));
	may("fsync", fsync(fd));
	must("syncfs", syncfs(fd));
	may("FITRIM", ioctl(fd, FITRIM, &range));
	may("GETFSLABEL", ioctl(fd, FS_IOC_GETFSLABEL, label));
	close(fd);
}

static void list(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir)
		fail("opendir");
	errno = 0;
	while (readdir(dir))
		;
	if (errno)
		fail("readdir");
	closedir(dir);
}

/* The contents of a big file: at the start, and behind a hole, which can take place on the disk */
static void big(int fd)
{
	static const off_t far[] = { 70LL << 20, 400LL << 10 };

	fill(fd, 10 * BLOCK, 0);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		if (pwrite(fd, block, 100, far[i]) == 100)
			break;
		if (errno != EFBIG && errno != ENOSPC)
			may("pwrite", -1);
	}
	read_again(fd, 12 * BLOCK, BLOCK / 2);
	may("seek", lseek(fd, 0, SEEK_HOLE));
	may("seek", lseek(fd, 11 * BLOCK, SEEK_DATA));
}

/*
 * files DIRECTORY, plain DIRECTORY: uses all that a writable file system has, in that directory;
 * plain, without extended attributes.
 */
static void use_files(const char *folder, bool plain)
{
	struct timeval times[2] = { { 1000000000, 0 }, { 1100000000, 0 } };
	int fd;

	must("chdir", chdir(folder));
	fd = create("a");
	big(fd);
	map(fd, PROT_READ | PROT_WRITE);
	extents(fd);
	must("ftruncate", ftruncate(fd, 3 * BLOCK + 5));
	reserve(fd);
	must("ftruncate", ftruncate(fd, 40 * BLOCK));
	flags_of(fd);
	locks(fd);
	must("close", close(fd));
	direct("a");
	copies("a", "b");
	if (!plain)
		attributes("a");
	handle("a");
	unnamed();
	may("chmod", chmod("a", 0640));
	may("chown", chown("a", 1000, 1000));
	may("utimes", utimes("a", times));
	links();
	renames();
	many(30);
	list(".");
	whole_system();
	must("unlink", unlink("b"));
}

void do_files(char **args)
{
	use_files(args[0], false);
}

void do_plain(char **args)
{
	use_files(args[0], true);
}

static int visit(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	char text[4096];
	int fd;

	(void)f;
	if (kind == FTW_DNR || kind == FTW_NS) {
		errno = EIO;
		fail(path);
	}
	may("llistxattr", llistxattr(path, text, sizeof(text)));
	may("lgetxattr", lgetxattr(path, "user.short", text, sizeof(text)));
	if (S_ISLNK(s->st_mode))
		must("readlink", readlink(path, text, sizeof(text)));
	if (!S_ISREG(s->st_mode))
		return 0;
	handle(path);
	fd = open_or_fail(path, O_RDONLY);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must("pread", pread(fd, block, sizeof(block), 0));
	if (s->st_size >= 2 * BLOCK)
		map(fd, PROT_READ);
	must("lseek", lseek(fd, 0, SEEK_SET));
	while (must("read", read(fd, block, sizeof(block))) > 0)
		;
	extents(fd);
	close(fd);
	return 0;
}

/* read DIRECTORY: reads all that is below it. */
void do_read(char **args)
{
	struct statfs s;

	must("chdir", chdir(args[0]));
	must("statfs", statfs(".", &s));
	if (nftw(".", visit, 16, FTW_PHYS))
		fail("nftw");
}

/* names DIRECTORY N: a directory in it with N files of no contents, which it removes again */
void do_names(char **args)
{
	must("chdir", chdir(args[0]));
	many(number(args[1]));
}

static void encrypted(const char *folder, const void *policy)
{
	char name[64];
	int fd;

	must("mkdir", mkdir(folder, 0700));
	fd = open_or_fail(folder, O_RDONLY | O_DIRECTORY);
	must("policy", ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, policy));
	close(fd);
	snprintf(name, sizeof(name), "%s/file", folder);
	fd = create(name);
	fill(fd, 4 * BLOCK, 0);
	read_again(fd, 4 * BLOCK, 0);
	close(fd);
	snprintf(name, sizeof(name), "%s/link", folder);
	must("symlink", symlink("target of a link", name));
	list(folder);
}

static void verified(void)
{
	struct fsverity_enable_arg a = {
		.version = 1, .hash_algorithm = FS_VERITY_HASH_ALG_SHA256, .block_size = BLOCK,
		.salt_size = 4, .salt_ptr = (unsigned long)"salt",
	};
	struct fsverity_digest *d = room(sizeof(*d) + 64);
	int fd = create("verified");

	fill(fd, 8 * BLOCK, 0);
	close(fd);
	fd = open_or_fail("verified", O_RDONLY);
	must("verity", ioctl(fd, FS_IOC_ENABLE_VERITY, &a));
	d->digest_size = 64;
	must("digest", ioctl(fd, FS_IOC_MEASURE_VERITY, d));
	read_again(fd, BLOCK, 5 * BLOCK);
	close(fd);
	free(d);
}

/* encrypt FOLDER: the top of a file system with encryption and verity, with several policies */
void do_encrypt(char **args)
{
	struct fscrypt_add_key_arg *key = room(sizeof(*key) + 64);
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2, .contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS, .flags = FSCRYPT_POLICY_FLAGS_PAD_32,
	};
	struct fscrypt_remove_key_arg gone = { 0 };
	struct fscrypt_get_key_status_arg status = { 0 };
	int fd;

	must("chdir", chdir(args[0]));
	fd = open_or_fail(".", O_RDONLY | O_DIRECTORY);
	key->key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
	key->raw_size = 64;
	memset(key->raw, 'k', 64);
	must("add key", ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, key));
	memcpy(policy.master_key_identifier, key->key_spec.u.identifier, sizeof(policy.master_key_identifier));
	encrypted("one", &policy);
	policy.contents_encryption_mode = FSCRYPT_MODE_AES_128_CBC;
	policy.filenames_encryption_mode = FSCRYPT_MODE_AES_128_CTS;
	policy.flags = FSCRYPT_POLICY_FLAGS_PAD_4;
	encrypted("two", &policy);
	status.key_spec = gone.key_spec = key->key_spec;
	must("status", ioctl(fd, FS_IOC_GET_ENCRYPTION_KEY_STATUS, &status));
	must("remove key", ioctl(fd, FS_IOC_REMOVE_ENCRYPTION_KEY, &gone));
	list("one");
	close(fd);
	verified();
	free(key);
}

/* Some file systems still remove files that have no name any more. */
static void remount(char **args, const char *folder, const char *options)
{
	int status = mount(args[1], folder, args[0], MS_REMOUNT | MS_RDONLY, options);

	if (status && errno != EBUSY)
		fail("remount");
}

/*
 * mount TYPE DEVICE OPTIONS WHAT: mounts it on /mnt, does WHAT there, which is files, plain or read, and
 * unmounts it. If it is writable, it is mounted again before that, for reading only. OPTIONS are
 * those of the file system, and ro.
 */
void do_mount(char **args)
{
	static char folder[] = "/mnt";
	char *where[] = { folder, NULL }, *options = args[2];
	bool files = !strcmp(args[3], "files"), plain = !strcmp(args[3], "plain");
	bool readonly = !strcmp(options, "ro") || !strncmp(options, "ro,", 3);

	if (readonly)
		options += options[2] ? 3 : 2;
	must("mount", mount(args[1], folder, args[0], readonly ? MS_RDONLY : 0, options));
	if (files || plain)
		use_files(folder, plain);
	else
		do_read(where);
	must("chdir", chdir("/"));
	/* HFS and HFS+ would stay marked as in use; GFS2 is a BUG if the task has mounted it, too */
	if (!readonly && strncmp(args[0], "hfs", 3) && strcmp(args[0], "gfs2"))
		remount(args, folder, options);
	must("umount", umount(folder));
}
