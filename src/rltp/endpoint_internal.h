/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces between cookie.c, endpoint.c, handshake.c, protect.c, reject.c, reset.c and
 * schedule.c. */
#ifndef RLTP_ENDPOINT_INTERNAL_H
#define RLTP_ENDPOINT_INTERNAL_H

#include "rltp/endpoint.h"
#include "rltp/internal.h"

#define RESETS_PENDING 16
/* one batch of arrivals */
#define COOKIES_PENDING DATAGRAM_BATCH

/* A RESET if `code` is 0, otherwise a REJECT. */
struct pending_reset {
	struct udp_address to;
	uint32_t session;
	uint16_t node;
	/* field echo of the REJECT; `tag` is the tag of the frame that it answers */
	uint16_t echo;
	uint8_t code, protect;
	uint8_t tag[WIRE_TAG_BYTES];
};

/* RESETs and REJECTs queued in one second. */
struct reset_counts {
	uint64_t begin_ns; /* start of the second */
	uint32_t all;
	uint8_t of[RLTP_RESETS_SHARES];
};

struct pending_cookie {
	struct udp_address to;
	uint16_t node;
	struct wire_cookie cookie; /* the cookie's proof is not set yet */
};

struct cookies {
	uint64_t secrets[2][2]; /* present and former */
	uint64_t since_ns;      /* start of the present one */
	bool drawn;             /* false: no secrets yet */
	struct pending_cookie pending[COOKIES_PENDING];
	uint32_t count;
};

/* HELLOs checked in one second, without and with a cookie, and COOKIEs. */
struct hello_counts {
	uint32_t second;
	uint32_t known[2], outside[2]; /* of known peers; of unknown addresses */
	uint32_t cookies;
};

struct schedule_entry {
	uint64_t due_ns;
	struct rltp_session *session;
};

struct schedule {
	struct rltp_session *first, *last; /* the ready queue */
	struct schedule_entry *heap;
	uint32_t count, space;
};

struct rltp_endpoint {
	struct rltp_endpoint_options options;
	struct rltp_shared shared;
	struct rltp_session **peers; /* sorted by node id */
	uint32_t peer_count, peer_space;
	struct schedule schedule;
	uint32_t epoch; /* of the newest session */
	/* when rltp_endpoint_send must be called, as its last call returned */
	uint64_t due_ns;
	struct pending_reset resets[RESETS_PENDING];
	uint32_t reset_count;
	struct reset_counts reset_counts;
	struct hello_counts hellos;
	struct cookies cookies;
	struct rltp_mismatch mismatch; /* valid if `mismatched` */
	bool mismatched;
	struct rltp_endpoint_counters counters;
};

/* schedule.c.
 * - schedule_reserve: memory for `sessions` heap entries; DXP_ENOMEM.
 * - schedule_at: UINT64_MAX removes the session's deadline.
 * - schedule_due: moves sessions that are due to the ready queue.
 * - schedule_dequeue: NULL if the ready queue is empty. */
int schedule_reserve(struct schedule *q, uint32_t sessions);
void schedule_free(struct schedule *q);
void schedule_ready(struct schedule *q, struct rltp_session *s);
void schedule_at(struct schedule *q, struct rltp_session *s, uint64_t due_ns);
void schedule_due(struct schedule *q, uint64_t now_ns);
struct rltp_session *schedule_dequeue(struct schedule *q);
void schedule_forget(struct schedule *q, struct rltp_session *s);
uint64_t schedule_deadline(const struct schedule *q);

/* endpoint.c: the peer with this node id and address, or NULL. */
struct rltp_session *endpoint_peer_at(struct rltp_endpoint *e, uint16_t node,
				      const struct udp_address *from);

/* tag.c.
 * - endpoint_authenticate: computes the tag of `text`, a keyed hash. False: there is no such key.
 * - endpoint_authentic: compares `tag` with those of all accepted keys, and sets *key. */
bool endpoint_authenticate(const struct rltp_endpoint *e, enum rltp_key key, const uint8_t *text,
			   size_t bytes, uint8_t tag[WIRE_TAG_BYTES]);
bool endpoint_authentic(const struct rltp_endpoint *e, const uint8_t *text, size_t bytes,
			const uint8_t tag[WIRE_TAG_BYTES], enum rltp_key *key);

/* cookie.c.
 * - cookie_admit: may this HELLO be checked? Otherwise counts it, and may queue a COOKIE. `s`: NULL
 *   for an unknown address.
 * - cookies_send: writes up to `count` queued ones. */
bool cookie_admit(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		  const struct wire_hello *hello, const struct udp_address *from, uint64_t now_ns);
void cookie_receive(struct rltp_endpoint *e, const struct wire_header *h,
		    const struct datagram_arrival *a, uint64_t now_ns);
size_t cookies_send(struct rltp_endpoint *e, struct datagram *out, size_t count, uint64_t now_ns);

/* protect.c: drops datagrams that cannot be sealed; returns the remaining ones. */
size_t protect_seal(struct rltp_session *s, struct datagram *out, size_t count);
/* protect.c: opens a sealed frame and completes its header. False: dropped and counted. */
bool protect_open(struct rltp_endpoint *e, struct rltp_session *s, struct wire_header *h,
		  const struct datagram_arrival *a, struct datagram_arrival *opened);

/* reject.c: queue a REJECT, for a sealed frame of an unknown session and for a HELLO with other
 * protection than `own`. */
void reject_frame(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct datagram_arrival *a, uint64_t now_ns);
void reject_hello(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct wire_hello *hello, uint8_t own, const struct udp_address *from,
		  uint64_t now_ns);
void reject_build(struct rltp_endpoint *e, const struct pending_reset *r, uint64_t now_ns,
		  struct datagram *out);
void reject_receive(struct rltp_endpoint *e, const struct wire_header *h,
		    const struct datagram_arrival *a);

void handshake_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void handshake_receive(struct rltp_endpoint *e, const struct wire_header *h,
		       const struct datagram_arrival *a, uint64_t now_ns);
size_t handshake_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns);
uint64_t handshake_deadline(const struct rltp_session *s);
uint8_t handshake_protection(const struct rltp_endpoint *e, const struct rltp_session *s);

/* reset.c: RESET and BYE.
 * - reset_add: queues an answer within the limits, to a known peer at its own address; NULL: no
 *   answer. */
struct pending_reset *reset_add(struct rltp_endpoint *e, const struct wire_header *h,
				const struct udp_address *from, uint64_t now_ns);
void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct udp_address *from, uint64_t now_ns);
void reset_receive(struct rltp_endpoint *e, const struct wire_header *h,
		   const struct datagram_arrival *a);
size_t resets_send(struct rltp_endpoint *e, struct datagram *out, size_t count, uint64_t now_ns);
size_t reset_bye_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns);
void reset_bye_receive(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		       const uint8_t *body);

#endif
