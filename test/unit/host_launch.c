/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that dxp_run rejects wrong launches and names the mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/launch.h"

#define MEMORY_BYTES 4096

static uint8_t packed[COMMAND_PACKED_BYTES];
static const struct dxp_argument argument = {
	.kind = DXP_ARGUMENT_BYTES, .bytes = 4, .value = {1, 2, 3, 4}};

static struct dxp_launch sample(void)
{
	return (struct dxp_launch){.kernel = "add",
				   .dimensions = 2,
				   .global = {64, 32},
				   .local = {8, 4},
				   .arguments = &argument,
				   .argument_count = 1};
}

static void refused(const struct dxp_launch *l, const char *because)
{
	struct command c = {0};

	assert_int_equal(launch_check(l, MEMORY_BYTES, false, packed, &c), DXP_EINVAL);
	if (!strstr(dxp_fabric_error(NULL), because))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), because);
}

static void launch__fills_the_command(void **state)
{
	struct dxp_launch l = sample();
	struct command c = {0};

	assert_int_equal(launch_check(&l, MEMORY_BYTES, false, packed, &c), DXP_OK);
	assert_string_equal(c.text, "add");
	assert_int_equal(c.dimensions, 2);
	assert_int_equal(c.global[1], 32);
	assert_int_equal(c.global[2], 1);
	assert_int_equal(c.local[0], 8);
	assert_int_equal(c.local[2], 1);
	assert_int_equal(c.argument_count, 1);
	assert_memory_equal(c.arguments[0].value, argument.value, 4);
}

static void launch__grid(void **state)
{
	struct dxp_launch l = sample();

	l.dimensions = 4;
	refused(&l, "4 dimensions");
	l = sample();
	l.global[1] = 0;
	refused(&l, "global size 1 is 0");
	l = sample();
	l.local[0] = 7;
	refused(&l, "local size 0 (7)");
	l = sample();
	l.local[1] = 0;
	refused(&l, "local size 1 (0)");
}

static void launch__name(void **state)
{
	struct dxp_launch l = sample();
	char longest[COMMAND_NAME_BYTES + 1];

	memset(longest, 'k', COMMAND_NAME_BYTES);
	longest[COMMAND_NAME_BYTES] = '\0';
	l.kernel = longest;
	refused(&l, "name");
	l.kernel = "";
	refused(&l, "name");
	l.kernel = NULL;
	refused(&l, "name");
}

static void launch__arguments(void **state)
{
	struct dxp_argument bad = {.kind = DXP_ARGUMENT_BYTES, .bytes = 17};
	struct dxp_launch l = sample();

	l.arguments = &bad;
	refused(&l, "17 bytes");
	bad = (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = MEMORY_BYTES};
	refused(&l, "outside");
	bad = (struct dxp_argument){.kind = DXP_ARGUMENT_LOCAL};
	refused(&l, "0 bytes");
	bad.kind = DXP_ARGUMENT_NIC;
	refused(&l, "dxp_xpu_nic()");
	bad.kind = (enum dxp_argument_kind)9;
	refused(&l, "unknown kind");
	l.argument_count = COMMAND_ARGS_MAX + 1;
	refused(&l, "129 arguments");
}

static void launch__with_the_nic(void **state)
{
	const struct dxp_argument nic = {.kind = DXP_ARGUMENT_NIC, .bytes = 7, .address = 9};
	struct dxp_launch l = sample();
	struct command c = {0};

	l.arguments = &nic;
	assert_int_equal(launch_check(&l, MEMORY_BYTES, true, packed, &c), DXP_OK);
	assert_int_equal(c.arguments[0].kind, COMMAND_ARG_NIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launch__fills_the_command),
		cmocka_unit_test(launch__grid),
		cmocka_unit_test(launch__name),
		cmocka_unit_test(launch__arguments),
		cmocka_unit_test(launch__with_the_nic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
