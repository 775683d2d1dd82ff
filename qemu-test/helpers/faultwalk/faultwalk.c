// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes each fault point of class memory that a workload reaches fail, and prints a line
 * about the consequences. See Documentation/fault-injection/dynamic-fault.rst.
 *
 *	faultwalk WORK [-d DISK] [-m MODULE.ko] [-s SCRIPT] [-n MOST] [-k SKIP]
 *		[-q] [-e DEPTH] [-x FILE] [-b LABEL] [-o LABEL]
 *
 * WORK is one of
 *
 *	ext4	mounts DISK on /mnt and uses every feature of its files (ext4.c)
 *	sockets	TCP, UDP, unix, packet and netlink sockets, epoll, pipes and the like;
 *		lo has to be up (sockets.c)
 *	module	loads MODULE.ko with both system calls, reads its files, unloads it
 *		(module.c)
 *	exec	processes, threads, programs, and memory of all kinds (exec.c)
 *	script	work() and clean() of SCRIPT, a shell script (script.c)
 *	sweep	loads and unloads MODULE.ko (sweep.c)
 *
 * The walk skips the first SKIP points of the list and visits at most MOST.  LABEL is
 *
 *	FILE:LINE func:F module:M index:I [nth:N]
 *
 * index counts the points of a line, nth is the evaluation that fails, if it is not the first:
 * the walk tries up to DEPTH (1).  It leaves out the labels in FILE, a line each (-x), starts
 * behind a point (-b), or visits a single one (-o).
 *
 * After a failure the workload has to succeed without a fault.  With -q the walk is quick: it
 * injects a second fault only if the first has added a call to a tag, and looks for a leak only
 * if the second has added one again.  Output:
 *
 *	plain L				the leak of a run without a fault
 *	reached N walk N		points, and how many of them are not left out
 *	at LABEL			before the faults
 *	point LABEL fired:N result:R splat:S leak:L bytes:N
 *		R: CALL:WHY, the first call of the workload that failed, and its error, for a
 *		script COMMAND:STATUS:MESSAGE; "succeeded"; signal:N, which killed the
 *		workload; "hung"; "unreached"
 *		S: "no", or a line of the kernel log, with _ for each space
 *		L: "no", or TAG+N/4=BB, ...: the N calls and B bytes that 4 more faults added
 *		N: the bytes that 4 more faults added, including random changes
 *	log TEXT			after a point with a splat: what the kernel log has
 *	broken LABEL R
 *		after this point the workload ends with R even without a fault, so the
 *		walk stops
 *	reboot LABEL
 *		this point has ended lockdep, or has damaged a list or memory, so the walk
 *		stops
 *	walked N fired N splats N leaks N hung N unreached N
 *	tick				every ten seconds or more
 *	# ...				remarks
 *
 * This program calls itself "walker", and the task that does the work "faulted". Only
 * that task and its children can be hit by a fault. The task reports the call that
 * failed in memory that it shares with the walker, because any other way could fail as
 * well. Then it cleans up; by then the fault has fired.
 *
 * A leak is a tag of /proc/allocinfo that has four calls more after four more faults,
 * keeps them after delayed frees are done, and gains four again after another four
 * faults. Leaks are found only with vm.mem_profiling=1.
 *
 * With -q, a tag that was suspected several times for nothing, because it grows by chance, is
 * suspected only if it exceeds the most that it ever had.
 *
 * The parts: workload.c runs a workload, points.c arms a fault point, leaks.c compares
 * readings of /proc/allocinfo, kernel.c reads the log; this file walks.
 *
 * Exit code: 2 for wrong usage, and when this program itself cannot go on.
 */
#include "faultwalk.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WALKER		"walker"
#define RETRIES		3	/* runs before a point counts as unreached */
#define MOST_NTH	500	/* allocations of one module */

const char *disk, *module, *script;

static bool quick;
static struct choice choice = { .depth = 1 };
static char baseline[160] = "succeeded";	/* the result of a run without a fault */
static bool lockdep;				/* it was on when the walk began */
static bool rebooting;

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "faultwalk: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(2);
}

void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* Populated memory that a fork does not copy: only the walker uses it. */
void *big(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, size, MADV_DONTFORK))
		die("%zu bytes of memory: %s", size, strerror(errno));
	memset(p, 0, size);
	return p;
}

/* The walk */

static void name_result(char *result, size_t size, struct outcome o)
{
	if (o.hung)
		snprintf(result, size, "hung");
	else if (o.sig)
		snprintf(result, size, "signal:%d", o.sig);
	else if (*report->call)
		snprintf(result, size, "%s:%s", report->call, report->why);
	else
		snprintf(result, size, "succeeded");
}

/* Keep the first result, unless this one is worse. */
static void conclude(struct finding *f, struct outcome o)
{
	if (!*f->result || o.hung || o.sig)
		name_result(f->result, sizeof(f->result), o);
	f->hung |= o.hung;
	f->stuck |= o.stuck;
	f->take_all |= o.hung;
}

/* Did it end as it does without a fault? */
static bool went_well(struct outcome o)
{
	char result[160];

	name_result(result, sizeof(result), o);
	return !strcmp(result, baseline);
}

/* Does the workload succeed without a fault? */
static bool works_again(struct outcome *o)
{
	for (unsigned int i = 0; i < 2; i++) {
		*o = run();
		if (went_well(*o))
			return true;
		if (o->stuck)
			return false;
		if (work->restore)
			work->restore();
	}
	return false;
}

static bool is_over(const struct finding *f)
{
	return f->stuck || *f->broken;
}

/*
 * After a run: remove what the workload left and check that it works again.  If not,
 * the finding is marked as broken or stuck, and the walk stops.
 */
static void clean_up(struct finding *f, struct outcome o, bool force)
{
	bool disorder = read_log(f);

	if (is_over(f) || (!force && !disorder && !report->left && !o.sig && !o.hung))
		return;
	disarm();
	if (work->restore && !work->restore())
		snprintf(f->broken, sizeof(f->broken), "busy");
	else if (!works_again(&o))
		name_result(f->broken, sizeof(f->broken), o);
	f->stuck |= o.stuck;
	read_log(f);
}

/* One run, with a fault if there is a point. */
static void fault_once(const struct point *p, struct finding *f)
{
	struct outcome o;

	if (is_over(f))
		return;
	drop_caches();
	if (p)
		arm(p);
	o = run();
	conclude(f, o);
	clean_up(f, o, false);
}

static void fault_more(const struct point *p, struct finding *f)
{
	for (unsigned int i = 0; i < MORE; i++)
		fault_once(p, f);
}

/* Delayed frees are done after this. */
static void rest(struct finding *f)
{
	struct outcome o;

	disarm();
	sleep(6);
	drop_caches();
	o = run();
	clean_up(f, o, !went_well(o));
	sleep(1);
}

/* The workload has to succeed again, and leaves the same caches filled as before the fault. */
static void run_plain(struct finding *f)
{
	struct outcome o;

	if (is_over(f) || !strcmp(f->result, baseline))
		return;
	disarm();
	o = run();
	clean_up(f, o, !went_well(o));
}

/* Looks longer, and injects more faults, as long as memory in use has grown. */
static void look_for_leaks(const struct point *p, struct finding *f)
{
	take_reading(AFTER_ONE, 20);
	fault_more(p, f);
	take_reading(AFTER_MORE, 20);
	if (any_grew(AFTER_MORE))
		take_reading(AFTER_MORE, 300);
	f->bytes = bytes_more();
	if (!any_grew(AFTER_MORE) || is_over(f))
		return;
	rest(f);
	take_reading(RESTED, 20);
	if (!any_grew(RESTED))
		return;
	fault_more(p, f);
	rest(f);
	take_reading(AFTER_AGAIN, 20);
	name_leaks(f);
}

/* Does one fault, and then another, leave more calls than before it? */
static bool is_suspicious(const struct point *p, struct finding *f)
{
	run_plain(f);
	take_reading(AFTER_ONE, 20);
	if (is_over(f) || !any_suspect())
		return false;
	take_reading(AFTER_ONE, 300);
	if (!any_suspect())
		return false;
	fault_once(p, f);
	run_plain(f);
	take_reading(AFTER_MORE, 300);
	return suspect_again();
}

static void look_quickly(const struct point *p, struct finding *f)
{
	if (f->hung) {
		take_reading(BEFORE, 300);
		return;
	}
	if (!is_suspicious(p, f)) {
		keep_reading(AFTER_ONE);
		return;
	}
	look_for_leaks(p, f);
	run_plain(f);
	take_reading(BEFORE, 20);
}

/* A message that says so proves that the fault fired: the list takes long to read. */
static bool says_no_memory(void)
{
	return strstr(report->why, "nnot_allocate_memory") || strstr(report->why, "ENOMEM");
}

/*
 * The fault does not fire if a cache serves the allocation without evaluating the
 * point: then try again.
 */
static bool fault_first(const struct point *p, struct finding *f)
{
	struct outcome o;

	drop_caches();
	arm(p);
	for (unsigned int i = 0; i < (quick ? RETRIES - 1 : RETRIES) && !is_over(f); i++) {
		if (!is_armed(p))
			arm(p);
		o = run();
		f->fired = quick && says_no_memory() && p->where ?
			   1 : times_fired(p);
		if (f->fired || o.hung || o.sig) {
			conclude(f, o);
			clean_up(f, o, false);
			return true;
		}
		/* a failure without a fault is a consequence of the last fault */
		clean_up(f, o, !went_well(o));
		settle(20);
	}
	snprintf(f->result, sizeof(f->result), "unreached");
	return false;
}

static void print_finding(const struct point *p, const struct finding *f)
{
	printf("point %s fired:%u result:%s splat:%s leak:%s bytes:%+ld\n", p->label, f->fired,
	       f->result, *f->splat ? f->splat : "no", *f->leak ? f->leak : "no", f->bytes);
	for (unsigned int i = 0; i < f->nr_log; i++)
		printf("log %s\n", f->log[i]);
	if (*f->broken)
		printf("broken %s %s\n", p->label, f->broken);
	else if (f->stuck)
		printf("broken %s stuck\n", p->label);
	else if (rebooting)
		printf("reboot %s\n", p->label);
	fflush(stdout);
}

static struct {
	unsigned int walked, fired, splats, leaks, hung, unreached;
} sum;

/* After such a splat, later points would show the damage of this one. */
static bool is_damage(const char *splat)
{
	return strstr(splat, "list_add") || strstr(splat, "list_del") || strstr(splat, "list_debug") ||
	       strstr(splat, "BUG");
}

/* Returns whether the walk can go on. */
static bool walk_point(const struct point *p)
{
	static struct finding f;

	memset(&f, 0, sizeof(f));
	printf("at %s\n", p->label);
	fflush(stdout);
	tell_console(p->label);
	if (!fault_first(p, &f)) {
		sum.unreached++;
	} else if (quick) {
		look_quickly(p, &f);
	} else if (!f.hung) {
		look_for_leaks(p, &f);
		run_plain(&f);
	}
	if (*f.splat) {
		write_text("/sys/kernel/debug/clear_warn_once", "1");
		rebooting = quick && (is_damage(f.splat) || (lockdep && !lockdep_is_on()));
	}
	print_finding(p, &f);
	sum.walked++;
	sum.fired += f.fired > 0;
	sum.splats += *f.splat != '\0';
	sum.leaks += *f.leak != '\0';
	sum.hung += f.hung;
	return !is_over(&f) && !rebooting;
}

/* Tags that grow without a fault are leaks of no point: print and ignore them. */
static void measure_plain(void)
{
	struct finding f = { 0 };

	look_for_leaks(NULL, &f);
	if (strcmp(f.result, baseline))
		die("%s fails without a fault: %s", work->name, f.result);
	if (!*f.leak)
		return;
	printf("plain %s\n", f.leak);
	forget_leaks();
}

/*
 * Commands of the boot parameter for points of modules end with a "disable" of everything, so
 * the walk by fail-nth, which needs them, disables only what exists.
 */
static void disable_all(void)
{
	fault_command(work->by_nth ? "class memory" : "", "disable");
}

/*
 * Find the points.  The first run comes before that, so that allocations which are made
 * once and kept are no points.
 */
static void take_stock(void)
{
	static struct finding f;

	disable_all();
	fault_once(NULL, &f);
	if (work->may_fail && strncmp(f.result, "hung", 4) && strncmp(f.result, "signal", 6))
		snprintf(baseline, sizeof(baseline), "%s", f.result);
	if (strcmp(f.result, baseline))
		die("%s fails without a fault: %s", work->name, f.result);
	if (is_over(&f))
		die("%s fails the second time without a fault: %s", work->name, f.broken);
	measure_plain();
	if (work->idle && choice.depth > 1) {
		fault_command("class memory", "probability 0 task " FAULTED);
		work->idle();
		count_points();
		disable_all();
	}
	fault_command("class memory", "probability 0 task " FAULTED);
	settle(20);
	fault_once(NULL, &f);
	fault_once(NULL, &f);
	find_points(&choice);
	disable_all();
	lockdep = lockdep_is_on();
}

/* The points behind that of choice.behind, if it is there */
static size_t first_point(void)
{
	for (size_t i = 0; choice.behind && i < nr_points; i++)
		if (!strcmp(points[i].label, choice.behind))
			return i + 1;
	return 0;
}

/* The first allocation of the module, the second, ... until it makes no more. */
static bool walk_nth(void)
{
	static struct point p;
	char name[64];
	const char *base = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "."), base);
	for (unsigned int nth = 1; nth <= MOST_NTH; nth++) {
		unsigned int before = sum.unreached;

		name_nth(&p, name, nth);
		if (!is_chosen(&choice, p.label))
			continue;
		if (!walk_point(&p))
			return false;
		if (sum.unreached != before && !choice.only)
			break;
	}
	return true;
}

static void print_sum(void)
{
	printf("walked %u fired %u splats %u leaks %u hung %u unreached %u\n", sum.walked,
	       sum.fired, sum.splats, sum.leaks, sum.hung, sum.unreached);
	fflush(stdout);
}

static void walk(unsigned long skip, unsigned long most)
{
	size_t first = first_point() + skip;
	bool good = true;
	unsigned long chosen = 0;

	for (size_t i = first; i < nr_points; i++)
		chosen += is_chosen(&choice, points[i].label);
	printf("reached %zu walk %lu\n", nr_points, chosen < most ? chosen : most);
	fflush(stdout);
	if (quick)
		take_reading(BEFORE, 20);
	/* the allocations of the module itself first */
	if (work->by_nth && most)
		good = walk_nth();
	for (size_t i = first; good && i < nr_points && most; i++) {
		if (!is_chosen(&choice, points[i].label))
			continue;
		good = walk_point(&points[i]);
		most--;
	}
	disarm();
	print_sum();
}

static void set_up(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_NAME, WALKER);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	open_log();
	set_up_readings();
	set_up_work();
}

static void tear_down(void)
{
	disable_all();
	if (work->restore && !rebooting)
		work->restore();
	if (work->tear_down)
		work->tear_down();
}

static void __attribute__((noreturn)) usage(FILE *to, int code)
{
	fprintf(to, "usage: faultwalk ext4 | sockets | module | exec | script | sweep\n"
		    "                 [-d DISK] [-m MODULE.ko] [-s SCRIPT] [-n MOST] [-k SKIP] [-q]\n"
		    "                 [-e DEPTH] [-x FILE] [-b LABEL] [-o LABEL]\n");
	exit(code);
}

int main(int argc, char **argv)
{
	unsigned long skip = 0, most = -1;
	int c;

	if (argc > 1 && !strcmp(argv[1], QUIT))
		_exit(0);
	while ((c = getopt(argc, argv, "d:m:s:n:k:qe:x:b:o:h")) != -1) {
		switch (c) {
		case 'd': disk = optarg; break;
		case 'm': module = optarg; break;
		case 's': script = optarg; break;
		case 'q': quick = true; break;
		case 'e': choice.depth = strtoul(optarg, NULL, 0); break;
		case 'x': choice.done = optarg; break;
		case 'b': choice.behind = optarg; break;
		case 'o': choice.only = optarg; break;
		case 'n': most = strtoul(optarg, NULL, 0); break;
		case 'k': skip = strtoul(optarg, NULL, 0); break;
		case 'h': usage(stdout, 0);
		default: usage(stderr, 2);
		}
	}
	if (optind != argc - 1 || !choice.depth || !choose_work(argv[optind]))
		usage(stderr, 2);
	set_up();
	take_stock();
	walk(skip, most);
	tear_down();
	return 0;
}
