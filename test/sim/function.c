/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that end in the middle of an operation. One host has a process with a function of its
 * own; whatever it or its peer is doing, its function is closed after each step of it in turn, and
 * its window and memory are freed at once, so that AddressSanitizer sees every late look. Beside it
 * an honest pair works on and notices nothing; a new process takes the place of the old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define BYTES    12000 /* of a transfer: nine packets */
#define FUNCTION 1     /* of the process */
#define OURS     0     /* its host */
#define PEER     1
#define STEPS    2000

/* One user of a function. */
struct user {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t *memory;
	uint32_t function, key, node;
	uint32_t posted, ended, naps;
	int status; /* of what ended last */
};

struct rig {
	struct sim *sim;
	struct user process, peer, honest[2];
	uint32_t steps, stop_at; /* of the network */
	const char *broken;
};

static uint32_t cfg_writes;

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	cfg_writes++;
	return 0;
}

static const struct nic_cfg_ops cfg_ops = {.write = cfg_write};

static void user_open(struct rig *r, struct user *u, uint32_t host, uint32_t function)
{
	*u = (struct user){.nic = sim_nic(r->sim, host), .function = function, .node = host + 1};
	u->memory = malloc(BYTES); /* aligned as atomics need it */
	assert_non_null(u->memory);
	for (uint32_t i = 0; i < BYTES; i++)
		u->memory[i] = (uint8_t)(i * 7 + host);
	if (function == 0) {
		u->window = sim_window(r->sim, host);
	} else {
		u->window = aligned_alloc(4096, sizeof(*u->window));
		memset(u->window, 0, sizeof(*u->window));
		assert_int_equal(nic_function_open(u->nic, function, u->window), DXP_OK);
	}
	assert_int_equal(nic_region_register(u->nic, function, u->memory, BYTES,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC,
					     &u->key),
			 DXP_OK);
}

/* The process is gone: nothing may look at what was its memory. */
static void user_die(struct rig *r, struct user *u)
{
	assert_int_equal(nic_function_close(u->nic, u->function, DXP_ECLOSED, sim_now(r->sim)),
			 DXP_OK);
	assert_int_equal(dxp_error(u->window), DXP_ECLOSED);
	assert_int_equal(u->window->state, DXP_FUNCTION_CLOSED);
	assert_true(nic_function_idle(u->nic, u->function));
	assert_int_equal(nic_region_deregister(u->nic, u->key), DXP_ENOENT);
	free(u->window);
	free(u->memory);
	u->window = NULL;
	u->memory = NULL;
}

static void rig_open(struct rig *r, const struct sim_options *o)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	user_open(r, &r->process, OURS, FUNCTION);
	user_open(r, &r->peer, PEER, 2);
	user_open(r, &r->honest[0], OURS, 0);
	user_open(r, &r->honest[1], PEER, 0);
}

static void rig_close(struct rig *r)
{
	struct user *users[] = {&r->process, &r->peer, &r->honest[0], &r->honest[1]};

	sim_destroy(r->sim);
	for (uint32_t i = 0; i < ARRAY_COUNT(users); i++) {
		free(users[i]->memory);
		if (users[i]->function != 0)
			free(users[i]->window);
	}
}

static struct dxp_target target_of(const struct user *u, uint8_t qp)
{
	return (struct dxp_target){.node = (uint16_t)u->node,
				   .function = (uint8_t)u->function,
				   .qp = qp,
				   .magic = u->window->qp_magic[qp]};
}

static void transfer_post(struct user *from, const struct user *to, bool get)
{
	struct dxp_target target = target_of(to, 0);
	struct dxp_entry local = {0, BYTES, from->key}, remote = {0, BYTES, to->key};

	assert_int_equal(get ? dxp_post_get(from->window, 0, &target, &remote, &local, 0)
			     : dxp_post_put(from->window, 0, &target, &local, &remote,
					    DXP_FLAG_NOTIFY, 0, 0),
			 DXP_OK);
	from->posted++;
}

static void naps_post(struct user *from, const struct user *to, uint32_t count)
{
	static const uint8_t data[DXP_NAP_BYTES]; /* two packets */

	for (uint32_t i = 0; i < count; i++) {
		struct dxp_target target = target_of(to, (uint8_t)(i % 2));
		assert_int_equal(dxp_post_nap(from->window, 0, &target, data,
					      i % 3 ? sizeof(data) : 5, 0, 0),
				 DXP_OK);
		from->posted++;
	}
}

static void atomics_post(struct user *from, const struct user *to)
{
	struct dxp_target target = target_of(to, 1);

	for (uint32_t i = 0; i < 6; i++) {
		struct dxp_entry at = {8ull * i, 8, to->key};
		assert_int_equal(
			dxp_post_atomic(from->window, 1, &target, DXP_OP_FETCH_ADD, &at, 1, 0, 0),
			DXP_OK);
		from->posted++;
	}
}

static void put_out(struct rig *r)
{
	transfer_post(&r->process, &r->peer, false);
}

static void put_in(struct rig *r)
{
	transfer_post(&r->peer, &r->process, false);
}

static void get_out(struct rig *r)
{
	transfer_post(&r->process, &r->peer, true);
}

static void get_in(struct rig *r)
{
	transfer_post(&r->peer, &r->process, true);
}

static void naps_out(struct rig *r)
{
	naps_post(&r->process, &r->peer, 8);
}

static void naps_in(struct rig *r)
{
	naps_post(&r->peer, &r->process, 8);
}

static void atomics_out(struct rig *r)
{
	atomics_post(&r->process, &r->peer);
}

static void atomics_in(struct rig *r)
{
	atomics_post(&r->peer, &r->process);
}

/* What must be executed in order waits for what is long. */
static void mix_in(struct rig *r)
{
	struct dxp_target target = target_of(&r->process, 0);
	const uint32_t value = 1;

	transfer_post(&r->peer, &r->process, false);
	naps_post(&r->peer, &r->process, 3);
	transfer_post(&r->peer, &r->process, true);
	assert_int_equal(nic_user_cfg_write(r->peer.window, 0, &target, 0, &value, 1, 0), DXP_OK);
	r->peer.posted++;
	atomics_in(r);
}

static void everything(struct rig *r)
{
	mix_in(r);
	naps_out(r);
	put_out(r);
	get_out(r);
	atomics_out(r);
}

static const struct {
	const char *name;
	void (*post)(struct rig *r);
} operations[] = {
	{"PUT out", put_out},         {"PUT in", put_in},         {"GET out", get_out},
	{"GET in", get_in},           {"NAPs out", naps_out},     {"NAPs in", naps_in},
	{"atomics out", atomics_out}, {"atomics in", atomics_in}, {"mix in", mix_in},
	{"everything", everything},
};

static void events_take(struct user *u)
{
	struct dxp_nic_event event;

	if (!u->window)
		return;
	while (dxp_sent_take(u->window, &event)) {
		u->ended++;
		u->status = event.status;
	}
	while (dxp_received_peek(u->window)) {
		u->naps += dxp_received_peek(u->window)->type == DXP_EVENT_NAP;
		dxp_received_release(u->window);
	}
}

static bool all_ended(const struct rig *r)
{
	const struct user *users[] = {&r->process, &r->peer, &r->honest[0], &r->honest[1]};

	for (uint32_t i = 0; i < ARRAY_COUNT(users); i++)
		if (users[i]->window && users[i]->ended != users[i]->posted)
			return false;
	return true;
}

static bool step(void *context)
{
	struct rig *r = context;

	events_take(&r->process);
	events_take(&r->peer);
	events_take(&r->honest[0]);
	events_take(&r->honest[1]);
	for (uint32_t i = 0; i < 2 && !r->broken; i++)
		r->broken = invariants_broken(sim_nic(r->sim, i));
	return r->broken || ++r->steps == r->stop_at || all_ended(r);
}

static void run_all(struct rig *r)
{
	r->stop_at = 0;
	bool finished = sim_run(r->sim, 60 * S_NS, step, r);
	if (r->broken)
		print_error("%s\n", r->broken);
	assert_null(r->broken);
	assert_true(finished);
}

/* Both directions of everything, with fresh memory. */
static void pair_works(struct rig *r, struct user *a, struct user *b)
{
	struct user *users[] = {a, b, a};

	memset(b->memory, 0, BYTES);
	for (uint32_t i = 0; i < 2; i++) {
		struct user *from = users[i], *to = users[i + 1];
		uint32_t naps = to->naps;
		memset(from->memory, (int)(0x50 + i), BYTES);
		transfer_post(from, to, false);
		run_all(r);
		assert_int_equal(from->status, DXP_OK);
		assert_memory_equal(from->memory, to->memory, BYTES);
		memset(to->memory, 0x77, BYTES);
		transfer_post(from, to, true);
		naps_post(from, to, 20);
		run_all(r);
		assert_int_equal(from->status, DXP_OK);
		assert_memory_equal(from->memory, to->memory, BYTES);
		assert_int_equal(to->naps, naps + 20);
	}
}

/* Nothing is left of anything. */
static void all_at_rest(struct rig *r)
{
	r->stop_at = 0;
	r->process.posted++; /* never ends: the time runs out */
	sim_run(r->sim, 2 * S_NS, step, r);
	assert_null(r->broken);
	assert_false(nic_region_busy(r->process.nic, r->process.key));
	assert_false(nic_region_busy(r->peer.nic, r->peer.key));
	for (uint32_t i = 0; i < 2; i++) {
		struct nic *n = sim_nic(r->sim, i);
		assert_null(n->peers->work);
		assert_null(n->peers->session->io);
		for (uint32_t f = 0; f < NIC_FUNCTIONS; f++) {
			assert_int_equal(n->functions[f].received_reserved, 0);
			assert_int_equal(n->functions[f].promised, 0);
		}
	}
}

/* True when the operations ended before the step at which the process would have died. */
static bool death_at(const struct sim_options *o, uint32_t which, uint32_t at)
{
	struct rig r;

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
	/* another takes its place */
	user_open(&r, &r.process, OURS, FUNCTION);
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
		while (at < STEPS && !death_at(o, which, at))
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

/* Nobody answers, and the memory is free all the same. */
static void function__dies_while_its_peer_is_silent(void **state)
{
	const struct sim_options o = {.seed = 3, .hosts = 2, .cfg = &cfg_ops};
	struct rig r;

	for (uint32_t at = 1; at < 40; at += 6) {
		rig_open(&r, &o);
		everything(&r);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		sim_blackhole(r.sim, PEER, OURS, true);
		sim_run(r.sim, 50 * MS_NS, NULL, NULL);
		user_die(&r, &r.process);
		run_all(&r);
		sim_heal(r.sim);
		user_open(&r, &r.process, OURS, FUNCTION);
		transfer_post(&r.honest[0], &r.honest[1], false);
		run_all(&r); /* the session may have to end first */
		pair_works(&r, &r.process, &r.peer);
		rig_close(&r);
	}
}

/* NAPs that wait at their sender for credit would wait for ever. */
static void function__dies_while_others_wait_for_its_credit(void **state)
{
	const struct sim_options o = {.seed = 4, .hosts = 2};
	struct rig r;

	rig_open(&r, &o);
	r.process.nic->options.receive_slots = 4;
	struct dxp_window *window = r.process.window;
	r.process.window = NULL; /* nobody takes its events */
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
	r.process.nic->options.receive_slots = NIC_EVENTS;
	user_die(&r, &r.process);
	run_all(&r);
	assert_int_equal(r.peer.status, DXP_EACCESS);
	user_open(&r, &r.process, OURS, FUNCTION);
	pair_works(&r, &r.process, &r.peer);
	rig_close(&r);
}

/* Who breaks the rules is stopped, and reads why; what he had under way ends. */
static void function__is_stopped_alone(void **state)
{
	const struct sim_options o = {.seed = 5, .hosts = 2, .cfg = &cfg_ops};
	struct rig r;

	for (uint32_t at = 1; at < 60; at++) {
		rig_open(&r, &o);
		everything(&r);
		transfer_post(&r.honest[0], &r.honest[1], false);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		struct dxp_window *w = r.process.window;
		dxp_store_release(&w->buffers_returned, w->buffers_returned - 700);
		dxp_store_release(&w->received_consumer, w->received_consumer - 1);
		dxp_store_release(&w->sent_consumer, w->sent_consumer - 1);
		struct dxp_descriptor bad = {.op = DXP_OP_NAP, .qp = 9};
		dxp_post(w, &bad, NULL, NULL);
		r.process.window = NULL; /* waits for nothing more */
		run_all(&r);
		assert_int_equal(dxp_error(w), DXP_EINVAL);
		assert_int_equal(w->state, DXP_FUNCTION_STOPPED);
		assert_false(nic_region_busy(r.process.nic, r.process.key));
		r.process.window = w;
		/* others are refused */
		transfer_post(&r.peer, &r.process, false);
		r.process.window = NULL;
		run_all(&r);
		assert_int_equal(r.peer.status, DXP_EACCESS);
		r.process.window = w;
		user_die(&r, &r.process);
		user_open(&r, &r.process, OURS, FUNCTION);
		pair_works(&r, &r.process, &r.peer);
		pair_works(&r, &r.honest[0], &r.honest[1]);
		rig_close(&r);
	}
}

/* A key that is revoked in the middle of a transfer: what is under way may end, the next is
 * refused. */
static void function__revokes_a_key(void **state)
{
	const struct sim_options o = {.seed = 6, .hosts = 2};
	struct rig r;

	for (uint32_t at = 1; at < 40; at++) {
		rig_open(&r, &o);
		transfer_post(&r.peer, &r.process, true);
		transfer_post(&r.process, &r.peer, false);
		r.stop_at = at;
		sim_run(r.sim, 60 * S_NS, step, &r);
		assert_int_equal(nic_region_revoke(r.process.nic, r.process.key), DXP_OK);
		assert_int_equal(nic_region_revoke(r.process.nic, r.process.key), DXP_ENOENT);
		run_all(&r);
		sim_run(r.sim, S_NS, NULL, NULL);
		assert_false(nic_region_busy(r.process.nic, r.process.key));
		transfer_post(&r.peer, &r.process, true);
		run_all(&r);
		assert_int_equal(r.peer.status, DXP_EACCESS);
		transfer_post(&r.process, &r.peer, false);
		run_all(&r);
		assert_int_equal(r.process.status, DXP_EACCESS);
		rig_close(&r);
	}
}

static void function__opens_and_closes_by_the_rules(void **state)
{
	const struct sim_options o = {.seed = 7, .hosts = 2};
	struct rig r;

	rig_open(&r, &o);
	struct nic *n = r.process.nic;
	assert_int_equal(nic_function_open(n, FUNCTION, r.process.window), DXP_EEXIST);
	assert_int_equal(nic_function_open(n, NIC_FUNCTIONS, r.process.window), DXP_EINVAL);
	assert_int_equal(nic_function_close(n, NIC_FUNCTIONS, DXP_ECLOSED, 0), DXP_ENOENT);
	assert_int_equal(nic_function_close(n, 3, DXP_ECLOSED, 0), DXP_ENOENT);
	assert_false(nic_function_idle(n, FUNCTION));
	assert_true(nic_function_idle(n, 3));
	uint32_t magic = r.process.window->qp_magic[0];
	user_die(&r, &r.process);
	assert_int_equal(nic_function_close(n, FUNCTION, DXP_ECLOSED, 0), DXP_ENOENT);
	user_open(&r, &r.process, OURS, FUNCTION);
	assert_int_not_equal(r.process.window->qp_magic[0], magic);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function__opens_and_closes_by_the_rules),
		cmocka_unit_test(function__dies_at_each_step),
		cmocka_unit_test(function__dies_at_each_step_on_a_bad_path),
		cmocka_unit_test(function__dies_while_its_peer_is_silent),
		cmocka_unit_test(function__dies_while_others_wait_for_its_credit),
		cmocka_unit_test(function__is_stopped_alone),
		cmocka_unit_test(function__revokes_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
