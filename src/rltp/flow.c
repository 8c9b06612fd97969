/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose packet is next: control first; then deficit round robin over channels, weighted, and inside
 * a channel over its flows (Shreedhar and Varghese 1995). A flow with too much under way already
 * has to wait, so that one whose packets are lost or refused cannot own the window. */
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

void flow_append(struct rltp_io *io, struct rltp_message *m)
{
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
	io->channels_ready |= 1u << c;
}

void flow_remove_head(struct rltp_io *io, uint8_t index)
{
	struct rltp_flow *f = &io->flows[index];

	f->head = f->head->next;
	if (f->head)
		return;
	f->tail = NULL;
	io->flows_active -= flow_idle(f);
	if (index == RLTP_FLOW_CONTROL)
		return;
	struct rltp_channel *c = &io->channels[channel_of(index)];
	f->deficit = 0; /* who has nothing to send saves nothing up */
	c->ready &= (uint8_t) ~(1u << queue_of(index));
	if (c->ready == 0) {
		c->deficit = 0;
		io->channels_ready &= ~(1u << channel_of(index));
	}
}

void flow_cut(struct rltp_io *io, uint8_t index)
{
	io->flows[index].unacked++;
}

void flow_settled(struct rltp_io *io, const struct tx_slot *slot)
{
	struct rltp_flow *f = &io->flows[slot->message->flow];

	assert(f->unacked > 0);
	f->unacked--;
	f->refused -= slot->refusals > 0;
	io->flows_active -= flow_idle(f);
}

/* Alone, a flow may have everything; beside others twice its share, so that a share which is not
 * used is not lost. */
static uint32_t flow_most(const struct rltp_session *s)
{
	uint32_t others = s->io->flows_active;

	if (others <= 1)
		return RLTP_WINDOW_MAX;
	uint32_t share = 2 * session_window(s) / others;
	return share > RLTP_FLOW_PACKETS_MIN ? share : RLTP_FLOW_PACKETS_MIN;
}

/* Bit q: flow q of the channel may send. */
static uint32_t eligible(const struct rltp_io *io, uint32_t c, uint32_t most)
{
	uint32_t mask = 0;

	for (uint32_t ready = io->channels[c].ready; ready != 0; ready &= ready - 1) {
		uint32_t q = (uint32_t)__builtin_ctz(ready);
		const struct rltp_flow *f = &io->flows[RLTP_FLOW(c, q)];
		if (f->unacked < most && f->refused == 0)
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
	for (uint32_t ready = io->channels_ready; ready != 0; ready &= ready - 1)
		if (eligible(io, (uint32_t)__builtin_ctz(ready), most))
			return true;
	return false;
}

/* Who has a turn may send for it, less what the last one took too much. What that one left, because
 * too much was under way already, is not saved. */
static void turn_begin(int32_t *deficit, int32_t bytes)
{
	*deficit = (*deficit < 0 ? *deficit : 0) + bytes;
}

/* The flow of this channel whose turn it is, among those in `mask`. */
static uint8_t queue_next(const struct rltp_session *s, uint32_t c, uint32_t mask)
{
	struct rltp_channel *channel = &s->io->channels[c];

	for (;;) {
		uint32_t q = channel->turn;
		struct rltp_flow *f = &s->io->flows[RLTP_FLOW(c, q)];
		if (mask >> q & 1 && f->deficit > 0)
			return RLTP_FLOW(c, q);
		channel->turn = (uint8_t)((q + 1) % RLTP_CHANNEL_QUEUES);
		f = &s->io->flows[RLTP_FLOW(c, channel->turn)];
		if (mask >> channel->turn & 1)
			turn_begin(&f->deficit, RLTP_QUANTUM_PACKETS * s->unit);
	}
}

struct rltp_flow *flow_next(struct rltp_session *s, uint8_t *index)
{
	struct rltp_io *io = s->io;
	uint32_t masks[RLTP_CHANNELS] = {0}, any = 0;

	*index = RLTP_FLOW_CONTROL;
	if (io->flows[RLTP_FLOW_CONTROL].head)
		return &io->flows[RLTP_FLOW_CONTROL];
	uint32_t most = flow_most(s);
	for (uint32_t ready = io->channels_ready; ready != 0; ready &= ready - 1) {
		uint32_t c = (uint32_t)__builtin_ctz(ready);
		masks[c] = eligible(io, c, most);
		any |= masks[c];
	}
	if (any == 0)
		return NULL;
	while (masks[io->channel_turn] == 0 || io->channels[io->channel_turn].deficit <= 0) {
		io->channel_turn = (io->channel_turn + 1) % RLTP_CHANNELS;
		struct rltp_channel *c = &io->channels[io->channel_turn];
		if (masks[io->channel_turn] != 0)
			turn_begin(&c->deficit, c->weight * RLTP_QUANTUM_PACKETS * s->unit);
	}
	*index = queue_next(s, io->channel_turn, masks[io->channel_turn]);
	return &io->flows[*index];
}

/* An empty packet costs too: its header. */
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes)
{
	if (index == RLTP_FLOW_CONTROL)
		return;
	s->io->flows[index].deficit -= (int32_t)(bytes + WIRE_DATA_BYTES);
	s->io->channels[channel_of(index)].deficit -= (int32_t)(bytes + WIRE_DATA_BYTES);
}

struct rltp_message *flow_take(struct rltp_io *io)
{
	for (uint32_t i = 0; i < RLTP_FLOWS; i++) {
		struct rltp_message *m = io->flows[i].head;
		if (m) {
			flow_remove_head(io, (uint8_t)i);
			return m;
		}
	}
	return NULL;
}

void flows_reset(struct rltp_session *s, struct rltp_io *io)
{
	for (uint32_t c = 0; c < RLTP_CHANNELS; c++) {
		uint8_t weight = s->shared->weights[c];
		io->channels[c].weight = weight ? weight : 1;
	}
}
