// SPDX-License-Identifier: GPL-2.0-only
/*
 * Algorithms and keys.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* of <linux/watch_queue.h>, which excludes <fcntl.h> */
#define O_NOTIFICATION_PIPE	O_EXCL
#define IOC_WATCH_QUEUE_SET_SIZE	_IO('W', 0x60)

#define IV_SIZE		32
#define TAG_SIZE	16

static unsigned char data[8192];

static void add_control(struct msghdr *m, struct cmsghdr **c, int type, const void *value, size_t size)
{
	*c = *c ? CMSG_NXTHDR(m, *c) : CMSG_FIRSTHDR(m);
	(*c)->cmsg_level = SOL_ALG;
	(*c)->cmsg_type = type;
	(*c)->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(*c), value, size);
}

/* Encrypt or decrypt, with a vector that is longer than each cipher needs. */
static void cipher(int fd, int operation, unsigned int iv_size, unsigned int assoc)
{
	struct { unsigned int size; unsigned char value[IV_SIZE]; } iv = { iv_size, { 1 } };
	char control[256] = "";
	struct iovec part = { data, 1024 };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control };
	struct cmsghdr *c = NULL;
	size_t size = 1024 + 512;

	m.msg_controllen = CMSG_SPACE(4) + (assoc ? CMSG_SPACE(4) : 0) + (iv_size ? CMSG_SPACE(4 + iv_size) : 0);
	add_control(&m, &c, ALG_SET_OP, &operation, 4);
	if (iv_size)
		add_control(&m, &c, ALG_SET_IV, &iv, 4 + iv_size);
	if (assoc)
		add_control(&m, &c, ALG_SET_AEAD_ASSOCLEN, &assoc, 4);
	must("sendmsg", sendmsg(fd, &m, MSG_MORE));
	must("send", send(fd, data, 512, 0));
	if (assoc)
		size += operation == ALG_OP_ENCRYPT ? TAG_SIZE : -TAG_SIZE;
	/* A longer read would wait for more. What is decrypted was never encrypted with a tag. */
	if (read(fd, data, size) < 0 && errno != EBADMSG && errno != EINVAL)
		fail("read of an algorithm");
}

static void hash(int fd)
{
	int second, ends[2];

	must("send", send(fd, data, 1000, MSG_MORE));
	second = must("accept of a hash", accept(fd, NULL, 0));
	must("send", send(second, data, 1000, 0));
	must("read", read(second, data, 64));
	close(second);
	must("pipe", pipe(ends));
	must("write", write(ends[1], data, 4096));
	must("splice", splice(ends[0], NULL, fd, NULL, 4096, SPLICE_F_MORE));
	must("send", send(fd, data, 8, 0));
	must("read", read(fd, data, 64));
	close(ends[0]);
	close(ends[1]);
}

static void use_algorithm(char **args)
{
	struct sockaddr_alg a = { .salg_family = AF_ALG };
	int fd = must("socket", socket(AF_ALG, SOCK_SEQPACKET, 0)), op;
	unsigned int key = number(args[2]), iv = number(args[3]);

	snprintf((char *)a.salg_type, sizeof(a.salg_type), "%s", args[0]);
	snprintf((char *)a.salg_name, sizeof(a.salg_name), "%s", args[1]);
	must("bind", bind(fd, (void *)&a, sizeof(a)));
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + i / 256;
	if (key)
		must("key", setsockopt(fd, SOL_ALG, ALG_SET_KEY, data, key));
	if (!strcmp(args[0], "rng"))
		may("seed", setsockopt(fd, SOL_ALG, ALG_SET_KEY, data, 48));
	if (!strcmp(args[0], "aead"))
		must("tag", setsockopt(fd, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, TAG_SIZE));
	op = must("accept", accept(fd, NULL, 0));
	if (!strcmp(args[0], "hash")) {
		hash(op);
	} else if (!strcmp(args[0], "rng")) {
		must("read", read(op, data, 64));
	} else {
		cipher(op, ALG_OP_ENCRYPT, iv, strcmp(args[0], "aead") ? 0 : 16);
		cipher(op, ALG_OP_DECRYPT, iv, strcmp(args[0], "aead") ? 0 : 16);
	}
	close(op);
	close(fd);
}

/*
 * alg TYPE NAME KEY IV...: algorithms, each with a key and an initialization vector of so many
 * bytes. TYPE is hash, skcipher, aead or rng.
 */
void do_alg(char **args)
{
	for (; args[0] && args[1] && args[2] && args[3]; args += 4)
		use_algorithm(args);
}

static long key_control(const char *what, int operation, long a, long b, long c, long d)
{
	return must(what, syscall(SYS_keyctl, operation, a, b, c, d));
}

static long add(const char *type, const char *name, const void *payload, size_t size, long ring)
{
	return must(type, syscall(SYS_add_key, type, name, payload, size, ring));
}

/* Keys that are changed, linked and removed; notifications about them; Diffie-Hellman */
static void use_keys(long ring)
{
	static const unsigned char base[] = { 0x05 }, secret[] = { 0x06 };
	unsigned char prime[256];
	struct keyctl_dh_params dh;
	long user = add("user", "one", "payload", 7, ring), second, keys[3];
	char text[1024];
	int ends[2];

	/* nobody checks that it is one */
	memset(prime, 0xff, sizeof(prime));
	must("pipe", pipe2(ends, O_NOTIFICATION_PIPE));
	must("size", ioctl(ends[0], IOC_WATCH_QUEUE_SET_SIZE, 16));
	key_control("watch", KEYCTL_WATCH_KEY, user, ends[0], 1, 0);
	key_control("watch", KEYCTL_WATCH_KEY, ring, ends[0], 2, 0);
	key_control("update", KEYCTL_UPDATE, user, (long)"another payload", 15, 0);
	add("user", "one", "third", 5, ring);
	add("logon", "class:name", "secret", 6, ring);
	second = add("keyring", "inner", NULL, 0, ring);
	key_control("link", KEYCTL_LINK, user, second, 0, 0);
	key_control("search", KEYCTL_SEARCH, ring, (long)"user", (long)"one", 0);
	key_control("describe", KEYCTL_DESCRIBE, user, (long)text, sizeof(text), 0);
	key_control("read", KEYCTL_READ, user, (long)text, sizeof(text), 0);
	key_control("read", KEYCTL_READ, ring, (long)text, sizeof(text), 0);
	key_control("permissions", KEYCTL_SETPERM, user, 0x3f3f0000, 0, 0);
	key_control("chown", KEYCTL_CHOWN, user, 1000, -1, 0);
	key_control("timeout", KEYCTL_SET_TIMEOUT, user, 1000, 0, 0);
	key_control("security", KEYCTL_GET_SECURITY, user, (long)text, sizeof(text), 0);
	key_control("restrict", KEYCTL_RESTRICT_KEYRING, second, 0, 0, 0);
	keys[0] = add("user", "prime", prime, sizeof(prime), ring);
	keys[1] = add("user", "base", base, sizeof(base), ring);
	keys[2] = add("user", "private", secret, sizeof(secret), ring);
	dh = (struct keyctl_dh_params){ { keys[2] }, keys[0], keys[1] };
	key_control("dh", KEYCTL_DH_COMPUTE, (long)&dh, (long)text, sizeof(text), 0);
	key_control("unlink", KEYCTL_UNLINK, user, second, 0, 0);
	key_control("unwatch", KEYCTL_WATCH_KEY, user, ends[0], -1, 0);
	key_control("revoke", KEYCTL_REVOKE, user, 0, 0, 0);
	key_control("invalidate", KEYCTL_INVALIDATE, keys[0], 0, 0, 0);
	close(ends[0]);
	close(ends[1]);
}

/* keys: all operations on keys, in a session keyring of its own */
void do_keys(char **args)
{
	long ring, n;
	char big[2000] = "";

	(void)args;
	ring = key_control("session", KEYCTL_JOIN_SESSION_KEYRING, (long)"session", 0, 0, 0);
	use_keys(ring);
	may("big key", syscall(SYS_add_key, "big_key", "big", big, sizeof(big), ring));
	add("user", "master", "0123456789abcdef0123456789abcdef", 32, ring);
	n = syscall(SYS_add_key, "encrypted", "secret", "new user:master 32", 18, ring);
	if (may("encrypted key", n))
		key_control("read", KEYCTL_READ, n, (long)big, sizeof(big), 0);
	may("persistent", syscall(SYS_keyctl, KEYCTL_GET_PERSISTENT, -1, ring, 0, 0));
	n = syscall(SYS_request_key, "user", "absent", "info", ring);
	if (n < 0 && errno != ENOKEY && errno != ENOENT && errno != EACCES)
		fail("request_key");
	key_control("clear", KEYCTL_CLEAR, ring, 0, 0, 0);
	may("capabilities", syscall(SYS_keyctl, KEYCTL_CAPABILITIES, big, sizeof(big), 0, 0));
}
