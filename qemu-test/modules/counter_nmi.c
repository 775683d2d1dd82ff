// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds to lazy percpu counters in NMIs. A task on one CPU adds to counters all the time, and
 * another CPU sends it NMIs, one after the other, whose handler adds, too:
 *
 *	both		the task and the handler add to it
 *	only_nmis	only the handler adds to it
 *	atomics		the task and the handler add to it by the function for a counter
 *			that has no parts, even when it has some
 *
 * Once "both" and "only_nmis" are hot, nmis= NMIs follow. The load fails if a sum or a count is
 * not exact, or if one of these two got no addition before it had its parts, or none after.
 *
 * The kernel log then says how many NMIs the CPU got, and how often the task added to a counter:
 *
 *	counter_nmi: 502 NMIs among 770834 additions
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/module.h>

#include <asm/apic.h>
#include <asm/nmi.h>

/*
 * On 32 bit, each addition of the task changes both words of the sum. The steps differ, so that
 * no addition makes up for a lost one.
 */
#define TASK_STEP	((1L << LAZY_PERCPU_STEP_SHIFT) + 3)
#define NMI_STEP	1000003L

/*
 * Additions to each counter in an NMI. A host that delivers only a few NMIs a second needs many of
 * them in each to make a counter hot.
 */
#define UNTIL_HOT	(2 * LAZY_PERCPU_COUNTER_HOT)
#define WHEN_HOT	64

#define PATIENCE	(60 * HZ)

static uint nmis = 500;
module_param(nmis, uint, 0);
MODULE_PARM_DESC(nmis, "number of NMIs");

static struct lazy_percpu_counter both, only_nmis, atomics;
static unsigned int target;
static unsigned int sent, received;
static u64 additions, in_nmis;
static bool stop;
static DECLARE_COMPLETION(adder_done);

static bool hot(void)
{
	return READ_ONCE(both.parts) && READ_ONCE(only_nmis.parts);
}

static int on_nmi(unsigned int cmd, struct pt_regs *regs)
{
	unsigned int i, nr = hot() ? WHEN_HOT : UNTIL_HOT;

	if (smp_processor_id() != target || READ_ONCE(sent) == received)
		return NMI_DONE;
	for (i = 0; i < nr; i++) {
		lazy_percpu_counter_add(&both, NMI_STEP, 1);
		lazy_percpu_counter_add(&only_nmis, NMI_STEP, 1);
		lazy_percpu_counter_add_atomic(&atomics, NMI_STEP, 1);
	}
	in_nmis += nr;
	WRITE_ONCE(received, received + 1);
	return NMI_HANDLED;
}

static int adder(void *unused)
{
	while (!READ_ONCE(stop)) {
		lazy_percpu_counter_add(&both, TASK_STEP, 1);
		lazy_percpu_counter_add_atomic(&atomics, TASK_STEP, 1);
		additions++;
		cond_resched();
	}
	kthread_complete_and_exit(&adder_done, 0);
}

/*
 * Sends an NMI and waits until the handler has run: a CPU that gets a second NMI before the first
 * one is handled runs the handler only once.
 */
static int send_one(void)
{
	unsigned long end = jiffies + PATIENCE;

	WRITE_ONCE(sent, sent + 1);
	apic->send_IPI(target, NMI_VECTOR);
	while (READ_ONCE(received) != sent) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static int send_all(void)
{
	unsigned long end = jiffies + PATIENCE;
	int err = 0;
	uint i;

	while (!hot() && !err)
		err = time_after(jiffies, end) ? -ETIMEDOUT : send_one();
	for (i = 0; i < nmis && !err; i++)
		err = send_one();
	return err;
}

static int check(const char *name, struct lazy_percpu_counter *c, u64 by_task)
{
	s64 sum, want = in_nmis * NMI_STEP + by_task * TASK_STEP;
	long count, early = atomic_long_read(&c->count);

	lazy_percpu_counter_read(c, &sum, &count);
	if (sum == want && count == (long)(in_nmis + by_task) &&
	    early && (early < count || c == &atomics))
		return 0;
	pr_err("%s: sum %lld, must be %lld; count %ld, must be %ld; without parts %ld\n",
	       name, sum, want, count, (long)(in_nmis + by_task), early);
	return -EINVAL;
}

static int run(void)
{
	unsigned int here = raw_smp_processor_id();
	struct task_struct *t;
	int err;

	target = cpumask_any_but(cpu_online_mask, here);
	if (target >= nr_cpu_ids)
		return -ENODEV;
	err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "counter_nmi");
	if (err)
		return err;
	t = kthread_create_on_cpu(adder, NULL, target, "counter_nmi/%u");
	if (IS_ERR(t)) {
		unregister_nmi_handler(NMI_LOCAL, "counter_nmi");
		return PTR_ERR(t);
	}
	wake_up_process(t);
	err = send_all();
	WRITE_ONCE(stop, true);
	wait_for_completion(&adder_done);
	unregister_nmi_handler(NMI_LOCAL, "counter_nmi");
	return err;
}

static int __init counter_nmi_init(void)
{
	int err;

	/* This task sends the NMIs to another CPU. It must not migrate there. */
	migrate_disable();
	err = run();
	migrate_enable();
	if (err) {
		pr_err("%d after %u NMIs\n", err, received);
	} else {
		pr_info("%u NMIs among %llu additions\n", received, additions);
		err = check("both", &both, additions);
		err = check("only_nmis", &only_nmis, 0) ?: err;
		err = check("atomics", &atomics, additions) ?: err;
	}
	lazy_percpu_counter_exit(&both);
	lazy_percpu_counter_exit(&only_nmis);
	lazy_percpu_counter_exit(&atomics);
	return err;
}
module_init(counter_nmi_init);

static void __exit counter_nmi_exit(void)
{
}
module_exit(counter_nmi_exit);

MODULE_DESCRIPTION("Lazy percpu counters in NMIs");
MODULE_LICENSE("GPL");
