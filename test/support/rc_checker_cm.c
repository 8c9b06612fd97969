/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection management: REQ, REP, RTU and REJ on queue pair 1 (12.6, 12.7; MADs: 13.4). */
#include <string.h>

#include "test/support/rc_checker.h"

#define MAD_BYTES 256
#define CM        24 /* bytes; offset of a connection management message in its MAD */
#define QKEY_QP1  0x80010000u

enum { ATTR_REQ = 0x10, ATTR_REJ = 0x12, ATTR_REP = 0x13, ATTR_RTU = 0x14 };

static uint32_t field(const struct rc_frame *f, unsigned at, unsigned bytes)
{
	uint32_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | f->payload[at++];
	return v;
}

static struct rc_checker_connection *find(struct rc_checker *c, const struct rc_frame *f,
					  bool from_active, uint32_t active_id)
{
	for (unsigned i = c->connection_count; i > 0; i--) {
		struct rc_checker_connection *n = &c->connections[i - 1];

		if (n->active_id == active_id &&
		    memcmp(from_active ? f->from : f->to, n->active, 16) == 0 &&
		    memcmp(from_active ? f->to : f->from, n->passive, 16) == 0)
			return n;
	}
	return NULL;
}

static const char *mad_wrong(const struct rc_frame *f)
{
	if (f->payload_bytes != MAD_BYTES)
		return "a MAD has 256 bytes";
	if (f->qkey != QKEY_QP1)
		return "the Q_Key is not that of queue pair 1";
	if (f->source_qp != 1)
		return "a MAD of this class comes from queue pair 1";
	if (f->payload[0] != 1 || f->payload[1] != 7 || f->payload[2] != 2 || f->payload[3] != 3)
		return "not a Send of communication management, version 2";
	if (field(f, 4, 2) != 0 || field(f, 20, 4) != 0)
		return "status or attribute modifier is not 0";
	return NULL;
}

static bool qp_valid(uint32_t qp)
{
	return qp > 1 && qp != 0xffffff;
}

static bool qp_used(const struct rc_checker *c, const uint8_t address[16], uint32_t qp)
{
	for (unsigned i = 0; i < c->connection_count; i++) {
		const struct rc_checker_connection *n = &c->connections[i];

		if ((n->active_qp == qp && memcmp(n->active, address, 16) == 0) ||
		    (n->passive_qp == qp && memcmp(n->passive, address, 16) == 0))
			return true;
	}
	return false;
}

static const char *request_check(struct rc_checker *c, const struct rc_frame *f)
{
	uint32_t qp = field(f, CM + 32, 3), mtu = f->payload[CM + 50] >> 4;
	struct rc_checker_connection *n = find(c, f, true, field(f, CM, 4));

	if (n && memcmp(n->transaction, f->payload + 8, 8) == 0)
		return n->active_qp == qp ? NULL : "a repeated REQ has another queue pair";
	if (f->payload[CM + 43] >> 1 & 3)
		return "the service is not RC";
	if (!qp_valid(qp) || qp_used(c, f->from, qp))
		return "the queue pair's number is invalid or in use";
	if (mtu < 1 || mtu > 5)
		return "the path MTU is invalid";
	if (memcmp(f->payload + CM + 56, f->from, 16) || memcmp(f->payload + CM + 72, f->to, 16))
		return "the GIDs are not the packet's addresses";
	if (c->connection_count == RC_CHECKER_CONNECTIONS)
		return "more connections than the checker has space for";
	n = &c->connections[c->connection_count++];
	memset(n, 0, sizeof(*n));
	n->state = RC_STATE_REQ;
	memcpy(n->active, f->from, 16);
	memcpy(n->passive, f->to, 16);
	memcpy(n->transaction, f->payload + 8, 8);
	n->active_id = field(f, CM, 4);
	n->active_qp = qp;
	n->active_psn = field(f, CM + 44, 3);
	n->retry_count = f->payload[CM + 47] & 7;
	n->payload_max = 128u << mtu;
	n->rnr_retry = f->payload[CM + 50] & 7;
	n->timeout_exponent = f->payload[CM + 95] >> 3;
	return NULL;
}

static void flow_open(struct rc_checker *c, const struct rc_checker_connection *n, bool active)
{
	struct rc_flow *w =
		rc_flow_add(c, active ? n->active : n->passive, active ? n->passive : n->active,
			    active ? n->passive_qp : n->active_qp);

	if (!w)
		return;
	w->source_qp = active ? n->active_qp : n->passive_qp;
	w->next_psn = active ? n->active_psn : n->passive_psn;
	w->oldest_psn = w->expected_psn = w->next_psn;
	w->payload_max = n->payload_max;
	w->timeout_exponent = n->timeout_exponent;
	w->retry_count = n->retry_count;
	w->rnr_retry = n->rnr_retry;
}

static const char *reply_check(struct rc_checker *c, const struct rc_frame *f)
{
	struct rc_checker_connection *n = find(c, f, false, field(f, CM + 4, 4));
	uint32_t qp = field(f, CM + 12, 3);

	if (!n)
		return "a REP without REQ";
	if (memcmp(n->transaction, f->payload + 8, 8))
		return "a REP has another transaction than its REQ";
	if (n->state != RC_STATE_REQ)
		return n->passive_qp == qp ? NULL : "a repeated REP has another queue pair";
	if (!qp_valid(qp) || qp_used(c, f->from, qp))
		return "the queue pair's number is invalid or in use";
	n->passive_id = field(f, CM, 4);
	n->passive_qp = qp;
	n->passive_psn = field(f, CM + 20, 3);
	n->state = RC_STATE_REP;
	return NULL;
}

static const char *ready_check(struct rc_checker *c, const struct rc_frame *f)
{
	const struct rc_checker_connection *n = find(c, f, true, field(f, CM, 4));

	if (!n || n->state != RC_STATE_LIVE || n->passive_id != field(f, CM + 4, 4))
		return "an RTU without REP";
	return memcmp(n->transaction, f->payload + 8, 8) ? "an RTU of another transaction" : NULL;
}

void rc_cm_sent(struct rc_checker *c, const struct rc_frame *f)
{
	const char *wrong = mad_wrong(f);

	if (!wrong) {
		switch (field(f, 16, 2)) {
		case ATTR_REQ: wrong = request_check(c, f); break;
		case ATTR_REP: wrong = reply_check(c, f); break;
		case ATTR_RTU: wrong = ready_check(c, f); break;
		case ATTR_REJ:
			if (!find(c, f, false, field(f, CM + 4, 4)))
				wrong = "a REJ without REQ";
			break;
		default: wrong = "the message is unknown"; break;
		}
	}
	if (wrong)
		rc_violate(c, RULE_CM, f, wrong);
}

/* REP gives the active side the last missing numbers, so it may send from now on. */
void rc_cm_arrived(struct rc_checker *c, const struct rc_frame *f)
{
	if (mad_wrong(f) || field(f, 16, 2) != ATTR_REP)
		return;

	struct rc_checker_connection *n = find(c, f, false, field(f, CM + 4, 4));

	if (!n || n->state != RC_STATE_REP)
		return;
	n->state = RC_STATE_LIVE;
	flow_open(c, n, true);
	flow_open(c, n, false);
}
