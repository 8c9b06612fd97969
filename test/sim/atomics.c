/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests atomics between nodes: effects, order on a queue pair, many adds to one word,
 * rejections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rltp/internal.h"
#include "test/sim/atomics.h"

#define SEEDS 40

static int rig_open(void **state)
{
	*state = rig_make(&(struct sim_options){.seed = 5, .hosts = 2});
	return 0;
}

static int rig_close(void **state)
{
	sim_destroy(((struct rig *)*state)->sim);
	return 0;
}

static void atomics__each_operation(void **state)
{
	const struct {
		uint8_t op;
		uint64_t before, operand, swap, after;
	} cases[] = {
		{DXP_OP_FETCH_ADD, 5, 7, 99, 12},
		{DXP_OP_FETCH_ADD, UINT64_MAX, 2, 0, 1},
		{DXP_OP_COMPARE_SWAP, 5, 5, UINT64_MAX - 1, UINT64_MAX - 1},
		{DXP_OP_COMPARE_SWAP, 5, 6, 1, 5},
		{DXP_OP_FETCH_MIN, 1ull << 63, 3, 0, 3},
		{DXP_OP_FETCH_MIN, 3, 1ull << 63, 0, 3},
		{DXP_OP_FETCH_MAX, 3, 1ull << 63, 0, 1ull << 63},
		{DXP_OP_FETCH_MAX, 1ull << 63, 3, 0, 1ull << 63},
		{DXP_OP_FETCH_AND, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0x0f000f000f000f00},
		{DXP_OP_FETCH_OR, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0xfff0fff0fff0fff0},
		{DXP_OP_FETCH_XOR, 0xff00ff00ff00ff00, 0x0ff00ff00ff00ff0, 0, 0xf0f0f0f0f0f0f0f0},
	};
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);

	for (uint32_t i = 0; i < ARRAY_COUNT(cases); i++) {
		r->memory[1][i] = cases[i].before;
		assert_int_equal(
			atomic(r, cases[i].op, word_of(r, i), cases[i].operand, cases[i].swap, &to),
			DXP_OK);
		assert_true(r->event.imm == cases[i].before);
		assert_int_equal(r->event.bytes, 8);
		assert_true(r->memory[1][i] == cases[i].after);
	}
	assert_int_equal(r->memory[1][ARRAY_COUNT(cases)], 0);
	assert_int_equal(nic_counters(sim_nic(r->sim, 0))->atomics_sent, ARRAY_COUNT(cases));
	assert_int_equal(nic_counters(sim_nic(r->sim, 1))->atomics_received, ARRAY_COUNT(cases));
	accounts_good(r, 2);
}

/* If the request has an entry for it. */
static void atomics__value_before_into_own_memory(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	struct dxp_descriptor d = dxp_head(DXP_OP_FETCH_ADD, 0, &to, 42);
	struct dxp_entry entries[2] = {{24, 8, r->key[0]}, word_of(r, 0)};

	r->memory[1][0] = 0x1122334455667788;
	d.src_count = d.dst_count = 1;
	d.imm = 1;
	assert_int_equal(dxp_post(sim_window(r->sim, 0), &d, entries, NULL), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_OK);
	assert_true(r->event.imm == 0x1122334455667788);
	assert_true(r->memory[0][3] == 0x1122334455667788);
	assert_true(r->memory[0][2] == 0 && r->memory[0][4] == 0);
	assert_true(r->memory[1][0] == 0x1122334455667789);
}

/* ---- many at one counter ---- */

static bool counting(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event event;
	bool finished = true;

	for (uint32_t i = 1; i < HOSTS; i++) {
		struct dxp_target to = sim_target(r->sim, 0, (uint16_t)(i % NIC_QPS_PER_FUNCTION));
		struct dxp_entry at = {80, 8, r->key[0]};
		struct dxp_window *w = sim_window(r->sim, i);
		while (dxp_sent_dequeue(w, &event)) {
			assert_int_equal(event.status, DXP_OK);
			assert_true(event.imm < ARRAY_COUNT(r->found));
			r->found[event.imm]++;
			r->ended[i]++;
		}
		while (r->posted[i] < ADDS &&
		       dxp_post_atomic(w, r->posted[i] % 3, &to, DXP_OP_FETCH_ADD, &at, 1, 0,
				       r->posted[i]) == DXP_OK)
			r->posted[i]++;
		finished &= r->ended[i] == ADDS;
	}
	return finished;
}

/* The sum is exact, and no two adds return the same value. */
static void atomics__many_nodes_one_counter_under_loss(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		const struct sim_options o = {.seed = seed,
					      .hosts = HOSTS,
					      .window_packets = seed % 4 == 0 ? 1 : 0,
					      .faults = {.loss_ppm = 100000,
							 .duplicate_ppm = 50000,
							 .reorder_ppm = 100000,
							 .corrupt_ppm = 10000}};
		struct rig *r = rig_make(&o);
		if (!sim_run(r->sim, 1000 * S_NS, counting, r))
			fail_msg("seed %llu: not all atomics end", (unsigned long long)seed);
		assert_int_equal(r->memory[0][10], (HOSTS - 1) * ADDS);
		for (uint32_t i = 0; i < (HOSTS - 1) * ADDS; i++)
			assert_int_equal(r->found[i], 1);
		accounts_good(r, HOSTS);
		sim_destroy(r->sim);
	}
}

/* Condition for sim_run. Both hosts post atomics to each other until ADDS have completed at each.
 * The NICs have space for one outstanding request, one answer and one packet in flight. */
static bool crossing(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event event;

	for (uint32_t i = 0; i < 2; i++) {
		struct dxp_target to = sim_target(r->sim, 1 - i, 0);
		struct dxp_entry at = {0, 8, r->key[1 - i]};
		while (dxp_sent_dequeue(sim_window(r->sim, i), &event))
			r->ended[i] += event.status == DXP_OK;
		while (r->posted[i] < ADDS &&
		       dxp_post_atomic(sim_window(r->sim, i), r->posted[i] % NIC_QPS_PER_FUNCTION,
				       &to, DXP_OP_FETCH_ADD, &at, 1, 0, 0) == DXP_OK)
			r->posted[i]++;
	}
	return r->ended[0] == ADDS && r->ended[1] == ADDS;
}

static void atomics__with_space_for_one_of_everything(void **state)
{
	const struct sim_options o = {.seed = 2,
				      .hosts = 2,
				      .window_packets = 1,
				      .faults = {.loss_ppm = 50000, .reorder_ppm = 20000}};
	struct rig *r = rig_make(&o);

	for (uint32_t i = 0; i < 2; i++)
		sim_nic(r->sim, i)->options.reads_max =
			sim_nic(r->sim, i)->options.receive_entries = 1;
	assert_true(sim_run(r->sim, 1000 * S_NS, crossing, r));
	assert_true(r->memory[0][0] == ADDS && r->memory[1][0] == ADDS);
	sim_destroy(r->sim);
}

/* ---- order ---- */

#define ROUNDS    10
#define PUT_BYTES 20000 /* bytes; the last word is the atomic's */
#define LAST      (PUT_BYTES / 8 - 1)

static void completions_dequeue(struct rig *r)
{
	while (dxp_sent_dequeue(sim_window(r->sim, 0), &r->event)) {
		assert_int_equal(r->event.status, DXP_OK);
		if (r->event.context == 1)
			assert_true(r->event.imm == r->memory[0][LAST]);
		r->completions++;
	}
}

static bool nap_arrived(void *context)
{
	struct rig *r = context;
	const uint8_t *data;

	completions_dequeue(r);
	return nic_user_received_peek(sim_window(r->sim, 1), &data) != NULL;
}

static bool three_completed(void *context)
{
	struct rig *r = context;

	completions_dequeue(r);
	return r->completions == 3;
}

static void order_round(struct rig *r, uint64_t round)
{
	struct dxp_target to = sim_target(r->sim, 1, 2);
	struct dxp_entry from = {0, PUT_BYTES, r->key[0]}, into = {0, PUT_BYTES, r->key[1]};
	struct dxp_entry at = word_of(r, LAST);
	struct dxp_window *w = sim_window(r->sim, 0);

	r->memory[0][LAST] = round << 32;
	r->completions = 0;
	assert_int_equal(dxp_post_put(w, 1, &to, &from, &into, 0, 0, 0), DXP_OK);
	assert_int_equal(dxp_post_atomic(w, 1, &to, DXP_OP_FETCH_ADD, &at, 1, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_nap(w, 1, &to, "done", 4, 0, 2), DXP_OK);
	assert_true(sim_run(r->sim, 20 * S_NS, nap_arrived, r));
	assert_true(r->memory[1][LAST] == (round << 32) + 1);
	dxp_received_release(sim_window(r->sim, 1));
	assert_true(sim_run(r->sim, 20 * S_NS, three_completed, r));
}

/* Atomics run after the PUTs posted before them, and before a NAP posted behind them arrives. */
static void atomics__in_the_order_of_the_queue_pair(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct sim_options o = {.seed = seed,
					      .hosts = 2,
					      .faults = {.loss_ppm = 100000,
							 .reorder_ppm = 200000,
							 .duplicate_ppm = 50000}};
		struct rig *r = rig_make(&o);
		for (uint64_t round = 1; round <= ROUNDS; round++)
			order_round(r, round);
		sim_destroy(r->sim);
	}
}

/* ---- rejections ---- */

static void refused(struct rig *r, struct dxp_entry at, const struct dxp_target *to, int status,
		    const uint64_t *count)
{
	uint64_t before = *count;

	assert_int_equal(atomic(r, DXP_OP_FETCH_ADD, at, 1, 0, to), status);
	assert_true(r->event.imm == 0);
	assert_int_equal(*count, before + 1);
}

/* Rejections are counted by reason, and the requester gets the reason. They change no memory, and
 * the queue pair continues. */
static void atomics__rejections(void **state)
{
	struct rig *r = *state;
	const struct nic_counters *c = nic_counters(sim_nic(r->sim, 1));
	struct dxp_target to = sim_target(r->sim, 1, 0), unknown_peer = to;
	struct dxp_entry good = word_of(r, 1), bad;
	uint32_t key;

	unknown_peer.magic ^= 1;
	refused(r, good, &unknown_peer, DXP_EACCESS, &c->magic_reject);
	bad = (struct dxp_entry){8, 8, r->key[1] ^ 0x1000};
	refused(r, bad, &to, DXP_EACCESS, &c->key_reject);
	assert_int_equal(nic_region_register(sim_nic(r->sim, 1), 0, r->memory[1], 64,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &key),
			 DXP_OK);
	bad = (struct dxp_entry){8, 8, key};
	refused(r, bad, &to, DXP_EACCESS, &c->rights_reject);
	bad = (struct dxp_entry){8 * WORDS, 8, r->key[1]};
	refused(r, bad, &to, DXP_ERANGE, &c->bounds_reject);
	bad.offset = 8 * WORDS - 4;
	refused(r, bad, &to, DXP_ERANGE, &c->bounds_reject);
	bad.offset = UINT64_MAX - 7;
	refused(r, bad, &to, DXP_ERANGE, &c->bounds_reject);
	for (bad.offset = 9; bad.offset < 16; bad.offset++)
		refused(r, bad, &to, DXP_ERANGE, &c->bounds_reject);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_true(r->memory[1][i] == 0);
	assert_int_equal(c->atomics_received, 0);
	assert_int_equal(atomic(r, DXP_OP_FETCH_ADD, good, 1, 0, &to), DXP_OK);
	assert_int_equal(r->memory[1][1], 1);
	accounts_good(r, 2);
}

/* The word is unaligned in memory, because its region is. */
static void atomics__region_off_its_alignment(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	const struct nic_counters *c = nic_counters(sim_nic(r->sim, 1));
	uint32_t key;

	assert_int_equal(nic_region_register(sim_nic(r->sim, 1), 0, (uint8_t *)r->memory[1] + 4, 64,
					     RIGHTS, &key),
			 DXP_OK);
	refused(r, (struct dxp_entry){8, 8, key}, &to, DXP_ERANGE, &c->bounds_reject);
}

static int posted(struct rig *r, struct dxp_descriptor d, const struct dxp_entry *entries)
{
	static const uint8_t data[DXP_NAP_BYTES];

	assert_int_equal(dxp_post(sim_window(r->sim, 0), &d, entries, data), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	return r->event.status;
}

static void atomics__descriptors_that_cannot_be(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	const struct dxp_entry own = {0, 8, r->key[0]}, at = word_of(r, 0);
	const struct dxp_entry two_own[] = {own, own, at}, two_at[] = {at, at},
			       wide[] = {{0, 16, r->key[1]}}, unequal[] = {{0, 4, r->key[0]}, at};
	struct dxp_descriptor d = dxp_head(DXP_OP_FETCH_ADD, 0, &to, 0);

	assert_int_equal(posted(r, d, NULL), DXP_EINVAL);
	d.dst_count = 2;
	assert_int_equal(posted(r, d, two_at), DXP_EINVAL);
	d.dst_count = 1;
	assert_int_equal(posted(r, d, wide), DXP_EINVAL);
	d.src_count = 1;
	assert_int_equal(posted(r, d, unequal), DXP_EINVAL);
	d.src_count = 2;
	assert_int_equal(posted(r, d, two_own), DXP_EINVAL);
	d.src_count = 0;
	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = 7;
	assert_int_equal(posted(r, d, &at), DXP_EINVAL);
	d.flags = 0;
	d.op = DXP_OP_FETCH_XOR + 1;
	assert_int_equal(posted(r, d, &at), DXP_EINVAL);
	d.op = DXP_OP_FETCH_ADD - 1;
	assert_int_equal(posted(r, d, &at), DXP_EINVAL);
	assert_int_equal(nic_counters(sim_nic(r->sim, 0))->descriptors_bad, 8);
	assert_int_equal(nic_counters(sim_nic(r->sim, 0))->atomics_sent, 0);
}

/* An older node cannot decode atomics, so it gets none; other requests continue. */
static void atomics__peer_of_an_older_version(void **state)
{
	struct rig *r = *state;
	struct dxp_target to = sim_target(r->sim, 1, 0);
	const uint8_t *data;

	assert_int_equal(atomic(r, DXP_OP_FETCH_ADD, word_of(r, 0), 1, 0, &to), DXP_OK);
	struct rltp_session *s = rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, 0)), 2);
	assert_int_equal(s->peer_features, WIRE_FEATURES);
	s->peer_features = 0;
	assert_int_equal(atomic(r, DXP_OP_FETCH_ADD, word_of(r, 0), 1, 0, &to), DXP_EUNSUPPORTED);
	assert_int_equal(r->memory[1][0], 1);
	assert_int_equal(dxp_post_nap(sim_window(r->sim, 0), 1, &to, "nap", 3, 0, 0), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, completed, r));
	assert_int_equal(r->event.status, DXP_OK);
	assert_non_null(nic_user_received_peek(sim_window(r->sim, 1), &data));
	accounts_good(r, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(atomics__each_operation),
		CASE(atomics__value_before_into_own_memory),
		CASE(atomics__rejections),
		CASE(atomics__region_off_its_alignment),
		CASE(atomics__descriptors_that_cannot_be),
		CASE(atomics__peer_of_an_older_version),
		cmocka_unit_test(atomics__many_nodes_one_counter_under_loss),
		cmocka_unit_test(atomics__with_space_for_one_of_everything),
		cmocka_unit_test(atomics__in_the_order_of_the_queue_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
