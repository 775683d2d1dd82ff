// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for the next snapshot, see turns.h.
 */
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "turns.h"
#include "util.h"

/**
 * turns_start - start a timer
 * @interval: seconds between two turns; the first turn is after one interval
 *
 * The time of a suspended machine counts.
 *
 * Return: a file descriptor, or -1 with errno.
 */
int turns_start(uint64_t interval)
{
	struct itimerspec spec = {
		.it_interval.tv_sec = interval,
		.it_value.tv_sec = interval,
	};
	int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);

	if (fd >= 0 && timerfd_settime(fd, 0, &spec, NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/**
 * turns_wait - wait for the next turn
 * @signals: from signals_open()
 * @timer: from turns_start()
 *
 * Return: false after a signal.
 */
bool turns_wait(int signals, int timer)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = timer, .events = POLLIN },
	};
	uint64_t turns;

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
	return !fds[0].revents && read(timer, &turns, sizeof(turns)) == sizeof(turns);
}
