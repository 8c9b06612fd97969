/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester and responder of one flow, by the packets that they send and receive. */
#include <stdio.h>

#include "test/support/rc_checker.h"

#define HALF         0x800000u /* at this distance or farther ahead, a PSN is in fact behind */
#define RNR_INFINITE 7

/* Delay by an RNR NAK's timer field, in units of 10 us (table 45). */
static const uint32_t rnr_times[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
				       16,    24,   32,   48,    64,    96,    128,   192,
				       256,   384,  512,  768,   1024,  1536,  2048,  3072,
				       4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

static uint32_t sum_of(const struct rc_frame *f)
{
	uint32_t sum = 2166136261u ^ (uint32_t)f->payload_bytes;

	for (size_t i = 0; i < f->payload_bytes; i++)
		sum = (sum ^ f->payload[i]) * 16777619u;
	return sum;
}

static void repeat_check(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f,
			 uint64_t now_ns)
{
	uint32_t outstanding = rc_distance(w->oldest_psn, w->next_psn);
	uint32_t step = rc_distance(w->sent_psn, f->psn);
	/* an acknowledgement during a retransmission lets it continue at the oldest PSN */
	bool follows = step == 1 || (f->psn == w->oldest_psn && step > 0 && step < HALF);
	bool first = f->psn == w->oldest_psn && !(follows && !w->may_repeat);

	w->repeats++;
	if (rc_distance(w->oldest_psn, f->psn) >= outstanding || !(follows || first))
		rc_violate(c, RULE_REPEAT, f, NULL);
	if (w->sums[f->psn % RC_CHECKER_PSNS] != sum_of(f))
		rc_violate(c, RULE_REPEAT_BYTES, f, NULL);
	if (follows && !(first && w->may_repeat))
		return;
	/* a new retransmission, which requires at least the nominal timeout */
	if (!w->may_repeat && now_ns - w->progress_ns < (uint64_t)4096 << w->timeout_exponent)
		rc_violate(c, RULE_REPEAT_EARLY, f, NULL);
	if (now_ns < w->rnr_end_ns)
		rc_violate(c, RULE_RNR_EARLY, f, NULL);
	if (w->rnr_end_ns) {
		if (++w->rnr_retries > w->rnr_retry && w->rnr_retry != RNR_INFINITE)
			rc_violate(c, RULE_RETRIES, f, "RNR");
	} else if (++w->retries > w->retry_count) {
		rc_violate(c, RULE_RETRIES, f, NULL);
	}
	w->rnr_end_ns = 0;
	w->may_repeat = false;
}

void rc_flow_request_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f,
			  uint64_t now_ns)
{
	w->requests++;
	if (!w->started && w->source_qp == 0)
		w->next_psn = w->oldest_psn = w->expected_psn = f->psn;
	w->started = true;
	if (f->payload_bytes > w->payload_max)
		rc_violate(c, RULE_PMTU, f, NULL);
	if (w->nak_arrived && f->psn != w->nak_psn)
		rc_violate(c, RULE_NAK_IGNORED, f, NULL);
	w->nak_arrived = false;
	if (f->psn == w->next_psn) {
		w->next_psn = (w->next_psn + 1) & 0xffffff;
		w->sums[f->psn % RC_CHECKER_PSNS] = sum_of(f);
		if (w->rnr_end_ns && now_ns < w->rnr_end_ns)
			rc_violate(c, RULE_RNR_EARLY, f, NULL);
	} else if (rc_distance(f->psn, w->next_psn) < HALF) {
		repeat_check(c, w, f, now_ns);
	} else {
		rc_violate(c, RULE_PSN_ORDER, f, NULL);
		w->next_psn = (f->psn + 1) & 0xffffff;
	}
	w->sent_psn = f->psn;
	w->progress_ns = now_ns;
}

void rc_flow_response_arrived(struct rc_flow *w, const struct rc_frame *f, uint64_t now_ns)
{
	uint32_t outstanding = rc_distance(w->oldest_psn, w->next_psn);
	uint32_t distance = rc_distance(w->oldest_psn, f->psn);
	unsigned kind = f->syndrome >> 5;

	if (distance >= outstanding)
		return; /* for requests that were acknowledged before */
	if (distance > 0 || kind == 0) {
		w->oldest_psn = (f->psn + (kind == 0)) & 0xffffff;
		w->retries = w->rnr_retries = 0;
		w->progress_ns = now_ns;
		w->rnr_end_ns = 0;
		w->nak_arrived = false; /* acknowledged by now */
	}
	if (kind == 0)
		return;
	w->nak_arrived = w->may_repeat = true;
	w->nak_psn = f->psn;
	w->rnr_end_ns = kind == 1 ? now_ns + 10000ull * rnr_times[f->syndrome & 31] : 0;
}

void rc_flow_request_arrived(struct rc_flow *w, const struct rc_frame *f)
{
	uint32_t distance = rc_distance(w->expected_psn, f->psn);

	w->rnr_fits = false;
	if (distance == 0) {
		w->expected_psn = (w->expected_psn + 1) & 0xffffff;
		w->msn = (w->msn + 1) & 0xffffff;
		w->gap = w->gap_nak = false;
		w->completed = w->rnr_fits = true;
		w->owes |= f->ack_request;
	} else if (distance < HALF) {
		w->gap = true;
	} else {
		w->owes |= f->ack_request;
	}
}

/* The responder has no receive buffer, so it sends an RNR NAK. The message that arrived last does
 * not count as completed. */
static void rnr_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f)
{
	w->rnr_naks++;
	if (!w->rnr_fits || f->psn != ((w->expected_psn - 1) & 0xffffff)) {
		rc_violate(c, RULE_NAK, f, "RNR");
		return;
	}
	w->expected_psn = f->psn;
	w->msn = (w->msn - 1) & 0xffffff;
	w->rnr_fits = w->owes = false;
	w->gap_nak = true; /* no further NAK is due until this PSN arrives again */
}

static void nak_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f)
{
	w->naks++;
	if ((f->syndrome & 31) > 4) {
		rc_violate(c, RULE_SYNDROME, f, NULL);
	} else if ((f->syndrome & 31) == 0) {
		if (f->psn != w->expected_psn || !w->gap || w->gap_nak)
			rc_violate(c, RULE_NAK, f, NULL);
		w->gap_nak = true;
	}
	/* no acknowledgement is due: the requester retransmits or reports an error */
	w->owes = false;
}

void rc_flow_response_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f)
{
	unsigned kind = f->syndrome >> 5;
	char text[64];

	if (w->source_qp == 0 && f->dest_qp != w->source_qp)
		rc_violate(c, RULE_UNCONNECTED, f, NULL);
	if (kind == 1) {
		rnr_sent(c, w, f);
	} else if (kind == 3) {
		nak_sent(c, w, f);
	} else if (kind != 0) {
		rc_violate(c, RULE_SYNDROME, f, NULL);
	} else {
		w->acks++;
		if (!w->completed || rc_distance(f->psn, w->expected_psn) - 1 >= HALF)
			rc_violate(c, RULE_ACK_PSN, f, NULL);
		if (f->psn == ((w->expected_psn - 1) & 0xffffff))
			w->owes = false;
	}
	/* an acknowledgement of an earlier PSN must have the MSN of that time */
	uint32_t later = rc_distance(f->psn + (kind == 0), w->expected_psn);
	uint32_t msn = (w->msn - (later < HALF ? later : 0)) & 0xffffff;

	if (f->msn != msn) {
		snprintf(text, sizeof(text), "it is 0x%06x, not 0x%06x", f->msn, msn);
		rc_violate(c, RULE_MSN, f, text);
	}
}
