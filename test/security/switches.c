/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by hosts on the groups of switches of an xPU: a host that wants all of them, abandons
 * them, or forges the messages of their members. */
#include <dxp/mmd.h>

#include "test/unit/inc_endpoint_rig.h"
#include "test/support/group_create.h"
#include "test/unit/rude_host.h"

#include "xpu/cfg.h"
#include "xpu/limits.h"

static struct daemons w;
static struct test_daemon daemon_under_test;
static struct bench b;
static struct dxp_fabric *fabric;
static struct dxp_xpu *xpu;
static atomic_bool held; /* the creation of a group does not end, even if the host leaves */

int __wrap_endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
				 const struct dxp_inc_group_options *options,
				 const struct endpoint_user *user, struct dxp_inc_group **out,
				 char why[DXP_INC_WHY_BYTES])
{
	int status = __real_endpoint_group_create(inc, bootstrap, options, user, out, why);

	while (held)
		usleep(1000);
	return status;
}

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static int scene_open(void **state)
{
	bench_open(&b);
	daemons_begin(&w);
	ok(test_daemon_open(&w, &daemon_under_test,
			    &(struct daemon_options){
				    .slots = 1, .engine = "none", .first = 1, .switches = b.text}));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "watcher"},
			   &fabric));
	xpu = daemons_xpu(fabric, "xpu1");
	return 0;
}

static int scene_close(void **state)
{
	held = false; /* after a failed test */
	dxp_xpu_close(xpu);
	dxp_fabric_close(fabric);
	test_daemon_close(&daemon_under_test);
	int status = daemons_end(&w);
	bench_close(&b);
	return status;
}

static uint32_t reg(enum cfg_register index)
{
	uint32_t value;

	ok(dxp_reg_read(xpu, index, &value, 1));
	return value;
}

static struct rude *host_open(void)
{
	struct rude *r = malloc(sizeof(*r));

	assert_non_null(r);
	rude_open(r, &w, (uint16_t)reg(CFG_NODE));
	return r;
}

static void host_close(struct rude *r)
{
	static struct command_reply reply;

	rude_post(r, &(struct command){.op = COMMAND_CLOSE, .sequence = 9});
	rude_reply(r, &reply);
	rude_close(r);
	free(r);
}

/* Sends one step, and returns the xPU's answer. */
static const struct command_reply *step(struct rude *r, uint32_t group, enum command_switches what,
					const void *data, size_t bytes)
{
	static struct command_reply reply;
	struct command c = {.op = COMMAND_SWITCHES,
			    .sequence = 3,
			    .group = group,
			    .what = (uint8_t)what,
			    .members = what == SWITCHES_OPEN ? 2 : 0,
			    .data = data,
			    .data_bytes = (uint32_t)bytes};

	rude_post(r, &c);
	rude_reply(r, &reply);
	return &reply;
}

static bool answer_has(const struct command_reply *reply, const char *text)
{
	char why[DXP_INC_WHY_BYTES + 1];

	snprintf(why, sizeof(why), "%.*s", (int)min_u64(reply->part_bytes, sizeof(why) - 1),
		 (const char *)reply->part);
	return strstr(why, text) != NULL;
}

/* Opens groups until one is refused. Returns how many. */
static uint32_t groups_fill(struct rude *r)
{
	const struct command_reply *reply;
	uint32_t count = 0;

	while ((reply = step(r, 1 + count, SWITCHES_OPEN, NULL, 0))->status == DXP_OK)
		count++;
	assert_int_equal(reply->status, DXP_EBUSY);
	assert_true(answer_has(reply, "destroy groups that are not needed"));
	return count;
}

/* Waits until no groups remain, while host `r` is alive. */
static void groups_none(struct rude *r)
{
	const uint64_t until_ns = clock_now_ns() + DAEMONS_WAIT_NS;

	while (reg(CFG_SWITCH_GROUPS) > 0) {
		rude_poll(r);
		assert_true(clock_now_ns() < until_ns);
	}
}

/* A host gets half of all groups, the next one half of the rest. */
static void switches__one_host_leaves_groups_for_others(void **state)
{
	const uint32_t refused = reg(CFG_SWITCH_REFUSED);
	struct rude *first = host_open(), *second = host_open();

	assert_int_equal(groups_fill(first), XPU_SWITCH_GROUPS_MAX / 2);
	assert_int_equal(groups_fill(second), XPU_SWITCH_GROUPS_MAX / 4);
	assert_int_equal(reg(CFG_SWITCH_REFUSED), refused + 2);
	assert_int_equal(reg(CFG_SWITCH_GROUPS),
			 XPU_SWITCH_GROUPS_MAX / 2 + XPU_SWITCH_GROUPS_MAX / 4);
	host_close(first);
	host_close(second);
	assert_int_equal(reg(CFG_SWITCH_GROUPS), 0);
}

/* The groups of a host that leaves are free at once, while all threads still wait. */
static void switches__a_host_leaves(void **state)
{
	struct rude *first = host_open();

	assert_int_equal(groups_fill(first), XPU_SWITCH_GROUPS_MAX / 2);
	host_close(first);
	assert_int_equal(reg(CFG_SWITCH_GROUPS), 0);
	struct rude *second = host_open();
	assert_int_equal(groups_fill(second), XPU_SWITCH_GROUPS_MAX / 2);
	host_close(second);
}

/* A host opens and leaves groups whose threads take long to end. */
static void switches__threads_of_left_groups_count(void **state)
{
	struct rude *first = host_open(), *second = host_open();
	const struct command_reply *reply;
	uint32_t count = 0;

	held = true;
	while ((reply = step(first, 1, SWITCHES_OPEN, NULL, 0))->status == DXP_OK) {
		count++;
		reply = step(first, 1, SWITCHES_CLOSE, NULL, 0);
		assert_int_equal(reply->status, DXP_OK);
	}
	assert_int_equal(reply->status, DXP_EBUSY);
	assert_true(answer_has(reply, "it still ends 64 groups"));
	assert_int_equal(count, XPU_SWITCH_THREADS_MAX / 2);
	assert_int_equal(reg(CFG_SWITCH_GROUPS), 0);
	reply = step(second, 1, SWITCHES_OPEN, NULL, 0);
	assert_int_equal(reply->status, DXP_OK);
	held = false;
	host_close(first);
	host_close(second);
}

/* A host opens a group, and then only stays. */
static void switches__an_abandoned_creation_ends(void **state)
{
	const uint32_t expired = reg(CFG_SWITCH_EXPIRED);
	struct rude *r = host_open();
	const struct command_reply *reply = step(r, 1, SWITCHES_OPEN, NULL, 0);

	assert_int_equal(reply->status, DXP_OK);
	groups_none(r);
	assert_int_equal(reg(CFG_SWITCH_EXPIRED), expired + 1);
	reply = step(r, 1, SWITCHES_SHARE, "late", 4);
	assert_int_equal(reply->status, DXP_ENOENT);
	assert_true(answer_has(reply, "create the group again"));
	host_close(r);
}

/* Opens a group. `hellos` gets this xPU's message, and that of a member that does not exist. */
static void group_begin(struct rude *r, uint32_t group, struct hello hellos[2])
{
	const struct command_reply *reply = step(r, group, SWITCHES_OPEN, NULL, 0);

	assert_int_equal(reply->status, DXP_OK);
	assert_int_equal(reply->part_bytes, sizeof(hellos[0]));
	memcpy(&hellos[0], reply->part, sizeof(hellos[0]));
	hellos[1] = hellos[0];
	hellos[1].ip ^= 0x80;
}

static void switches__forged_addresses(void **state)
{
	struct rude *r = host_open();

	for (size_t at = 0; at < sizeof(struct hello); at++) {
		struct hello hellos[2];
		group_begin(r, 1, hellos);
		((uint8_t *)hellos)[at] ^= 0x20;
		const struct command_reply *reply =
			step(r, 1, SWITCHES_SHARE, hellos, sizeof(hellos));
		assert_int_equal(reply->status, DXP_EINVAL);
		assert_true(answer_has(reply, "changed this member's message"));
	}
	groups_none(r);
	host_close(r);
}

/* The host reports success to members that could not create the group. An allreduce would then use
 * a group that does not exist. */
static void switches__forged_success(void **state)
{
	static const struct outcome success[2];
	struct rude *r = host_open();
	struct hello hellos[2];

	group_begin(r, 1, hellos);
	const struct command_reply *reply = step(r, 1, SWITCHES_SHARE, hellos, sizeof(hellos));
	assert_int_equal(reply->status, DXP_OK);
	assert_int_equal(reply->part_bytes, sizeof(success[0]));
	reply = step(r, 1, SWITCHES_SHARE, success, sizeof(success));
	assert_int_equal(reply->status, DXP_EINVAL);
	assert_true(answer_has(reply, "changed this member's message"));
	rude_post(r, &(struct command){.op = COMMAND_ALLREDUCE,
				       .event = EVENT_NAME(node_id(r->node), reg(CFG_NODE), 1),
				       .group = 1,
				       .type = DXP_INC_INT32,
				       .reduction = DXP_INC_SUM,
				       .address = r->address,
				       .to_address = r->address,
				       .bytes = 4096});
	groups_none(r); /* the daemon still runs */
	rude_close(r);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches__one_host_leaves_groups_for_others),
		cmocka_unit_test(switches__a_host_leaves),
		cmocka_unit_test(switches__threads_of_left_groups_count),
		cmocka_unit_test(switches__an_abandoned_creation_ends),
		cmocka_unit_test(switches__forged_addresses),
		cmocka_unit_test(switches__forged_success),
	};

	return cmocka_run_group_tests(tests, scene_open, scene_close);
}
