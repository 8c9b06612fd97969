/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the session's next packet: control, then the channel with the least virtual time, and in
 * it the flow by deficit round robin (Shreedhar and Varghese 1995). Flows are bounded, so lost or
 * rejected packets of one cannot fill the window. */
#include <assert.h>

#include "rltp/internal.h"

static uint32_t channel_of(uint8_t index)
{
	return (uint32_t)(index - 1) / RLTP_CHANNEL_QUEUES;
}

static uint32_t queue_of(uint8_t index)
{
	return (uint32_t)(index - 1) % RLTP_CHANNEL_QUEUES;
}

static bool flow_idle(const struct rltp_flow *f)
{
	return !f->head && f->unacked == 0;
}

void flow_append(struct rltp_session *s, struct rltp_message *m)
{
	struct rltp_io *io = s->io;
	struct rltp_flow *f = &io->flows[m->flow];

	io->flows_active += flow_idle(f);
	m->next = NULL;
	if (f->tail)
		f->tail->next = m;
	else
		f->head = m;
	f->tail = m;
	if (m->flow == RLTP_FLOW_CONTROL)
		return;
	uint32_t c = channel_of(m->flow);
	io->channels[c].ready |= (uint8_t)(1u << queue_of(m->flow));
	if (io->channels_ready >> c & 1)
		return;
	io->channels_ready |= 1u << c;
	arbiter_busy(&s->shared->arbiter, c);
}

void flow_remove_head(struct rltp_session *s, uint8_t index)
{
	struct rltp_io *io = s->io;
	struct rltp_flow *f = &io->flows[index];

	f->head = f->head->next;
	if (f->head)
		return;
	f->tail = NULL;
	io->flows_active -= flow_idle(f);
	if (index == RLTP_FLOW_CONTROL)
		return;
	struct rltp_channel *c = &io->channels[channel_of(index)];
	f->deficit = 0;
	c->ready &= (uint8_t) ~(1u << queue_of(index));
	if (c->ready == 0) {
		io->channels_ready &= ~(1u << channel_of(index));
		arbiter_idle(&s->shared->arbiter, channel_of(index));
	}
}

void flow_cut(struct rltp_io *io, const struct rltp_message *m)
{
	io->flows[m->flow].unacked += m->weight;
}

void flow_settled(struct rltp_io *io, const struct tx_entry *entry)
{
	struct rltp_flow *f = &io->flows[entry->message->flow];

	assert(f->unacked >= entry->message->weight);
	f->unacked -= entry->message->weight;
	f->refused -= entry->rejections > 0;
	io->flows_active -= flow_idle(f);
}

/* Returns packets that a flow may have in flight: all if it is alone, else twice its equal share,
 * so that unused shares are not lost. */
static uint32_t flow_most(const struct rltp_session *s)
{
	uint32_t others = s->io->flows_active;

	if (others <= 1)
		return WIRE_WINDOW_MAX;
	uint32_t share = 2 * session_window(s) / others;
	return share > RLTP_FLOW_PACKETS_MIN ? share : RLTP_FLOW_PACKETS_MIN;
}

/* A rejected packet stops new ones of its flow, except granted ones, for which the receiver waits.
 */
static bool may_cut(const struct rltp_flow *f, uint32_t most)
{
	const struct rltp_message *m = f->head;

	if (m->next_sub >= m->granted)
		return false;
	return m->waits || (f->unacked < most && f->refused == 0);
}

static uint32_t eligible(const struct rltp_io *io, uint32_t c, uint32_t most)
{
	uint32_t mask = 0;

	for (uint32_t ready = io->channels[c].ready; ready != 0; ready &= ready - 1) {
		uint32_t q = (uint32_t)__builtin_ctz(ready);
		const struct rltp_flow *f = &io->flows[RLTP_FLOW(c, q)];
		if (may_cut(f, most))
			mask |= 1u << q;
	}
	return mask;
}

bool flow_ready(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;

	if (io->flows[RLTP_FLOW_CONTROL].head)
		return true;
	uint32_t most = flow_most(s);
	for (uint32_t ready = io->channels_ready & ~io->lined; ready != 0; ready &= ready - 1)
		if (eligible(io, (uint32_t)__builtin_ctz(ready), most))
			return true;
	return false;
}

uint32_t flow_channels(const struct rltp_session *s)
{
	const struct rltp_io *io = s->io;
	uint32_t most = flow_most(s), mask = 0;

	for (uint32_t ready = io->channels_ready; ready != 0; ready &= ready - 1)
		if (eligible(io, (uint32_t)__builtin_ctz(ready), most))
			mask |= ready & -ready;
	return mask;
}

/* Keeps a debt, but no rest of the last quantum. */
static void quantum_begin(int32_t *deficit, int32_t bytes)
{
	*deficit = (*deficit < 0 ? *deficit : 0) + bytes;
}

static uint8_t queue_next(const struct rltp_session *s, uint32_t c, uint32_t mask)
{
	struct rltp_channel *channel = &s->io->channels[c];

	for (;;) {
		uint32_t q = channel->flow;
		struct rltp_flow *f = &s->io->flows[RLTP_FLOW(c, q)];
		if (mask >> q & 1 && f->deficit > 0)
			return RLTP_FLOW(c, q);
		channel->flow = (uint8_t)((q + 1) % RLTP_CHANNEL_QUEUES);
		f = &s->io->flows[RLTP_FLOW(c, channel->flow)];
		if (mask >> channel->flow & 1)
			quantum_begin(&f->deficit,
				      RLTP_QUANTUM_PACKETS *
					      (s->unit < s->whole ? s->unit : s->whole));
	}
}

struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index)
{
	struct rltp_io *io = s->io;
	uint32_t masks[RLTP_CHANNELS], any = 0;

	*index = RLTP_FLOW_CONTROL;
	if (io->flows[RLTP_FLOW_CONTROL].head)
		return &io->flows[RLTP_FLOW_CONTROL];
	uint32_t most = flow_most(s);
	for (uint32_t ready = io->channels_ready & mask; ready != 0; ready &= ready - 1) {
		uint32_t c = (uint32_t)__builtin_ctz(ready);
		masks[c] = eligible(io, c, most);
		if (masks[c] != 0)
			any |= 1u << c;
	}
	if (any == 0)
		return NULL;
	uint32_t c = arbiter_least(&s->shared->arbiter, any);
	*index = queue_next(s, c, masks[c]);
	return &io->flows[*index];
}

/* The header counts too, so empty packets are not free. */
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes)
{
	s->io->flows[index].deficit -= (int32_t)(bytes + WIRE_DATA_BYTES);
}

void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns)
{
	if (index != RLTP_FLOW_CONTROL)
		arbiter_charge(&s->shared->arbiter, channel_of(index), bytes, now_ns);
}

struct rltp_message *flow_dequeue(struct rltp_session *s)
{
	for (uint32_t i = 0; i < RLTP_FLOWS; i++) {
		struct rltp_message *m = s->io->flows[i].head;
		if (m) {
			flow_remove_head(s, (uint8_t)i);
			return m;
		}
	}
	return NULL;
}

void flows_free(struct rltp_session *s)
{
	arbiter_leave(&s->shared->arbiter, s);
	for (uint32_t ready = s->io->channels_ready; ready != 0; ready &= ready - 1)
		arbiter_idle(&s->shared->arbiter, (uint32_t)__builtin_ctz(ready));
}
