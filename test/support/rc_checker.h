/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a captured exchange against the rules of InfiniBand's reliable connections (specification
 * 1.2.1, sections 9.6, 9.7, 12.6 and 12.7; RoCEv2: annex A17). It only observes, and shares nothing
 * with src/: it has its own parser, ICRC and state machine.
 *
 *  The test reports each packet when it is sent, and again if it arrives. So the checker knows
 *  which packets each side has received and may send. The requests of one direction are a flow; a
 *  connection has two. A packet to a queue pair that no connection management announced breaks a
 *  rule. Such packets form their own flow, so that their other errors are detected too.
 *
 *  Not checked: operations other than SEND only, path migration, atomic and READ responses. */
#ifndef SUPPORT_RC_CHECKER_H
#define SUPPORT_RC_CHECKER_H

#include "test/support/rc_frame.h"

/* X(rule, text that is printed when it is violated) */
#define RC_RULES(X)                                                                         \
	X(RULE_HEADER, "IP, UDP or BTH is invalid (9.2, A17.3)")                            \
	X(RULE_ICRC, "the ICRC is wrong (7.8.1, A17.3.3)")                                  \
	X(RULE_CM, "a connection management message is invalid or unexpected (12.6, 12.7)") \
	X(RULE_UNCONNECTED, "no connection has this queue pair (9.6.1)")                    \
	X(RULE_PMTU, "the payload exceeds the path MTU (9.7.4.1)")                          \
	X(RULE_PSN_ORDER, "a new request does not have the next PSN (9.7.3.1)")             \
	X(RULE_REPEAT, "repeats a request that is acknowledged or not the oldest (9.7.5)")  \
	X(RULE_REPEAT_BYTES, "a repeat differs from the request (9.7.3.1)")                 \
	X(RULE_REPEAT_EARLY, "repeats without NAK before the ACK timeout (9.7.6.1.3)")      \
	X(RULE_RETRIES, "repeats more often than the retry count permits (9.7.6.1.4)")      \
	X(RULE_NAK_IGNORED, "sends another PSN than the NAK requests (9.7.5.2.8)")          \
	X(RULE_RNR_EARLY, "repeats before the time of the RNR NAK (9.7.5.2.8)")             \
	X(RULE_SYNDROME, "the AETH syndrome is reserved (9.7.5.2.1)")                       \
	X(RULE_ACK_PSN, "acknowledges a PSN that has not arrived in sequence (9.7.5.1.2)")  \
	X(RULE_NAK, "a NAK that no packet caused, or a second one (9.7.5.2.8)")             \
	X(RULE_MSN, "the MSN is not the number of completed messages (9.7.7.1)")            \
	X(RULE_UNACKNOWLEDGED, "a requested acknowledgement was never sent (9.7.5.1.2)")

#define RULE_ENUM(name, text) name,
enum rc_rule { RC_RULES(RULE_ENUM) RC_RULE_COUNT };
#undef RULE_ENUM

#define RC_CHECKER_FLOWS       64
#define RC_CHECKER_CONNECTIONS 64
/* newest requests for which the checker keeps a checksum of the bytes */
#define RC_CHECKER_PSNS 4096

/* Requests of one direction and their responses. PSNs and MSNs have 24 bits. */
struct rc_flow {
	uint8_t from[16], to[16];
	/* source_qp 0: unknown, the flow was not announced */
	uint32_t source_qp, dest_qp;
	uint32_t payload_max; /* payload bytes of the path MTU */
	unsigned timeout_exponent, retry_count, rnr_retry;

	/* the requester, as its packets show it */
	bool started;
	uint32_t next_psn;    /* of the next new request */
	uint32_t oldest_psn;  /* of the oldest request that no arrived response acknowledges */
	uint32_t sent_psn;    /* of the request that was sent last */
	uint64_t progress_ns; /* ns; last send or arrived response */
	uint64_t rnr_end_ns;
	bool nak_arrived; /* so the next request must have the PSN nak_psn */
	/* a NAK arrived or the timeout has passed */
	bool may_repeat;
	uint32_t nak_psn;
	unsigned retries, rnr_retries; /* timeouts and RNR NAKs since the last progress */
	uint32_t sums[RC_CHECKER_PSNS];

	/* the responder, as the arrived requests determine it */
	uint32_t expected_psn, msn;
	/* a request beyond expected_psn arrived; the responder sent the NAK for it */
	bool gap, gap_nak;
	bool completed; /* at least one message */
	bool owes;      /* a request with the acknowledge bit was not answered yet */
	bool rnr_fits;  /* an RNR NAK would reject the last arrival, so it is allowed */
	uint64_t requests, repeats, acks, naks, rnr_naks;
};

enum rc_checker_state { RC_STATE_REQ = 1, RC_STATE_REP, RC_STATE_LIVE };

struct rc_checker_connection {
	enum rc_checker_state state;
	uint8_t active[16], passive[16];
	uint32_t active_id, passive_id; /* communication ids of both sides */
	uint32_t active_qp, passive_qp, active_psn, passive_psn;
	uint8_t transaction[8];
	uint32_t payload_max;
	unsigned timeout_exponent, retry_count, rnr_retry;
};

struct rc_checker {
	uint64_t packets;
	uint64_t violations[RC_RULE_COUNT];
	char first[RC_RULE_COUNT][200]; /* per rule, the text of its first violation */
	struct rc_flow flows[RC_CHECKER_FLOWS];
	unsigned flow_count;
	struct rc_checker_connection connections[RC_CHECKER_CONNECTIONS];
	unsigned connection_count;
};

/* Report a packet from its IP header on. Only UDP packets to port 4791 are checked. */
void rc_checker_sent(struct rc_checker *c, const uint8_t *ip, size_t bytes, uint64_t now_ns);
void rc_checker_arrived(struct rc_checker *c, const uint8_t *ip, size_t bytes, uint64_t now_ns);

/* Rules that apply when the exchange is over and no packet is in flight. */
void rc_checker_finish(struct rc_checker *c);

/* Prints the first violation of each rule. Returns the number of all. */
uint64_t rc_checker_report(const struct rc_checker *c);

/* ---- rc_checker_flow.c and rc_checker_cm.c ---- */

void rc_violate(struct rc_checker *c, enum rc_rule rule, const struct rc_frame *f,
		const char *detail);
struct rc_flow *rc_flow_add(struct rc_checker *c, const uint8_t from[16], const uint8_t to[16],
			    uint32_t dest_qp);
void rc_flow_request_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f,
			  uint64_t now_ns);
void rc_flow_request_arrived(struct rc_flow *w, const struct rc_frame *f);
void rc_flow_response_sent(struct rc_checker *c, struct rc_flow *w, const struct rc_frame *f);
void rc_flow_response_arrived(struct rc_flow *w, const struct rc_frame *f, uint64_t now_ns);
void rc_cm_sent(struct rc_checker *c, const struct rc_frame *f);
void rc_cm_arrived(struct rc_checker *c, const struct rc_frame *f);

static inline uint32_t rc_distance(uint32_t from, uint32_t to)
{
	return (to - from) & 0xffffff;
}

#endif
