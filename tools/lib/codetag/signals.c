// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals that ask a recorder to stop, see signals.h.
 *
 * A recorder reads its signals from a file descriptor, so that they do not interrupt a
 * system call.
 */
#include <stddef.h>
#include <sys/signalfd.h>

#include "signals.h"

/**
 * signals_open - block the signals that stop a recorder and open a descriptor for them
 * @set: set to the blocked signals
 *
 * A shell ignores SIGINT for background jobs, but SIGINT must stop a recorder there, too.
 * SIGHUP stays ignored if it was ignored before, because nohup relies on that.
 *
 * SIGPIPE and SIGXFSZ are ignored: write() reports a pipe without a reader and a file at
 * its size limit as errors.
 *
 * Return: a descriptor of signalfd(), non-blocking, or -1 with errno.
 */
int signals_open(sigset_t *set)
{
	struct sigaction hup;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
	return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}
