/* SPDX-License-Identifier: BSD-3-Clause */
/* One xPU serves as many hosts as its option allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/mmd.h>

#include "test/support/daemons.h"

#define MANY 80
#define FEW  3

static struct daemons w;
static struct test_daemon many, few;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static int setup(void **state)
{
	const struct daemon_options common = {.slots = 1, .engine = "none", .first = 1};
	struct daemon_options bounded = common;

	bounded.first = 2;
	bounded.hosts_max = FEW;
	daemons_begin(&w);
	assert_int_equal(test_daemon_open(&w, &many, &common), DXP_OK);
	assert_int_equal(test_daemon_open(&w, &few, &bounded), DXP_OK);
	return 0;
}

static int teardown(void **state)
{
	test_daemon_close(&few);
	test_daemon_close(&many);
	return daemons_end(&w);
}

static struct dxp_fabric *join(void)
{
	static int number;
	char name[FABRIC_NAME_BYTES];
	struct dxp_fabric *f;

	snprintf(name, sizeof(name), "rank%d", number++);
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name}, &f));
	return f;
}

static void hosts__as_many_as_a_node_has_ranks(void **state)
{
	struct dxp_fabric *fabrics[MANY];
	struct dxp_xpu *xpus[MANY];
	uint64_t addresses[MANY];

	for (uint32_t i = 0; i < MANY; i++) {
		fabrics[i] = join();
		xpus[i] = daemons_xpu(fabrics[i], "xpu1");
		ok(dxp_mem_alloc(xpus[i], 512, &addresses[i]));
		ok(dxp_mem_write(xpus[i], addresses[i], &i, sizeof(i)));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t got = 0;
		ok(dxp_mem_read(xpus[i], &got, addresses[i], sizeof(got)));
		assert_int_equal(got, i);
		dxp_xpu_close(xpus[i]);
		dxp_fabric_close(fabrics[i]);
	}
}

static void hosts__one_more_gets_the_next_step(void **state)
{
	struct dxp_fabric *fabrics[FEW + 1];
	struct dxp_xpu *xpus[FEW], *last;

	for (int i = 0; i < FEW; i++) {
		fabrics[i] = join();
		xpus[i] = daemons_xpu(fabrics[i], "xpu2");
	}
	fabrics[FEW] = join();
	assert_int_equal(dxp_xpu_open(fabrics[FEW], "xpu2", &last), DXP_EBUSY);
	assert_non_null(strstr(dxp_fabric_error(fabrics[FEW]), "--hosts"));
	dxp_xpu_close(xpus[0]);
	ok(dxp_xpu_open(fabrics[FEW], "xpu2", &last));
	dxp_xpu_close(last);
	for (int i = 1; i < FEW; i++)
		dxp_xpu_close(xpus[i]);
	for (int i = 0; i <= FEW; i++)
		dxp_fabric_close(fabrics[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts__as_many_as_a_node_has_ranks),
		cmocka_unit_test(hosts__one_more_gets_the_next_step),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
