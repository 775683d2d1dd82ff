/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KMON: binary records out of the kernel, see Documentation/driver-api/kmon.rst.
 */
#ifndef _LINUX_KMON_H
#define _LINUX_KMON_H

#include <linux/errno.h>
#include <linux/jump_label.h>

#ifdef CONFIG_KMON

DECLARE_STATIC_KEY_FALSE(kmon_key);

int __kmon_add_data(const void *data, unsigned long size);

/**
 * kmon_add_data - add a record for the readers of /dev/kmon
 * @data: the blob; by convention its first byte is its type, and the types from
 *	KMON_DT_USER on are free for all users
 * @size: size of the blob in bytes, at most KMON_BLOB_MAX; on a CPU above
 *	KMON_CPU_MAX, KMON_WIDE_SIZE less
 *
 * While no instance is started, this is one patched branch.
 *
 * Context: any that RCU watches, including NMI.
 * Return: 0 on success; -ENODEV while no instance is started; -ENOBUFS if the
 * ring of this CPU has no room, and then the record is counted as lost;
 * -EMSGSIZE if the blob is too large, and then it is counted as refused.
 */
static inline int kmon_add_data(const void *data, unsigned long size)
{
	if (!static_branch_unlikely(&kmon_key))
		return -ENODEV;
	return __kmon_add_data(data, size);
}

#else /* !CONFIG_KMON */

static inline int kmon_add_data(const void *data, unsigned long size)
{
	return -ENODEV;
}

#endif /* CONFIG_KMON */

#endif /* _LINUX_KMON_H */
