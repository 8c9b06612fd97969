/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "link/udp.h"

#define LOOK_NS (5 * MS_NS) /* between two looks whether a process has ended */

bool process_beside(const char *name, char *out, size_t bytes)
{
	char self[PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return false;
	self[length] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return false;
	*slash = '\0';
	int wanted = snprintf(out, bytes, "%s/%s", self, name);
	return wanted > 0 && (size_t)wanted < bytes && access(out, R_OK) == 0;
}

void process_program(const char *name, char *out, size_t bytes)
{
	if (!process_beside(name, out, bytes) || access(out, X_OK) != 0)
		snprintf(out, bytes, "%s", name);
}

/* False: no such process, or a zombie. */
static bool start_time(pid_t pid, uint64_t *out)
{
	char path[64], text[1024];
	unsigned long long start;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!file_head(path, text, sizeof(text)))
		return false;
	/* The name may hold spaces and parentheses: fields count from the last one. */
	const char *fields = strrchr(text, ')');
	if (!fields ||
	    sscanf(fields,
		   ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %llu",
		   &state, &start) != 2)
		return false;
	*out = start;
	return state != 'Z' && state != 'X';
}

static void child_run(const char *const argv[], int log_fd, int report_fd)
{
	int null_fd = open("/dev/null", O_RDONLY);

	setsid();
	dup2(null_fd, STDIN_FILENO);
	dup2(log_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	int error = errno;
	(void)!write(report_fd, &error, sizeof(error));
	_exit(127);
}

bool process_start(const char *const argv[], const char *log, struct process *out)
{
	int report[2], error = 0;
	int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (log_fd < 0 || pipe2(report, O_CLOEXEC) < 0) {
		fail("cannot write %s: %s", log, strerror(errno));
		if (log_fd >= 0)
			close(log_fd);
		return false;
	}
	pid_t pid = fork();
	if (pid == 0)
		child_run(argv, log_fd, report[1]);
	error = pid < 0 ? errno : 0;
	close(log_fd);
	close(report[1]);
	/* Ends without a byte when the program has been loaded. */
	if (pid > 0 && read(report[0], &error, sizeof(error)) < 0)
		error = errno;
	close(report[0]);
	if (error) {
		fail("cannot start %s: %s; it belongs beside this program, or into PATH", argv[0],
		     strerror(error));
		return false;
	}
	out->pid = pid;
	out->start = 0;
	start_time(pid, &out->start);
	return true;
}

bool process_alive(const struct process *p)
{
	uint64_t start;

	return start_time(p->pid, &start) && start == p->start;
}

void process_end_text(const struct process *p, char *out, size_t bytes)
{
	int status;

	out[0] = '\0';
	if (waitpid(p->pid, &status, WNOHANG) != p->pid)
		return;
	if (WIFEXITED(status))
		snprintf(out, bytes, "exit status %d", WEXITSTATUS(status));
	else if (WTERMSIG(status) == SIGXFSZ)
		snprintf(out, bytes, "signal %d (%s; `ulimit -f` shows the limit)", SIGXFSZ,
			 strsignal(SIGXFSZ));
	else
		snprintf(out, bytes, "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
}

bool process_table_check(void)
{
	uint64_t start;

	if (start_time(getpid(), &start))
		return true;
	fail("/proc is not readable, and without it no process of a fabric is known again; mount "
	     "it: mount -t proc proc /proc");
	return false;
}

static bool wait_end(const struct process *p, uint64_t patience_ns)
{
	uint64_t until = link_now_ns() + patience_ns;
	const struct timespec look = {.tv_nsec = LOOK_NS};

	while (process_alive(p)) {
		if (link_now_ns() >= until)
			return false;
		nanosleep(&look, NULL);
	}
	return true;
}

bool process_end(const struct process *p, uint64_t patience_ns)
{
	/* The descriptor stays with this process; its start time is compared after it is open. */
	int fd = pidfd_open(p->pid, 0);
	bool ended = !process_alive(p);

	if (!ended && fd >= 0 && pidfd_send_signal(fd, SIGTERM, NULL, 0) == 0) {
		ended = wait_end(p, patience_ns);
		if (!ended && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0)
			ended = wait_end(p, patience_ns);
	}
	if (!ended)
		fail("cannot end %s (process %d): %s", p->name, (int)p->pid, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ended;
}
