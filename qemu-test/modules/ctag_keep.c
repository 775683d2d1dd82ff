// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds memory of a module that is unloaded.
 *
 * ctag_test passes its live objects to ctag_keep_add() and is unloaded. The objects
 * stay charged to its lines until a write to /sys/kernel/debug/ctag_keep/free. A read
 * of "count" returns their number.
 * Process context only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ctag_keep.h"

#define KEEP_MAX	16384

static struct ctag_object *kept;
static u32 nr_kept;
static DEFINE_MUTEX(keep_lock);
static struct dentry *dir;

/**
 * ctag_keep_add - take over an object
 * @o: is copied; its free must not need the caller's module, so an object of a cache of
 *	that module cannot be kept
 *
 * Return: 0, or -EINVAL or -ENOSPC; after an error the caller still owns the object.
 */
int ctag_keep_add(const struct ctag_object *o)
{
	int err = 0;

	if (o->how == CTAG_CACHE)
		return -EINVAL;

	mutex_lock(&keep_lock);
	if (nr_kept < KEEP_MAX)
		kept[nr_kept++] = *o;
	else
		err = -ENOSPC;
	mutex_unlock(&keep_lock);
	return err;
}
EXPORT_SYMBOL_GPL(ctag_keep_add);

static void keep_free(const struct ctag_object *o)
{
	switch (o->how) {
	case CTAG_KFREE:
		kfree(o->p);
		break;
	case CTAG_KVFREE:
		kvfree(o->p);
		break;
	case CTAG_PAGES:
		__free_pages(o->p, o->arg);
		break;
	case CTAG_EXACT:
		free_pages_exact(o->p, o->arg);
		break;
	case CTAG_FOLIO:
		folio_put(o->p);
		break;
	default:
		WARN_ON_ONCE(1);
	}
}

static void keep_free_all(void)
{
	mutex_lock(&keep_lock);
	while (nr_kept)
		keep_free(&kept[--nr_kept]);
	mutex_unlock(&keep_lock);
}

static ssize_t free_write(struct file *file, const char __user *buf,
			  size_t len, loff_t *pos)
{
	keep_free_all();
	return len;
}

static const struct file_operations free_fops = {
	.owner	= THIS_MODULE,
	.write	= free_write,
};

static int __init ctag_keep_init(void)
{
	kept = vzalloc(array_size(KEEP_MAX, sizeof(*kept)));
	if (!kept)
		return -ENOMEM;
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_u32("count", 0400, dir, &nr_kept);
	debugfs_create_file("free", 0200, dir, NULL, &free_fops);
	return 0;
}

static void __exit ctag_keep_exit(void)
{
	debugfs_remove(dir);
	keep_free_all();
	vfree(kept);
}

module_init(ctag_keep_init);
module_exit(ctag_keep_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Keeps memory of an unloaded test module");
