/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rejected operations inside one NIC: status, counter, no effect, also if the target stops or
 * closes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

struct rejection {
	const char *text;
	uint8_t op;
	uint8_t function;      /* addressed */
	uint32_t magic_change; /* xor mask */
	uint8_t owner;         /* whose key is used */
	uint32_t rights;       /* of the addressed region */
	uint64_t offset;
	int status;
	/* offset in struct dxp_function_counters of the counter that grows; 0: none */
	size_t counter;
};

#define COUNTER(name) offsetof(struct dxp_function_counters, name)

static const struct rejection rejections[] = {
	{"magic", DXP_OP_NAP, 1, 1, 1, RIG_ALL, 0, DXP_EACCESS, COUNTER(refused_magic)},
	{"magic's top bit", DXP_OP_PUT, 1, 1u << 31, 1, RIG_ALL, 0, DXP_EACCESS,
	 COUNTER(refused_magic)},
	{"not open", DXP_OP_PUT, 5, 0, 1, RIG_ALL, 0, DXP_EACCESS, 0},
	{"no function", DXP_OP_PUT, 8, 0, 1, RIG_ALL, 0, DXP_EINVAL, 0},
	{"another's key", DXP_OP_PUT, 1, 0, 2, RIG_ALL, 0, DXP_EACCESS, COUNTER(refused_key)},
	{"own key", DXP_OP_GET, 1, 0, 0, RIG_ALL, 0, DXP_EACCESS, COUNTER(refused_key)},
	{"not to be written", DXP_OP_PUT, 1, 0, 1, NIC_REMOTE_READ | NIC_REMOTE_ATOMIC, 0,
	 DXP_EACCESS, COUNTER(refused_rights)},
	{"not to be read", DXP_OP_GET, 1, 0, 1, NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, 0,
	 DXP_EACCESS, COUNTER(refused_rights)},
	{"no atomics", DXP_OP_FETCH_OR, 1, 0, 1, NIC_REMOTE_READ | NIC_REMOTE_WRITE, 0, DXP_EACCESS,
	 COUNTER(refused_rights)},
	{"one byte too far", DXP_OP_PUT, 1, 0, 1, RIG_ALL, RIG_BYTES - 7, DXP_ERANGE,
	 COUNTER(refused_bounds)},
	{"behind the end", DXP_OP_GET, 1, 0, 1, RIG_ALL, RIG_BYTES + 1, DXP_ERANGE,
	 COUNTER(refused_bounds)},
	{"wraps", DXP_OP_PUT, 1, 0, 1, RIG_ALL, UINT64_MAX - 3, DXP_ERANGE,
	 COUNTER(refused_bounds)},
	{"not aligned", DXP_OP_FETCH_ADD, 1, 0, 1, RIG_ALL, 12, DXP_ERANGE,
	 COUNTER(refused_bounds)},
	{"no registers", DXP_OP_CFG_READ, 1, 0, 1, RIG_ALL, 0, DXP_EUNSUPPORTED,
	 COUNTER(refused_other)},
};

/* Posts the operation of a row. If it uses lists, an entry of 8 valid bytes precedes the invalid
 * entry. */
static void rejected_post(struct rig *r, const struct rejection *x)
{
	struct dxp_target to = rig_target(r, 1, 1);
	struct dxp_entry own[2] = {rig_entry(r, 0, 0, 8), rig_entry(r, 0, 8, 8)};
	struct dxp_entry other[2] = {rig_entry(r, 1, 0, 8), rig_entry(r, x->owner, x->offset, 8)};
	const struct nic_lists lists = {own, other, 2, 2};

	to.function = x->function;
	to.magic ^= x->magic_change;
	switch (x->op) {
	case DXP_OP_NAP: dxp_post_nap(r->window[0], 0, &to, "x", 1, 0, 1); break;
	case DXP_OP_PUT: nic_user_put(r->window[0], 0, &to, &lists, 1); break;
	case DXP_OP_GET: nic_user_get(r->window[0], 0, &to, &lists, 1); break;
	case DXP_OP_CFG_READ: nic_user_cfg_read(r->window[0], 0, &to, 0, own, 1); break;
	default: dxp_post_atomic(r->window[0], 0, &to, x->op, &other[1], 1, 1, 1);
	}
}

static void local__rejections(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(rejections); i++) {
		const struct rejection *x = &rejections[i];
		struct nic_options o = rig_options();
		struct dxp_function_counters c, none = {0};
		struct rig r;
		rig_make(&r, &o, 3);
		nic_region_deregister(r.nic, r.key[1]);
		nic_region_register(r.nic, 1, r.memory[1], RIG_BYTES, x->rights, &r.key[1]);
		rig_fill(&r, 0, 1);
		rig_fill(&r, 1, 77);
		rejected_post(&r, x);
		rig_run(&r);
		struct dxp_nic_event e = {0};
		assert_true(dxp_sent_dequeue(r.window[0], &e));
		if (e.status != x->status)
			fail_msg("%s: %d", x->text, e.status);
		for (uint32_t k = 0; k < RIG_BYTES; k++)
			assert_int_equal(r.memory[1][k], (uint8_t)(77 + k * 7));
		for (uint32_t k = 0; k < RIG_BYTES; k++)
			assert_int_equal(r.memory[0][k], (uint8_t)(1 + k * 7));
		assert_null(dxp_received_peek(r.window[1]));
		assert_int_equal(rig_counters(&r, 0).failed, 1);
		c = rig_counters(&r, 1);
		if (x->counter)
			*(uint64_t *)(void *)((uint8_t *)&none + x->counter) = 1;
		if (memcmp(&c, &none, sizeof(c)) != 0)
			fail_msg("%s: not counted at its target", x->text);
		rig_end(&r);
	}
}

/* A function that broke a rule counts as closed. */
static void local__stopped_target(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 0), back = rig_target(&r, 0, 0);
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, 9, &back, 1);
	assert_int_equal(dxp_post(r.window[1], &d, NULL, NULL), DXP_OK);
	rig_run(&r);
	assert_int_equal(dxp_error(r.window[1]), DXP_EINVAL);
	assert_int_equal(rig_counters(&r, 1).descriptors_bad, 1);
	assert_int_equal(dxp_post_nap(r.window[0], 0, &to, "x", 1, 0, 2), DXP_OK);
	rig_run(&r);
	rig_sent(&r, 0, 2, DXP_EACCESS);
	assert_null(dxp_received_peek(r.window[1]));
	rig_end(&r);
}

/* After its close, the target's memory is not accessed. */
static void local__target_closed_in_flight(void **state)
{
	for (int polls = 0; polls < 4; polls++) {
		struct nic_options o = rig_options();
		struct rig r;
		o.receive_entries = 1;
		rig_make(&r, &o, 2);
		const struct dxp_target to = rig_target(&r, 1, 0);
		const struct dxp_entry own = rig_entry(&r, 0, 0, RIG_BYTES),
				       other = rig_entry(&r, 1, 0, RIG_BYTES);
		dxp_post_put(r.window[0], 0, &to, &own, &other, 0, 0, 1);
		dxp_post_get(r.window[0], 1, &to, &other, &own, 2);
		dxp_post_nap(r.window[0], 2, &to, "x", 1, 0, 3);
		dxp_post_nap(r.window[0], 2, &to, "x", 1, 0, 4);
		for (int i = 0; i < polls; i++)
			rig_poll(&r);
		assert_int_equal(nic_user_close(r.nic, 1, DXP_ECLOSED, r.now_ns), DXP_OK);
		assert_true(nic_user_idle(r.nic, 1));
		memset(r.memory[1], 0, RIG_BYTES);
		rig_run(&r);
		int failed = 0;
		for (struct dxp_nic_event e; dxp_sent_dequeue(r.window[0], &e);)
			failed += e.status == DXP_EACCESS;
		assert_int_equal(failed, polls == 0 ? 4 : 3);
		for (uint32_t i = 0; i < RIG_BYTES; i++)
			assert_int_equal(r.memory[1][i], 0);
		assert_int_equal(r.nic->functions[0].outstanding, 0);
		rig_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local__rejections),
		cmocka_unit_test(local__stopped_target),
		cmocka_unit_test(local__target_closed_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
