/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests element sizes, and which operators are defined for which types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/inc.h>

static void inc_types__bytes(void **state)
{
#define CHECK(name, value, bytes, text) assert_int_equal(dxp_inc_type_bytes(name), bytes);
	DXP_INC_TYPE_LIST(CHECK)
#undef CHECK
	assert_int_equal(dxp_inc_type_bytes(DXP_INC_TYPES), 0);
	assert_int_equal(dxp_inc_type_bytes((enum dxp_inc_type) - 1), 0);
}

/* Rows: operators; columns: types by value. */
static void inc_types__defined(void **state)
{
	static const char *const rows[DXP_INC_OPS] = {
		[DXP_INC_NOOP] = ".................",   [DXP_INC_SUM] = ".yyyyyyyyyyyy....",
		[DXP_INC_PROD] = ".yyyyyyyyyyyy....",   [DXP_INC_MIN] = ".yyyyyyyyyyyy....",
		[DXP_INC_MAX] = ".yyyyyyyyyyyy....",    [DXP_INC_LAND] = ".yyyyyyyy........",
		[DXP_INC_LOR] = ".yyyyyyyy........",    [DXP_INC_LXOR] = ".yyyyyyyy........",
		[DXP_INC_BAND] = "yyyyyyyyy........",   [DXP_INC_BOR] = "yyyyyyyyy........",
		[DXP_INC_BXOR] = "yyyyyyyyy........",   [DXP_INC_MINLOC] = ".............yyyy",
		[DXP_INC_MAXLOC] = ".............yyyy",
	};

	for (unsigned op = 0; op < DXP_INC_OPS; op++)
		for (unsigned type = 0; type < DXP_INC_TYPES; type++)
			assert_int_equal(dxp_inc_defined(op, type), rows[op][type] == 'y');
	assert_false(dxp_inc_defined(DXP_INC_OPS, DXP_INC_INT32));
	assert_false(dxp_inc_defined(DXP_INC_SUM, DXP_INC_TYPES));
	assert_false(dxp_inc_defined(DXP_INC_SUM, (enum dxp_inc_type)33));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_types__bytes),
		cmocka_unit_test(inc_types__defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
