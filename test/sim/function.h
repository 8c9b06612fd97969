/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up a process with a function, its peer on another host, and an honest pair beside them, with
 * operations that closes interrupt. Include cmocka.h first. */
#ifndef TEST_SIM_FUNCTION_H
#define TEST_SIM_FUNCTION_H

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define BYTES    12000 /* nine packets */
#define FUNCTION 1     /* of the process */
#define OWN      0     /* its host */
#define PEER     1

struct user {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t *memory;
	/* `index` as in nic.h; memory key; node id */
	uint32_t index, key, node;
	bool sims; /* the simulator's window */
	uint32_t posted, ended, naps;
	int status; /* of the last completion */
};

struct rig {
	struct sim *sim;
	struct user process, peer, honest[2];
	uint32_t steps, stop_at; /* so far; to stop at */
	bool split;              /* the honest pair has other queue pairs of the same functions */
	const char *broken;
};

static uint32_t cfg_writes;

static inline uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
				const uint32_t *values)
{
	cfg_writes++;
	return 0;
}

static const struct nic_cfg_ops cfg_ops = {.write = cfg_write};

static inline void user_open(struct rig *r, struct user *u, uint32_t host, uint32_t index)
{
	*u = (struct user){
		.nic = sim_nic(r->sim, host), .index = index, .node = host + 1, .sims = index == 0};
	u->memory = malloc(BYTES); /* malloc aligns to 16; atomics need 8 */
	assert_non_null(u->memory);
	for (uint32_t i = 0; i < BYTES; i++)
		u->memory[i] = (uint8_t)(i * 7 + host);
	if (u->sims) {
		u->window = sim_window(r->sim, host);
	} else {
		u->window = aligned_alloc(4096, sizeof(*u->window));
		memset(u->window, 0, sizeof(*u->window));
		assert_int_equal(nic_user_open(u->nic, index, r->split ? 2 : DXP_QPS, u->window),
				 DXP_OK);
	}
	assert_int_equal(nic_region_register(u->nic, index, u->memory, BYTES,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC,
					     &u->key),
			 DXP_OK);
}

/* Closes the user of a process that has died, and frees its memory. The NIC must not access this
 * memory afterwards. */
static inline void user_die(struct rig *r, struct user *u)
{
	assert_int_equal(nic_user_close(u->nic, u->index, DXP_ECLOSED, sim_now(r->sim)), DXP_OK);
	assert_int_equal(dxp_error(u->window), DXP_ECLOSED);
	assert_int_equal(u->window->state, DXP_FUNCTION_CLOSED);
	assert_true(nic_user_idle(u->nic, u->index));
	assert_int_equal(nic_region_deregister(u->nic, u->key), DXP_ENOENT);
	free(u->window);
	free(u->memory);
	u->window = NULL;
	u->memory = NULL;
}

static inline void rig_open(struct rig *r, const struct sim_options *o)
{
	memset(r, 0, sizeof(*r));
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	user_open(r, &r->process, OWN, FUNCTION);
	user_open(r, &r->peer, PEER, 2);
	user_open(r, &r->honest[0], OWN, 0);
	user_open(r, &r->honest[1], PEER, 0);
}

/* Opens the same four users as rig_open, but both users of a host share one function. Each gets two
 * queue pairs. */
static inline void rig_open_split(struct rig *r, const struct sim_options *o)
{
	memset(r, 0, sizeof(*r));
	r->split = true;
	assert_int_equal(sim_create(o, &r->sim), DXP_OK);
	user_open(r, &r->process, OWN, NIC_USER(FUNCTION, 2));
	user_open(r, &r->peer, PEER, NIC_USER(2, 0));
	user_open(r, &r->honest[0], OWN, NIC_USER(FUNCTION, 0));
	user_open(r, &r->honest[1], PEER, NIC_USER(2, 2));
}

static inline void rig_close(struct rig *r)
{
	struct user *users[] = {&r->process, &r->peer, &r->honest[0], &r->honest[1]};

	sim_destroy(r->sim);
	for (uint32_t i = 0; i < ARRAY_COUNT(users); i++) {
		free(users[i]->memory);
		if (!users[i]->sims)
			free(users[i]->window);
	}
}

static inline struct dxp_target target_of(const struct user *u, uint8_t qp)
{
	struct dxp_target target = dxp_self(u->window, qp);

	target.node = (uint16_t)u->node;
	return target;
}

static inline void transfer_post(struct user *from, const struct user *to, bool get)
{
	struct dxp_target target = target_of(to, 0);
	struct dxp_entry local = {0, BYTES, from->key}, remote = {0, BYTES, to->key};

	assert_int_equal(get ? dxp_post_get(from->window, 0, &target, &remote, &local, 0)
			     : dxp_post_put(from->window, 0, &target, &local, &remote,
					    DXP_FLAG_NOTIFY, 0, 0),
			 DXP_OK);
	from->posted++;
}

static inline void naps_post(struct user *from, const struct user *to, uint32_t count)
{
	static const uint8_t data[DXP_NAP_BYTES]; /* the largest NAP needs two packets */

	for (uint32_t i = 0; i < count; i++) {
		struct dxp_target target = target_of(to, (uint8_t)(i % 2));
		assert_int_equal(dxp_post_nap(from->window, 0, &target, data,
					      i % 3 ? sizeof(data) : 5, 0, 0),
				 DXP_OK);
		from->posted++;
	}
}

static inline void atomics_post(struct user *from, const struct user *to)
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

static inline void put_out(struct rig *r)
{
	transfer_post(&r->process, &r->peer, false);
}

static inline void put_in(struct rig *r)
{
	transfer_post(&r->peer, &r->process, false);
}

static inline void get_out(struct rig *r)
{
	transfer_post(&r->process, &r->peer, true);
}

static inline void get_in(struct rig *r)
{
	transfer_post(&r->peer, &r->process, true);
}

static inline void naps_out(struct rig *r)
{
	naps_post(&r->process, &r->peer, 8);
}

static inline void naps_in(struct rig *r)
{
	naps_post(&r->peer, &r->process, 8);
}

static inline void atomics_out(struct rig *r)
{
	atomics_post(&r->process, &r->peer);
}

static inline void atomics_in(struct rig *r)
{
	atomics_post(&r->peer, &r->process);
}

/* Short operations behind long ones, which must wait for their order. */
static inline void mix_in(struct rig *r)
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

static inline void everything(struct rig *r)
{
	mix_in(r);
	naps_out(r);
	put_out(r);
	get_out(r);
	atomics_out(r);
}

static inline void events_dequeue(struct user *u)
{
	struct dxp_nic_event event;

	if (!u->window)
		return;
	while (dxp_sent_dequeue(u->window, &event)) {
		u->ended++;
		u->status = event.status;
	}
	while (dxp_received_peek(u->window)) {
		u->naps += dxp_received_peek(u->window)->type == DXP_EVENT_NAP;
		dxp_received_release(u->window);
	}
}

static inline bool all_ended(const struct rig *r)
{
	const struct user *users[] = {&r->process, &r->peer, &r->honest[0], &r->honest[1]};

	for (uint32_t i = 0; i < ARRAY_COUNT(users); i++)
		if (users[i]->window && users[i]->ended != users[i]->posted)
			return false;
	return true;
}

static inline bool step(void *context)
{
	struct rig *r = context;

	events_dequeue(&r->process);
	events_dequeue(&r->peer);
	events_dequeue(&r->honest[0]);
	events_dequeue(&r->honest[1]);
	for (uint32_t i = 0; i < 2 && !r->broken; i++)
		r->broken = invariants_broken(sim_nic(r->sim, i));
	return r->broken || ++r->steps == r->stop_at || all_ended(r);
}

static inline void run_all(struct rig *r)
{
	r->stop_at = 0;
	bool finished = sim_run(r->sim, 60 * S_NS, step, r);
	if (r->broken)
		print_error("%s\n", r->broken);
	assert_null(r->broken);
	assert_true(finished);
}

/* Checks that every kind of operation works in both directions between two users, with fresh
 * memory. */
static inline void pair_works(struct rig *r, struct user *a, struct user *b)
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

#endif
