// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtraced: record the events of kmemtrace until a signal or a limit ends it.
 *
 * The header is written twice: at the beginning, to say that the trace is not complete,
 * and at the end. See record.h for the parts of the program.
 *
 * If this program switches recording on, it also switches it off; if the program is
 * killed, the kernel does. If recording is on already, perhaps since boot, the program
 * joins it: it discards nothing, and recording stays on. With --rest it switches nothing
 * and fetches what an earlier recording left.
 *
 * A signal or the end of the time ends the recording; then the program fetches the
 * records that are still in the kernel. A second signal skips the rest of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#include "record.h"
#include "signals.h"
#include "status.h"

#define SUBBUF_SIZE	(256 * 1024)
/* number of sub-buffers if the kernel does not say */
#define SUBBUFS_UNKNOWN	256
#define READ_SIZE	(1024 * 1024)
/* On a machine with more CPUs than this, each reader has room for one sub-buffer only. */
#define READ_SIZE_CPUS	128

/* Recording */

static bool is_debugfs_mounted(void)
{
	char path[PATH_MAX];
	struct statfs fs;
	char *slash;

	snprintf(path, sizeof(path), "%s", options.debugfs);
	slash = strrchr(path, '/');
	if (slash && slash != path)
		*slash = '\0';
	return !statfs(path, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

/* Explain why the first file cannot be opened. */
static void explain(int err)
{
	if (err == EACCES || err == EPERM)
		record_error("%s: %s%s", options.debugfs, strerror(err),
			     geteuid() ? "; this takes root" : "");
	else if (err != ENOENT)
		record_error("%s: %s", options.debugfs, strerror(err));
	else if (!is_debugfs_mounted())
		record_error("no %s: is debugfs mounted? mount -t debugfs none /sys/kernel/debug",
			     options.debugfs);
	else
		record_error("no %s: this kernel is built without CONFIG_KMEMTRACE",
			     options.debugfs);
}

/* Only one program may read, because each record can be read only once. */
static bool take_lock(void)
{
	rec.lock = open_at("enabled", O_RDWR);
	if (rec.lock < 0) {
		explain(errno);
		return false;
	}
	if (!flock(rec.lock, LOCK_EX | LOCK_NB))
		return true;
	if (errno == EWOULDBLOCK)
		record_error("another kmemtraced is running");
	else
		record_error("%s/enabled: %s", control_dir(), strerror(errno));
	return false;
}

static void check_abi(void)
{
	long long version = read_value("abi_version", -1);

	if (version > KMEMTRACE_ABI_VERSION)
		record_error("this kernel has version %lld of the ABI, newer than %d; going on",
			     version, KMEMTRACE_ABI_VERSION);
	else if (version < 1)
		record_error("%s/abi_version cannot be read; going on", options.debugfs);
}

/* Returns "time pid" for "time,pid", and all features of the kernel for "all". */
static char *wanted_features(void)
{
	struct text text;
	char *p;

	if (strcmp(options.features, "all"))
		text.s = strdup(options.features);
	else if (!read_file("features", &text))
		return NULL;
	for (p = text.s; p && *p; p++)
		if (strchr(",[]\n", *p))
			*p = ' ';
	return text.s;
}

static bool set_features(void)
{
	struct text known = { .s = NULL };
	char *wanted;
	int err;

	if (!options.features)
		return true;
	wanted = wanted_features();
	err = wanted ? write_file("features", wanted) : -ENOMEM;
	free(wanted);
	if (!err)
		return true;
	if (err == -EINVAL && read_file("features", &known))
		record_error("--features %s: the kernel knows %.*s", options.features,
			     (int)strcspn(known.s, "\n"), known.s);
	else if (err == -EOPNOTSUPP)
		record_error("--features %s: no tags, as there is no allocation profiling",
			     options.features);
	else
		record_error("--features %s: %s", options.features, strerror(-err));
	free(known.s);
	return false;
}

static bool rest_found;

/* Switching recording off closes the last sub-buffer, so poll() sees what is left. */
static bool look_for_rest(unsigned int cpu)
{
	struct pollfd fd = { .events = POLLIN };
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	fd.fd = open_at(name, O_RDONLY | O_NONBLOCK);
	if (fd.fd < 0)
		return true;
	if (poll(&fd, 1, 0) > 0 && fd.revents & POLLIN)
		rest_found = true;
	close(fd.fd);
	return true;
}

/*
 * Discard the records of an earlier recording and its unreported losses: writing to
 * "subbufs" empties the buffers.
 */
static bool discard(void)
{
	char value[32];
	int err;

	if (!visit_cpu_files(look_for_rest))
		return false;
	if (rest_found)
		record_note("the rest of an earlier recording is thrown away, see --rest");
	snprintf(value, sizeof(value), "%lld\n", read_value("subbufs", 0));
	err = write_file("subbufs", value);
	if (err && err != -ENOENT)
		record_error("%s/subbufs: %s", control_dir(), strerror(-err));
	return !err || err == -ENOENT;
}

static bool no_error(bool on, int err)
{
	if (err)
		record_error("recording cannot be switched %s: %s", on ? "on" : "off",
			     strerror(-err));
	return !err;
}

/*
 * Recording stays on until the lock is released, which also happens if this program is
 * killed. An older kernel does not support this and records until somebody ends it.
 */
static bool switch_on(void)
{
	static const char held[] = "2\n";
	int err = 0;

	if (write(rec.lock, held, strlen(held)) < 0)
		err = -errno;
	return no_error(true, err == -EINVAL ? write_file("enabled", "1\n") : err);
}

static bool switch_off(void)
{
	return no_error(false, write_file("enabled", "0\n"));
}

/* Each CPU needs two descriptors. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool prepare(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	rec.read_size = cpus > READ_SIZE_CPUS ? SUBBUF_SIZE : READ_SIZE;
	rec.stop_fd = eventfd(0, EFD_CLOEXEC);
	rec.wake_fd = eventfd(0, EFD_CLOEXEC);
	rec.done_fd = eventfd(0, EFD_CLOEXEC);
	rec.room = options.max ? options.max : UINT64_MAX;
	if (rec.stop_fd < 0 || rec.wake_fd < 0 || rec.done_fd < 0) {
		record_error("eventfd: %s", strerror(errno));
		return false;
	}
	allow_files();
	if (!take_lock())
		return false;
	check_abi();
	/* One read more than the kernel can have, so that the last one is short. */
	rec.drain_max = rec.read_size + SUBBUF_SIZE *
		(uint64_t)read_value("subbufs", SUBBUFS_UNKNOWN);
	return true;
}

static bool is_recording(void)
{
	return read_value("enabled", 0) > 0;
}

static bool do_options_fit(bool on)
{
	if (on && options.rest)
		record_error("recording is on, too early for --rest; first echo 0 >%s/enabled",
			     control_dir());
	else if ((on || options.rest) && options.features)
		record_error("%s, too late for --features; first echo 0 >%s/enabled",
			     on ? "recording is on" : "the events are already recorded",
			     options.debugfs);
	else
		return true;
	return false;
}

/* Keep the old trace until the kernel records and lets this program read the records. */
static bool replace_trace(void)
{
	bool ok = clear_directory() && name_first_header() && start_readers();

	fsync(rec.dir);
	return ok;
}

/* Prepare everything and switch recording on. */
static bool begin(void)
{
	bool on = is_recording();

	if (!do_options_fit(on))
		return false;
	rec.begun = !on && !options.rest;
	/* Change nothing in the kernel before there is a directory to write to. */
	if (!make_directory())
		return false;
	if (rec.begun && (!set_features() || !discard()))
		return false;
	read_stats(&rec.before);
	rec.whole = rec.begun;
	if (!begin_header())
		return false;
	rec.on = rec.begun && switch_on();
	if (rec.on != rec.begun || !open_readers())
		return false;
	if (on)
		record_note("recording is on already");
	return replace_trace();
}

/*
 * A recording that was joined is whole if everything that the kernel has written since
 * boot was read. Then the losses are those since boot.
 */
static void judge_span(uint64_t read)
{
	if (rec.begun || !losses_known() || read < sum_stats(&rec.after).bytes)
		return;
	rec.whole = true;
	free(rec.before.cpus);
	rec.before = (struct all_stats){ .known = true };
}

/* Returns whether there was a signal. */
static bool take_signals(int signals)
{
	struct signalfd_siginfo info;
	bool any = false;

	while (read(signals, &info, sizeof(info)) > 0)
		any = true;
	return any;
}

static void wait_for_readers(int signals)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = rec.done_fd, .events = POLLIN },
	};
	uint64_t done = 0, more;

	while (done < rec.nr_readers) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && take_signals(signals))
			set_flag(&rec.give_up);
		if (fds[1].revents && read(rec.done_fd, &more, sizeof(more)) > 0)
			done += more;
	}
}

static void stop_readers(int signals)
{
	size_t i;

	wake(rec.stop_fd);
	wait_for_readers(signals);
	for (i = 0; i < rec.nr_readers; i++)
		pthread_join(rec.readers[i]->thread, NULL);
}

static uint64_t bytes_of(unsigned int cpu)
{
	size_t i;

	for (i = 0; i < rec.nr_readers; i++)
		if (rec.readers[i]->cpu == cpu)
			return rec.readers[i]->bytes;
	return 0;
}

/* If this program began and ended the recording, it must have all that was written. */
static void check_taken(void)
{
	uint64_t wrote;
	size_t i;

	if (!rec.begun || !rec.ended || rec.failed_output || rec.failed_other ||
	    rec.full || rec.unfetched)
		return;
	for (i = 0; i < rec.after.nr; i++) {
		wrote = rec.after.cpus[i].bytes -
			stats_of(&rec.before, rec.after.cpus[i].cpu).bytes;
		if (wrote <= bytes_of(rec.after.cpus[i].cpu))
			continue;
		record_error("cpu%u: the kernel wrote %llu bytes, but only %llu were read",
			     rec.after.cpus[i].cpu, (unsigned long long)wrote,
			     (unsigned long long)bytes_of(rec.after.cpus[i].cpu));
		set_flag(&rec.failed_other);
	}
}

static void end(int signals)
{
	if (rec.on || options.stop)
		rec.ended = switch_off();
	/* a CPU may have appeared within the last second */
	if (!is_set(&rec.failed_other) && !is_set(&rec.failed_output))
		scan();
	if (!rec.ended)
		read_stats(&rec.after);
	stop_readers(signals);
	if (rec.ended)
		read_stats(&rec.after);
	if (!losses_known() && (rec.before.overruns < 0 || rec.after.overruns < 0)) {
		record_error("%s has neither stats nor total_overruns: nobody knows what was lost",
			     options.debugfs);
		rec.unknown = true;
	}
	judge_span(bytes_read());
	/* Recording may have begun without the requested tags. */
	free(rec.features.s);
	if (!read_file("features", &rec.features))
		rec.features = (struct text){ .s = NULL };
	check_taken();
	if (rec.failed_output)
		record_error("cannot write to %s: the trace so far is valid, the rest is dropped",
			     options.output);
	end_header();
}

/* Progress */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void show_progress(double elapsed)
{
	static uint64_t last_events;
	static double last_time;
	struct all_stats all = { .cpus = NULL };
	struct stats is, was;

	read_stats(&all);
	is = sum_stats(&all);
	was = sum_stats(&rec.before);
	free(all.cpus);
	if (!last_events)
		last_events = was.events;
	flockfile(stderr);
	fprintf(stderr, "%s%.0f s: ", options.progress ? "" : "\r\033[K",
		elapsed);
	if (rec.before.known && all.known)
		fprintf(stderr, "%.0f events/s, %.1f MB, %llu events lost",
			(is.events - last_events) / (elapsed - last_time),
			bytes_read() / 1e6,
			(unsigned long long)(is.lost_events - was.lost_events));
	else
		fprintf(stderr, "%.1f MB, %llu bytes lost", bytes_read() / 1e6,
			(unsigned long long)(all.overruns -
					     rec.before.overruns));
	fputs(options.progress ? "\n" : "", stderr);
	fflush(stderr);
	rec.line = !options.progress;
	funlockfile(stderr);
	last_events = is.events;
	last_time = elapsed;
}

/* Wait for a signal, a failure, or the end of the time. */
static void record(int signals)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = rec.wake_fd, .events = POLLIN },
	};
	bool show = options.progress || (isatty(STDERR_FILENO) && !options.quiet);
	double start = now(), tick = start, wait;

	for (;;) {
		wait = tick + TICK_MS / 1e3 - now();
		if (options.seconds && start + options.seconds - now() < wait)
			wait = start + options.seconds - now();
		if (poll(fds, 2, wait > 0 ? (int)(wait * 1e3) + 1 : 0) > 0) {
			take_signals(signals);
			return;
		}
		if (options.seconds && now() >= start + options.seconds)
			return;
		if (now() < tick + TICK_MS / 1e3)
			continue;
		tick = now();
		if (!scan())
			return;
		report_cpus();
		follow_modules();
		if (show)
			show_progress(tick - start);
	}
}

/* Returns how many bytes the kernel wrote that were not read, if that is known. */
static unsigned long long bytes_left(void)
{
	uint64_t wrote = sum_stats(&rec.after).bytes - sum_stats(&rec.before).bytes;
	uint64_t here = bytes_read();

	return rec.begun && losses_known() && wrote > here ? wrote - here : 0;
}

static void summarize_rest(void)
{
	if (rec.full)
		record_note("-m %llu is reached; %llu more bytes are left out",
			    (unsigned long long)options.max, bytes_left());
	if (rec.unfetched)
		record_error("told to stop again; %llu bytes were not fetched", bytes_left());
	if (!rec.ended && is_recording())
		record_note("recording is left on; echo 0 >%s/enabled ends it", control_dir());
	if (has_lost())
		record_note("more sub-buffers lose less: kmemtrace.subbufs= at boot, or %s/subbufs",
			    control_dir());
}

static void summarize(void)
{
	struct stats was = sum_stats(&rec.before);
	struct stats is = sum_stats(&rec.after);

	if (losses_known())
		record_note("%llu events recorded, %llu bytes in %s; %llu events lost (%llu bytes)",
			    (unsigned long long)(is.events - was.events),
			    (unsigned long long)bytes_read(), options.output,
			    (unsigned long long)(is.lost_events - was.lost_events),
			    (unsigned long long)(is.lost_bytes - was.lost_bytes));
	else
		record_note("%llu bytes in %s%s", (unsigned long long)bytes_read(),
			    options.output, has_lost() ? "; events were lost" : "");
	summarize_rest();
}

static int exit_status(void)
{
	if (rec.failed_output)
		return EXIT_OUTPUT;
	if (rec.failed_other)
		return EXIT_CANNOT;
	if (has_lost() || rec.unfetched)
		return EXIT_LOST;
	return rec.unknown ? EXIT_UNKNOWN : EXIT_GOOD;
}

int main(int argc, char **argv)
{
	sigset_t mask;
	int signals;
	bool ok;

	parse_options(argc, argv);
	signals = signals_open(&mask);
	if (!prepare())
		return EXIT_CANNOT;
	ok = begin();
	if (!ok && !rec.nr_readers) {
		if (rec.on)
			switch_off();
		forget_header();
		return rec.failed_output ? EXIT_OUTPUT : EXIT_CANNOT;
	}
	if (!ok)
		set_flag(&rec.failed_other);
	else if (!options.rest)
		record(signals);
	end(signals);
	summarize();
	return exit_status();
}
