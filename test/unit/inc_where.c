/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how a user's text selects a switch, on host 127.0.0.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "inc/where.h"

static const struct row {
	const char *text;
	int status;
	uint32_t ip;
} rows[] = {
	{"127.0.0.1", DXP_OK, 0x7f000001},
	{"127.0.0.9", DXP_OK, 0x7f000009},
	{"127.0.0.0/8=127.0.0.3", DXP_OK, 0x7f000003},
	{"203.0.113.0/24=127.0.0.3,127.0.0.1/32=127.0.0.4", DXP_OK, 0x7f000004},
	{"0.0.0.0/0=127.0.0.5, 127.0.0.0/8=127.0.0.6", DXP_OK, 0x7f000005},
	{"203.0.113.0/24=127.0.0.3", DXP_ENOENT, 0},
	{"203.0.113.0/33=127.0.0.3", DXP_EINVAL, 0},
	{"203.0.113.0=127.0.0.3", DXP_EINVAL, 0},
	{"127.0.0.0/=127.0.0.3", DXP_EINVAL, 0},
	{"127.0.0.0/x=127.0.0.3", DXP_EINVAL, 0},
	{"127.0.0.0/8=", DXP_EINVAL, 0},
	{"127.0.0.0/8=127.0.0.3:4791", DXP_EINVAL, 0},
	{"=/", DXP_EINVAL, 0},
	{"switch", DXP_EINVAL, 0},
	{"127.0.0.1:4791", DXP_EINVAL, 0},
	{"::1", DXP_EINVAL, 0},
};

static void where__text(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t ip = 1, own = 2;
		int status = inc_switch_find(rows[i].text, false, &ip, &own);
		if (status != rows[i].status)
			fail_msg("'%s': %d, not %d", rows[i].text, status, rows[i].status);
		assert_int_equal(ip, status == DXP_OK ? rows[i].ip : 1);
		assert_int_equal(own, status == DXP_OK ? 0x7f000001 : 2);
	}
}

static void where__environment(void **state)
{
	uint32_t ip = 0, own = 0;

	setenv("DXP_INC_SWITCH", "127.0.0.7", 1);
	assert_int_equal(inc_switch_find(NULL, false, &ip, &own), DXP_OK);
	assert_int_equal(ip, 0x7f000007);
	assert_int_equal(inc_switch_find("", false, &ip, &own), DXP_OK);
	assert_int_equal(inc_switch_find("127.0.0.8", false, &ip, &own), DXP_OK);
	assert_int_equal(ip, 0x7f000008);
	unsetenv("DXP_INC_SWITCH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where__text),
		cmocka_unit_test(where__environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
