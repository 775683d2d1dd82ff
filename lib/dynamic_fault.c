// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic fault injection.
 *
 * A fault point is a code tag: the tag of a dynamic_fault(), or the allocation
 * tag that is current when an allocator asks whether it must fail. Until a
 * command enables a point, only this static record exists. The command adds a
 * struct fault_point to a hash table, and sets a bit in the tag.
 *
 * A later command replaces the struct fault_point. Until then only its counts
 * change. So it is looked up under RCU and freed after a grace period. The
 * table is changed either under dynamic_fault_mutex with the tags of both types
 * locked, or, when the tags of a module go away, with their type locked for
 * writing. These two exclude each other.
 *
 * should_fail() of the fault injection framework decides whether an evaluation
 * fails, by a probability and by /proc/<pid>/fail-nth. The counts of
 * evaluations and of remaining faults are atomics of this file, because those
 * of the framework are not exact when several CPUs evaluate a point.
 *
 * A user must always be able to disable a point again. So a point checks the
 * context of an evaluation before it fires, see "exceptions" below.
 *
 * The commands of the boot parameter dynamic_faults= apply to built-in code
 * before most initcalls run, and to each module before its first instruction
 * runs.
 *
 * Points are evaluated in any context but NMI. All else runs in process
 * context, unless its comment says otherwise.
 */
#define pr_fmt(fmt) "dynamic_faults: " fmt

#include <linux/alloc_tag.h>
#include <linux/atomic.h>
#include <linux/codetag.h>
#include <linux/codetag_query.h>
#include <linux/compat.h>
#include <linux/debugfs.h>
#include <linux/dynamic_fault.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/fault-inject.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/parser.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysrq.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <asm/setup.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "alloc_tag.h"

/* Data */

extern struct dynamic_fault __start_dynamic_faults[], __stop_dynamic_faults[];

DEFINE_STATIC_KEY_FALSE(dynamic_fault_key);
EXPORT_SYMBOL_GPL(dynamic_fault_key);

static void fault_forget(struct codetag_type *type,
			 struct codetag_range *range);

static struct codetag_type dynamic_fault_type = {
	.section	= "dynamic_faults",
	.tag_size	= sizeof(struct dynamic_fault),
	.module_unload	= fault_forget,
};

static struct codetag_range dynamic_fault_kernel;

#define FAULT_FILE		"dynamic_faults"
#define FAULT_SYSRQ_FILE	"sysrq-trigger"	/* not longer than FAULT_FILE */
#define FAULT_CLASS_MEMORY	"memory"
#define FAULT_ALWAYS		(-1)	/* times */

/**
 * struct fault_settings - the settings that a command gives to a point
 * @enable: false if the command disables the point
 * @frequency: the point can fire at every @frequency-th evaluation only
 * @probability: probability of a fault at these evaluations, in percent
 * @times: maximum number of faults, or FAULT_ALWAYS
 * @pid: fire only in this task or thread group; 0 for any
 * @comm: fire only in tasks whose name matches this pattern; empty for any
 */
struct fault_settings {
	bool enable;
	unsigned int frequency;
	unsigned int probability;
	int times;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct fault_point - the state of a point that a command has enabled
 * @node: in fault_points; before that, in the list of a command
 * @ct: the tag, which is the key
 * @set: the settings of the command
 * @attr: the probability, for should_fail()
 * @terminal: true if the point is in a terminal driver
 * @left: number of faults that remain, or FAULT_ALWAYS
 * @evaluated: number of evaluations at which it could have fired
 * @fired: number of faults so far
 * @rcu: for kfree_rcu()
 */
struct fault_point {
	struct hlist_node node;
	const struct codetag *ct;
	struct fault_settings set;
	struct fault_attr attr;
	bool terminal;
	atomic_t left;
	atomic64_t evaluated;
	atomic_long_t fired;
	struct rcu_head rcu;
};

/* Serializes all changes of points but those for a module that is unloaded. */
static DEFINE_MUTEX(dynamic_fault_mutex);

static DEFINE_HASHTABLE(fault_points, 10);
static unsigned int fault_nr_points;
static bool fault_has_hooks;

/* While set, no point fires. Set by SysRq, cleared when all are disabled. */
static bool fault_stopped;

/* Inode of the file for commands; NULL before the file exists. */
static struct inode *fault_inode;

/*
 * The process that last enabled points, and its ancestors, by tgid. The user
 * needs them to disable the points, so they have to survive. Changed under
 * dynamic_fault_mutex.
 */
#define FAULT_KEEPERS		16
static pid_t fault_keepers[FAULT_KEEPERS];

/* Internals: exceptions, so that the user can disable a point again */

static bool fault_is_keeper(void)
{
	unsigned int i;

	for (i = 0; i < FAULT_KEEPERS; i++)
		if (READ_ONCE(fault_keepers[i]) == current->tgid)
			return true;
	return false;
}

/* @nr is a native number; the numbers of another ABI differ. */
static bool fault_manages_memory(int nr)
{
	switch (nr) {
	case __NR_brk:
#ifdef __NR_mmap
	case __NR_mmap:
#endif
#ifdef __NR_mmap2
	case __NR_mmap2:
#endif
	case __NR_mprotect:
	case __NR_mremap:
	case __NR_munmap:
		return true;
	default:
		return false;
	}
}

/*
 * Does a path in user space end with the name of a file that can disable
 * points: the file for commands, or sysrq-trigger? The caller may hold any
 * lock, so a page that is not present cannot be faulted in; return @absent in
 * that case. Do not use strncpy_from_user(): it counts down
 * /proc/<pid>/fail-nth with CONFIG_FAULT_INJECTION_USERCOPY.
 */
static bool fault_is_path(unsigned long address, bool absent)
{
	const char __user *path = (const char __user *)address;
	char tail[sizeof("/" FAULT_FILE)] = "";
	long size = strnlen_user_nofault(path, PATH_MAX);
	const char *name;
	long skip;

	if (size <= 0)
		return absent;
	if (size > PATH_MAX)
		return false;
	skip = max_t(long, size - sizeof(tail), 0);
	if (copy_from_user_nofault(tail, path + skip, size - skip))
		return absent;
	/* Another thread may have changed the string since it was measured. */
	tail[sizeof(tail) - 1] = '\0';
	name = kbasename(tail);
	return !strcmp(name, FAULT_FILE) || !strcmp(name, FAULT_SYSRQ_FILE);
}

/* Does the system call open a file that disables points? */
static bool fault_is_opened(int nr, const unsigned long *args)
{
	if (in_compat_syscall())
		return fault_is_path(args[0], false) ||
		       fault_is_path(args[1], false);
	switch (nr) {
#ifdef __NR_open
	case __NR_open:
		return fault_is_path(args[0], true);
#endif
#ifdef __NR_creat
	case __NR_creat:
		return fault_is_path(args[0], true);
#endif
	case __NR_openat:
	case __NR_openat2:
		return fault_is_path(args[1], true);
	default:
		return false;
	}
}

/* Is the first argument a descriptor of the file for commands? */
static bool fault_is_used(const unsigned long *args)
{
	struct file *file;

	if (!current->files || args[0] > INT_MAX)
		return false;
	file = lookup_fd_rcu(args[0]);
	return file && file_inode(file) == READ_ONCE(fault_inode);
}

/*
 * Is the task handling a page fault in user mode? On some architectures @nr
 * does not show this, but the flag of memcg does.
 */
static bool fault_in_user_mode(int nr)
{
#ifdef CONFIG_MEMCG
	if (current->in_user_fault)
		return true;
#endif
	return nr == -1;
}

/*
 * Would the task be lost if this failed every time? A page fault in user mode
 * would be repeated for ever. Init and the keepers must be able to run.
 */
static bool fault_is_vital(const struct fault_settings *set, int nr)
{
	if (fault_in_user_mode(nr))
		return true;
	if (is_global_init(current))
		return set->pid != current->tgid;
	return fault_is_keeper() &&
	       (in_compat_syscall() || fault_manages_memory(nr));
}

/*
 * Is this evaluation an exception, so that the user can disable the point
 * again? Called under RCU.
 */
static bool fault_spares(const struct fault_point *p)
{
	bool endless = p->set.times != 1;
	unsigned long args[6];
	struct pt_regs *regs;
	int nr;

	if (READ_ONCE(fault_stopped))
		return true;
	if (endless && (in_hardirq() || p->terminal))
		return true;
	if (!in_task() || !current->mm ||
	    current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return false;

	regs = task_pt_regs(current);
	nr = syscall_get_nr(current, regs);
	if (endless && fault_is_vital(&p->set, nr))
		return true;
	if (nr == -1)
		return false;
	/*
	 * On some architectures, such as MIPS, the last arguments are on the
	 * user stack. A page of it that is not present must not be faulted in.
	 * Only the first two arguments are used.
	 */
	pagefault_disable();
	syscall_get_arguments(current, regs, args);
	pagefault_enable();
	return fault_is_used(args) || fault_is_opened(nr, args);
}

static void fault_note_keepers(void)
{
	struct task_struct *task = current;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < FAULT_KEEPERS; i++) {
		WRITE_ONCE(fault_keepers[i], task->tgid);
		if (!is_global_init(task))
			task = rcu_dereference(task->real_parent);
	}
	rcu_read_unlock();
}

/* Internals: evaluation */

static struct fault_point *fault_find(const struct codetag *ct)
{
	struct fault_point *p;

	hash_for_each_possible_rcu(fault_points, p, node, (unsigned long)ct,
				   true)
		if (p->ct == ct)
			return p;
	return NULL;
}

static bool fault_concerns(const struct fault_settings *set)
{
	if (!set->pid && !*set->comm)
		return true;
	if (!in_task())
		return false;
	if (set->pid)
		return current->pid == set->pid || current->tgid == set->pid;
	return match_wildcard(set->comm, current->comm);
}

/*
 * For evaluations between the ones that @frequency selects: with a probability
 * of 0, only fail-nth makes them fire.
 */
static struct fault_attr fault_attr_between = {
	.interval	= 1,
	.times		= ATOMIC_INIT(-1),
	.require_end	= ULONG_MAX,
};

/* Let the framework decide whether evaluation number @nr fires. */
static bool fault_should_fail(struct fault_point *p, u64 nr)
{
	u32 frequency = p->set.frequency;
	u32 rest = 0;

	if (frequency != 1)
		div_u64_rem(nr, frequency, &rest);
	return should_fail(rest ? &fault_attr_between : &p->attr, 1);
}

static bool fault_fires(struct fault_point *p)
{
	/* A point that only counts needs no exceptions. */
	bool counts = !p->set.probability && !READ_ONCE(current->fail_nth);
	u64 nr;

	if (!atomic_read(&p->left) || !fault_concerns(&p->set) ||
	    (!counts && fault_spares(p)))
		return false;
	nr = atomic64_inc_return(&p->evaluated);
	if (counts || !fault_should_fail(p, nr))
		return false;
	if (p->set.times != FAULT_ALWAYS &&
	    atomic_dec_if_positive(&p->left) < 0)
		return false;
	atomic_long_inc(&p->fired);
	return true;
}

/**
 * __dynamic_fault - slow path of dynamic_fault(), while any point is enabled
 * @ct: the tag of the point
 *
 * Context: any but NMI.
 * Return: true if the point fires.
 */
bool __dynamic_fault(const struct codetag *ct)
{
	struct fault_point *p;
	bool fires = false;

	if (!(READ_ONCE(ct->flags) & DYNAMIC_FAULT_SET))
		return false;
	rcu_read_lock();
	p = fault_find(ct);
	if (p)
		fires = fault_fires(p);
	rcu_read_unlock();
	return fires;
}
EXPORT_SYMBOL_GPL(__dynamic_fault);

/**
 * __dynamic_fault_memory - slow path of dynamic_fault_memory()
 * @gfp: flags of the allocation
 *
 * Context: any but NMI.
 * Return: true if the point of the current allocation tag fires.
 */
bool __dynamic_fault_memory(gfp_t gfp)
{
	if (gfp & __GFP_NOFAIL)
		return false;
	return __dynamic_fault(&current->alloc_tag->ct);
}

/**
 * __dynamic_fault_decides - slow path of dynamic_fault_memory_or()
 * @gfp: flags of the allocation
 *
 * Context: any but NMI.
 * Return: 1 if the point of the current allocation tag fires; -1 if it does
 * not, but fail-nth has counted the allocation, so that nothing else may count
 * it; else 0.
 */
int __dynamic_fault_decides(gfp_t gfp)
{
	unsigned int nth = in_task() ? READ_ONCE(current->fail_nth) : 0;

	if (__dynamic_fault_memory(gfp))
		return 1;
	return nth && READ_ONCE(current->fail_nth) != nth ? -1 : 0;
}

/* Internals: the tags */

/*
 * A walk over all fault points visits two sections of tags: the allocation tags,
 * if they are available, and then the tags of dynamic_fault(). A position in the
 * walk is the codetag_pos() of the tag. This bit is set in the second section.
 */
#define FAULT_POS_OWN	BIT_ULL(60)

/* All type->lock are of one lockdep class; only this function takes two. */
static void fault_lock_tags(void)
{
	if (alloc_tag_available)
		codetag_lock(&alloc_tag_type);
	down_read_nested(&dynamic_fault_type.lock, SINGLE_DEPTH_NESTING);
}

static void fault_unlock_tags(void)
{
	codetag_unlock(&dynamic_fault_type);
	if (alloc_tag_available)
		codetag_unlock(&alloc_tag_type);
}

/* Skip tags that outlived their module: their code cannot run any more. */
static bool fault_skip_gone(struct codetag_iterator *it)
{
	while (it->ct && it->range->modname && !it->range->mod)
		codetag_skip(it, it->range->nr);
	return it->ct;
}

static bool fault_seek(struct codetag_iterator *it, u64 pos)
{
	if (!(pos & FAULT_POS_OWN) && alloc_tag_available) {
		codetag_seek(it, &alloc_tag_type, pos);
		if (fault_skip_gone(it))
			return true;
		pos = 0;
	}
	codetag_seek(it, &dynamic_fault_type, pos & ~FAULT_POS_OWN);
	return fault_skip_gone(it);
}

static bool fault_next(struct codetag_iterator *it)
{
	codetag_next(it);
	if (fault_skip_gone(it))
		return true;
	return it->type != &dynamic_fault_type && fault_seek(it, FAULT_POS_OWN);
}

static u64 fault_pos(const struct codetag_iterator *it)
{
	return codetag_pos(it) |
	       (it->type == &dynamic_fault_type ? FAULT_POS_OWN : 0);
}

static const char *fault_class(const struct codetag_iterator *it)
{
	if (it->type != &dynamic_fault_type)
		return FAULT_CLASS_MEMORY;
	return container_of(it->ct, struct dynamic_fault, ct)->class;
}

static void fault_set(struct codetag *ct, bool set)
{
	WRITE_ONCE(ct->flags, set ? ct->flags | DYNAMIC_FAULT_SET :
				    ct->flags & ~DYNAMIC_FAULT_SET);
}

static void fault_remove(struct codetag *ct)
{
	struct fault_point *p;

	if (!(ct->flags & DYNAMIC_FAULT_SET))
		return;
	fault_set(ct, false);
	p = fault_find(ct);
	hash_del_rcu(&p->node);
	kfree_rcu(p, rcu);
	fault_nr_points--;
}

static void fault_install(struct codetag *ct, struct fault_point *p)
{
	fault_remove(ct);
	p->ct = ct;
	p->terminal = strstarts(ct->filename, "drivers/tty/");
	hash_add_rcu(fault_points, &p->node, (unsigned long)ct);
	fault_nr_points++;
	/* Set the bit last: a reader finds either no point or the new one. */
	fault_set(ct, true);
}

/*
 * When tags of a module go away, the static keys stay as they are: only
 * commands change them.
 */
static void fault_forget(struct codetag_type *type, struct codetag_range *range)
{
	unsigned int i;

	lockdep_assert_held_write(&type->lock);

	for (i = 0; i < range->nr; i++)
		fault_remove(codetag_of_range(type, range, i));
}

/* Internals: commands */

enum fault_word {
	FAULT_ENABLE,
	FAULT_DISABLE,
	FAULT_ONESHOT,
	FAULT_FREQUENCY,
	FAULT_PROBABILITY,
	FAULT_TIMES,
	FAULT_TASK,
};

static const char * const fault_words[] = {
	[FAULT_ENABLE]		= "enable",
	[FAULT_DISABLE]		= "disable",
	[FAULT_ONESHOT]		= "oneshot",
	[FAULT_FREQUENCY]	= "frequency",
	[FAULT_PROBABILITY]	= "probability",
	[FAULT_TIMES]		= "times",
	[FAULT_TASK]		= "task",
};

/* A number is a process, anything else a name. */
static int fault_parse_task(struct fault_settings *set, struct codetag_words *w)
{
	unsigned int pid;

	if (!w->word)
		return codetag_words_wrong(w, "a task is missing");
	if (strspn(w->word, "0123456789") == strlen(w->word)) {
		if (codetag_words_number(w, 1, INT_MAX, &pid))
			return -EINVAL;
		set->pid = pid;
		return 0;
	}
	if (strscpy(set->comm, w->word, sizeof(set->comm)) < 0)
		return codetag_words_wrong(w, "longer than the name of a task");
	codetag_words_next(w);
	return w->error ? -EINVAL : 0;
}

static int fault_parse_value(struct fault_settings *set,
			     struct codetag_words *w, enum fault_word word)
{
	unsigned int n;

	switch (word) {
	case FAULT_FREQUENCY:
		return codetag_words_number(w, 1, INT_MAX, &set->frequency);
	case FAULT_PROBABILITY:
		return codetag_words_number(w, 0, 100, &set->probability);
	case FAULT_TIMES:
		if (codetag_words_number(w, 1, INT_MAX, &n))
			return -EINVAL;
		set->times = n;
		return 0;
	case FAULT_TASK:
		return fault_parse_task(set, w);
	case FAULT_ONESHOT:
		set->times = 1;
		return 0;
	default:
		return 0;
	}
}

/* Parse the words after the query. */
static int fault_parse_command(struct fault_settings *set,
			       struct codetag_words *w)
{
	unsigned long seen = 0;
	int word;

	*set = (struct fault_settings) {
		.enable		= true,
		.frequency	= 1,
		.probability	= 100,
		.times		= FAULT_ALWAYS,
	};
	if (!w->word && !w->error)
		return codetag_words_wrong(w, "a command is missing");
	while (w->word && !w->error) {
		word = match_string(fault_words, ARRAY_SIZE(fault_words),
				    w->word);
		if (word < 0)
			return codetag_words_wrong(w, "no such command");
		if (seen & BIT(word))
			return codetag_words_wrong(w, "given twice");
		seen |= BIT(word);
		if ((seen & BIT(FAULT_DISABLE) && seen != BIT(FAULT_DISABLE)) ||
		    (seen & BIT(FAULT_ONESHOT) && seen & BIT(FAULT_TIMES)))
			return codetag_words_wrong(w, "contradicts an earlier word");
		codetag_words_next(w);
		fault_parse_value(set, w, word);
	}
	set->enable = !(seen & BIT(FAULT_DISABLE));
	return w->error ? -EINVAL : 0;
}

static struct fault_point *fault_new(const struct fault_settings *set)
{
	struct fault_point *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->set = *set;
	p->attr = (struct fault_attr)FAULT_ATTR_INITIALIZER;
	p->attr.verbose = 0;
	p->attr.stacktrace_depth = 0;
	p->attr.probability = set->probability;
	atomic_set(&p->attr.times, -1);
	atomic_set(&p->left, set->times);
	return p;
}

static void fault_free_list(struct hlist_head *list)
{
	struct fault_point *p;
	struct hlist_node *next;

	hlist_for_each_entry_safe(p, next, list, node)
		kfree(p);
}

/**
 * struct fault_command - a parsed command
 * @query: selects the points
 * @set: the settings for these points
 * @everything: true if the query has no terms
 * @by_user: true if the current process gave the command
 */
struct fault_command {
	struct codetag_query query;
	struct fault_settings set;
	bool everything;
	bool by_user;
};

static bool fault_is_meant(struct codetag_query *query,
			   const struct codetag_iterator *it,
			   const struct module *mod)
{
	return (!mod || it->range->mod == mod) &&
	       codetag_query_match(query, it->ct, codetag_modname(it),
				   fault_class(it));
}

/* Allocate a point for each selected tag, before anything is changed. */
static int fault_prepare(struct codetag_query query,
			 const struct fault_settings *set,
			 const struct module *mod, struct hlist_head *list)
{
	struct codetag_iterator it;
	struct fault_point *p;
	int nr = 0;
	bool more;

	for (more = fault_seek(&it, 0); more; more = fault_next(&it)) {
		if (!fault_is_meant(&query, &it, mod))
			continue;
		nr++;
		if (!set->enable)
			continue;
		p = fault_new(set);
		if (!p)
			return -ENOMEM;
		hlist_add_head(&p->node, list);
		cond_resched();
	}
	return nr ?: -ENOENT;
}

static void fault_apply(struct codetag_query query, const struct module *mod,
			struct hlist_head *list)
{
	struct codetag_iterator it;
	struct fault_point *p;
	bool more;

	for (more = fault_seek(&it, 0); more; more = fault_next(&it)) {
		if (!fault_is_meant(&query, &it, mod))
			continue;
		if (hlist_empty(list)) {
			fault_remove(it.ct);
			continue;
		}
		p = hlist_entry(list->first, struct fault_point, node);
		hlist_del(&p->node);
		fault_install(it.ct, p);
	}
}

/* While there are points, hooks must make their allocation tag current. */
static void fault_switch(void)
{
	bool on = fault_nr_points;

	lockdep_assert_held(&dynamic_fault_mutex);

	if (on == static_key_enabled(&dynamic_fault_key))
		return;
	if (on) {
		fault_has_hooks = alloc_tag_hooks_get();
		static_branch_enable(&dynamic_fault_key);
	} else {
		static_branch_disable(&dynamic_fault_key);
		if (fault_has_hooks)
			alloc_tag_hooks_put();
	}
}

/* Apply a command to the tags of a module or, if @mod is NULL, to all tags. */
static int fault_do(const struct fault_command *c, const struct module *mod)
{
	HLIST_HEAD(list);
	int ret;

	lockdep_assert_held(&dynamic_fault_mutex);

	fault_lock_tags();
	ret = fault_prepare(c->query, &c->set, mod, &list);
	if (ret < 0) {
		fault_free_list(&list);
	} else {
		/* A command that fails must not replace the keepers. */
		if (c->by_user && c->set.enable)
			fault_note_keepers();
		fault_apply(c->query, mod, &list);
	}
	fault_unlock_tags();
	fault_switch();
	return ret < 0 ? ret : 0;
}

static int fault_parse(struct fault_command *c, struct codetag_words *w)
{
	unsigned int column = w->column;

	if (codetag_query_parse(&c->query, w))
		return -EINVAL;
	c->everything = w->column == column;
	return fault_parse_command(&c->set, w);
}

/* Internals: the boot parameter */

/**
 * struct fault_boot_command - a command of the boot parameter
 * @node: in fault_boot_commands
 * @c: the parsed command
 * @text: the text that @c refers to
 */
struct fault_boot_command {
	struct list_head node;
	struct fault_command c;
	char text[];
};

/* In order, for modules loaded later. Changed under dynamic_fault_mutex. */
static LIST_HEAD(fault_boot_commands);

static char fault_boot_text[COMMAND_LINE_SIZE] __initdata;

/* The allocators are not up yet: keep the text. Join repeated parameters. */
static int __init fault_boot_setup(char *text)
{
	size_t len = strlen(fault_boot_text);
	size_t size = sizeof(fault_boot_text) - len;

	if (snprintf(fault_boot_text + len, size, "%s%s", len ? ";" : "",
		     text) >= size) {
		fault_boot_text[len] = '\0';
		pr_err("boot parameter: too long, ignored: %s\n", text);
	}
	return 1;
}
__setup("dynamic_faults=", fault_boot_setup);

/* Terminate a command at its semicolon. Return the text after that, or NULL. */
static char *fault_boot_cut(char *text)
{
	char quote = '\0';

	for (; *text; text++) {
		if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '"' || *text == '\'')
			quote = *text;
		else if (*text == ';')
			break;
	}
	if (!*text)
		return NULL;
	*text = '\0';
	return text + 1;
}

static struct fault_boot_command *fault_boot_parse(const char *text)
{
	struct fault_boot_command *b;
	size_t size = strlen(text) + 1;
	struct codetag_words w;

	b = kzalloc(struct_size(b, text, size), GFP_KERNEL);
	if (!b)
		return ERR_PTR(-ENOMEM);
	memcpy(b->text, text, size);
	codetag_words_begin(&w, b->text);
	if (!fault_parse(&b->c, &w))
		return b;
	codetag_words_report(&w, FAULT_FILE ": boot parameter");
	kfree(b);
	return ERR_PTR(-EINVAL);
}

/*
 * Apply a command to the existing points, and keep it for modules. A command
 * that matches no point is kept as well: a module may have one.
 */
static int fault_boot_add(struct fault_boot_command *b)
{
	int ret;

	mutex_lock(&dynamic_fault_mutex);
	ret = fault_do(&b->c, NULL);
	if (ret != -ENOMEM)
		list_add_tail(&b->node, &fault_boot_commands);
	mutex_unlock(&dynamic_fault_mutex);
	if (ret != -ENOMEM)
		return 0;
	kfree(b);
	return ret;
}

static void fault_boot_command(const char *text)
{
	struct fault_boot_command *b = fault_boot_parse(text);
	int ret = PTR_ERR_OR_ZERO(b);

	if (!ret)
		ret = fault_boot_add(b);
	if (ret)
		pr_err("boot parameter: %signored: %s\n",
		       ret == -ENOMEM ? "no memory, " : "", text);
}

static void fault_boot_text_run(char *text)
{
	char *next;

	for (; text; text = next) {
		next = fault_boot_cut(text);
		if (*skip_spaces(text))
			fault_boot_command(text);
	}
}

/* A command that disables all points also cancels the boot parameter. */
static void fault_boot_forget(void)
{
	struct fault_boot_command *b, *next;

	lockdep_assert_held(&dynamic_fault_mutex);

	list_for_each_entry_safe(b, next, &fault_boot_commands, node) {
		list_del(&b->node);
		kfree(b);
	}
}

#ifdef CONFIG_MODULES
static int fault_module_comes(struct notifier_block *nb, unsigned long state,
			      void *data)
{
	const struct fault_boot_command *b;
	const struct module *mod = data;

	if (state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	mutex_lock(&dynamic_fault_mutex);
	list_for_each_entry(b, &fault_boot_commands, node)
		if (fault_do(&b->c, mod) == -ENOMEM)
			pr_err("boot parameter: no memory for module %s\n",
			       mod->name);
	mutex_unlock(&dynamic_fault_mutex);
	return NOTIFY_OK;
}

static struct notifier_block fault_module_nb = {
	.notifier_call	= fault_module_comes,
};
#endif

/* Internals: commands from user space, and from the keyboard */

static int fault_command(struct codetag_words *w)
{
	struct fault_command c;
	int ret;

	if (fault_parse(&c, w))
		return -EINVAL;

	c.by_user = true;
	mutex_lock(&dynamic_fault_mutex);
	if (!c.set.enable && c.everything)
		fault_boot_forget();
	ret = fault_do(&c, NULL);
	mutex_unlock(&dynamic_fault_mutex);

	if (ret == -ENOENT)
		pr_err("no such fault point\n");
	return ret;
}

static void fault_disable_all(struct work_struct *work)
{
	struct codetag_words w;
	char text[] = "disable";

	codetag_words_begin(&w, text);
	fault_command(&w);
	WRITE_ONCE(fault_stopped, false);
}

static DECLARE_WORK(fault_disable_work, fault_disable_all);

/*
 * From now on no point fires. A work item, which can sleep, disables them all.
 * It allocates nothing.
 */
static void fault_sysrq(int key)
{
	WRITE_ONCE(fault_stopped, true);
	schedule_work(&fault_disable_work);
}

static const struct sysrq_key_op fault_sysrq_op = {
	.handler	= fault_sysrq,
	.help_msg	= "disable-fault-points(F)",
	.action_msg	= "Disable all fault points",
	.enable_mask	= SYSRQ_ENABLE_KEYBOARD,
};

/* Interface: debugfs */

static void *fault_seq_at(struct seq_file *m, loff_t *pos, bool found)
{
	struct codetag_iterator *it = m->private;

	if (!found) {
		*pos = S64_MAX;
		return NULL;
	}
	*pos = fault_pos(it);
	return it;
}

static void *fault_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&dynamic_fault_mutex);
	fault_lock_tags();
	return fault_seq_at(m, pos, *pos != S64_MAX &&
			    fault_seek(m->private, *pos));
}

static void *fault_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	return fault_seq_at(m, pos, fault_next(m->private));
}

static void fault_seq_stop(struct seq_file *m, void *v)
{
	fault_unlock_tags();
	mutex_unlock(&dynamic_fault_mutex);
}

static void fault_show_point(struct seq_file *m, const struct fault_point *p)
{
	const struct fault_settings *set = &p->set;
	int left = atomic_read(&p->left);

	seq_puts(m, !left ? "disabled" : set->times == 1 ? "oneshot" : "enabled");
	if (set->frequency != 1)
		seq_printf(m, " frequency:%u", set->frequency);
	if (set->probability != 100)
		seq_printf(m, " probability:%u", set->probability);
	if (set->times > 1 && left)
		seq_printf(m, " times:%d", left);
	if (set->pid)
		seq_printf(m, " task:%d", set->pid);
	if (*set->comm)
		seq_printf(m, " task:%s", set->comm);
	seq_printf(m, " evaluated:%lld fired:%ld",
		   (s64)atomic64_read(&p->evaluated), atomic_long_read(&p->fired));
}

static int fault_seq_show(struct seq_file *m, void *v)
{
	struct codetag_iterator *it = v;
	const struct codetag *ct = it->ct;

	seq_printf(m, "%s:%u module:%s func:%s class:%s ", ct->filename,
		   ct->lineno, codetag_modname(it), ct->function,
		   fault_class(it));
	if (ct->flags & DYNAMIC_FAULT_SET)
		fault_show_point(m, fault_find(ct));
	else
		seq_puts(m, "disabled");
	seq_puts(m, " \"\n");
	return 0;
}

static const struct seq_operations fault_seq_ops = {
	.start	= fault_seq_start,
	.next	= fault_seq_next,
	.stop	= fault_seq_stop,
	.show	= fault_seq_show,
};

static int fault_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &fault_seq_ops,
				sizeof(struct codetag_iterator));
}

static ssize_t fault_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	return codetag_command(FAULT_FILE, buf, count, fault_command);
}

static const struct file_operations fault_fops = {
	.owner		= THIS_MODULE,
	.open		= fault_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= fault_write,
	.release	= seq_release_private,
};

/* Init */

static int __init dynamic_fault_init_tags(void)
{
	codetag_register_type(&dynamic_fault_type, &dynamic_fault_kernel,
			      __start_dynamic_faults, __stop_dynamic_faults);
	alloc_tag_register_unload(fault_forget);
#ifdef CONFIG_MODULES
	register_module_notifier(&fault_module_nb);
#endif
	fault_boot_text_run(fault_boot_text);
	return 0;
}
early_initcall(dynamic_fault_init_tags);

static int __init dynamic_fault_init(void)
{
	struct dentry *file;

	file = debugfs_create_file(FAULT_FILE, 0600, NULL, NULL, &fault_fops);
	if (!IS_ERR(file))
		WRITE_ONCE(fault_inode, d_inode(file));
	if (register_sysrq_key('F', &fault_sysrq_op) &&
	    IS_ENABLED(CONFIG_MAGIC_SYSRQ))
		pr_err("SysRq-F is in use\n");
	return 0;
}
late_initcall(dynamic_fault_init);

#ifdef CONFIG_DYNAMIC_FAULT_KUNIT_TEST
#include "dynamic_fault_kunit.c"
#endif
