/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of one NIC share a stream and reads to one queue pair: each gets its share, and
 * requested data counts against its limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/limits.h"
#include "sim/sim.h"

#define BYTES 4096

struct user {
	struct dxp_window *window;
	uint64_t posted, ended, failed;
	uint32_t key;
};

struct scene {
	struct sim *sim;
	struct user users[NIC_FUNCTIONS]; /* of host 0, one per function */
	uint32_t key;                     /* of host 1's memory */
	uint8_t op;
	/* per operation; bit i of `active`: function i posts */
	uint32_t bytes, active;
	uint8_t *memory;
};

static uint8_t registers_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			       const uint32_t *values)
{
	return 0;
}

static uint8_t registers_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			      uint32_t *values)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = first + i;
	return 0;
}

static void scene_open(struct scene *s, uint64_t delay_ns, uint8_t op, uint32_t bytes)
{
	static const struct nic_cfg_ops cfg = {registers_read, registers_write};
	const struct sim_options options = {.seed = 1,
					    .hosts = 2,
					    .delay_ns = delay_ns,
					    .rate_bps = 10000000000ull,
					    .backlog_bytes = 32u << 10,
					    .no_payload_crc = true,
					    .cfg = &cfg};

	*s = (struct scene){.op = op, .bytes = bytes, .memory = calloc(1, BYTES)};
	assert_non_null(s->memory);
	assert_int_equal(sim_create(&options, &s->sim), DXP_OK);
	assert_int_equal(nic_region_register(sim_nic(s->sim, 1), 0, s->memory, BYTES,
					     NIC_REMOTE_WRITE | NIC_REMOTE_READ | NIC_REMOTE_ATOMIC,
					     &s->key),
			 DXP_OK);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		struct user *u = &s->users[i];
		u->window = i == 0 ? sim_window(s->sim, 0) : calloc(1, sizeof(*u->window));
		assert_non_null(u->window);
		if (i > 0)
			assert_int_equal(nic_function_open(sim_nic(s->sim, 0), i, u->window),
					 DXP_OK);
		assert_int_equal(nic_region_register(sim_nic(s->sim, 0), i, s->memory, BYTES,
						     NIC_LOCAL, &u->key),
				 DXP_OK);
	}
	s->active = (1u << NIC_FUNCTIONS) - 1;
}

static void scene_close(struct scene *s)
{
	sim_destroy(s->sim);
	for (uint32_t i = 1; i < NIC_FUNCTIONS; i++)
		free(s->users[i].window);
	free(s->memory);
}

static bool post(struct scene *s, struct user *u)
{
	const struct dxp_target to = sim_target(s->sim, 1, 0);
	const struct dxp_entry own = {0, s->bytes, u->key}, other = {0, s->bytes, s->key};
	uint8_t qp = (uint8_t)(u->posted % NIC_QPS_PER_FUNCTION);
	struct dxp_descriptor head = dxp_head(s->op, qp, &to, 0);
	const struct dxp_entry registers = {0, s->bytes, 0};

	switch (s->op) {
	case DXP_OP_PUT: return dxp_post_put(u->window, qp, &to, &own, &other, 0, 0, 0) == DXP_OK;
	case DXP_OP_GET: return dxp_post_get(u->window, qp, &to, &other, &own, 0) == DXP_OK;
	case DXP_OP_CFG_READ: return nic_user_cfg_read(u->window, qp, &to, 0, &own, 0) == DXP_OK;
	case DXP_OP_CFG_WRITE:
		head.dst_count = 1;
		head.flags = DXP_FLAG_INLINE;
		head.inline_bytes = (uint16_t)s->bytes;
		return dxp_post(u->window, &head, &registers, s->memory) == DXP_OK;
	default: return dxp_post_atomic(u->window, qp, &to, s->op, &other, 1, 0, 0) == DXP_OK;
	}
}

static bool step(void *context)
{
	struct scene *s = context;
	struct dxp_nic_event event;

	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		struct user *u = &s->users[i];
		while (dxp_sent_dequeue(u->window, &event)) {
			u->ended++;
			u->failed += event.status != DXP_OK;
		}
		while (s->active >> i & 1 && post(s, u))
			u->posted++;
	}
	return false;
}

static void run(struct scene *s, uint64_t duration_ns)
{
	sim_run(s->sim, duration_ns, step, s);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		assert_int_equal(s->users[i].failed, 0);
}

/* ---- fairness, for every order of answers ---- */

static void none_starves(uint8_t op, uint32_t bytes)
{
	/* one-way, ns; at 2250, entries become free at the pace of the functions' rotation, so the
	 * same ones could always win */
	static const uint64_t delays[] = {1000, 2250, 8500, 15000, 26000};

	for (size_t k = 0; k < ARRAY_COUNT(delays); k++) {
		const uint64_t delay_ns = delays[k];
		struct scene s;
		uint64_t least = UINT64_MAX, most = 0;
		scene_open(&s, delay_ns, op, bytes);
		run(&s, 20 * MS_NS);
		for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
			uint64_t ended = s.users[i].ended;
			least = min_u64(least, ended);
			most = max_u64(most, ended);
			if (getenv("DXP_SHARES"))
				printf("%llu ", (unsigned long long)ended);
		}
		if (getenv("DXP_SHARES"))
			printf("\n");
		if (least < 100 || 3 * least < most)
			fail_msg("%llu ns: between %llu and %llu operations",
				 (unsigned long long)delay_ns, (unsigned long long)least,
				 (unsigned long long)most);
		scene_close(&s);
	}
}

static void shared__stream_starves_no_other(void **state)
{
	none_starves(DXP_OP_PUT, 8);
	none_starves(DXP_OP_PUT, 4000);
}

static void shared__table_of_reads_starves_no_other(void **state)
{
	none_starves(DXP_OP_GET, 64);
	none_starves(DXP_OP_FETCH_ADD, 8);
}

/* ---- requests count against limits ---- */

static void limited(uint8_t op, uint32_t bytes, uint32_t wire_bytes)
{
	const uint64_t limit = 1000000, duration_ns = 500 * MS_NS;
	struct scene s;

	scene_open(&s, 0, op, bytes);
	s.active = 1u << 3;
	assert_int_equal(nic_function_limit(sim_nic(s.sim, 0), 3, limit), DXP_OK);
	run(&s, duration_ns);
	uint64_t most = limit * duration_ns / S_NS + BUCKET_BURST_BYTES + 4096;
	if (s.users[3].ended * wire_bytes > most)
		fail_msg("%llu operations of %u bytes", (unsigned long long)s.users[3].ended,
			 wire_bytes);
	assert_true(s.users[3].ended * wire_bytes > most / 2);
	scene_close(&s);
}

/* The answers count against the limit of the function whose registers are read. */
static void shared__limits_hold_for_answers(void **state)
{
	const uint64_t limit = 1000000, duration_ns = 500 * MS_NS;
	struct scene s;

	scene_open(&s, 0, DXP_OP_CFG_READ, 1024);
	s.active = 1u << 3;
	assert_int_equal(nic_function_limit(sim_nic(s.sim, 1), 0, limit), DXP_OK);
	run(&s, duration_ns);
	assert_in_range(s.users[3].ended * 1024, limit / 4,
			limit * duration_ns / S_NS + BUCKET_BURST_BYTES + 4096);
	scene_close(&s);
}

static void shared__limits_hold_for_requests(void **state)
{
	limited(DXP_OP_CFG_WRITE, 1024, WIRE_DATA_BYTES + 1024);
	limited(DXP_OP_FETCH_ADD, 8, WIRE_DATA_BYTES + WIRE_ATOMIC_BYTES);
	limited(DXP_OP_GET, 64, WIRE_DATA_BYTES + WIRE_GET_BYTES);
}

/* The others on its queue pair use most of the rest. */
static void shared__limited_holds_back_no_other(void **state)
{
	static const uint64_t limits[] = {20000, 100000, 10000000};

	for (size_t k = 0; k < ARRAY_COUNT(limits); k++) {
		struct scene s;
		scene_open(&s, 0, DXP_OP_PUT, 4000);
		assert_int_equal(nic_function_limit(sim_nic(s.sim, 0), 3, limits[k]), DXP_OK);
		run(&s, 100 * MS_NS);
		uint64_t limited = s.users[3].ended, others = 0;
		for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
			others += i == 3 ? 0 : s.users[i].ended;
		if (others * 4000 < 100000000 || limited < 4)
			fail_msg("limit %llu: %llu operations, others %llu",
				 (unsigned long long)limits[k], (unsigned long long)limited,
				 (unsigned long long)others);
		scene_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared__stream_starves_no_other),
		cmocka_unit_test(shared__table_of_reads_starves_no_other),
		cmocka_unit_test(shared__limited_holds_back_no_other),
		cmocka_unit_test(shared__limits_hold_for_requests),
		cmocka_unit_test(shared__limits_hold_for_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
