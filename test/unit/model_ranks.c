/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the LogGOPS model with ranks: closed forms, collectives, queues at a NIC, rendezvous,
 * 262,144 ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/util.h"
#include "model/collective.h"
#include "model/ranks.h"

#define NS 1000

static struct model_flat_network flat(uint32_t ranks)
{
	struct model_flat_network n = {
		.send_ps = 100 * NS,
		.receive_ps = 150 * NS,
		.latency_ps = 1000 * NS,
		.gap_ps = 40 * NS,
		.byte_ps = 100,
	};

	model_flat_network(&n, ranks);
	return n;
}

static struct model_ranks_result collective(enum model_collective_kind kind, uint32_t ranks,
					    uint64_t bytes)
{
	struct model_flat_network n = flat(ranks);
	struct model_ranks_result r;
	struct model_collective c;

	assert_int_equal(model_collective_make(kind, ranks, bytes, &c), DXP_OK);
	int status = model_ranks_run(&c.schedule, &n.network, 0, NULL, &r);
	if (status != DXP_OK)
		fail_msg("%s of %u ranks: %s", model_collective_name(kind), ranks, error_text());
	return r;
}

/* A round is o + service + L + o, in LogGOPS' terms. */
static void ranks__doubling_of_a_power_of_two(void **state)
{
	int64_t round = (100 + 40 + 1000 + 150) * NS + 7 * 100;

	for (uint32_t rounds = 1; rounds <= 10; rounds++) {
		struct model_ranks_result r = collective(MODEL_DOUBLING, 1u << rounds, 8);
		assert_int_equal(r.last_ps, rounds * round);
		assert_int_equal(r.first_ps, r.last_ps);
		assert_int_equal(r.messages, (uint64_t)rounds << rounds);
	}
}

/* Rank A first sends to B, which delays B, its partner, and theirs in turn: one more round in
 * total. Some ranks complete earlier. */
static void ranks__doubling_folds(void **state)
{
	struct model_ranks_result r = collective(MODEL_DOUBLING, 9, 8);
	int64_t round = (100 + 40 + 1000 + 150) * NS + 7 * 100;

	assert_int_equal(r.messages, 8 * 3 + 2);
	assert_int_equal(r.last_ps, 4 * round);
	assert_true(r.first_ps < r.last_ps);
}

static void ranks__collectives_complete(void **state)
{
	for (uint32_t ranks = 1; ranks <= 70; ranks++) {
		uint32_t power = 1;
		while (power * 2 <= ranks)
			power *= 2;
		uint64_t rounds = (uint64_t)__builtin_ctz(power);
		assert_int_equal(collective(MODEL_DOUBLING, ranks, 8).messages,
				 power * rounds + 2 * (ranks - power));
		assert_int_equal(collective(MODEL_RING, ranks, 1000).messages,
				 2ull * ranks * (ranks - 1));
		assert_int_equal(collective(MODEL_TREE, ranks, 8).messages, 2 * (ranks - 1));
		assert_int_equal(collective(MODEL_ALL_TO_ALL, ranks, 8).messages,
				 (uint64_t)ranks * (ranks - 1));
	}
}

/* 2 * (n - 1) equal steps. */
static void ranks__ring_time(void **state)
{
	int64_t step = (100 + 40 + 1000 + 150) * NS + 99 * 100;

	assert_int_equal(collective(MODEL_RING, 10, 1000).last_ps, 18 * step);
}

/* ---- a host of `count` ranks that send to another host at once ---- */

struct two_hosts {
	struct model_schedule schedule;
	struct model_network network;
	uint32_t count;
	uint64_t bytes;
	int64_t service_ps;
};

static uint32_t two_count(const struct model_schedule *s, uint32_t rank)
{
	return 1;
}

static void two_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out)
{
	const struct two_hosts *t = CONTAINER_OF(s, const struct two_hosts, schedule);
	bool sends = rank < t->count;

	*out = (struct model_task){.kind = sends ? MODEL_SEND : MODEL_RECEIVE,
				   .peer = sends ? rank + t->count : rank - t->count,
				   .bytes = t->bytes};
}

static void two_path(const struct model_network *n, uint32_t from, uint32_t to, uint64_t bytes,
		     struct model_path *out)
{
	const struct two_hosts *t = CONTAINER_OF(n, const struct two_hosts, network);

	*out = (struct model_path){.send_ps = 100 * NS,
				   .receive_ps = 100 * NS,
				   .latency_ps = 1000 * NS,
				   .service_ps = t->service_ps,
				   .transmit = from / t->count,
				   .receive = to / t->count};
}

static struct model_ranks_result two(uint32_t count, int64_t service_ps, uint64_t rendezvous)
{
	struct two_hosts t = {
		.schedule = {.ranks = 2 * count, .count = two_count, .op = two_op},
		.network = {.servers = 2, .path = two_path, .rendezvous_bytes = rendezvous},
		.count = count,
		.bytes = 4096,
		.service_ps = service_ps,
	};
	struct model_ranks_result r;

	assert_int_equal(model_ranks_run(&t.schedule, &t.network, 0, NULL, &r), DXP_OK);
	return r;
}

/* The last waits for n - 1 services, then is served at both ends. */
static void ranks__messages_queue_at_the_nic(void **state)
{
	for (uint32_t count = 1; count <= 64; count *= 4) {
		struct model_ranks_result r = two(count, 50 * NS, 0);
		assert_int_equal(r.last_ps, (100 + 50 * (int64_t)count + 1000 + 50 + 100) * NS);
		assert_int_equal(r.busy_ps, 50 * (int64_t)count * NS);
		assert_int_equal(r.remote, count);
	}
}

/* Announcement, permission and message: three latencies instead of one. */
static void ranks__rendezvous(void **state)
{
	assert_int_equal(two(1, 50 * NS, 4096).last_ps, two(1, 50 * NS, 0).last_ps);
	assert_int_equal(two(1, 50 * NS, 4095).last_ps, two(1, 50 * NS, 0).last_ps + 2000 * NS);
	two(64, 50 * NS, 1);
}

static void ranks__more_costs_never_help(void **state)
{
	struct model_ranks_result before = collective(MODEL_DOUBLING, 48, 64);
	struct model_collective c;

	assert_int_equal(model_collective_make(MODEL_DOUBLING, 48, 64, &c), DXP_OK);
	for (int cost = 0; cost < 6; cost++) {
		struct model_flat_network n = flat(48);
		struct model_ranks_result r;
		int64_t *costs[] = {&n.send_ps, &n.receive_ps, &n.latency_ps,
				    &n.gap_ps,  &n.byte_ps,    &n.overhead_ps};
		*costs[cost] += 10;
		assert_int_equal(model_ranks_run(&c.schedule, &n.network, 0, NULL, &r), DXP_OK);
		assert_true(r.last_ps > before.last_ps);
	}
}

/* The running time is not checked, because machines differ. */
static void ranks__a_quarter_of_a_million(void **state)
{
	struct model_ranks_result r = collective(MODEL_DOUBLING, 1u << 18, 8);

	assert_int_equal(r.messages, 18ull << 18);
	assert_int_equal(r.last_ps, 18 * ((100 + 40 + 1000 + 150) * NS + 7 * 100));
}

static void collective__rejects_what_is_too_large(void **state)
{
	struct model_collective c;

	assert_int_equal(model_collective_make(MODEL_DOUBLING, 0, 8, &c), DXP_EINVAL);
	assert_int_equal(model_collective_make(MODEL_DOUBLING, MODEL_RANKS_MAX + 1, 8, &c),
			 DXP_EINVAL);
	assert_int_equal(model_collective_make(MODEL_ALL_TO_ALL, 262144, 8, &c), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "operations"));
	assert_int_equal(model_collective_make(MODEL_TREE, 8, MODEL_BYTES_MAX + 1, &c), DXP_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks__doubling_of_a_power_of_two),
		cmocka_unit_test(ranks__doubling_folds),
		cmocka_unit_test(ranks__collectives_complete),
		cmocka_unit_test(ranks__ring_time),
		cmocka_unit_test(ranks__messages_queue_at_the_nic),
		cmocka_unit_test(ranks__rendezvous),
		cmocka_unit_test(ranks__more_costs_never_help),
		cmocka_unit_test(ranks__a_quarter_of_a_million),
		cmocka_unit_test(collective__rejects_what_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
