/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that marks complete although no transfer may start. The test is the slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

#define HOST 7
#define XPU  3

/* `own`: running transfers of the host; `all`: of all hosts. */
static void mark_with(uint32_t own, uint32_t all)
{
	const struct command c = {.op = COMMAND_MARK, .event = EVENT_NAME(HOST, XPU, 1)};
	struct slot *s = calloc(1, sizeof(*s));
	/* gone: it gets no answers */
	struct tenant t = {.slot = s, .host = HOST, .gone = true, .bulks = own};

	assert_non_null(s);
	s->tenants = &t;
	s->bulks = all;
	assert_int_equal(graph_create(HOST, XPU, &t.graph), DXP_OK);
	work_post(&t, &c, 64);
	works_advance(s);
	assert_int_equal(s->counters.done, 1);
	graph_destroy(t.graph);
	free(s);
}

static void mark__completes_beside_transfers_of_its_host(void **state)
{
	mark_with(XPU_BULKS_MAX, XPU_BULKS_MAX);
}

static void mark__completes_beside_transfers_of_others(void **state)
{
	mark_with(0, XPU_BULKS_SLOT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mark__completes_beside_transfers_of_its_host),
		cmocka_unit_test(mark__completes_beside_transfers_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
