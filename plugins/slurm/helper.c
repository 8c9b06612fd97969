/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/util.h"

#define EXIT_NOT_STARTED 127
#define PAUSE_NS         (5 * MS_NS) /* between two looks at a process that has closed its output */

/* The environment of the job belongs to its user, so the process gets none of it. */
static char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
				    (char[]){"LC_ALL=C"}, (char[]){"DXP_CONFIG="}, NULL};

/* Becomes the program. Only calls that are safe after fork() in a program with threads. */
static void become(const char *const argv[], int output)
{
	int input = descriptor_raise(open("/dev/null", O_RDONLY | O_CLOEXEC));
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (input >= 0 && dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 &&
	    close_range(3, ~0u, 0) == 0)
		execve(argv[0], (char *const *)argv, environment);
	static const char text[] = "cannot start the program dxp; name it in plugstack.conf "
				   "with dxp=PATH\n";
	if (write(2, text, sizeof(text) - 1) < 0 && write(output, text, sizeof(text) - 1) < 0)
		_exit(EXIT_NOT_STARTED);
	_exit(EXIT_NOT_STARTED);
}

static int left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns >= deadline_ns ? 0 : (int)((deadline_ns - now_ns) / MS_NS) + 1;
}

/* Reads until the process has closed its output. Returns false at the deadline. */
static bool output_read(int fd, uint64_t deadline_ns, char *out, size_t bytes)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char rest[256];
	size_t used = 0;

	for (;;) {
		int count = poll(&ready, 1, left_ms(deadline_ns));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		const bool full = used + 1 >= bytes;
		ssize_t got =
			read(fd, full ? rest : out + used, full ? sizeof(rest) : bytes - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		if (!full)
			used += (size_t)got;
		out[used] = '\0';
	}
}

/* Waits for the exit. Returns false at the deadline. ECHILD: the daemon reaps all children itself,
 * so the exit status is lost and counts as a failure. */
static bool exit_wait(pid_t child, uint64_t deadline_ns, int *status)
{
	for (;;) {
		pid_t got = waitpid(child, status, WNOHANG);
		if (got == child)
			return true;
		if (got < 0 && errno != EINTR) {
			*status = EXIT_NOT_STARTED << 8;
			return true;
		}
		if (left_ms(deadline_ns) == 0)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
}

static enum helper_result child_wait(pid_t child, int fd, uint64_t deadline_ns, char *out,
				     size_t bytes)
{
	int status = 0;

	if (!output_read(fd, deadline_ns, out, bytes) || !exit_wait(child, deadline_ns, &status)) {
		kill(-child, SIGKILL);
		kill(child, SIGKILL); /* it may have no process group of its own yet */
		waitpid(child, &status, 0);
		return HELPER_TIMED_OUT;
	}
	if (WIFSIGNALED(status))
		return HELPER_KILLED;
	return WEXITSTATUS(status) == 0 ? HELPER_DONE : HELPER_FAILED;
}

enum helper_result helper_run(const char *const argv[], uint64_t deadline_ns, char *out,
			      size_t bytes)
{
	int fds[2];

	*out = '\0';
	if (descriptor_raise_pair(pipe2(fds, O_CLOEXEC), fds) != 0) {
		snprintf(out, bytes, "cannot make a pipe: %s", strerror(errno));
		return HELPER_FAILED;
	}
	pid_t child = fork();
	if (child == 0)
		become(argv, fds[1]);
	close(fds[1]);
	enum helper_result result = HELPER_FAILED;
	if (child < 0)
		snprintf(out, bytes, "cannot start a process: %s", strerror(errno));
	else
		result = child_wait(child, fds[0], deadline_ns, out, bytes);
	close(fds[0]);
	size_t length = strlen(out);
	if (length && out[length - 1] == '\n')
		out[length - 1] = '\0';
	return result;
}
