/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a program which drops the rights of root still ends with its parent. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/privileges.h"

static void privileges__the_signal_of_the_parents_end_stays(void **state)
{
	int how;

	if (geteuid() != 0) {
		print_message("skipped: needs root, which changes its user\n");
		skip();
	}
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int orphan_signal = 0;
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		const int status = privileges_drop(NULL, false);
		prctl(PR_GET_PDEATHSIG, &orphan_signal);
		_exit(status == DXP_OK && orphan_signal == SIGTERM ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(privileges__the_signal_of_the_parents_end_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
