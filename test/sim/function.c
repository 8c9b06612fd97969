/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes a function after each possible number of network steps. Its memory is freed at once, so
 * AddressSanitizer detects late accesses. Others continue, and a new process reuses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rltp/internal.h"
#include "test/sim/function.h"

#define STEPS 2000

static const struct {
	const char *name;
	void (*post)(struct rig *r);
} operations[] = {
	{"PUT out", put_out},         {"PUT in", put_in},         {"GET out", get_out},
	{"GET in", get_in},           {"NAPs out", naps_out},     {"NAPs in", naps_in},
	{"atomics out", atomics_out}, {"atomics in", atomics_in}, {"mix in", mix_in},
	{"everything", everything},
};

static void all_at_rest(struct rig *r)
{
	r->stop_at = 0;
	/* unreachable, so `step` runs until the time limit */
	r->process.posted++;
	sim_run(r->sim, 2 * S_NS, step, r);
	assert_null(r->broken);
	assert_false(nic_region_busy(r->process.nic, r->process.key));
	assert_false(nic_region_busy(r->peer.nic, r->peer.key));
	for (uint32_t i = 0; i < 2; i++) {
		struct nic *n = sim_nic(r->sim, i);
		assert_null(n->peers->work);
		assert_null(n->peers->session->io);
		for (uint32_t k = 0; k < NIC_USERS; k++) {
			assert_int_equal(n->users[k].received_reserved, 0);
			assert_int_equal(n->users[k].promised, 0);
		}
	}
}

/* Closes the function at step `at` of an operation. Returns true if the operation had completed
 * before. */
static bool death_at(const struct sim_options *o, uint32_t which, uint32_t at, bool split)
{
	struct rig r;

	if (split)
		rig_open_split(&r, o);
	else
		rig_open(&r, o);
	operations[which].post(&r);
	transfer_post(&r.honest[0], &r.honest[1], false);
	transfer_post(&r.honest[1], &r.honest[0], true);
	r.stop_at = at;
	sim_run(r.sim, 60 * S_NS, step, &r);
	assert_null(r.broken);
	bool ended = all_ended(&r);
	user_die(&r, &r.process);
	run_all(&r);
	assert_int_equal(r.honest[0].status, DXP_OK);
	assert_int_equal(r.honest[1].status, DXP_OK);
	assert_memory_equal(r.honest[0].memory, r.honest[1].memory, BYTES);
	/* they must not count for the next process */
	sim_run(r.sim, 10 * MS_NS, NULL, NULL);
	events_dequeue(&r.peer);
	/* or the same queue pairs of it */
	user_open(&r, &r.process, OWN, r.process.index);
	pair_works(&r, &r.process, &r.peer);
	pair_works(&r, &r.honest[0], &r.honest[1]);
	if (at % 8 == 0)
		all_at_rest(&r);
	rig_close(&r);
	return ended;
}

static void death_at_each_step(const struct sim_options *o)
{
	for (uint32_t which = 0; which < ARRAY_COUNT(operations); which++) {
		uint32_t at = 1;
		while (at < STEPS && !death_at(o, which, at, false))
			at++;
		assert_in_range(at, 10, STEPS - 1);
		print_message("%s: %u steps\n", operations[which].name, at);
	}
}

static void function__dies_at_each_step(void **state)
{
	const struct sim_options o = {.seed = 1,
				      .hosts = 2,
				      .cfg = &cfg_ops,
				      .rate_bps = 1000000000,
				      .window_packets = 8};

	death_at_each_step(&o);
}

static void function__dies_at_each_step_on_a_bad_path(void **state)
{
	const struct sim_options o = {
		.seed = 2,
		.hosts = 2,
		.cfg = &cfg_ops,
		.window_packets = 8,
		.faults = {.loss_ppm = 100000, .duplicate_ppm = 20000, .reorder_ppm = 100000},
	};

	death_at_each_step(&o);
}

/* Two users share one function. One user dies at every fifth step; the other continues. The network
 * is good or loses packets. */
static void function__one_of_two_users_dies(void **state)
{
	const struct sim_options o[] = {
		{.seed = 7, .hosts = 2, .cfg = &cfg_ops, .window_packets = 8},
		{.seed = 8,
		 .hosts = 2,
		 .cfg = &cfg_ops,
		 .window_packets = 8,
		 .faults = {.loss_ppm = 100000, .duplicate_ppm = 20000, .reorder_ppm = 100000}},
	};

	for (uint32_t which = 0; which < ARRAY_COUNT(operations); which++) {
		for (uint32_t path = 0; path < ARRAY_COUNT(o); path++) {
			uint32_t at = 1;
			while (at < STEPS && !death_at(&o[path], which, at, true))
				at += 5;
			assert_in_range(at, 6, STEPS - 1);
		}
	}
}

/* The function's memory is still released. */
static void function__dies_while_its_peer_is_silent(void **state)
{
	const struct sim_options o = {.seed = 3, .hosts = 2, .cfg = &cfg_ops};
	struct rig r;

	for (uint32_t at = 1; at < 40; at += 6) {
		rig_open(&r, &o);
		everything(&r);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		sim_blackhole(r.sim, PEER, OWN, true);
		sim_run(r.sim, 50 * MS_NS, NULL, NULL);
		user_die(&r, &r.process);
		run_all(&r);
		sim_heal(r.sim);
		user_open(&r, &r.process, OWN, FUNCTION);
		transfer_post(&r.honest[0], &r.honest[1], false);
		/* memory may be released only when the session closes */
		run_all(&r);
		pair_works(&r, &r.process, &r.peer);
		rig_close(&r);
	}
}

/* The waiting requests of others must fail, and not wait for ever. */
static void function__dies_while_others_wait_for_its_credit(void **state)
{
	const struct sim_options o = {.seed = 4, .hosts = 2};
	struct rig r;

	rig_open(&r, &o);
	r.process.nic->options.receive_entries = 4;
	struct dxp_window *window = r.process.window;
	/* events are not dequeued, so the receive buffers stay full */
	r.process.window = NULL;
	struct dxp_target target = {.node = 1, .function = FUNCTION, .magic = window->qp_magic[0]};
	for (uint32_t i = 0; i < 90; i++) {
		while (dxp_post_nap(r.peer.window, 0, &target, "x", 1, 0, 0) != DXP_OK)
			sim_run(r.sim, MS_NS, NULL, NULL);
		r.peer.posted++;
	}
	r.stop_at = 0;
	assert_false(sim_run(r.sim, 10 * S_NS, step, &r));
	assert_null(r.broken);
	assert_true(r.peer.ended < r.peer.posted);
	r.process.window = window;
	r.process.nic->options.receive_entries = NIC_EVENTS;
	user_die(&r, &r.process);
	run_all(&r);
	assert_int_equal(r.peer.status, DXP_EACCESS);
	user_open(&r, &r.process, OWN, FUNCTION);
	pair_works(&r, &r.process, &r.peer);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function__dies_at_each_step),
		cmocka_unit_test(function__dies_at_each_step_on_a_bad_path),
		cmocka_unit_test(function__one_of_two_users_dies),
		cmocka_unit_test(function__dies_while_its_peer_is_silent),
		cmocka_unit_test(function__dies_while_others_wait_for_its_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
