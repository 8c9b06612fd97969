/* SPDX-License-Identifier: BSD-3-Clause */
#include "rc/qp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

/* half of the range of PSNs; a PSN that is so far ahead, or farther, counts as an older one */
#define HALF          0x800000u
#define RNR_UNLIMITED 7

struct message {
	uint16_t bytes;
};

/* Invariant: oldest <= to_send <= highest <= next, as PSNs of 24 bits. The ring has the messages
 * from `oldest` on and before `next`, each at index PSN % window. Messages before `highest` were
 * sent. */
struct rc_qp {
	struct rc_qp_options o;
	uint32_t peer_number;
	bool connected, failed;
	struct rc_qp_counters counters;

	uint32_t oldest, to_send, highest, next;
	uint64_t timer_ns;   /* time of the ACK timeout; UINT64_MAX: not armed */
	uint64_t rnr_end_ns; /* end of the wait that an RNR NAK demanded; 0: there is none */
	unsigned retries, rnr_retries;
	struct message *messages;
	uint8_t *bytes;

	uint32_t expected, msn;
	bool ack_due;
	uint8_t nak_due; /* kind and code of the NAK to send; 0: none */
	bool nak_sent;   /* a NAK was sent since the last message in sequence */
};

static uint32_t distance(uint32_t from, uint32_t to)
{
	return (to - from) & ROCE_PSN_MASK;
}

static uint32_t after(uint32_t psn)
{
	return (psn + 1) & ROCE_PSN_MASK;
}

int rc_qp_create(const struct rc_qp_options *options, struct rc_qp **out)
{
	struct rc_qp *q = calloc(1, sizeof(*q));

	assert(options->window > 0 && (options->window & (options->window - 1)) == 0);
	if (!q)
		return DXP_ENOMEM;
	q->o = *options;
	q->oldest = q->to_send = q->highest = q->next = options->send_psn & ROCE_PSN_MASK;
	q->timer_ns = UINT64_MAX;
	q->messages = calloc(options->window, sizeof(*q->messages));
	q->bytes = malloc((size_t)options->window * options->message_bytes);
	if (!q->messages || !q->bytes) {
		rc_qp_destroy(q);
		return DXP_ENOMEM;
	}
	*out = q;
	return DXP_OK;
}

void rc_qp_destroy(struct rc_qp *q)
{
	if (!q)
		return;
	free(q->messages);
	free(q->bytes);
	free(q);
}

void rc_qp_connect(struct rc_qp *q, uint32_t peer_number, uint32_t receive_psn)
{
	q->peer_number = peer_number;
	q->expected = receive_psn & ROCE_PSN_MASK;
	q->connected = true;
}

static void fail(struct rc_qp *q)
{
	q->failed = true;
	q->timer_ns = UINT64_MAX;
	q->ack_due = false;
}

/* ---- requester ---- */

int rc_qp_post(struct rc_qp *q, const void *front, size_t front_bytes, const void *rest,
	       size_t rest_bytes)
{
	size_t slot = q->next % q->o.window;
	uint8_t *to = q->bytes + slot * q->o.message_bytes;

	assert(front_bytes + rest_bytes <= q->o.message_bytes);
	if (q->failed)
		return DXP_EPEERLOST;
	if (distance(q->oldest, q->next) == q->o.window)
		return DXP_EAGAIN;
	if (front_bytes > 0)
		memcpy(to, front, front_bytes);
	if (rest_bytes > 0)
		memcpy(to + front_bytes, rest, rest_bytes);
	q->messages[slot].bytes = (uint16_t)(front_bytes + rest_bytes);
	q->next = after(q->next);
	q->counters.posted++;
	return DXP_OK;
}

static uint64_t timeout_ns(const struct rc_qp *q)
{
	return q->o.timeout ? 4096ull << q->o.timeout : UINT64_MAX / 2;
}

static void timer_arm(struct rc_qp *q, uint64_t now_ns)
{
	q->timer_ns = q->oldest == q->highest ? UINT64_MAX : now_ns + timeout_ns(q);
}

/* Completes messages before `psn`, which is between `oldest` and `highest`. */
static void complete_before(struct rc_qp *q, uint32_t psn, uint64_t now_ns)
{
	if (psn == q->oldest)
		return;
	if (distance(q->oldest, q->to_send) < distance(q->oldest, psn))
		q->to_send = psn;
	q->oldest = psn;
	q->retries = q->rnr_retries = 0;
	q->rnr_end_ns = 0;
	timer_arm(q, now_ns);
}

/* Restarts at the oldest message; fails if no retry is left. */
static void go_back(struct rc_qp *q)
{
	if (q->retries++ == q->o.retry_count)
		fail(q);
	q->to_send = q->oldest;
}

static void nak_receive(struct rc_qp *q, const struct roce_header *h, uint64_t now_ns)
{
	unsigned code = h->syndrome & ROCE_AETH_CODE_MASK;

	complete_before(q, h->psn, now_ns);
	if ((h->syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR) {
		if (q->o.rnr_retry != RNR_UNLIMITED && q->rnr_retries++ == q->o.rnr_retry)
			fail(q);
		q->to_send = q->oldest;
		q->rnr_end_ns = now_ns + roce_rnr_ns(code);
		q->timer_ns = UINT64_MAX;
	} else if (code == ROCE_NAK_SEQUENCE) {
		q->rnr_end_ns = 0;
		go_back(q);
	} else {
		fail(q);
	}
}

static void response_receive(struct rc_qp *q, const struct roce_header *h, uint64_t now_ns)
{
	if (distance(q->oldest, h->psn) >= distance(q->oldest, q->highest))
		return; /* the response concerns a message that is acknowledged already */
	if ((h->syndrome & ROCE_AETH_KIND_MASK) == ROCE_AETH_ACK)
		complete_before(q, after(h->psn), now_ns);
	else
		nak_receive(q, h, now_ns);
}

/* ---- responder ---- */

static bool request_receive(struct rc_qp *q, const struct roce_header *h, size_t payload_bytes,
			    bool ready)
{
	uint32_t ahead = distance(q->expected, h->psn);

	if (ahead >= HALF) {
		q->counters.duplicates++;
		q->ack_due |= h->ack_request && q->counters.delivered > 0;
		return false;
	}
	if (ahead > 0) {
		if (!q->nak_sent)
			q->nak_due = ROCE_AETH_NAK | ROCE_NAK_SEQUENCE;
		q->nak_sent = true;
		return false;
	}
	if (payload_bytes > q->o.message_bytes) {
		q->nak_due = ROCE_AETH_NAK | ROCE_NAK_INVALID_REQUEST;
		fail(q);
		return false;
	}
	/* After an RNR NAK, drops later requests without another NAK until this request arrives
	 * again. */
	q->nak_sent = !ready;
	q->nak_due = ready ? 0 : ROCE_AETH_RNR | q->o.rnr_code;
	if (!ready)
		return false;
	q->expected = after(q->expected);
	q->msn = after(q->msn);
	q->ack_due |= h->ack_request;
	q->counters.delivered++;
	return true;
}

bool rc_qp_receive(struct rc_qp *q, const struct roce_header *h, size_t payload_bytes, bool ready,
		   uint64_t now_ns)
{
	if (q->failed || !q->connected)
		return false;
	if (h->opcode == ROCE_RC_SEND_ONLY)
		return request_receive(q, h, payload_bytes, ready);
	if (h->opcode == ROCE_RC_ACK)
		response_receive(q, h, now_ns);
	return false;
}

/* ---- output ---- */

static bool response_write(struct rc_qp *q, struct roce_header *h)
{
	if (!q->nak_due && !q->ack_due)
		return false;
	*h = (struct roce_header){.opcode = ROCE_RC_ACK,
				  .dest_qp = q->peer_number,
				  .psn = q->expected,
				  .syndrome = q->nak_due,
				  .msn = q->msn};
	if (q->nak_due) {
		if ((q->nak_due & ROCE_AETH_KIND_MASK) == ROCE_AETH_RNR)
			q->counters.rnr_naks++;
		else
			q->counters.naks++;
	} else {
		h->syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS;
		h->psn = (q->expected - 1) & ROCE_PSN_MASK;
		q->counters.acks++;
	}
	q->nak_due = 0; /* a NAK also acknowledges the messages before its PSN */
	q->ack_due = false;
	return true;
}

static void timeout_check(struct rc_qp *q, uint64_t now_ns)
{
	if (now_ns < q->timer_ns)
		return;
	q->counters.timeouts++;
	go_back(q);
	q->timer_ns = UINT64_MAX; /* the next message arms the timer */
}

bool rc_qp_send(struct rc_qp *q, struct roce_header *h, const uint8_t **payload,
		size_t *payload_bytes, uint64_t now_ns)
{
	*payload = NULL;
	*payload_bytes = 0;
	if (!q->connected)
		return false;
	if (response_write(q, h))
		return true;
	timeout_check(q, now_ns);
	if (q->failed || q->to_send == q->next || now_ns < q->rnr_end_ns)
		return false;

	size_t slot = q->to_send % q->o.window;

	q->rnr_end_ns = 0;
	*h = (struct roce_header){.opcode = ROCE_RC_SEND_ONLY,
				  .ack_request = true,
				  .dest_qp = q->peer_number,
				  .psn = q->to_send};
	*payload = q->bytes + slot * q->o.message_bytes;
	*payload_bytes = q->messages[slot].bytes;
	q->to_send = after(q->to_send);
	if (distance(q->oldest, q->to_send) > distance(q->oldest, q->highest))
		q->highest = q->to_send;
	else
		q->counters.repeated++;
	timer_arm(q, now_ns);
	return true;
}

uint64_t rc_qp_deadline(const struct rc_qp *q)
{
	if (!q->connected)
		return UINT64_MAX;
	if (q->nak_due || q->ack_due)
		return 0;
	if (q->failed)
		return UINT64_MAX;
	return q->to_send != q->next ? q->rnr_end_ns : q->timer_ns;
}

bool rc_qp_failed(const struct rc_qp *q)
{
	return q->failed;
}

struct rc_qp_counters rc_qp_counters(const struct rc_qp *q)
{
	return q->counters;
}
