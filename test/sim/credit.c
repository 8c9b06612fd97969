/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests NAP credits: no NAP without space, progress of every sender, smallest pools, senders
 * without credit. Numbered NAPs show loss, duplicates and reordering. */
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
#include "rltp/endpoint_internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define HOSTS_MAX 4
#define QPS       NIC_QPS_PER_FUNCTION

struct pools {
	/* buffers of a pool; first credit of a sender; 0: as shipped */
	uint16_t entries, credit;
};

struct host {
	/* to itself: it sends nothing */
	uint32_t to;
	uint32_t most;               /* per queue pair */
	uint32_t posted[QPS];        /* per queue pair */
	uint32_t ended;              /* each must be successful */
	uint32_t dequeued_each_step; /* by the host's user */
	uint32_t seen[HOSTS_MAX][QPS];
	uint32_t received;
};

struct rig {
	struct sim *sim;
	uint64_t seed;
	uint32_t hosts;
	struct host host[HOSTS_MAX];
	const char *broken;
};

static void rig_open(struct rig *r, uint64_t seed, uint32_t hosts, const struct sim_faults *faults,
		     struct pools pools)
{
	struct sim_options o = {.seed = seed, .hosts = hosts};

	if (faults)
		o.faults = *faults;
	memset(r, 0, sizeof(*r));
	r->seed = seed;
	r->hosts = hosts;
	assert_int_equal(sim_create(&o, &r->sim), DXP_OK);
	for (uint32_t i = 0; i < hosts; i++) {
		struct nic *n = sim_nic(r->sim, i);
		if (pools.entries)
			n->options.receive_entries = pools.entries;
		if (pools.credit)
			n->options.nap_credit = n->endpoint->options.nap_credit = pools.credit;
		r->host[i].to = i;
		r->host[i].dequeued_each_step = UINT32_MAX;
	}
}

static void events_dequeue(struct rig *r, uint32_t i)
{
	struct dxp_window *w = sim_window(r->sim, i);
	struct host *h = &r->host[i];
	const struct dxp_nic_event *event;
	const uint8_t *data;
	uint32_t count, left = h->dequeued_each_step;

	for (; left > 0 && (event = nic_user_received_peek(w, &data)) != NULL; left--) {
		uint32_t *seen = &h->seen[event->node - 1][event->qp];
		memcpy(&count, data, sizeof(count));
		if (count != *seen || event->bytes != sizeof(count))
			r->broken = "a NAP that is not the next of its queue pair";
		++*seen;
		h->received++;
		dxp_received_release(w);
	}
}

static void naps_post(struct rig *r, uint32_t i)
{
	struct host *h = &r->host[i];
	bool space = h->to != i;

	for (uint32_t tries = 0; space && tries < NIC_DOORBELLS; tries++) {
		uint32_t q = tries % QPS;
		struct dxp_target to = sim_target(r->sim, h->to, (uint16_t)q);
		if (h->posted[q] == h->most)
			continue;
		space = dxp_post_nap(sim_window(r->sim, i), (uint8_t)q, &to, &h->posted[q],
				     sizeof(h->posted[q]), 0, q) == DXP_OK;
		h->posted[q] += space;
	}
}

/* Condition for sim_run: returns true on an error, or when all NAPs have completed and arrived. */
static bool step(void *context)
{
	struct rig *r = context;
	struct dxp_nic_event event;
	uint32_t sent = 0, received = 0, wanted = 0;

	for (uint32_t i = 0; i < r->hosts && !r->broken; i++) {
		struct host *h = &r->host[i];
		while (dxp_sent_dequeue(sim_window(r->sim, i), &event)) {
			h->ended++;
			if (event.status != DXP_OK)
				r->broken = "a NAP that failed";
		}
		events_dequeue(r, i);
		naps_post(r, i);
		sent += h->ended;
		received += h->received;
		wanted += h->to != i ? QPS * h->most : 0;
		const char *broken = invariants_broken(sim_nic(r->sim, i));
		if (broken)
			r->broken = broken;
	}
	return r->broken || (sent == wanted && received == wanted);
}

static const struct nic_counters *counters_of(struct rig *r, uint32_t host)
{
	return nic_counters(sim_nic(r->sim, host));
}

static const struct rltp_counters *session_of(struct rig *r, uint32_t host, uint32_t peer)
{
	return &rltp_endpoint_session(nic_endpoint(sim_nic(r->sim, host)), (uint16_t)(peer + 1))
			->counters;
}

/* A receiver dequeues nothing. The sender sends exactly as many NAPs as the receiver has space for,
 * about the same number from each queue pair. The receiver rejects none. */
static void credit__no_more_is_sent_than_there_is_space_for(void **state)
{
	struct rig r;

	rig_open(&r, 1, 2, NULL, (struct pools){.entries = 64, .credit = 4});
	r.host[0].to = 1;
	r.host[0].most = 1000;
	r.host[1].dequeued_each_step = 0;
	assert_false(sim_run(r.sim, 100 * MS_NS, step, &r));
	assert_null(r.broken);
	assert_int_equal(counters_of(&r, 1)->receiver_busy, 0);
	assert_int_equal(counters_of(&r, 1)->naps_received, 64);
	for (uint32_t q = 0; q < QPS; q++) {
		struct nic_qp_counters at, from;
		nic_qp_counters(sim_nic(r.sim, 1), 0, q, &at);
		nic_qp_counters(sim_nic(r.sim, 0), 0, q, &from);
		assert_in_range(at.received_messages, 12, 20);
		assert_true(from.waits_for_credit > 0);
	}
	/* credit requests now get new credit */
	r.host[1].dequeued_each_step = UINT32_MAX;
	assert_true(sim_run(r.sim, S_NS, step, &r));
	assert_null(r.broken);
	assert_int_equal(counters_of(&r, 1)->receiver_busy, 0);
	sim_destroy(r.sim);
}

/* Credit arrives in time, mostly in frames sent for another reason. */
static void credit__few_frames_and_no_waiting(void **state)
{
	struct rig r;

	rig_open(&r, 2, 2, NULL, (struct pools){0});
	r.host[0].to = 1;
	r.host[0].most = 5000;
	assert_true(sim_run(r.sim, 10 * S_NS, step, &r));
	assert_null(r.broken);
	assert_int_equal(counters_of(&r, 1)->receiver_busy, 0);
	assert_true(session_of(&r, 1, 0)->credits_sent < QPS * 5000 / 20);
	assert_true(session_of(&r, 0, 1)->credits_asked <= QPS);
	sim_destroy(r.sim);
}

/* Hosts send over a bad network. Pools have 1 .. 4 buffers, the first credit may exceed them, and
 * users dequeue one event at a time. */
static void tiny_run(uint64_t seed)
{
	struct rng rng = {seed};
	struct sim_faults faults = {.loss_ppm = (uint32_t)rng_below(&rng, 100000),
				    .duplicate_ppm = 10000,
				    .reorder_ppm = (uint32_t)rng_below(&rng, 50000)};
	struct pools pools = {.entries = (uint16_t)(1 + rng_below(&rng, 4)),
			      .credit = (uint16_t)(1 + rng_below(&rng, 6))};
	uint32_t hosts = 2 + (uint32_t)rng_below(&rng, HOSTS_MAX - 1);
	bool crowd = rng_below(&rng, 2); /* to host 0 */
	struct rig r;

	rig_open(&r, seed, hosts, &faults, pools);
	for (uint32_t i = 0; i < hosts; i++) {
		r.host[i].to = crowd ? 0 : (i + 1) % hosts;
		r.host[i].most = 40;
		r.host[i].dequeued_each_step = 1;
	}
	bool finished = sim_run(r.sim, 600 * S_NS, step, &r);
	if (!finished || r.broken)
		fail_msg("seed %llu: %s; replay: DXP_SEED=%llu build/test/test-sim-credit",
			 (unsigned long long)seed, r.broken ? r.broken : "it stands still",
			 (unsigned long long)seed);
	sim_destroy(r.sim);
}

static void credit__tiny_pools_never_lock(void **state)
{
	const char *one = getenv("DXP_SEED");

	if (one) {
		tiny_run(strtoull(one, NULL, 10));
		return;
	}
	for (uint64_t seed = 1; seed <= 60; seed++)
		tiny_run(seed);
}

/* A sender counts a NAP even if the receiver rejects it. The receiver must count it too; otherwise
 * the credit of this NAP would be lost for ever. */
static void credit__rejected_naps_cost_none(void **state)
{
	struct rig r;
	struct dxp_nic_event event;

	rig_open(&r, 3, 2, NULL, (struct pools){.entries = 8, .credit = 2});
	struct dxp_target to = sim_target(r.sim, 1, 0);
	to.magic ^= 1;
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(dxp_post_nap(sim_window(r.sim, 0), 0, &to, "x", 1, 0, 0), DXP_OK);
		sim_run(r.sim, 2 * MS_NS, NULL, NULL);
		assert_true(dxp_sent_dequeue(sim_window(r.sim, 0), &event));
		assert_int_equal(event.status, DXP_EACCESS);
	}
	r.host[0].to = 1;
	r.host[0].most = 100;
	assert_true(sim_run(r.sim, S_NS, step, &r));
	assert_null(r.broken);
	assert_int_equal(counters_of(&r, 1)->receiver_busy, 0);
	sim_destroy(r.sim);
}

/* The receiver soon grants the credit of an idle sender to others. */
static void credit__idle_credit_is_promised_again(void **state)
{
	struct rig r;

	rig_open(&r, 4, 3, NULL, (struct pools){.entries = 16, .credit = 1});
	r.host[0].to = 2;
	r.host[0].most = 20;
	assert_true(sim_run(r.sim, S_NS, step, &r));
	const struct nic_user *u = &sim_nic(r.sim, 2)->users[0];
	assert_true(u->promised > 4); /* not used */
	sim_run(r.sim, 20 * MS_NS, NULL, NULL);
	r.host[1].to = 2;
	r.host[1].most = 200;
	r.host[0].most = 20;
	assert_true(sim_run(r.sim, S_NS, step, &r));
	assert_null(r.broken);
	assert_true(session_of(&r, 1, 2)->credits_received > 0);
	assert_true(counters_of(&r, 2)->receiver_busy == 0);
	sim_destroy(r.sim);
}

#define MEMORY 65536

struct streams {
	struct rig *rig;
	uint8_t *memory[2];
	uint32_t key[2];
	uint32_t blocked_qp; /* QPS: none */
	uint64_t puts;
	uint32_t outstanding;
};

/* PUTs on queue pair 1, while NAPs on queue pair 0 wait for a receiver that dequeues none. */
static bool put_step(void *context)
{
	struct streams *s = context;
	struct dxp_window *w = sim_window(s->rig->sim, 0);
	struct dxp_entry local = {0, 4096, s->key[0]}, remote = {0, 4096, s->key[1]};
	struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_target data = sim_target(s->rig->sim, 1, 1),
			  naps = sim_target(s->rig->sim, 1, 0);
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(w, &event)) {
		s->puts += event.qp == 1;
		s->outstanding -= event.qp == 1;
	}
	for (; s->outstanding < 16; s->outstanding++)
		if (nic_user_put(w, 1, &data, &lists, 0) != DXP_OK)
			break;
	if (s->blocked_qp == 0 && s->rig->host[0].posted[0] < 30 &&
	    dxp_post_nap(w, 0, &naps, "x", 1, 0, 0) == DXP_OK)
		s->rig->host[0].posted[0]++;
	return false;
}

static uint64_t puts_done(uint32_t blocked_qp)
{
	struct streams s = {.blocked_qp = blocked_qp};
	struct rig r;

	rig_open(&r, 5, 2, NULL, (struct pools){.entries = 4, .credit = 2});
	s.rig = &r;
	for (uint32_t i = 0; i < 2; i++) {
		s.memory[i] = calloc(1, MEMORY);
		assert_non_null(s.memory[i]);
		nic_region_register(sim_nic(r.sim, i), 0, s.memory[i], MEMORY, NIC_REMOTE_WRITE,
				    &s.key[i]);
	}
	sim_run(r.sim, 50 * MS_NS, put_step, &s);
	assert_null(invariants_broken(sim_nic(r.sim, 0)));
	if (blocked_qp == 0) {
		struct nic_qp_counters c;
		nic_qp_counters(sim_nic(r.sim, 1), 0, 0, &c);
		assert_true(c.received_messages <= 4);
		nic_qp_counters(sim_nic(r.sim, 0), 0, 0, &c);
		assert_true(c.waits_for_credit > 0);
	}
	sim_destroy(r.sim);
	free(s.memory[0]);
	free(s.memory[1]);
	return s.puts;
}

static void credit__waiting_requests_delay_no_other(void **state)
{
	uint64_t alone = puts_done(QPS), beside = puts_done(0);

	assert_true(alone > 1000);
	assert_true(beside * 100 > alone * 97);
}

/* Requests that wait for credit fail when the receiver is declared lost. */
static void credit__silent_receiver_ends_waiting_requests(void **state)
{
	struct rig r;
	struct dxp_nic_event event;
	uint32_t ended = 0;

	rig_open(&r, 6, 2, NULL, (struct pools){.entries = 4, .credit = 2});
	r.host[0].to = 1;
	r.host[0].most = 30;
	r.host[1].dequeued_each_step = 0;
	sim_run(r.sim, 10 * MS_NS, step, &r);
	sim_blackhole(r.sim, 0, 1, true);
	sim_blackhole(r.sim, 1, 0, true);
	sim_run(r.sim, RLTP_DEAD_NS + S_NS, NULL, NULL);
	while (dxp_sent_dequeue(sim_window(r.sim, 0), &event)) {
		assert_int_equal(event.status, DXP_ETIMEDOUT);
		ended++;
	}
	assert_true(ended > 20);
	assert_null(invariants_broken(sim_nic(r.sim, 0)));
	sim_destroy(r.sim);
}

/* A receiver without free buffers answers credit requests, so it is not lost. */
static void credit__slow_receiver_is_not_dead(void **state)
{
	struct rig r;

	rig_open(&r, 7, 2, NULL, (struct pools){.entries = 4, .credit = 2});
	r.host[0].to = 1;
	r.host[0].most = 5;
	r.host[1].dequeued_each_step = 0;
	sim_run(r.sim, 5 * RLTP_DEAD_NS, step, &r);
	assert_null(r.broken); /* a failed NAP sets `broken` */
	r.host[1].dequeued_each_step = UINT32_MAX;
	assert_true(sim_run(r.sim, S_NS, step, &r));
	assert_null(r.broken);
	sim_destroy(r.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credit__no_more_is_sent_than_there_is_space_for),
		cmocka_unit_test(credit__few_frames_and_no_waiting),
		cmocka_unit_test(credit__tiny_pools_never_lock),
		cmocka_unit_test(credit__rejected_naps_cost_none),
		cmocka_unit_test(credit__idle_credit_is_promised_again),
		cmocka_unit_test(credit__waiting_requests_delay_no_other),
		cmocka_unit_test(credit__silent_receiver_ends_waiting_requests),
		cmocka_unit_test(credit__slow_receiver_is_not_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
