// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds records to KMON: a thread on each CPU adds nr= records at full speed. With mix=1
 * a softirq, an interrupt and an NMI interrupt the thread and add more. Then it prints
 *
 *	kmon_feed: WRITTEN LOST REFUSED
 *
 * to the console: records added, without room, and refused for other reasons.
 * helpers/kmon.c reads the blob.
 *
 * With cost=1 it measures the cost of a record instead, for a guest with one CPU under
 * -icount: "kmon_feed: cost CASE INSTRUCTIONS".
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kmon.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timex.h>
#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#define FEED_TYPE	200

enum context { IN_TASK, IN_SOFTIRQ, IN_HARDIRQ, IN_NMI, NR_CONTEXTS };

static uint nr = 1000;
module_param(nr, uint, 0);
MODULE_PARM_DESC(nr, "records on each CPU");

static uint size;
module_param(size, uint, 0);
MODULE_PARM_DESC(size, "bytes of a blob, if larger than its contents");

static uint pause;
module_param(pause, uint, 0);
MODULE_PARM_DESC(pause, "sleep for a millisecond after this number of records");

static bool mix;
module_param(mix, bool, 0);
MODULE_PARM_DESC(mix, "also add from interrupts and NMIs");

static bool cost;
module_param(cost, bool, 0);
MODULE_PARM_DESC(cost, "measure instead");

struct blob {
	u8 type;
	u8 context;
	__le64 number;
} __packed;

struct feeder {
	struct blob *blob[NR_CONTEXTS];
	u64 written[NR_CONTEXTS];
	u64 lost[NR_CONTEXTS];
	u64 refused[NR_CONTEXTS];
	struct tasklet_struct tasklet;
	struct irq_work irq_work;
};

static DEFINE_PER_CPU(struct feeder, feeders);
static DECLARE_COMPLETION(all_done);

/* Each context of a CPU has its own counts, because a context cannot interrupt itself. */
static void feed(struct feeder *f, enum context context)
{
	u64 number = f->written[context] + f->lost[context];
	struct blob *blob = f->blob[context];
	uint i;
	int ret;

	blob->number = cpu_to_le64(number);
	for (i = sizeof(*blob); i < size; i++)
		((u8 *)blob)[i] = number + i;
	ret = kmon_add_data(blob, max_t(uint, size, sizeof(*blob)));
	if (!ret)
		f->written[context]++;
	else if (ret == -ENOBUFS)
		f->lost[context]++;
	else
		f->refused[context]++;
}

static void feed_softirq(struct tasklet_struct *t)
{
	struct feeder *f;

	feed(from_tasklet(f, t, tasklet), IN_SOFTIRQ);
}

static void feed_hardirq(struct irq_work *work)
{
	feed(container_of(work, struct feeder, irq_work), IN_HARDIRQ);
}

#ifdef CONFIG_X86
static atomic_t nmis;

static int feed_nmi(unsigned int cmd, struct pt_regs *regs)
{
	if (atomic_dec_if_positive(&nmis) < 0)
		return NMI_DONE;
	feed(this_cpu_ptr(&feeders), IN_NMI);
	return NMI_HANDLED;
}

static void send_nmi(unsigned int cpu)
{
	/* One at a time: a second NMI during the first would merge with it. */
	if (atomic_cmpxchg(&nmis, 0, 1) == 0)
		apic->send_IPI(cpu, NMI_VECTOR);
}

static int nmi_begin(void)
{
	return register_nmi_handler(NMI_LOCAL, feed_nmi, 0, "kmon_feed");
}

static void nmi_end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kmon_feed");
}
#else
static void send_nmi(unsigned int cpu) { }
static int nmi_begin(void) { return 0; }
static void nmi_end(void) { }
#endif

/* The CPU itself, if there is no other */
static unsigned int another_cpu(unsigned int cpu)
{
	cpu = cpumask_next(cpu, cpu_online_mask);
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

static void interrupt(struct feeder *f, uint i)
{
	if (!(i % 8))
		irq_work_queue(&f->irq_work);
	if (!(i % 16))
		tasklet_schedule(&f->tasklet);
	if (!(i % 32))
		send_nmi(another_cpu(raw_smp_processor_id()));
}

/* Runs on its CPU as long as that is online. */
static int worker(void *feeder)
{
	struct feeder *f = feeder;
	uint i;

	for (i = 1; i <= nr; i++) {
		feed(f, IN_TASK);
		if (mix)
			interrupt(f, i);
		if (!(i % 256))
			cond_resched();
		if (pause && !(i % pause))
			usleep_range(1000, 1100);
	}
	tasklet_unlock_wait(&f->tasklet);
	irq_work_sync(&f->irq_work);
	/* The end of this call runs outside of the module, which may be unloaded. */
	kthread_complete_and_exit(&all_done, 0);
}

static int run(void)
{
	unsigned int cpu, running = 0;
	struct task_struct *t;
	int ret;

	ret = nmi_begin();
	if (ret)
		return ret;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		t = kthread_create_on_cpu(worker, per_cpu_ptr(&feeders, cpu),
					  cpu, "kmon_feed/%u");
		if (IS_ERR(t)) {
			ret = PTR_ERR(t);
			break;
		}
		running++;
		wake_up_process(t);
	}
	cpus_read_unlock();
	while (running--)
		wait_for_completion(&all_done);
	/* A tasklet or an NMI may be pending. */
	msleep(100);
	nmi_end();
	return ret;
}

static void report(void)
{
	u64 written = 0, lost = 0, refused = 0;
	enum context c;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct feeder *f = per_cpu_ptr(&feeders, cpu);

		for (c = 0; c < NR_CONTEXTS; c++) {
			written += f->written[c];
			lost += f->lost[c];
			refused += f->refused[c];
		}
		pr_info("kmon_feed: CPU %u: %llu in a task, %llu, %llu, %llu in softirq, hardirq, NMI\n",
			cpu, f->written[IN_TASK] + f->lost[IN_TASK],
			f->written[IN_SOFTIRQ] + f->lost[IN_SOFTIRQ],
			f->written[IN_HARDIRQ] + f->lost[IN_HARDIRQ],
			f->written[IN_NMI] + f->lost[IN_NMI]);
	}
	pr_info("kmon_feed: %llu %llu %llu\n", written, lost, refused);
}

/* The least of many batches, which no interrupt has hit */
static void measure(const char *name, unsigned int bytes)
{
	u64 start, took, best = U64_MAX;
	unsigned long flags;
	unsigned int round, n;
	static u8 blob[64] = { FEED_TYPE };

	for (round = 0; round < 64; round++) {
		local_irq_save(flags);
		start = get_cycles();
		for (n = 0; n < 64; n++)
			kmon_add_data(blob, bytes);
		took = get_cycles() - start;
		local_irq_restore(flags);
		best = min(best, took);
		msleep(20);
	}
	pr_info("kmon_feed: cost %s %llu\n", name, div_u64(best, 64));
}

static void free_blobs(void)
{
	unsigned int cpu;
	enum context c;

	for_each_possible_cpu(cpu)
		for (c = 0; c < NR_CONTEXTS; c++)
			kfree(per_cpu(feeders, cpu).blob[c]);
}

static int make_feeder(struct feeder *f)
{
	enum context c;

	tasklet_setup(&f->tasklet, feed_softirq);
	init_irq_work(&f->irq_work, feed_hardirq);
	for (c = 0; c < NR_CONTEXTS; c++) {
		f->blob[c] = kzalloc(max_t(uint, size, sizeof(struct blob)),
				     GFP_KERNEL);
		if (!f->blob[c])
			return -ENOMEM;
		f->blob[c]->type = FEED_TYPE;
		f->blob[c]->context = c;
	}
	return 0;
}

static int __init kmon_feed_init(void)
{
	unsigned int cpu;
	int ret = 0;

	if (cost) {
		measure("narrow", 5);
		measure("blob_32", 32);
		return 0;
	}
	for_each_possible_cpu(cpu) {
		ret = make_feeder(per_cpu_ptr(&feeders, cpu));
		if (ret)
			goto out;
	}
	ret = run();
	if (!ret)
		report();
out:
	if (ret)
		free_blobs();
	return ret;
}
module_init(kmon_feed_init);

static void __exit kmon_feed_exit(void)
{
	unsigned int cpu;

	if (cost)
		return;
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu(feeders, cpu).tasklet);
	free_blobs();
}
module_exit(kmon_feed_exit);

MODULE_DESCRIPTION("Records for KMON");
MODULE_LICENSE("GPL");
