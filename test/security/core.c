/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by registers: a host's settings of a board's stream core apply only to that host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "test/support/daemons.h"

#define WORDS 5000

/* A host of the board's xPU. */
struct guest {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	uint32_t out[WORDS], in[WORDS];
};

static struct daemons w;
static struct test_daemon board;
static struct guest one, two;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static void guest_open(struct guest *g, const char *name)
{
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name},
			   &g->fabric));
	g->xpu = daemons_xpu(g->fabric, "xpu1");
	for (uint32_t i = 0; i < WORDS; i++)
		g->out[i] = 7 * i;
}

static void guest_close(struct guest *g)
{
	dxp_xpu_close(g->xpu);
	dxp_fabric_close(g->fabric);
}

static int world_open(void **state)
{
	daemons_begin(&w);
	ok(test_daemon_open(
		&w, &board,
		&(struct daemon_options){.slots = 1, .first = 1, .engine = "board:fast"}));
	return 0;
}

static int world_close(void **state)
{
	test_daemon_close(&board);
	return daemons_end(&w);
}

static int guests_open(void **state)
{
	guest_open(&one, "one");
	guest_open(&two, "two");
	return 0;
}

static int guests_close(void **state)
{
	guest_close(&one);
	guest_close(&two);
	return 0;
}

/* Sends `out` through the stream core into `in`. */
static void stream(struct guest *g)
{
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_THROUGH, .from = g->out, .to = g->in, .bytes = sizeof(g->out)};

	memset(g->in, 0, sizeof(g->in));
	ok(dxp_bridge_move(g->xpu, &t, NULL));
}

static void added(const struct guest *g, uint32_t operand)
{
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(g->in[i], g->out[i] + operand);
}

static void core_is(const struct guest *g, enum dxp_core core, uint32_t operand, uint64_t result)
{
	enum dxp_core has;
	uint32_t has_operand;
	uint64_t has_result;

	ok(dxp_core_get(g->xpu, &has, &has_operand, &has_result));
	assert_int_equal(has, core);
	assert_int_equal(has_operand, operand);
	assert_true(has_result == result);
}

/* Settings of one host do not change another's streams. */
static void core__of_another_host_does_not_apply(void **state)
{
	ok(dxp_core_set(one.xpu, DXP_CORE_ADD, 1000));
	ok(dxp_core_set(two.xpu, DXP_CORE_ADD, 5));
	stream(&one);
	added(&one, 1000);
	stream(&two);
	added(&two, 5);
	ok(dxp_core_set(two.xpu, DXP_CORE_PASS, 0));
	stream(&one);
	added(&one, 1000);
}

/* A host reads neither another's settings nor the sum over its data. */
static void core__of_another_host_is_not_visible(void **state)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		sum += one.out[i];
	ok(dxp_core_set(one.xpu, DXP_CORE_CHECKSUM, 0));
	stream(&one);
	core_is(&one, DXP_CORE_CHECKSUM, 0, sum);
	core_is(&two, DXP_CORE_PASS, 0, 0);
	stream(&two);
	core_is(&one, DXP_CORE_CHECKSUM, 0, sum);
}

/* A reopened xPU has its initial settings. */
static void core__of_an_earlier_host_is_gone(void **state)
{
	ok(dxp_core_set(one.xpu, DXP_CORE_ADD, 1000));
	dxp_xpu_close(one.xpu);
	one.xpu = daemons_xpu(one.fabric, "xpu1");
	core_is(&one, DXP_CORE_PASS, 0, 0);
	stream(&one);
	added(&one, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, guests_open, guests_close)
	const struct CMUnitTest tests[] = {
		TEST(core__of_another_host_does_not_apply),
		TEST(core__of_another_host_is_not_visible),
		TEST(core__of_an_earlier_host_is_gone),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
