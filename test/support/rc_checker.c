/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes packets to the checks of flows and connection management, and collects violations. */
#include "test/support/rc_checker.h"

#include <stdio.h>
#include <string.h>

static const char *const rule_texts[] = {
#define RULE_TEXT(name, text) text,
	RC_RULES(RULE_TEXT)
#undef RULE_TEXT
};

void rc_violate(struct rc_checker *c, enum rc_rule rule, const struct rc_frame *f,
		const char *detail)
{
	if (c->violations[rule]++ > 0)
		return;
	snprintf(
		c->first[rule], sizeof(c->first[rule]),
		"packet %llu, from ..%u.%u:%u to ..%u.%u, opcode 0x%02x, QP 0x%06x, PSN 0x%06x%s%s",
		(unsigned long long)c->packets, f->from[14], f->from[15], f->from_port, f->to[14],
		f->to[15], f->opcode, f->dest_qp, f->psn, detail ? ": " : "", detail ? detail : "");
}

struct rc_flow *rc_flow_add(struct rc_checker *c, const uint8_t from[16], const uint8_t to[16],
			    uint32_t dest_qp)
{
	if (c->flow_count == RC_CHECKER_FLOWS)
		return NULL;

	struct rc_flow *w = &c->flows[c->flow_count++];

	memset(w, 0, sizeof(*w));
	memcpy(w->from, from, 16);
	memcpy(w->to, to, 16);
	w->dest_qp = dest_qp;
	w->payload_max = 4096;
	w->retry_count = 7;
	w->rnr_retry = 7;
	return w;
}

static struct rc_flow *request_flow(struct rc_checker *c, const struct rc_frame *f)
{
	for (unsigned i = c->flow_count; i > 0; i--) {
		struct rc_flow *w = &c->flows[i - 1];

		if (w->dest_qp == f->dest_qp && memcmp(w->from, f->from, 16) == 0 &&
		    memcmp(w->to, f->to, 16) == 0)
			return w;
	}
	return NULL;
}

static struct rc_flow *response_flow(struct rc_checker *c, const struct rc_frame *f)
{
	for (unsigned i = c->flow_count; i > 0; i--) {
		struct rc_flow *w = &c->flows[i - 1];

		if ((w->source_qp == f->dest_qp || w->source_qp == 0) &&
		    memcmp(w->from, f->to, 16) == 0 && memcmp(w->to, f->from, 16) == 0)
			return w;
	}
	return NULL;
}

static void request_sent(struct rc_checker *c, const struct rc_frame *f, uint64_t now_ns)
{
	struct rc_flow *w = request_flow(c, f);

	if (!w || w->source_qp == 0)
		rc_violate(c, RULE_UNCONNECTED, f, NULL);
	if (!w)
		w = rc_flow_add(c, f->from, f->to, f->dest_qp);
	if (w)
		rc_flow_request_sent(c, w, f, now_ns);
}

static bool is_roce(const uint8_t *ip, size_t bytes)
{
	size_t udp = bytes > 0 && ip[0] >> 4 == 6 ? 40 : 20;

	return bytes >= udp + 8 && (ip[udp + 2] << 8 | ip[udp + 3]) == RC_FRAME_PORT;
}

void rc_checker_sent(struct rc_checker *c, const uint8_t *ip, size_t bytes, uint64_t now_ns)
{
	struct rc_frame f;
	struct rc_flow *w;
	bool icrc;

	c->packets++;
	if (!is_roce(ip, bytes))
		return;

	const char *wrong = rc_frame_parse(ip, bytes, &f, &icrc);

	if (wrong) {
		rc_violate(c, icrc ? RULE_ICRC : RULE_HEADER, &f, wrong);
	} else if (f.opcode == RC_FRAME_UD) {
		if (f.dest_qp == 1)
			rc_cm_sent(c, &f);
	} else if (f.opcode == RC_FRAME_SEND_ONLY) {
		request_sent(c, &f, now_ns);
	} else if ((w = response_flow(c, &f)) != NULL) {
		rc_flow_response_sent(c, w, &f);
	} else {
		rc_violate(c, RULE_UNCONNECTED, &f, NULL);
	}
}

void rc_checker_arrived(struct rc_checker *c, const uint8_t *ip, size_t bytes, uint64_t now_ns)
{
	struct rc_frame f;
	struct rc_flow *w;
	bool icrc;

	if (!is_roce(ip, bytes) || rc_frame_parse(ip, bytes, &f, &icrc))
		return;
	if (f.opcode == RC_FRAME_UD) {
		if (f.dest_qp == 1)
			rc_cm_arrived(c, &f);
	} else if (f.opcode == RC_FRAME_SEND_ONLY) {
		w = request_flow(c, &f);
		if (w)
			rc_flow_request_arrived(w, &f);
	} else if ((w = response_flow(c, &f)) != NULL) {
		rc_flow_response_arrived(w, &f, now_ns);
	}
}

void rc_checker_finish(struct rc_checker *c)
{
	for (unsigned i = 0; i < c->flow_count; i++) {
		const struct rc_flow *w = &c->flows[i];
		struct rc_frame f = {.dest_qp = w->dest_qp, .psn = w->expected_psn};

		memcpy(f.from, w->from, 16);
		memcpy(f.to, w->to, 16);
		if (w->owes)
			rc_violate(c, RULE_UNACKNOWLEDGED, &f, NULL);
	}
}

uint64_t rc_checker_report(const struct rc_checker *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < RC_RULE_COUNT; i++) {
		sum += c->violations[i];
		if (c->violations[i])
			printf("%llu x %s\n  first: %s\n", (unsigned long long)c->violations[i],
			       rule_texts[i], c->first[i]);
	}
	return sum;
}
