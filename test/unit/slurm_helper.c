/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how the plugin for Slurm runs `dxp`, with a deadline, and that each system call that can
 * fail is handled. The linker wraps pipe2, fork, poll and waitpid. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "plugins/slurm/helper.h"

enum fault { NO_FAULT, FAULT_PIPE, FAULT_FORK, FAULT_POLL, FAULT_WAIT };

static enum fault fault;

int __real_pipe2(int fds[2], int flags);
pid_t __real_fork(void);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
pid_t __real_waitpid(pid_t child, int *status, int options);
int __wrap_pipe2(int fds[2], int flags);
pid_t __wrap_fork(void);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
pid_t __wrap_waitpid(pid_t child, int *status, int options);

int __wrap_pipe2(int fds[2], int flags)
{
	errno = EMFILE;
	return fault == FAULT_PIPE ? -1 : __real_pipe2(fds, flags);
}

pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return fault == FAULT_FORK ? -1 : __real_fork();
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	errno = ENOMEM;
	return fault == FAULT_POLL ? -1 : __real_poll(fds, count, timeout);
}

pid_t __wrap_waitpid(pid_t child, int *status, int options)
{
	if (fault != FAULT_WAIT || !(options & WNOHANG))
		return __real_waitpid(child, status, options);
	__real_waitpid(child, status, 0); /* another thread of the daemon */
	errno = ECHILD;
	return -1;
}

static enum helper_result shell(const char *command, uint64_t patience_ns, char *out, size_t bytes)
{
	const char *const argv[] = {"/bin/sh", "-c", command, NULL};

	return helper_run(argv, clock_now_ns() + patience_ns, out, bytes);
}

static void helper_run__results(void **state)
{
	static const char *const none[] = {"/nonexistent", NULL};
	char out[64];

	assert_int_equal(shell("echo one; echo two >&2", 60 * S_NS, out, sizeof(out)), HELPER_DONE);
	assert_string_equal(out, "one\ntwo");
	assert_int_equal(shell("echo reason; exit 3", 60 * S_NS, out, sizeof(out)), HELPER_FAILED);
	assert_string_equal(out, "reason");
	assert_int_equal(shell("kill -9 $$", 60 * S_NS, out, sizeof(out)), HELPER_KILLED);
	assert_int_equal(helper_run(none, clock_now_ns() + 60 * S_NS, out, sizeof(out)),
			 HELPER_FAILED);
	assert_non_null(strstr(out, "cannot start the program"));
}

/* Long output neither overflows nor blocks the process. */
static void helper_run__long_output(void **state)
{
	char out[8];

	assert_int_equal(
		shell("head -c 300000 /dev/zero | tr '\\0' x", 60 * S_NS, out, sizeof(out)),
		HELPER_DONE);
	assert_string_equal(out, "xxxxxxx");
}

/* The variables of the job's user do not reach the process, and neither do descriptors. */
static void helper_run__clean(void **state)
{
	char out[256];

	assert_int_equal(setenv("DXP_DIR", "/forged", 1), 0);
	assert_int_equal(dup2(1, 50), 50);
	assert_int_equal(shell("echo \"$DXP_DIR.$HOME\"; [ ! -e /proc/self/fd/50 ]", 60 * S_NS, out,
			       sizeof(out)),
			 HELPER_DONE);
	assert_string_equal(out, ".");
	close(50);
}

/* At the deadline the process and its children are killed, whether it has closed its output or
 * not. */
static void helper_run__deadline(void **state)
{
	static const char *const commands[] = {"sleep 1000 & sleep 1000",
					       "exec >/dev/null 2>&1; sleep 1000", "yes"};
	char out[16];

	for (size_t i = 0; i < ARRAY_COUNT(commands); i++) {
		uint64_t begin_ns = clock_now_ns();
		assert_int_equal(shell(commands[i], 200 * MS_NS, out, sizeof(out)),
				 HELPER_TIMED_OUT);
		assert_true(clock_now_ns() - begin_ns < 60 * S_NS);
	}
	assert_int_equal(shell("true", 0, out, sizeof(out)), HELPER_TIMED_OUT);
}

static void helper_run__faults(void **state)
{
	static const enum helper_result results[] = {[FAULT_PIPE] = HELPER_FAILED,
						     [FAULT_FORK] = HELPER_FAILED,
						     [FAULT_POLL] = HELPER_TIMED_OUT,
						     [FAULT_WAIT] = HELPER_FAILED};
	char out[64];

	for (fault = FAULT_PIPE; fault <= FAULT_WAIT; fault++)
		assert_int_equal(shell("true", 60 * S_NS, out, sizeof(out)), results[fault]);
	fault = FAULT_FORK;
	shell("true", 60 * S_NS, out, sizeof(out));
	assert_non_null(strstr(out, "cannot start a process"));
	fault = NO_FAULT;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helper_run__results), cmocka_unit_test(helper_run__long_output),
		cmocka_unit_test(helper_run__clean),   cmocka_unit_test(helper_run__deadline),
		cmocka_unit_test(helper_run__faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
