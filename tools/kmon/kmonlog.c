// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmonlog: write down what /dev/kmon gives, until it is told to stop.
 *
 * The device is started, read and stopped by one thread. What it gives goes to the
 * output as it comes, but in whole records only, at every end this program comes
 * to. A signal, or the end of the time, stops the device, and then what it still
 * has is fetched; a second signal does without the rest.
 *
 * Signals are read from a file, so they interrupt nothing, and whatever this waits
 * for, it waits for them, too: a reader of a pipe that does not read must not keep
 * it from ending.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "output.h"
#include "record.h"
#include "signals.h"
#include "status.h"
#include "util.h"

#define READ_SIZE	(1024 * 1024)
/* between two looks at a device that had nothing, or not much */
#define PAUSE_MS	10
#define NS_PER_MS	1000000u

/* Data */

static struct {
	int device;
	int signals;
	sigset_t signal_set;	/* that come from there */
	uint64_t deadline;	/* 0: none */
	uint64_t records;	/* that were read */
	bool stopped;
	bool give_up;		/* told to stop once more */
	bool failed;
	bool unwritten;		/* a file of names */
	struct output output;
	struct kmon_stats before;
	struct kmon_stats after;
	size_t fill;		/* of the buffer: what is not a whole record yet */
} rec;

static uint8_t buffer[READ_SIZE];

/* The device */

static bool device_error(const char *what)
{
	rec.failed = true;
	return log_error("%s: cannot %s: %s", options.device, what, strerror(errno));
}

static bool open_device(void)
{
	rec.device = open(options.device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (rec.device < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return log_error("%s: %s; is this a kernel with CONFIG_KMON?", options.device,
				 strerror(errno));
	if (rec.device < 0 && (errno == EACCES || errno == EPERM))
		return log_error("%s: %s%s", options.device, strerror(errno),
				 geteuid() ? "; this takes root" : "");
	if (rec.device < 0)
		return log_error("%s: %s", options.device, strerror(errno));
	if (!ioctl(rec.device, KMON_STATS, &rec.before))
		return true;
	if (errno == ENOTTY || errno == EINVAL)
		return log_error("%s is not a kmon device", options.device);
	return device_error("ask for its counts");
}

static bool set_buffer(void)
{
	long size = options.buffer;

	return !size || !ioctl(rec.device, KMON_BUFFSIZE, &size) ||
	       device_error("set the size of the buffer");
}

static bool set_sources(void)
{
	uint32_t sources = options.sources;

	if (!ioctl(rec.device, KMON_SOURCES, &sources))
		return true;
	if (errno == EINVAL || errno == EOPNOTSUPP)
		return log_error("--sources: this kernel does not have all of them");
	return device_error("choose sources");
}

static bool start(void)
{
	return !ioctl(rec.device, KMON_START) || device_error("start");
}

static void stop(void)
{
	if (rec.stopped)
		return;
	rec.stopped = true;
	if (ioctl(rec.device, KMON_STOP))
		device_error("stop");
}

/* Waiting */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* The first signal stops the device, the next one all. */
static void take_signal(void)
{
	struct signalfd_siginfo info;

	if (read(rec.signals, &info, sizeof(info)) < 0)
		return;
	if (rec.stopped)
		rec.give_up = true;
	stop();
}

static int ms_left(void)
{
	uint64_t left;

	if (!rec.deadline || rec.stopped)
		return -1;
	left = sat_sub(rec.deadline, now());
	left = left / NS_PER_MS + !!(left % NS_PER_MS);
	return left < INT_MAX ? left : INT_MAX;
}

/*
 * Until there is one of @events at @fd, a signal, or the end of the time, which is
 * also looked after here. Returns the events.
 */
static short wait_for(int fd, short events, int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = rec.signals, .events = POLLIN },
		{ .fd = fd, .events = events },
	};
	int left = ms_left();

	if (timeout < 0 || (left >= 0 && left < timeout))
		timeout = left;
	if (poll(fds, 2, timeout) < 0 && errno != EINTR) {
		device_error("wait");
		rec.give_up = true;
	}
	if (fds[0].revents)
		take_signal();
	if (!ms_left())
		stop();
	return fds[1].revents;
}

/* For the output: is it worth to try? */
static bool wait_for_output(int fd)
{
	short events = 0;

	while (!events && !rec.give_up)
		events = wait_for(fd, POLLOUT, -1);
	if (!events)
		log_error("%s takes nothing, the rest is dropped", rec.output.name);
	return events;
}

/* Recording */

/* What was read goes on, but for the part of a record at the end. */
static void pass_on(void)
{
	size_t whole = record_whole(buffer, rec.fill);
	size_t written = output_put(&rec.output, buffer, whole);

	rec.records += record_count(buffer, whole);
	log_names_see(buffer, written);
	rec.fill -= whole;
	memmove(buffer, buffer + whole, rec.fill);
}

/* Returns how much it was; 0 if there was nothing, or can be nothing any more. */
static size_t transfer(void)
{
	ssize_t n;

	do
		n = read(rec.device, buffer + rec.fill, sizeof(buffer) - rec.fill);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		device_error("read");
	if (n <= 0)
		return 0;
	rec.fill += n;
	pass_on();
	return n;
}

static bool go_on(void)
{
	return !rec.failed && !rec.give_up && !rec.output.failed && !rec.output.full;
}

/*
 * Who asks an empty device whether there is something makes it look into its rings.
 * There is what this program did to write the last records down: without a pause it
 * would go on for ever about itself. What is much was not made by that alone, and is
 * fetched before it is too much.
 */
static size_t much(void)
{
	uint64_t size = options.buffer ? options.buffer : rec.before.buff_size;

	return min_u64(size, READ_SIZE) / 4;
}

static void record(void)
{
	while (go_on() && !rec.stopped) {
		if (!wait_for(rec.device, POLLIN, -1) || rec.stopped)
			continue;
		/* POLLERR, of a loss, may stand there with nothing to be read. */
		if (transfer() < much() && go_on() && !rec.stopped)
			wait_for(-1, 0, PAUSE_MS);
	}
	stop();
	while (go_on() && transfer())
		wait_for(-1, 0, 0);
}

/* What the kernel says must be what came here. */
static void check_counts(void)
{
	if (ioctl(rec.device, KMON_STATS, &rec.after)) {
		device_error("ask for its counts");
		return;
	}
	if (rec.fill) {
		log_error("%s: ended within a record", options.device);
		rec.failed = true;
	}
	if (rec.after.read != rec.records) {
		log_error("%s: gave %llu records, %" PRIu64 " came here", options.device,
			  (unsigned long long)rec.after.read, rec.records);
		rec.failed = true;
	}
}

/* Is anything left in the device that was wanted, and that could have been written? */
static bool left_behind(void)
{
	return rec.after.unread && !rec.output.full &&
	       (rec.give_up || !rec.output.failed);
}

/* Blobs that no header can describe, from anyone, while this ran */
static uint64_t refused(void)
{
	return rec.after.refused - rec.before.refused;
}

static void summarize(void)
{
	unsigned long long lost = rec.after.lost;

	if (left_behind())
		log_error("%llu records were not fetched",
			  (unsigned long long)rec.after.unread);
	if (options.quiet && !lost && !refused())
		return;
	log_error("%" PRIu64 " records, %" PRIu64 " bytes; %llu records lost, %" PRIu64 " refused",
		  rec.output.records, rec.output.bytes, lost, refused());
	if (rec.output.full)
		log_error("-m %" PRIu64 " is reached; %" PRIu64 " records more are left out",
			  options.max,
			  sat_add(rec.after.unread, rec.records - rec.output.records));
	if (lost)
		log_error("a larger buffer loses less: -b");
}

static bool catch_signals(void)
{
	rec.signals = signals_open(&rec.signal_set);
	return rec.signals >= 0 || log_error("signalfd: %s", strerror(errno));
}

static int exit_status(void)
{
	if (rec.output.failed || rec.unwritten)
		return EXIT_OUTPUT;
	if (rec.failed)
		return EXIT_CANNOT;
	return rec.after.lost || left_behind() ? EXIT_LOST : EXIT_GOOD;
}

/* Nothing is made before it is clear that there is something to log. */
static bool prepare(void)
{
	return catch_signals() && open_device() && set_buffer() && set_sources();
}

int main(int argc, char **argv)
{
	log_options_take(argc, argv);
	hash_seed_init();
	if (!prepare())
		return EXIT_CANNOT;
	rec.output.max = options.max;
	rec.output.wait = wait_for_output;
	if (!log_names_possible() || !output_open(&rec.output, options.output, options.force))
		return EXIT_OUTPUT;
	if (!start()) {
		output_undo(&rec.output);
		return EXIT_CANNOT;
	}
	if (!options.quiet)
		log_error("started");
	if (options.ms)
		rec.deadline = now() + options.ms * NS_PER_MS;
	record();
	check_counts();
	output_close(&rec.output);
	rec.unwritten = !log_names_write(&rec.signal_set);
	summarize();
	return exit_status();
}
