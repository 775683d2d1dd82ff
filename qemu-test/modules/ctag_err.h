/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of /dev/ctag_err, for the module and for programs. A read fails with a
 * code of -EIO, a write with a code of -EINVAL.
 */
#ifndef CTAG_ERR_H
#define CTAG_ERR_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The ioctl itself fails with a code of -EXDEV. */
#define CTAG_ERR_FAIL		_IO('E', 0)
/* The code of -EIO, as a positive number. */
#define CTAG_ERR_CODE		_IOR('E', 1, __s32)
/* A socket: its pending error is the code of -EHOSTUNREACH. */
#define CTAG_ERR_SOCKET		_IOW('E', 2, __s32)
/* A socket: its error queue gets a code of ENETUNREACH. */
#define CTAG_ERR_QUEUE		_IOW('E', 3, __s32)
/* The next child of the task finds a code in its register. */
#define CTAG_ERR_LEAK		_IO('E', 4)
/* A file: its file system reports an error, with a code of -EUCLEAN. */
#define CTAG_ERR_REPORT		_IOW('E', 5, __s32)

/* The generic netlink family, whose command 1 is refused and 2 a dump that fails. */
#define CTAG_ERR_FAMILY		"ctag_err"
#define CTAG_ERR_REFUSE		1
#define CTAG_ERR_DUMP		2

#endif /* CTAG_ERR_H */
