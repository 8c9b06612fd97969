/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the labels under which an xPU keeps files of hosts. */
#include "xpu/label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"

static void label__of_a_name_and_an_address(void **state)
{
	static const struct {
		const char *name, *address, *label;
	} cases[] = {
		{"alice", "10.0.0.2:4711", "alice@10.0.0.2"},
		{"python3-12345", "10.0.0.2:1", "python3@10.0.0.2"},
		{"python3-12345", "10.0.0.3:1", "python3@10.0.0.3"},
		{"a-1-2", "10.0.0.2:1", "a-1@10.0.0.2"},
		{"a-1x", "10.0.0.2:1", "a-1x@10.0.0.2"},
		{"a-", "10.0.0.2:1", "a-@10.0.0.2"},
		{"-5", "10.0.0.2:1", "-5@10.0.0.2"},
		{"..", "10.0.0.2:1", "..@10.0.0.2"},
		{"x", "[2001:db8::1]:9", "x@[2001:db8::1]"},
		{"0123456789012345678901234567890",
		 "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
		 "0123456789012345678901234567890@[2001:db8:1111:2222:3333:4444:5555:6666]"},
	};
	char label[WORKER_LABEL_BYTES];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct udp_address address;
		assert_int_equal(address_parse(cases[i].address, 0, &address), DXP_OK);
		label_make(cases[i].name, &address, label);
		assert_string_equal(label, cases[i].label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(label__of_a_name_and_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
