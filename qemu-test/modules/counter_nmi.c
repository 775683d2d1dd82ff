// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds to lazy percpu counters in NMIs. While a task on one CPU adds to a counter, another CPU
 * sends it nmis= NMIs, one after the other. Their handler adds to the same counter, and to one
 * that is changed only there. The load fails if a sum or a count is not exact, or if a counter
 * did not get its parts. Prints
 *
 *	counter_nmi: NMIS NMIs among ADDITIONS additions
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/module.h>

#include <asm/apic.h>
#include <asm/nmi.h>

/* Different steps, so that a lost addition cannot be made up for by another one. */
#define TASK_STEP	3
#define NMI_STEP	1000003

/* A busy host delivers few NMIs a second, and yet the counters must become hot. */
#define IN_EACH		64

static uint nmis = 500;
module_param(nmis, uint, 0);
MODULE_PARM_DESC(nmis, "number of NMIs");

static struct lazy_percpu_counter both, only_nmis;
static unsigned int target;
static unsigned int sent, received;
static unsigned long additions;
static bool stop;
static DECLARE_COMPLETION(adder_done);

static int on_nmi(unsigned int cmd, struct pt_regs *regs)
{
	unsigned int i;

	if (smp_processor_id() != target || READ_ONCE(sent) == received)
		return NMI_DONE;
	for (i = 0; i < IN_EACH; i++) {
		lazy_percpu_counter_add(&both, NMI_STEP, 1);
		lazy_percpu_counter_add(&only_nmis, NMI_STEP, 1);
	}
	WRITE_ONCE(received, received + 1);
	return NMI_HANDLED;
}

static int adder(void *unused)
{
	while (!READ_ONCE(stop)) {
		lazy_percpu_counter_add(&both, TASK_STEP, 1);
		additions++;
		cond_resched();
	}
	kthread_complete_and_exit(&adder_done, 0);
}

/* Each NMI is handled before the next one: two that are pending become one. */
static int send_one(void)
{
	unsigned long end = jiffies + 5 * HZ;

	WRITE_ONCE(sent, sent + 1);
	apic->send_IPI(target, NMI_VECTOR);
	while (READ_ONCE(received) != sent) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cond_resched();
	}
	return 0;
}

static int check(const char *name, struct lazy_percpu_counter *c,
		 s64 want_sum, long want_count)
{
	long count;
	s64 sum;

	lazy_percpu_counter_flush();
	lazy_percpu_counter_read(c, &sum, &count);
	if (sum == want_sum && count == want_count && READ_ONCE(c->parts))
		return 0;
	pr_err("%s: sum %lld, must be %lld; count %ld, must be %ld; %s\n", name,
	       sum, want_sum, count, want_count,
	       c->parts ? "with parts" : "no parts");
	return -EINVAL;
}

static int run(void)
{
	unsigned int here = raw_smp_processor_id();
	struct task_struct *t;
	uint i;
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
	for (i = 0; i < nmis && !err; i++)
		err = send_one();
	WRITE_ONCE(stop, true);
	wait_for_completion(&adder_done);
	unregister_nmi_handler(NMI_LOCAL, "counter_nmi");
	return err;
}

static int __init counter_nmi_init(void)
{
	long in_nmis;
	int err, wrong;

	/* The sender stays on its CPU, which is not the target. */
	migrate_disable();
	err = run();
	migrate_enable();
	if (!err) {
		pr_info("counter_nmi: %u NMIs among %lu additions\n", received,
			additions);
		in_nmis = (long)received * IN_EACH;
		err = check("both", &both,
			    (s64)in_nmis * NMI_STEP + (s64)additions * TASK_STEP,
			    in_nmis + additions);
		wrong = check("only_nmis", &only_nmis, (s64)in_nmis * NMI_STEP,
			      in_nmis);
		err = err ?: wrong;
	}
	lazy_percpu_counter_exit(&both);
	lazy_percpu_counter_exit(&only_nmis);
	return err;
}
module_init(counter_nmi_init);

static void __exit counter_nmi_exit(void)
{
}
module_exit(counter_nmi_exit);

MODULE_DESCRIPTION("Lazy percpu counters in NMIs");
MODULE_LICENSE("GPL");
