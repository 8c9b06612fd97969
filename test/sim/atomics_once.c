/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics execute at most once if a datagram is lost, or the session or function closes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/sim/atomics.h"

/* The atomic executes exactly once, whichever datagram is lost. */
static void atomics_once__drop_each_datagram_once(void **state)
{
	uint64_t k = 0, sent;

	do {
		const struct sim_options o = {.seed = 7, .hosts = 2, .faults = {.drop_nth = ++k}};
		struct rig *r = rig_make(&o);
		struct dxp_target to = sim_target(r->sim, 1, 0);
		for (uint64_t i = 0; i < 3; i++) {
			assert_int_equal(atomic(r, DXP_OP_FETCH_ADD, word_of(r, 0), 1, 0, &to),
					 DXP_OK);
			assert_true(r->event.imm == i);
		}
		/* for duplicates and acknowledgements in flight */
		sim_run(r->sim, S_NS, NULL, NULL);
		assert_int_equal(r->memory[1][0], 3);
		accounts_good(r, 2);
		sent = sim_counters(r->sim)->sent;
		sim_destroy(r->sim);
	} while (k <= sent);
	print_message("each of %llu datagrams lost once\n", (unsigned long long)sent);
}

static void peer_restarts(struct rig *r)
{
	assert_int_equal(sim_restart(r->sim, 1, false), DXP_OK);
}

static void peer_restarts_and_announces_it(struct rig *r)
{
	assert_int_equal(sim_restart(r->sim, 1, true), DXP_OK);
}

static void peer_is_lost(struct rig *r)
{
	nic_peer_lost(sim_nic(r->sim, 0), 2, DXP_EPEERLOST);
}

static void answers_end(struct rig *r)
{
	sim_blackhole(r->sim, 1, 0, true);
}

static void requests_end(struct rig *r)
{
	sim_blackhole(r->sim, 0, 1, true);
}

/* The session closes before the answer, so the requester cannot know whether the atomic executed.
 * It executes at most once, even if the nodes connect again. */
static void atomics_once__sessions_that_end_at_each_datagram(void **state)
{
	void (*const mishaps[])(struct rig * r) = {peer_restarts, peer_restarts_and_announces_it,
						   peer_is_lost, answers_end, requests_end};
	uint32_t unknown = 0, done = 0;

	for (uint32_t m = 0; m < ARRAY_COUNT(mishaps); m++) {
		for (uint64_t k = 1; k < 12; k++) {
			const struct sim_options o = {.seed = k, .hosts = 2};
			struct rig *r = rig_make(&o);
			struct dxp_target to = sim_target(r->sim, 1, 0);
			r->mishap = mishaps[m];
			r->at_sent = k;
			int status = atomic(r, DXP_OP_FETCH_ADD, word_of(r, 0), 1, 0, &to);
			assert_true(status == DXP_OK || status == DXP_EPEERRESET ||
				    status == DXP_EPEERLOST || status == DXP_ETIMEDOUT ||
				    /* the restarted peer has a new magic */
				    status == DXP_EACCESS);
			assert_true(r->memory[1][0] <= 1);
			if (status == DXP_OK)
				assert_int_equal(r->memory[1][0], 1);
			if (status == DXP_EACCESS)
				assert_int_equal(r->memory[1][0], 0);
			done += status == DXP_OK;
			unknown += status != DXP_OK && r->memory[1][0] == 1;
			uint64_t value = r->memory[1][0];
			sim_heal(r->sim);
			sim_introduce(r->sim, 0, 1);
			sim_run(r->sim, 10 * S_NS, NULL, NULL);
			assert_true(r->memory[1][0] == value ||
				    /* may execute after the requester got its error */
				    (status != DXP_OK && r->memory[1][0] == 1));
			sim_destroy(r->sim);
		}
	}
	print_message("%u known to be done, %u done and not known to be\n", done, unknown);
	assert_true(done > 0 && unknown > 0);
}

#define PUT_BYTES 20000

/* The PUT before the atomic lost a packet. */
static bool atomic_waits(void *context)
{
	struct rig *r = context;
	const struct nic_peer *p = nic_peer_find(sim_nic(r->sim, 1), 1);
	const struct rx_stream *s = p->work ? p->work->rx[nic_stream_index(0, 2)] : NULL;

	return s && s->next == 0 && s->records[1].state == RECORD_WHOLE;
}

/* The requester gets an error, and the atomic does not execute. */
static void atomics_once__function_closed_while_one_waits(void **state)
{
	struct rig *r =
		rig_make(&(struct sim_options){.seed = 9, .hosts = 2, .faults = {.drop_nth = 8}});
	struct dxp_target to = sim_target(r->sim, 1, 2);
	struct dxp_entry from = {8, PUT_BYTES, r->key[0]}, into = {8, PUT_BYTES, r->key[1]};
	struct dxp_entry at = word_of(r, 0);
	struct dxp_window *w = sim_window(r->sim, 0);

	assert_int_equal(dxp_post_put(w, 1, &to, &from, &into, 0, 0, 0), DXP_OK);
	assert_int_equal(dxp_post_atomic(w, 1, &to, DXP_OP_FETCH_ADD, &at, 1, 0, 1), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, atomic_waits, r));
	assert_int_equal(nic_user_close(sim_nic(r->sim, 1), 0, DXP_ECLOSED, sim_now(r->sim)),
			 DXP_OK);
	assert_true(nic_user_idle(sim_nic(r->sim, 1), 0));
	for (uint64_t i = 0; i < 2; i++) {
		assert_true(sim_run(r->sim, 20 * S_NS, completed, r));
		assert_int_equal(r->event.context, i);
	}
	assert_int_equal(r->event.status, DXP_ECLOSED);
	assert_true(r->memory[1][0] == 0);
	accounts_good(r, 2);
	sim_destroy(r->sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomics_once__drop_each_datagram_once),
		cmocka_unit_test(atomics_once__sessions_that_end_at_each_datagram),
		cmocka_unit_test(atomics_once__function_closed_while_one_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
