// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/allocinfo: the memory that each call site holds, as text by read() and
 * as records by ioctl().
 *
 * Both forms make the same walk: over all tags in the order of codetag, and
 * then to the catch-all, the tag for all call sites without an index. Every tag
 * is a record, with two exceptions: a tag that outlived its module, and the
 * catch-all, are records only while they hold memory.
 *
 * The position of a reader is a number that names the same tag for as long as
 * that tag exists. Nothing else is kept from one call to the next: no pointer
 * to a tag, a range or a module. So modules can be loaded and unloaded between
 * two calls; codetag_lock() prevents that only during a call.
 *
 * A file has two positions: one for read(), in the seq_file, and one for
 * ioctl(), in the cursor. If a record cannot be copied to the caller, the
 * cursor stays where it was. allocinfo_file.lock serializes calls from several
 * threads. It is taken before the lock of codetag, which is never held while
 * user memory is accessed.
 *
 * Runs in process context, except alloc_tag_show_mem().
 */
#define pr_fmt(fmt) "alloc_tag: " fmt

#include <linux/alloc_tag.h>
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <uapi/linux/alloc_tag.h>

#include "alloc_tag.h"

/* The records are an ABI, the same for all architectures, 32-bit and 64-bit. */
static_assert(sizeof(struct allocinfo_content_id) == 8);
static_assert(sizeof(struct allocinfo_tag) == 200);
static_assert(offsetof(struct allocinfo_tag, modname) == 0);
static_assert(offsetof(struct allocinfo_tag, function) == 64);
static_assert(offsetof(struct allocinfo_tag, filename) == 128);
static_assert(offsetof(struct allocinfo_tag, lineno) == 192);
static_assert(sizeof(struct allocinfo_counter) == 24);
static_assert(offsetof(struct allocinfo_counter, bytes) == 0);
static_assert(offsetof(struct allocinfo_counter, calls) == 8);
static_assert(offsetof(struct allocinfo_counter, accurate) == 16);
static_assert(offsetof(struct allocinfo_counter, __pad) == 17);
static_assert(sizeof(struct allocinfo_tag_data) == 224);
static_assert(offsetof(struct allocinfo_tag_data, tag) == 0);
static_assert(offsetof(struct allocinfo_tag_data, counter) == 200);
static_assert(sizeof(struct allocinfo_filter) == 232);
static_assert(offsetof(struct allocinfo_filter, mask) == 0);
static_assert(offsetof(struct allocinfo_filter, fields) == 8);
static_assert(offsetof(struct allocinfo_filter, min_size) == 208);
static_assert(offsetof(struct allocinfo_filter, max_size) == 216);
static_assert(offsetof(struct allocinfo_filter, inaccurate) == 224);
static_assert(sizeof(struct allocinfo_get_at) == 464);
static_assert(offsetof(struct allocinfo_get_at, pos) == 0);
static_assert(offsetof(struct allocinfo_get_at, filter) == 8);
static_assert(offsetof(struct allocinfo_get_at, data) == 240);
static_assert(ALLOCINFO_IOC_CONTENT_ID == 0x8008a600);
static_assert(ALLOCINFO_IOC_GET_AT == 0xc1d0a601);
static_assert(ALLOCINFO_IOC_GET_NEXT == 0x80e0a602);

/* Data */

/* Positions: those of codetag, then the catch-all, then the end. */
#define ALLOCINFO_CATCH_ALL	(U64_MAX >> 2)
#define ALLOCINFO_END		(ALLOCINFO_CATCH_ALL + 1)

/* Positions in the text: the heading, then the positions above plus one. */
#define ALLOCINFO_HEADING	0

/* The last name that was compared: neighbouring tags often share a name. */
struct allocinfo_memo {
	const char *name;
	bool equal;
};

/**
 * struct allocinfo_walk - a walk over the records
 * @it: walk over the tags, unused while @ct is the catch-all
 * @ct: the current tag, NULL at the end
 * @bytes: bytes of @ct, after allocinfo_read()
 * @calls: calls of @ct, likewise
 * @file: the last comparison of a file name
 * @function: the last comparison of a function name
 */
struct allocinfo_walk {
	struct codetag_iterator it;
	const struct codetag *ct;
	s64 bytes;
	long calls;
	struct allocinfo_memo file;
	struct allocinfo_memo function;
};

/**
 * struct allocinfo_cursor - where ioctl() continues
 * @pos: position of the next tag to look at
 * @filter: selects the records to return; all its names are terminated
 */
struct allocinfo_cursor {
	u64 pos;
	struct allocinfo_filter filter;
};

/**
 * struct allocinfo_file - an open file
 * @text: the walk of read(), valid from start() to stop()
 * @lock: protects @cursor
 * @cursor: the cursor of ioctl()
 */
struct allocinfo_file {
	struct allocinfo_walk text;
	struct mutex lock;	/* protects the cursor */
	struct allocinfo_cursor cursor;
};

/* Internals: the walk */

static void allocinfo_stand(struct allocinfo_walk *w, bool found)
{
	w->ct = found ? w->it.ct : &alloc_tag_catch_all.ct;
}

static bool allocinfo_at_catch_all(const struct allocinfo_walk *w)
{
	return w->ct == &alloc_tag_catch_all.ct;
}

static void allocinfo_seek(struct allocinfo_walk *w, u64 pos)
{
	lockdep_assert_held(&alloc_tag_type.lock);

	if (pos >= ALLOCINFO_END)
		w->ct = NULL;
	else
		allocinfo_stand(w, pos < ALLOCINFO_CATCH_ALL &&
				codetag_seek(&w->it, &alloc_tag_type, pos));
}

static void allocinfo_next(struct allocinfo_walk *w)
{
	if (allocinfo_at_catch_all(w))
		w->ct = NULL;
	else
		allocinfo_stand(w, codetag_next(&w->it));
}

/* Advance to the first tag of the next range. */
static void allocinfo_next_range(struct allocinfo_walk *w)
{
	if (allocinfo_at_catch_all(w))
		w->ct = NULL;
	else
		allocinfo_stand(w, codetag_skip(&w->it, w->it.range->nr));
}

static u64 allocinfo_pos(const struct allocinfo_walk *w)
{
	if (!w->ct)
		return ALLOCINFO_END;
	return allocinfo_at_catch_all(w) ? ALLOCINFO_CATCH_ALL :
					   codetag_pos(&w->it);
}

/* NULL for built-in code. */
static const char *allocinfo_modname(const struct allocinfo_walk *w)
{
	return allocinfo_at_catch_all(w) ? NULL : w->it.range->modname;
}

/* A tag that is a record only while it holds memory. */
static bool allocinfo_is_fleeting(const struct allocinfo_walk *w)
{
	return allocinfo_at_catch_all(w) ||
	       (w->it.range->modname && !w->it.range->mod);
}

/* Read the counter of the tag. Return whether the tag is a record. */
static bool allocinfo_read(struct allocinfo_walk *w)
{
	alloc_tag_read(w->ct, &w->bytes, &w->calls);
	return w->bytes || !allocinfo_is_fleeting(w);
}

/* Go to record @n, counted from 0. */
static void allocinfo_go_to(struct allocinfo_walk *w, u64 n)
{
	unsigned int nr;

	allocinfo_seek(w, 0);
	while (w->ct) {
		if (allocinfo_is_fleeting(w)) {
			if (allocinfo_read(w) && !n--)
				return;
			allocinfo_next(w);
			continue;
		}
		nr = w->it.range->nr;
		if (n < nr) {
			codetag_skip(&w->it, n);
			w->ct = w->it.ct;
			return;
		}
		n -= nr;
		allocinfo_next_range(w);
	}
}

/* A row of the file, and of the report of show_mem(). */
static void allocinfo_row(struct seq_buf *s, const struct codetag *ct,
			  const char *modname, s64 bytes, long calls)
{
	seq_buf_printf(s, "%12lld %8ld ", bytes, calls);
	codetag_to_text(s, ct, modname);
	if (ct->flags & ALLOC_TAG_SHARED)
		seq_buf_puts(s, " accurate:no");
}

/* Internals: the filter */

/* The end of a name, as much as a record has room for. */
static const char *allocinfo_tail(const char *name)
{
	size_t len = strlen(name);

	return len < ALLOCINFO_STR_SIZE ?
	       name : name + len - (ALLOCINFO_STR_SIZE - 1);
}

/* A stored name may be truncated only if the wanted name fills the buffer. */
static bool allocinfo_is(const char *name, const char *wanted)
{
	return !strcmp(name, wanted) ||
	       (wanted[ALLOCINFO_STR_SIZE - 2] &&
		!strcmp(allocinfo_tail(name), wanted));
}

static bool allocinfo_same(struct allocinfo_memo *memo, const char *name,
			   const char *wanted)
{
	if (name != memo->name) {
		memo->name = name;
		memo->equal = allocinfo_is(name, wanted);
	}
	return memo->equal;
}

static bool allocinfo_match_module(const struct allocinfo_walk *w,
				   const struct allocinfo_filter *f)
{
	return !(f->mask & ALLOCINFO_FILTER_MASK_MODNAME) ||
	       allocinfo_is(allocinfo_modname(w) ?: "", f->fields.modname);
}

/* The terms that do not need the counter, the cheapest first. */
static bool allocinfo_match_tag(struct allocinfo_walk *w,
				const struct allocinfo_filter *f)
{
	const struct codetag *ct = w->ct;

	if ((f->mask & ALLOCINFO_FILTER_MASK_LINENO) &&
	    ct->lineno != f->fields.lineno)
		return false;
	if ((f->mask & ALLOCINFO_FILTER_MASK_INACCURATE) &&
	    !(ct->flags & ALLOC_TAG_SHARED) != !f->inaccurate)
		return false;
	if ((f->mask & ALLOCINFO_FILTER_MASK_FILENAME) &&
	    !allocinfo_same(&w->file, ct->filename, f->fields.filename))
		return false;
	return !(f->mask & ALLOCINFO_FILTER_MASK_FUNCTION) ||
	       allocinfo_same(&w->function, ct->function, f->fields.function);
}

static bool allocinfo_match_size(const struct allocinfo_walk *w,
				 const struct allocinfo_filter *f)
{
	u64 bytes = w->bytes;

	if ((f->mask & ALLOCINFO_FILTER_MASK_MIN_SIZE) && bytes < f->min_size)
		return false;
	return !(f->mask & ALLOCINFO_FILTER_MASK_MAX_SIZE) ||
	       bytes <= f->max_size;
}

/* Advance to the first record that passes the filter, beginning at w->ct. */
static bool allocinfo_find(struct allocinfo_walk *w,
			   const struct allocinfo_filter *f)
{
	const struct codetag_range *checked = NULL;

	while (w->ct) {
		if (w->it.range != checked || allocinfo_at_catch_all(w)) {
			if (!allocinfo_match_module(w, f)) {
				allocinfo_next_range(w);
				continue;
			}
			checked = w->it.range;
		}
		if (allocinfo_match_tag(w, f)) {
			if (allocinfo_read(w) && allocinfo_match_size(w, f))
				return true;
			cond_resched();
		}
		allocinfo_next(w);
	}
	return false;
}

/* Interface: read() */

static void *allocinfo_text_at(struct allocinfo_walk *w, loff_t *pos)
{
	*pos = allocinfo_pos(w) + 1;
	return w->ct ? w : NULL;
}

static void *allocinfo_text_start(struct seq_file *m, loff_t *pos)
{
	struct allocinfo_file *f = m->private;

	if (alloc_tag_available)
		codetag_lock(&alloc_tag_type);
	if (*pos == ALLOCINFO_HEADING)
		return SEQ_START_TOKEN;
	if (!alloc_tag_available)
		return NULL;
	allocinfo_seek(&f->text, *pos - 1);
	return allocinfo_text_at(&f->text, pos);
}

static void *allocinfo_text_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct allocinfo_file *f = m->private;

	if (v == SEQ_START_TOKEN) {
		*pos = ALLOCINFO_HEADING + 1;
		if (!alloc_tag_available)
			return NULL;
		allocinfo_seek(&f->text, 0);
	} else {
		allocinfo_next(&f->text);
	}
	return allocinfo_text_at(&f->text, pos);
}

static void allocinfo_text_stop(struct seq_file *m, void *v)
{
	if (alloc_tag_available)
		codetag_unlock(&alloc_tag_type);
}

static void allocinfo_text_row(struct seq_file *m,
			       const struct allocinfo_walk *w)
{
	struct seq_buf s;
	char *buf;
	size_t len;

	len = seq_get_buf(m, &buf);
	seq_buf_init(&s, buf, len);
	allocinfo_row(&s, w->ct, allocinfo_modname(w), w->bytes, w->calls);
	seq_buf_puts(&s, " \n");
	/* On overflow commit -1, so that seq_file retries the whole row. */
	seq_commit(m, seq_buf_has_overflowed(&s) ? -1 : (int)s.len);
}

static int allocinfo_text_show(struct seq_file *m, void *v)
{
	struct allocinfo_walk *w = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "allocinfo - version: 2.0\n");
		seq_puts(m, "#     <size>  <calls> <tag info>\n");
	} else if (allocinfo_read(w)) {
		allocinfo_text_row(m, w);
	}
	return 0;
}

static const struct seq_operations allocinfo_text_ops = {
	.start	= allocinfo_text_start,
	.next	= allocinfo_text_next,
	.stop	= allocinfo_text_stop,
	.show	= allocinfo_text_show,
};

/* Interface: the list of call sites, without counters */

static void alloc_tag_show_tag(struct seq_file *m, const struct codetag *ct,
			       const char *modname)
{
	struct seq_buf s;
	char *buf;
	size_t len;

	len = seq_get_buf(m, &buf);
	seq_buf_init(&s, buf, len);
	seq_buf_printf(&s, "%u ", ct->index);
	codetag_to_text(&s, ct, modname);
	seq_buf_putc(&s, '\n');
	seq_commit(m, seq_buf_has_overflowed(&s) ? -1 : (int)s.len);
}

/**
 * alloc_tag_show_tags - list all call sites with their indices
 * @m: gets lines "<index> <file>:<line> [<module>] func:<function>"
 *
 * For a file of single_open().
 *
 * Context: process context, may sleep.
 */
void alloc_tag_show_tags(struct seq_file *m)
{
	struct codetag_iterator it;
	bool found;

	if (!alloc_tag_available)
		return;
	alloc_tag_show_tag(m, &alloc_tag_catch_all.ct, NULL);
	codetag_lock(&alloc_tag_type);
	for (found = codetag_first(&it, &alloc_tag_type);
	     found && !seq_has_overflowed(m); found = codetag_next(&it)) {
		if (!(it.ct->flags & ALLOC_TAG_SHARED))
			alloc_tag_show_tag(m, it.ct, it.range->modname);
	}
	codetag_unlock(&alloc_tag_type);
}

/* Interface: ioctl() */

/* @data must be zeroed: user space gets the bytes after each name as well. */
static void allocinfo_fill(struct allocinfo_tag_data *data,
			   const struct allocinfo_walk *w)
{
	const struct codetag *ct = w->ct;
	struct allocinfo_tag *tag = &data->tag;

	strscpy(tag->modname, allocinfo_tail(allocinfo_modname(w) ?: ""),
		sizeof(tag->modname));
	strscpy(tag->function, allocinfo_tail(ct->function),
		sizeof(tag->function));
	strscpy(tag->filename, allocinfo_tail(ct->filename),
		sizeof(tag->filename));
	tag->lineno = ct->lineno;
	data->counter.bytes = w->bytes;
	data->counter.calls = w->calls;
	data->counter.accurate = !(ct->flags & ALLOC_TAG_SHARED);
}

/*
 * Fetch the next record that passes the cursor's filter, beginning at the
 * cursor or, with @at, at record number *@at. Put the cursor after it. If there
 * is no such record, return -ENOENT and leave the cursor at the end.
 */
static int allocinfo_fetch(struct allocinfo_cursor *cursor, const u64 *at,
			   struct allocinfo_tag_data *data)
{
	struct allocinfo_walk w = { };
	bool found;

	if (!alloc_tag_available)
		return -ENOENT;

	codetag_lock(&alloc_tag_type);
	if (at)
		allocinfo_go_to(&w, *at);
	else
		allocinfo_seek(&w, cursor->pos);
	found = allocinfo_find(&w, &cursor->filter);
	cursor->pos = ALLOCINFO_END;
	if (found) {
		allocinfo_fill(data, &w);
		cursor->pos = allocinfo_pos(&w) + 1;
	}
	codetag_unlock(&alloc_tag_type);
	return found ? 0 : -ENOENT;
}

static int allocinfo_content_id(struct allocinfo_content_id __user *arg)
{
	struct allocinfo_content_id content = { };

	if (alloc_tag_available) {
		codetag_lock(&alloc_tag_type);
		content.id = codetag_generation(&alloc_tag_type);
		codetag_unlock(&alloc_tag_type);
	}
	return copy_to_user(arg, &content, sizeof(content)) ? -EFAULT : 0;
}

/* Terminate the names, so that a longer one is cut to the size in a record. */
static void allocinfo_terminate(struct allocinfo_tag *tag)
{
	tag->modname[ALLOCINFO_STR_SIZE - 1] = '\0';
	tag->function[ALLOCINFO_STR_SIZE - 1] = '\0';
	tag->filename[ALLOCINFO_STR_SIZE - 1] = '\0';
}

static int allocinfo_get_at(struct allocinfo_file *f,
			    struct allocinfo_get_at __user *arg)
{
	struct allocinfo_tag_data data = { };
	struct allocinfo_cursor cursor = { };
	u64 at;
	int err;

	if (copy_from_user(&at, &arg->pos, sizeof(at)) ||
	    copy_from_user(&cursor.filter, &arg->filter, sizeof(cursor.filter)))
		return -EFAULT;
	if (cursor.filter.mask & ~(u64)ALLOCINFO_FILTER_MASKS)
		return -EINVAL;
	allocinfo_terminate(&cursor.filter.fields);

	mutex_lock(&f->lock);
	err = allocinfo_fetch(&cursor, &at, &data);
	if (!err && copy_to_user(&arg->data, &data, sizeof(data)))
		err = -EFAULT;
	if (err != -EFAULT)
		f->cursor = cursor;
	mutex_unlock(&f->lock);
	return err;
}

static int allocinfo_get_next(struct allocinfo_file *f,
			      struct allocinfo_tag_data __user *arg)
{
	struct allocinfo_tag_data data = { };
	u64 pos;
	int err;

	mutex_lock(&f->lock);
	pos = f->cursor.pos;
	err = allocinfo_fetch(&f->cursor, NULL, &data);
	if (!err && copy_to_user(arg, &data, sizeof(data))) {
		f->cursor.pos = pos;
		err = -EFAULT;
	}
	mutex_unlock(&f->lock);
	return err;
}

static long allocinfo_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	struct seq_file *m = file->private_data;

	switch (cmd) {
	case ALLOCINFO_IOC_CONTENT_ID:
		return allocinfo_content_id((void __user *)arg);
	case ALLOCINFO_IOC_GET_AT:
		return allocinfo_get_at(m->private, (void __user *)arg);
	case ALLOCINFO_IOC_GET_NEXT:
		return allocinfo_get_next(m->private, (void __user *)arg);
	}
	return -ENOTTY;
}

/* Init */

static int allocinfo_open(struct inode *inode, struct file *file)
{
	struct allocinfo_file *f;

	f = __seq_open_private(file, &allocinfo_text_ops, sizeof(*f));
	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	return 0;
}

/* Interface: the report of show_mem() */

#define ALLOCINFO_TOP		10

/* One of the call sites that hold most, sorted by bytes, the largest first. */
struct allocinfo_top {
	const struct codetag *ct;
	const char *modname;
	s64 bytes;
	long calls;
};

static unsigned int allocinfo_find_top(struct allocinfo_top *top)
{
	struct allocinfo_walk w;
	unsigned int nr = 0, i;

	for (allocinfo_seek(&w, 0); w.ct; allocinfo_next(&w)) {
		if (!allocinfo_read(&w) || !w.bytes)
			continue;
		for (i = nr; i && top[i - 1].bytes < w.bytes; i--)
			if (i < ALLOCINFO_TOP)
				top[i] = top[i - 1];
		if (i == ALLOCINFO_TOP)
			continue;
		top[i].ct = w.ct;
		top[i].modname = allocinfo_modname(&w);
		top[i].bytes = w.bytes;
		top[i].calls = w.calls;
		nr = min(nr + 1, (unsigned int)ALLOCINFO_TOP);
	}
	return nr;
}

static void allocinfo_print_top(const struct allocinfo_top *top, unsigned int nr)
{
	struct seq_buf s;
	char row[200];
	unsigned int i;

	pr_warn("bytes, calls and places of the %u lines that hold most:\n", nr);
	for (i = 0; i < nr; i++) {
		seq_buf_init(&s, row, sizeof(row));
		allocinfo_row(&s, top[i].ct, top[i].modname, top[i].bytes,
			      top[i].calls);
		pr_warn("%.*s\n", (int)seq_buf_used(&s), row);
	}
}

/**
 * alloc_tag_show_mem - print the call sites that hold most memory
 *
 * For show_mem(). Allocates nothing and waits for no lock. If another CPU is
 * printing this report, or a module is being loaded or unloaded, a message says
 * so instead.
 *
 * Context: any; prints nothing in NMI.
 */
void alloc_tag_show_mem(void)
{
	static unsigned long reporting;
	struct allocinfo_top top[ALLOCINFO_TOP];

	/* The release of a lock can wake a task, which NMI must not do. */
	if (in_nmi())
		return;
	if (!static_key_enabled(&mem_alloc_profiling_key)) {
		pr_warn("memory allocation profiling is off\n");
		return;
	}
	if (test_and_set_bit_lock(0, &reporting)) {
		pr_warn("another report on call sites is under way\n");
		return;
	}
	if (codetag_trylock(&alloc_tag_type)) {
		allocinfo_print_top(top, allocinfo_find_top(top));
		codetag_unlock(&alloc_tag_type);
	} else {
		pr_warn("a module comes or goes, no report on call sites\n");
	}
	clear_bit_unlock(0, &reporting);
}

static const struct proc_ops allocinfo_proc_ops = {
	.proc_open		= allocinfo_open,
	.proc_read_iter		= seq_read_iter,
	.proc_lseek		= seq_lseek,
	.proc_release		= seq_release_private,
	.proc_ioctl		= allocinfo_ioctl,
#ifdef CONFIG_COMPAT
	.proc_compat_ioctl	= compat_ptr_ioctl,
#endif
};

static int __init allocinfo_init(void)
{
	if (!proc_create("allocinfo", 0400, NULL, &allocinfo_proc_ops))
		return -ENOMEM;
	return 0;
}
fs_initcall(allocinfo_init);

#ifdef CONFIG_ALLOC_TAG_KUNIT_TEST
#include "allocinfo_kunit.c"
#endif
