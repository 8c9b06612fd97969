/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts PUT to, GET from and NAP a host with staged memory, each in its own range. Under all
 * faults, a completed PUT is in the device, an event comes after its PUTs, a GET has the device's
 * bytes, and all completes. Include cmocka.h first; each including test has its own state. */
#ifndef TEST_SIM_STAGED_H
#define TEST_SIM_STAGED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/staged.h"
#include "sim/sim.h"
#include "test/support/invariants.h"
#include "test/support/staged_device.h"
#include "test/support/witness.h"

#define STAGED_HOST      1 /* with the staged memory */
#define STAGED_SENDERS   4
#define STAGED_PUTS      200 /* of one sender */
#define STAGED_STRIDE    24576
#define STAGED_QPS       4
#define STAGED_UNIT      SIM_PAYLOAD_BYTES
#define STAGED_NOT_ENDED 1 /* differs from every status */

struct staged_operation {
	/* length; number of the PUT, for a NAP of the last PUT before it */
	uint32_t bytes, index;
	uint8_t op, qp, to_qp;
	bool notify;
	int status;
};

struct staged_sender {
	uint32_t host, posted, ended;
	uint8_t *source, *fetched;
	uint32_t source_key, fetched_key;
	struct staged_operation operations[2 * STAGED_PUTS];
};

struct staged_scene {
	struct sim *sim;
	struct witness *witness;
	struct staged_device device;
	uint32_t key, senders, puts, operations;
	struct staged_sender sender[STAGED_SENDERS];
	uint32_t good, bad, events;
	/* next poll of the device, or end of the run */
	uint64_t until_ns;
	bool all;
	bool may_fail;
	/* allocations of the network fail too, so the witness (support/witness.h) may miss
	 * frames */
	bool blind;
	char wrong[160];
};

struct staged_plan {
	struct sim_options sim;
	struct staged_options device;
	uint32_t senders, puts; /* PUTs: per sender */
	uint32_t bytes_max;     /* 0: STAGED_STRIDE */
	/* each sender has one queue pair, to several of the target */
	bool one_flow;
	bool may_fail;
};

static inline void staged_wrong(struct staged_scene *s, const char *what, uint32_t sender,
				uint32_t operation)
{
	if (!s->wrong[0])
		snprintf(s->wrong, sizeof(s->wrong), "%s (sender %u, operation %u)", what, sender,
			 operation);
}

static inline uint64_t staged_offset(const struct staged_scene *s, uint32_t sender, uint32_t index)
{
	return ((uint64_t)sender * s->puts + index) * STAGED_STRIDE;
}

static inline bool staged_there(const struct staged_scene *s, uint32_t sender, uint32_t index,
				uint32_t bytes)
{
	return memcmp(s->device.memory + staged_offset(s, sender, index),
		      s->sender[sender].source + (size_t)index * STAGED_STRIDE, bytes) == 0;
}

/* Draws PUTs. A NAP, or a GET of the same bytes on the queue pair, follows some of them. */
static inline void staged_draw(struct staged_scene *s, struct staged_sender *sender,
			       const struct staged_plan *plan, struct rng *rng)
{
	uint32_t most = plan->bytes_max ? plan->bytes_max : STAGED_STRIDE, n = 0;

	for (uint32_t i = 0; i < plan->puts; i++) {
		uint8_t qp = plan->one_flow ? 0 : (uint8_t)rng_below(rng, STAGED_QPS);
		uint8_t to_qp = plan->one_flow ? (uint8_t)(i % STAGED_QPS) : qp;
		struct staged_operation put = {
			.op = DXP_OP_PUT,
			.qp = qp,
			.to_qp = to_qp,
			.index = i,
			.bytes = 1 + (uint32_t)rng_below(rng, rng_below(rng, 3) ? most : 64),
			.notify = rng_below(rng, 4) == 0,
			.status = STAGED_NOT_ENDED,
		};
		sender->operations[n++] = put;
		if (rng_below(rng, 4) >= 2 || n >= 2 * STAGED_PUTS - 1)
			continue;
		put.op = rng_below(rng, 2) ? DXP_OP_NAP : DXP_OP_GET;
		put.notify = false;
		sender->operations[n++] = put;
	}
	for (; n < 2 * STAGED_PUTS; n++)
		sender->operations[n].op = 0;
}

static inline void staged_sender_open(struct staged_scene *s, uint32_t index,
				      const struct staged_plan *plan, struct rng *rng)
{
	struct staged_sender *sender = &s->sender[index];
	size_t bytes = (size_t)plan->puts * STAGED_STRIDE;

	sender->host = index < STAGED_HOST ? index : index + 1;
	sender->source = malloc(bytes);
	sender->fetched = calloc(1, bytes);
	assert_true(sender->source && sender->fetched);
	for (size_t i = 0; i < bytes; i++)
		sender->source[i] = (uint8_t)(1 + i * 7 + i / STAGED_STRIDE * 31 + index * 101);
	struct nic *n = sim_nic(s->sim, sender->host);
	assert_int_equal(
		nic_region_register(n, 0, sender->source, bytes, NIC_LOCAL, &sender->source_key),
		DXP_OK);
	assert_int_equal(
		nic_region_register(n, 0, sender->fetched, bytes, NIC_LOCAL, &sender->fetched_key),
		DXP_OK);
	staged_draw(s, sender, plan, rng);
}

static inline void staged_device_attach(struct staged_scene *s)
{
	struct nic *n = sim_nic(s->sim, STAGED_HOST);

	s->device.nic = n;
	assert_int_equal(nic_region_register_staged(
				 n, 0, &staged_device_ops, &s->device, s->device.options.bytes,
				 NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC, &s->key),
			 DXP_OK);
}

static inline void staged_open(struct staged_scene *s, const struct staged_plan *plan)
{
	struct sim_options o = plan->sim;
	struct staged_options device = plan->device;
	struct rng rng = {o.seed ^ 0x5744};

	*s = (struct staged_scene){
		.senders = plan->senders, .puts = plan->puts, .may_fail = plan->may_fail};
	assert_true(plan->senders <= STAGED_SENDERS && plan->puts <= STAGED_PUTS);
	o.hosts = plan->senders + 1;
	assert_int_equal(sim_create(&o, &s->sim), DXP_OK);
	s->witness = witness_create(sim_net(s->sim));
	device.bytes = plan->senders * plan->puts * STAGED_STRIDE;
	assert_true(s->witness && staged_device_create(&s->device, &device));
	staged_device_attach(s);
	for (uint32_t i = 0; i < plan->senders; i++)
		staged_sender_open(s, i, plan, &rng);
}

/* All is released, and the device holds no buffer. */
static inline void staged_close(struct staged_scene *s)
{
	sim_destroy(s->sim);
	staged_device_nic_gone(&s->device);
	if (s->device.broken)
		staged_wrong(s, s->device.broken, 0, 0);
	witness_destroy(s->witness);
	staged_device_destroy(&s->device);
	for (uint32_t i = 0; i < s->senders; i++) {
		free(s->sender[i].source);
		free(s->sender[i].fetched);
	}
}

static inline int staged_post(struct staged_scene *s, uint32_t index, uint32_t i)
{
	struct staged_sender *sender = &s->sender[index];
	const struct staged_operation *o = &sender->operations[i];
	struct dxp_target to = sim_target(s->sim, STAGED_HOST, o->to_qp);
	struct dxp_entry own = {(uint64_t)o->index * STAGED_STRIDE, o->bytes,
				o->op == DXP_OP_GET ? sender->fetched_key : sender->source_key};
	struct dxp_entry other = {staged_offset(s, index, o->index), o->bytes, s->key};
	struct dxp_window *w = sim_window(s->sim, sender->host);
	uint64_t word = (uint64_t)index << 32 | i;
	struct dxp_descriptor head = dxp_head(o->op, o->qp, &to, i);

	head.imm = word;
	if (o->op == DXP_OP_NAP)
		return dxp_post_nap(w, o->qp, &to, &word, sizeof(word), word, i);
	head.flags = o->notify ? DXP_FLAG_NOTIFY : 0;
	head.src_count = head.dst_count = 1;
	return o->op == DXP_OP_GET ? dxp_post_lists(w, &head, &other, &own, NULL)
				   : dxp_post_lists(w, &head, &own, &other, NULL);
}

static inline void staged_ended(struct staged_scene *s, uint32_t index,
				const struct dxp_nic_event *event)
{
	struct staged_sender *sender = &s->sender[index];
	uint32_t i = (uint32_t)event->context;
	struct staged_operation *o = &sender->operations[i];

	if (o->status != STAGED_NOT_ENDED)
		staged_wrong(s, "ended twice", index, i);
	o->status = event->status;
	sender->ended++;
	*(event->status == DXP_OK ? &s->good : &s->bad) += 1;
	if (event->status != DXP_OK && !s->may_fail)
		staged_wrong(s, dxp_status_name(event->status), index, i);
	if (event->status != DXP_OK)
		return;
	if (o->op == DXP_OP_PUT && !staged_there(s, index, o->index, o->bytes))
		staged_wrong(s, "a PUT ended well that is not in the device", index, i);
	if (o->op == DXP_OP_GET && !s->may_fail &&
	    memcmp(sender->fetched + (size_t)o->index * STAGED_STRIDE,
		   sender->source + (size_t)o->index * STAGED_STRIDE, o->bytes) != 0)
		staged_wrong(s, "a GET fetched other bytes", index, i);
}

/* Earlier PUTs of this sender and queue pair are in the device. */
static inline void staged_event(struct staged_scene *s, const struct dxp_nic_event *event)
{
	uint32_t index = (uint32_t)(event->imm >> 32), i = (uint32_t)event->imm;
	const struct staged_sender *sender = &s->sender[index];
	const struct staged_operation *last = &sender->operations[i];

	s->events++;
	for (uint32_t k = 0; k <= i && !s->may_fail; k++) {
		const struct staged_operation *o = &sender->operations[k];
		if (o->op == DXP_OP_PUT && o->to_qp == last->to_qp &&
		    !staged_there(s, index, o->index, o->bytes))
			staged_wrong(s, "an event before the data of a PUT", index, k);
	}
}

static inline bool staged_step(void *context)
{
	struct staged_scene *s = context;
	struct dxp_window *target = sim_window(s->sim, STAGED_HOST);
	const struct dxp_nic_event *received;
	struct dxp_nic_event event;
	bool all = true;

	while (staged_device_poll(&s->device, sim_now(s->sim)))
		;
	for (; (received = dxp_received_peek(target)) != NULL; dxp_received_release(target))
		staged_event(s, received);
	for (uint32_t i = 0; i < s->senders; i++) {
		struct staged_sender *sender = &s->sender[i];
		while (dxp_sent_dequeue(sim_window(s->sim, sender->host), &event))
			staged_ended(s, i, &event);
		while (sender->posted < 2 * STAGED_PUTS && sender->operations[sender->posted].op &&
		       staged_post(s, i, sender->posted) == DXP_OK)
			sender->posted++;
		all = all && sender->ended == sender->posted;
	}
	for (uint32_t i = 0; i <= s->senders; i++) {
		const char *broken = invariants_broken(sim_nic(s->sim, i));
		if (broken)
			staged_wrong(s, broken, i, 0);
	}
	if (!s->blind && witness_verdict(s->witness))
		staged_wrong(s, witness_verdict(s->witness), 0, 0);
	if (s->device.broken)
		staged_wrong(s, s->device.broken, 0, 0);
	s->all = all || s->wrong[0];
	return s->all || staged_device_next(&s->device) < s->until_ns;
}

/* Polls the device at its deadlines. false: not all completed within `limit_ns`. */
static inline bool staged_run(struct staged_scene *s, uint64_t limit_ns)
{
	uint64_t end_ns = sim_now(s->sim) + limit_ns;

	s->all = false;
	while (!s->all && sim_now(s->sim) < end_ns) {
		s->until_ns = min_u64(staged_device_next(&s->device), end_ns);
		sim_run(s->sim, s->until_ns - min_u64(sim_now(s->sim), s->until_ns), staged_step,
			s);
	}
	return s->all;
}

#endif
