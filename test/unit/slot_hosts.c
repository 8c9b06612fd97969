/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that one xPU serves as many hosts as its option allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/function.h>
#include <dxp/mmd.h>

#include "test/support/daemons.h"
#include "test/unit/rude_host.h"
#include "xpu/cfg.h"

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

static void function_post(struct rude *r, struct dxp_window *window, const struct command *c)
{
	uint8_t data[COMMAND_BYTES_MAX];
	int bytes = command_encode(c, data);

	assert_true(bytes > 0);
	while (dxp_post_nap(window, 0, &r->to, data, (uint32_t)bytes, 0, 1) != DXP_OK)
		rude_poll(r);
	rude_poll(r);
}

/* Another process on the host's NIC can neither close its xPU nor replace it by an OPEN. */
static void function__of_another_process(void **state)
{
	const uint64_t bytes = (sizeof(struct dxp_window) + 4095) / 4096 * 4096;
	struct dxp_window *window = aligned_alloc(4096, bytes);
	static struct command_reply reply;
	struct rude r;

	assert_non_null(window);
	memset(window, 0, bytes);
	rude_open(&r, &w, 1);
	assert_int_equal(nic_function_open(node_nic(r.node), 3, window), DXP_OK);
	function_post(&r, window, &(struct command){.op = COMMAND_CLOSE, .sequence = 77});
	function_post(&r, window,
		      &(struct command){
			      .op = COMMAND_OPEN,
			      .sequence = 78,
			      .reply_magic = nic_qp_magic(node_nic(r.node), 3, NODE_SERVICE_QP)});
	rude_post(&r, &(struct command){.op = COMMAND_FREE, .sequence = 79, .address = r.address});
	rude_reply(&r, &reply);
	assert_int_equal(reply.sequence, 79);
	assert_int_equal(reply.status, DXP_OK);
	rude_close(&r);
	free(window);
}

static void print_count(void *context, uint16_t node, const char *text, size_t bytes)
{
	*(int *)context += 1;
}

/* A host ignores a print that a function of another process sends from the xPU's node. */
static void function__of_another_process_beside_the_xpu(void **state)
{
	const struct dxp_function_options options = {.nic = "xpu3", .function = 1};
	struct dxp_function *function = NULL;
	struct test_daemon d = {0};
	struct dxp_fabric *f;
	struct dxp_nic_event sent = {0};
	struct dxp_target to;
	uint8_t data[COMMAND_BYTES_MAX];
	uint32_t value;
	int prints = 0;

	setenv("DXP_RUN", w.folder, 1);
	ok(test_daemon_open(&w, &d,
			    &(struct daemon_options){
				    .slots = 1, .engine = "none", .first = 3, .functions = 1}));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "prints"},
			   &f));
	dxp_fabric_print(f, print_count, &prints);
	struct dxp_xpu *x = daemons_xpu(f, "xpu3");
	assert_int_equal(dxp_function_attach(&options, &function), DXP_OK);
	while (dxp_function_find(function, "prints", 0, &to) != DXP_OK)
		ok(dxp_reg_read(x, CFG_NODE, &value, 1));
	int bytes = command_print_encode("forged", 6, data);
	assert_int_equal(
		dxp_post_nap(dxp_function_window(function), 0, &to, data, (uint32_t)bytes, 0, 1),
		DXP_OK);
	while (!dxp_sent_dequeue(dxp_function_window(function), &sent))
		ok(dxp_reg_read(x, CFG_NODE, &value, 1));
	/* it arrived, and the host ignored it */
	assert_int_equal(sent.status, DXP_OK);
	ok(dxp_reg_read(x, CFG_NODE, &value, 1));
	assert_int_equal(prints, 0);
	dxp_function_close(function);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
	test_daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts__as_many_as_a_node_has_ranks),
		cmocka_unit_test(function__of_another_process),
		cmocka_unit_test(function__of_another_process_beside_the_xpu),
		cmocka_unit_test(hosts__one_more_gets_the_next_step),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
