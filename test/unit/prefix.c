/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests address prefixes, such as 10.0.0.0/8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/address.h"

static void prefix__contains(void **state)
{
	static const struct {
		const char *prefix, *address;
		bool within;
	} cases[] = {
		{"10.1.0.0/16", "10.1.0.0", true},
		{"10.1.0.0/16", "10.1.255.255:9", true},
		{"10.1.0.0/16", "10.2.0.0", false},
		{"10.1.0.0/16", "[fd00::1]", false},
		{"10.1.2.3", "10.1.2.3:65535", true},
		{"10.1.2.3", "10.1.2.2", false},
		{"10.1.2.128/25", "10.1.2.128", true},
		{"10.1.2.128/25", "10.1.2.127", false},
		{"0.0.0.0/0", "255.1.2.3", true},
		{"0.0.0.0/0", "[::1]", false},
		{"[fd00::]/8", "[fdff::1]:7", true},
		{"[fd00::]/8", "[fe80::1]", false},
		{"[::]/0", "[2001::1]", true},
		{"[::]/0", "1.2.3.4", true}, /* contains mapped IPv4 addresses */
		{"[::1]", "[::1]", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct address_prefix p;
		struct udp_address a;
		assert_int_equal(address_prefix_parse(cases[i].prefix, &p), DXP_OK);
		assert_int_equal(address_parse(cases[i].address, 1, &a), DXP_OK);
		assert_int_equal(address_within(&a, &p), cases[i].within);
	}
}

static void prefix__rejects(void **state)
{
	static const char *const bad[] = {
		"",           "10.1.0.0/33", "10.1.0.1/16", "10.1.0.0/",     "10.1.0.0/-1",
		"10.1.0.0/x", "10.1.0.0:5",  "10.1.0/16",   "[fd00::]/129",  "fd00::/8",
		"[fd01::]/8", "/8",          "host/8",      "10.1.0.0/16/1",
	};
	struct address_prefix p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(address_prefix_parse(bad[i], &p), DXP_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefix__contains),
		cmocka_unit_test(prefix__rejects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
