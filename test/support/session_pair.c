/* SPDX-License-Identifier: BSD-3-Clause */
/* The upper layer of the pair handles only the keys of messages. The test transports the
 * datagrams. */
#include "test/support/session_pair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"
#include "rltp/user.h"

#define START_NS   S_NS
#define BATCH      32
#define ONE_WAY_NS (10 * US_NS)

static struct session_pair *current; /* the callbacks find messages in its array */

static void fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		 struct rltp_packet *out)
{
	out->header.key = current->keys[m - current->messages];
	out->header.addr = offset;
	out->header.msg_id = (uint32_t)(m - current->messages);
	out->slices[0] = (struct datagram_slice){current->payload, bytes};
	out->slice_count = bytes > 0;
}

static void done(void *user, struct rltp_session *s, struct rltp_message *m, int status)
{
	struct pair_end *end = user;

	end->done++;
	end->last_status = status;
}

static struct rltp_verdict deliver(void *user, struct rltp_session *s, const struct wire_header *h,
				   const uint8_t *payload)
{
	struct pair_end *end = user;

	if (end->reject_key && h->key == end->reject_key && h->sub >= end->reject_from)
		return end->reject;
	assert(end->delivered < PAIR_MESSAGES);
	end->order[end->delivered++] = h->key;
	return (struct rltp_verdict){0, 0};
}

static void rest(void *user, struct rltp_session *s)
{
	struct pair_end *end = user;

	end->rested++;
}

static const struct rltp_user_ops ops = {
	.fill = fill,
	.done = done,
	.deliver = deliver,
	.aborted = rltp_user_aborted,
	.reset = rltp_user_reset,
	.rest = rest,
	.grants = rltp_user_no_credits,
	.granted = rltp_user_credit,
	.wants = rltp_user_no_credits,
	.requested = rltp_user_credit,
};

static void end_open(struct session_pair *p, int i, const struct rltp_tuning *tuning,
		     uint32_t window)
{
	struct pair_end *end = &p->ends[i];
	struct wire_hello hello = {
		.incarnation = 1,
		.epoch = 1,
		.session = (uint32_t)(100 + !i),
		/* close to the wrap */
		.psn = (uint32_t)(UINT32_MAX - 2 + (uint32_t)!i),
		.rwnd = (uint16_t)window,
		.payload_bytes = PAIR_UNIT,
		.recovery = (uint8_t)tuning->recovery,
		.features = WIRE_FEATURES,
	};

	end->shared = (struct rltp_shared){
		.node = (uint16_t)(i + 1),
		.rwnd = (uint16_t)window,
		.tuning = *tuning,
		.window_packets = window,
		.ops = &ops,
		.user = end,
	};
	arbiter_init(&end->shared.arbiter);
	int status = rltp_session_create(&end->shared, (uint16_t)(2 - i), &end->session);
	assert(status == DXP_OK);
	struct rltp_session *s = end->session;
	s->payload_bytes = PAIR_UNIT;
	s->local_id = (uint32_t)(100 + i);
	s->initial_psn = (uint32_t)(UINT32_MAX - 2 + (uint32_t)i);
	status = rltp_session_wake(s, p->now_ns);
	assert(status == DXP_OK);
	rltp_session_open(s, &hello, p->now_ns);
}

struct session_pair *pair_create(const struct rltp_tuning *tuning, uint32_t window)
{
	struct session_pair *p = calloc(1, sizeof(*p));

	assert(p);
	current = p;
	p->now_ns = START_NS;
	end_open(p, 0, tuning, window);
	end_open(p, 1, tuning, window);
	return p;
}

void pair_destroy(struct session_pair *p)
{
	rltp_session_destroy(p->ends[0].session);
	rltp_session_destroy(p->ends[1].session);
	free(p);
	current = NULL;
}

struct rltp_message *pair_post(struct session_pair *p, int end, uint8_t flow, uint32_t bytes,
			       uint32_t key)
{
	assert(p->posted < PAIR_MESSAGES);
	struct rltp_message *m = &p->messages[p->posted];

	p->keys[p->posted++] = key;
	*m = (struct rltp_message){.type = WIRE_PUT, .flow = flow, .bytes = bytes};
	int status = rltp_session_post(p->ends[end].session, m, p->now_ns);
	assert(status == DXP_OK);
	return m;
}

size_t pair_send(struct session_pair *p, int end, struct datagram *out, size_t count)
{
	return rltp_session_send(p->ends[end].session, UINT32_MAX, out, count, p->now_ns);
}

struct wire_header pair_header(const struct datagram *d)
{
	uint8_t frame[DATAGRAM_HEADER_BYTES_MAX + PAIR_UNIT];
	struct wire_header h;
	size_t bytes = d->header_bytes;

	memcpy(frame, d->header, bytes);
	for (unsigned i = 0; i < d->slice_count; i++) {
		memcpy(frame + bytes, d->slices[i].base, d->slices[i].bytes);
		bytes += d->slices[i].bytes;
	}
	int status = wire_header_decode(frame, bytes, &h);
	assert(status == DXP_OK);
	return h;
}

void pair_deliver(struct session_pair *p, int from, const struct datagram *d)
{
	uint8_t frame[DATAGRAM_HEADER_BYTES_MAX + PAIR_UNIT];
	struct datagram_arrival a = {
		.data = frame, .bytes = d->header_bytes, .arrived_ns = p->now_ns};
	struct wire_header h;

	memcpy(frame, d->header, a.bytes);
	for (unsigned i = 0; i < d->slice_count; i++) {
		memcpy(frame + a.bytes, d->slices[i].base, d->slices[i].bytes);
		a.bytes += d->slices[i].bytes;
	}
	int status = wire_header_decode(frame, a.bytes, &h);
	assert(status == DXP_OK);
	rltp_session_receive(p->ends[!from].session, &h, &a, p->now_ns);
}

void pair_settle(struct session_pair *p, uint64_t until_ns)
{
	struct datagram batch[BATCH];

	while (p->now_ns < until_ns) {
		for (int end = 0; end < 2; end++) {
			size_t n = pair_send(p, end, batch, BATCH);
			for (size_t i = 0; i < n; i++)
				pair_deliver(p, end, &batch[i]);
		}
		uint64_t next = min_u64(rltp_session_deadline(p->ends[0].session),
					rltp_session_deadline(p->ends[1].session));
		p->now_ns = min_u64(until_ns, max_u64(next, p->now_ns + ONE_WAY_NS));
	}
}
