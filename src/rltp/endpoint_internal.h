/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces between endpoint.c, handshake.c, protect.c, reject.c, reset.c and schedule.c. */
#ifndef RLTP_ENDPOINT_INTERNAL_H
#define RLTP_ENDPOINT_INTERNAL_H

#include "rltp/endpoint.h"
#include "rltp/internal.h"

#define RESETS_PENDING 16

/* A packet to send: a RESET if `code` is 0, otherwise a REJECT with this code. */
struct pending_reset {
	struct udp_address to;
	uint32_t session;
	uint16_t node;
	/* `echo`, `code` and `protect` are fields of the REJECT; `tag` is the tag of the frame that
	 * the REJECT answers */
	uint16_t echo;
	uint8_t code, protect;
	uint8_t tag[WIRE_TAG_BYTES];
};

struct schedule_entry {
	uint64_t due_ns;
	struct rltp_session *session;
};

struct schedule {
	struct rltp_session *first, *last; /* the ready queue */
	struct schedule_entry *heap;       /* min-heap by due_ns */
	uint32_t count, space;
};

struct rltp_endpoint {
	struct rltp_endpoint_options options;
	struct rltp_shared shared;   /* state common to all sessions */
	struct rltp_session **peers; /* sorted by node id */
	uint32_t peer_count, peer_space;
	struct schedule schedule;
	uint32_t epoch; /* epoch of the newest session; grows with each session */
	/* Time at which rltp_endpoint_send must be called again, as returned by the last call. */
	uint64_t due_ns;
	struct pending_reset resets[RESETS_PENDING];
	uint32_t reset_count;
	/* start of the current second, in which `reset_spent` RESETs were sent */
	uint64_t reset_window_ns;
	uint32_t reset_spent;
	/* current second, and handshakes accepted in it from known peers */
	uint32_t hello_second, hello_spent;
	/* handshakes from unknown addresses in the second `outside_second` */
	uint32_t outside_spent;
	uint32_t outside_second;
	struct rltp_mismatch mismatch; /* valid if `mismatched` */
	bool mismatched;
	struct rltp_endpoint_counters counters;
};

/* schedule.c.
 * - schedule_reserve: reserves memory for `sessions` heap entries; DXP_ENOMEM.
 * - schedule_at: sets the session's deadline; UINT64_MAX removes it.
 * - schedule_due: moves sessions whose deadline has passed to the ready queue.
 * - schedule_dequeue: removes the first session of the ready queue; NULL if it is empty. */
int schedule_reserve(struct schedule *q, uint32_t sessions);
void schedule_free(struct schedule *q);
void schedule_ready(struct schedule *q, struct rltp_session *s);
void schedule_at(struct schedule *q, struct rltp_session *s, uint64_t due_ns);
void schedule_due(struct schedule *q, uint64_t now_ns);
struct rltp_session *schedule_dequeue(struct schedule *q);
void schedule_forget(struct schedule *q, struct rltp_session *s);
uint64_t schedule_deadline(const struct schedule *q);

/* endpoint.c: returns the peer that sends frames with the node id `node` from this address, or
 * NULL. */
struct rltp_session *endpoint_peer_at(struct rltp_endpoint *e, uint16_t node,
				      const struct udp_address *from);

/* handshake.c. endpoint_authenticate: computes the keyed hash of `text` with the fabric key.
 * endpoint_tags_equal: compares in constant time. */
void endpoint_authenticate(const struct rltp_endpoint *e, const uint8_t *text, size_t bytes,
			   uint8_t tag[WIRE_TAG_BYTES]);
bool endpoint_tags_equal(const uint8_t a[WIRE_TAG_BYTES], const uint8_t b[WIRE_TAG_BYTES]);

/* protect.c: seals `count` datagrams. Drops those that cannot be sealed, and returns how many
 * remain. */
size_t protect_seal(struct rltp_session *s, struct datagram *out, size_t count);
/* protect.c: opens a sealed frame of an open session and completes its header. If the frame must be
 * dropped, counts the reason and returns false. */
bool protect_open(struct rltp_endpoint *e, struct rltp_session *s, struct wire_header *h,
		  const struct datagram_arrival *a, struct datagram_arrival *opened);

/* reject.c. reject_frame: queues a REJECT for a sealed frame of an unknown session. reject_hello:
 * queues a REJECT for a HELLO that offers other protection than `own`. */
void reject_frame(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct datagram_arrival *a);
void reject_hello(struct rltp_endpoint *e, const struct wire_header *h,
		  const struct wire_hello *hello, uint8_t own, const struct udp_address *from);
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
/* Returns the protection (enum wire_protect) that a session with the peer at its current address
 * needs. */
uint8_t handshake_protection(const struct rltp_endpoint *e, const struct rltp_session *s);

/* reset.c: RESET and BYE packets. */
void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct udp_address *from);
void reset_receive(struct rltp_endpoint *e, const struct wire_header *h,
		   const struct datagram_arrival *a);
size_t resets_send(struct rltp_endpoint *e, struct datagram *out, size_t count, uint64_t now_ns);
size_t reset_bye_send(struct rltp_endpoint *e, struct rltp_session *s, struct datagram *out,
		      size_t count, uint64_t now_ns);
void reset_bye_receive(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		       const uint8_t *body);

#endif
