/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the verdict about a bridge: one row for each bottleneck of docs/guide/observe.md, and which
 * one wins if several apply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util.h"
#include "cmd/dxp/bridge_view.h"

static void bridge_verdict__table(void **state)
{
	static const struct {
		struct bridge_load load;
		enum bridge_verdict verdict;
	} rows[] = {
		{{.known = false, .failures = 1, .in_busy = 99}, BRIDGE_SILENT},
		{{.known = true}, BRIDGE_IDLE},
		{{.known = true, .failures = 1, .in_busy = 99}, BRIDGE_FAILING},
		{{.known = true, .in_busy = 99, .full = 1000}, BRIDGE_DEVICE},
		{{.known = true, .out_busy = 80}, BRIDGE_DEVICE},
		{{.known = true, .in_busy = 49, .full = 1, .transfers = 9}, BRIDGE_BUFFERS},
		{{.known = true, .in_busy = 51, .full = 1, .transfers = 9}, BRIDGE_NETWORK},
		{{.known = true, .out_busy = 10, .buffers = 8, .out_used = 8, .transfers = 1},
		 BRIDGE_READER},
		{{.known = true, .out_busy = 10, .buffers = 8, .out_used = 7, .transfers = 1},
		 BRIDGE_NETWORK},
		{{.known = true, .moved_bytes = 1, .buffers = 8}, BRIDGE_NETWORK},
		{{.known = true, .buffers = 0, .out_used = 0}, BRIDGE_IDLE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(bridge_verdict_of(&rows[i].load), rows[i].verdict);
}

static void bridge_verdict__texts(void **state)
{
	for (unsigned i = 0; i < BRIDGE_VERDICTS; i++) {
		assert_non_null(bridge_verdict_name(i));
		assert_non_null(bridge_verdict_text(i));
	}
}

/* Rates stay correct when 32-bit counters wrap. The busy time of a long DMA may exceed the
 * interval. */
static void bridge_view__rates(void **state)
{
	struct bridge_view v = {.before.at_ns = 1000000000, .after.at_ns = 3000000000};

	v.before.words[CFG_BRIDGE_FULL - BRIDGE_VIEW_FIRST] = UINT32_MAX;
	v.after.words[CFG_BRIDGE_FULL - BRIDGE_VIEW_FIRST] = 2;
	assert_int_equal(bridge_view_grown(&v, CFG_BRIDGE_FULL), 3);
	v.before.words[CFG_DMA_IN_LO - BRIDGE_VIEW_FIRST] = UINT32_MAX;
	v.after.words[CFG_DMA_IN_HI - BRIDGE_VIEW_FIRST] = 1;
	v.after.words[CFG_DMA_IN_LO - BRIDGE_VIEW_FIRST] = 7;
	assert_true(bridge_view_rate(&v, CFG_DMA_IN_LO) == 4);
	v.after.words[CFG_DMA_IN_US_LO - BRIDGE_VIEW_FIRST] = 1000000;
	assert_true(bridge_view_busy(&v, CFG_DMA_IN_US_LO) == 50);
	v.after.words[CFG_DMA_IN_US_LO - BRIDGE_VIEW_FIRST] = 9000000;
	assert_true(bridge_view_busy(&v, CFG_DMA_IN_US_LO) == 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge_verdict__table),
		cmocka_unit_test(bridge_verdict__texts),
		cmocka_unit_test(bridge_view__rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
