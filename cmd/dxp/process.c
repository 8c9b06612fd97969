/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"

#define KILL_NS (30 * S_NS) /* ns from SIGKILL to the exit, on an overloaded machine */

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

/* Reads the start time. Returns false if there is no such process or it is a zombie. */
static bool start_time(pid_t pid, uint64_t *out)
{
	char path[64], text[1024];
	unsigned long long start;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!file_head(path, text, sizeof(text)))
		return false;
	/* The name may contain spaces and parentheses, so fields count from the last one. */
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
		print_fail("cannot write %s: %s", log, strerror(errno));
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
	/* The pipe closes without a byte once the program is loaded. After a signal the read
	 * restarts; the caller checks for signals once the child is recorded. */
	ssize_t got = 0;
	while (pid > 0 && (got = read(report[0], &error, sizeof(error))) < 0 && errno == EINTR)
		;
	if (got < 0)
		error = errno;
	close(report[0]);
	if (error) {
		print_fail("cannot start %s: %s; install it beside this program or in PATH",
			   argv[0], strerror(error));
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
	print_fail(
		"cannot read /proc, which identifies the processes of a fabric; mount it: mount -t "
		"proc proc /proc");
	return false;
}

/* A process that this command is stopping. */
struct ending {
	const struct process *process;
	/* pidfd, which still identifies this process if its id is reused; or one of the values
	 * below */
	int fd;
};

#define ENDED       (-1)
#define UNREACHABLE (-2)

/* Opens a process. Returns a pidfd, ENDED, or UNREACHABLE after a message. */
static int process_open(const struct process *p)
{
	int fd = pidfd_open(p->pid, 0), error = errno;

	/* Compares the start time only after the pidfd is open. */
	if (fd >= 0 && process_alive(p))
		return fd;
	if (fd < 0 && error == ESRCH)
		return ENDED;
	if (fd >= 0) {
		close(fd); /* closes the pidfd, because reading /proc needs a free descriptor */
		if (!process_alive(p))
			return ENDED;
		error = EMFILE;
	}
	print_fail(
		"cannot open a descriptor of %s (process %d): %s; raise `ulimit -n`, then run `dxp "
		"down` again",
		p->name, (int)p->pid, strerror(error));
	return UNREACHABLE;
}

static void all_signal(const struct ending *all, unsigned count, int number)
{
	for (unsigned i = 0; i < count; i++)
		if (all[i].fd >= 0 && pidfd_send_signal(all[i].fd, number, NULL, 0) != 0 &&
		    errno != ESRCH)
			print_fail("cannot stop %s (process %d): %s", all[i].process->name,
				   (int)all[i].process->pid, strerror(errno));
}

/* Waits for the exit of a process. Its pidfd is readable after the exit, even before it is
 * reaped. */
static bool ends_by(int fd, uint64_t until_ns)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	int ready;

	do {
		uint64_t now_ns = clock_now_ns();
		ready = poll(&poller, 1,
			     now_ns < until_ns ? (int)((until_ns - now_ns) / MS_NS) + 1 : 0);
	} while (ready < 1 && clock_now_ns() < until_ns);
	return ready > 0;
}

/* Waits up to `patience_ns` for the exit of all processes. Returns how many still run. */
static unsigned all_wait(struct ending *all, unsigned count, uint64_t patience_ns)
{
	const uint64_t until_ns = clock_now_ns() + patience_ns;
	unsigned left = 0;

	for (unsigned i = 0; i < count; i++) {
		if (all[i].fd < 0)
			continue;
		if (!ends_by(all[i].fd, until_ns)) {
			left++;
			continue;
		}
		close(all[i].fd);
		all[i].fd = ENDED;
	}
	return left;
}

static void left_report(const struct ending *e)
{
	print_fail(
		"%s (process %d) has not exited %llu s after SIGKILL: it is blocked in the kernel, "
		"or "
		"this machine is too busy; see `ps -o stat,wchan -p %d`, then run `dxp down` again",
		e->process->name, (int)e->process->pid, (unsigned long long)(KILL_NS / S_NS),
		(int)e->process->pid);
}

unsigned processes_end(struct process *p, unsigned count, uint64_t patience_ns)
{
	struct ending *all = calloc(count + 1, sizeof(*all));
	unsigned left = 0;

	if (!all) {
		print_fail("not enough memory to stop %u processes", count);
		return count;
	}
	program_descriptors_raise(); /* a fabric needs one for each process */
	for (unsigned i = 0; i < count; i++)
		all[i] = (struct ending){&p[i], process_open(&p[i])};
	all_signal(all, count, SIGTERM);
	if (all_wait(all, count, patience_ns) > 0) {
		all_signal(all, count, SIGKILL);
		all_wait(all, count, KILL_NS);
	}
	for (unsigned i = 0; i < count; i++) {
		if (all[i].fd == ENDED)
			continue;
		if (all[i].fd >= 0) {
			left_report(&all[i]);
			close(all[i].fd);
		}
		p[left++] = p[i];
	}
	free(all);
	return left;
}
