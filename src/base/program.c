/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

static struct {
	bool closed[STDERR_FILENO + 1];
	bool reported; /* lost output was reported */
} program;

/* Opens the lowest first, because open() returns the lowest free number. */
static void descriptors_fill(const char *name)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		program.closed[fd] = true;
		int got = open("/dev/null", O_RDWR);
		if (got >= 0 && got != fd)
			close(got);
		if (got != fd) { /* another file would get this number later */
			dprintf(STDERR_FILENO,
				"%s: error: descriptor %d is closed and /dev/null cannot be opened "
				"in its place: %m\n",
				name, fd);
			_exit(EXIT_FAILURE);
		}
	}
}

static void on_file_limit(int number)
{
}

static void limit_report(void)
{
	struct sigaction action = {.sa_handler = on_file_limit, .sa_flags = SA_RESTART}, old;

	/* A handler, which exec resets, unlike SIG_IGN, so started programs behave as usual. */
	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

void program_signals_set(void (*handler)(int number))
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

void program_descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

bool program_was_closed(int fd)
{
	return fd >= STDIN_FILENO && fd <= STDERR_FILENO && program.closed[fd];
}

/* Closes a copy, because some file systems report lack of space only at close. */
static bool output_close(void)
{
	int copy = dup(STDOUT_FILENO);

	return copy < 0 || close(copy) == 0;
}

bool program_output_check(void)
{
	/* in an earlier write, errno unknown */
	bool lost = ferror(stdout) != 0;
	int error = 0;

	if (fflush(stdout) != 0 || (!lost && !output_close())) {
		error = errno;
		lost = true;
	}
	if (lost && !program.reported)
		log_error("cannot write to standard output%s%s: a part of the text is lost; free "
			  "space there, or redirect the output",
			  error ? ": " : "", error ? strerror(error) : "");
	program.reported |= lost;
	return !lost;
}

static void on_exit_check(void)
{
	if (!program_output_check())
		_exit(EXIT_FAILURE);
}

void program_begin(const char *name)
{
	descriptors_fill(name);
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, children's exit statuses would be lost */
	log_program_set(name);
	limit_report();
	atexit(on_exit_check);
}
