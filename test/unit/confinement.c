/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which labels of a process count as confined. net/bad_machine has a process with a label. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/confinement.h"

static void confinement__names_what_confines(void **state)
{
	char out[CONFINEMENT_BYTES], label[120];

	assert_non_null(strstr(confinement_describe("dxpd (enforce)", false, out),
			       "the AppArmor profile dxpd may have denied it"));
	assert_non_null(strstr(confinement_describe("/usr/bin/dxpd (kill)", false, out),
			       "the AppArmor profile /usr/bin/dxpd may"));
	assert_non_null(strstr(confinement_describe("system_u:system_r:init_t:s0", true, out),
			       "SELinux may have denied it to system_u:system_r:init_t:s0"));
	/* the longest label does not shorten the command */
	memset(label, 'x', sizeof(label) - 1);
	label[3] = ':';
	label[sizeof(label) - 1] = '\0';
	assert_non_null(strstr(confinement_describe(label, true, out),
			       "shows what the policy must permit"));
}

static void confinement__names_nothing_else(void **state)
{
	static const char *const labels[] = {"unconfined", "dxpd (complain)", "kernel", "",
					     "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0"};
	char out[CONFINEMENT_BYTES];

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		assert_string_equal(confinement_describe(labels[i], true, out), "");
	assert_string_equal(confinement_describe("system_u:system_r:init_t:s0", false, out), "");
	assert_string_equal(confinement_hint(ENOENT), "");
	assert_string_equal(confinement_hint(ENOSPC), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(confinement__names_what_confines),
		cmocka_unit_test(confinement__names_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
