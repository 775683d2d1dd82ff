// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmonlog: write the records of /dev/kmon to a log until a signal or a limit ends it.
 *
 * One thread starts, reads and stops the device. Records go to the output as they come,
 * and however the program ends, the output consists of whole records. A signal or the end
 * of the time stops the device; then the program fetches the records that are left. A
 * second signal skips the rest of them.
 *
 * Signals come from a file descriptor, and the program waits for them whenever it waits
 * for something else: a pipe whose reader does not read must not keep it from ending.
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
/* pause between two reads of a device that had few records */
#define PAUSE_MS	10
#define NS_PER_MS	1000000u

/* Data */

static struct {
	int device;
	int signals;
	sigset_t signal_set;	/* signals that @signals reads */
	uint64_t deadline;	/* 0: none */
	uint64_t records;	/* number of records read */
	bool stopped;
	bool give_up;		/* there was a second signal */
	bool failed;
	bool unwritten;		/* a file of names could not be written */
	struct output output;
	struct kmon_stats before;
	struct kmon_stats after;
	size_t fill;		/* bytes in the buffer that are not a whole record yet */
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
				 geteuid() ? "; this takes root" : errno == EPERM ?
				 "; lockdown=confidentiality forbids it" : "");
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

/* The first signal stops the device, the next one the program. */
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
 * Wait for one of @events at @fd, for a signal, or for the end of the time. Signals and the
 * end of the time are handled here. Returns the events.
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

/* Wait until the output can take data. Returns false after a second signal. */
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

/* Write the whole records of the buffer and keep the incomplete one at its end. */
static void pass_on(void)
{
	size_t whole = record_whole(buffer, rec.fill);
	size_t written = output_put(&rec.output, buffer, whole);

	rec.records += record_count(buffer, whole);
	log_names_see(buffer, written);
	rec.fill -= whole;
	memmove(buffer, buffer + whole, rec.fill);
}

/* Read once and write. Returns the bytes read; 0 if there were none, or on failure. */
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
 * poll() makes the device look into its rings, which also contain the records of this
 * program's own work: without a pause, the program would log itself forever. After it has
 * read this many bytes, it reads again without a pause, before the rings are full.
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
		/* After a loss, POLLERR is set even if there is nothing to read. */
		if (transfer() < much() && go_on() && !rec.stopped)
			wait_for(-1, 0, PAUSE_MS);
	}
	stop();
	while (go_on() && transfer())
		wait_for(-1, 0, 0);
}

/* Compare the count of the kernel with the number of records read. */
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
		log_error("%s: delivered %llu records, but only %" PRIu64 " were read",
			  options.device, (unsigned long long)rec.after.read, rec.records);
		rec.failed = true;
	}
}

/* Did the program leave records in the device that it could have written? */
static bool left_behind(void)
{
	return rec.after.unread && !rec.output.full &&
	       (rec.give_up || !rec.output.failed);
}

/* Returns how many blobs of all writers the kernel refused while the program ran. */
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

/* Create no files before the device is known to work. */
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
