/* SPDX-License-Identifier: BSD-3-Clause */
/* All sessions of one NIC: who the peers are, the greeting (HELLO, HELLO_ACK) that opens a session
 * in one round trip when something is first posted to a peer, and the stateless answer (RESET) to
 * packets of sessions that are gone.
 *
 * A peer is known by its node id; its address and incarnation come from the node table through
 * rltp_endpoint_peer. Greetings of unknown nodes are counted and ignored. Single-threaded, like
 * everything here. */
#ifndef RLTP_ENDPOINT_H
#define RLTP_ENDPOINT_H

#include "rltp/session.h"

struct rltp_endpoint_options {
	uint16_t node;        /* own id; WIRE_NODE_NONE until known (rltp_endpoint_node sets it) */
	uint64_t incarnation; /* of this process: larger than any before */
	uint8_t uuid[16];
	uint32_t window_packets;  /* most packets in flight per session, 1 .. RLTP_WINDOW_MAX; 0:
				     RLTP_WINDOW_DEFAULT */
	uint32_t receive_packets; /* of the longest kind that the link's buffer holds: shared by the
				     sessions that are awake; 0: each peer may have
				     window_packets in flight */
	bool payload_crc;
	struct rltp_tuning tuning;
	uint16_t nap_credit; /* NAPs that each of our queue pairs takes before a grant */
	const struct rltp_user_ops *ops;
	void *user;
	/* Random numbers for first packet numbers and session ids. */
	void (*entropy)(void *context, void *out, uint64_t bytes);
	void *entropy_context;
	/* The token that proves a RESET of session `id` comes from this node, also after a restart:
	 * a keyed hash of the id. */
	uint64_t (*token)(void *context, uint32_t id);
	void *token_context;
	/* The tag of a greeting: a keyed hash of `bytes` bytes at `frame`. NULL: greetings carry
	 * zeros and prove nothing, for nodes without a fabric key. */
	void (*authenticate)(void *context, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
};

/* Frames that reached no session, by reason. All counts wrap. */
struct rltp_endpoint_counters {
	uint64_t malformed;  /* did not parse */
	uint64_t corrupt;    /* checksum wrong */
	uint64_t not_for_us; /* another node's id */
	uint64_t unknown_session;
	uint64_t unknown_peer;  /* greeting of a node that is not in the table, or not from there */
	uint64_t wrong_address; /* a session's frame from another address than the table's */
	uint64_t stale;         /* of an earlier incarnation or session */
	uint64_t unauthentic;   /* greeting whose tag is not the fabric key's */
	uint64_t flooded;       /* greeting above RLTP_GREETINGS_PER_S: not looked at */
	uint64_t resets_sent, resets_taken, resets_refused;
	uint64_t hellos_sent, hellos_received;
	uint64_t byes_sent, byes_taken, byes_refused;
};

struct rltp_endpoint;

int rltp_endpoint_create(const struct rltp_endpoint_options *options, struct rltp_endpoint **out);
void rltp_endpoint_destroy(
	struct rltp_endpoint *e); /* does not call ops->done: the owner is going too */

void rltp_endpoint_node(struct rltp_endpoint *e, uint16_t node);

/* Adds a peer or updates it. `payload_bytes` is what the path carries as far as our interface
 * tells, `incarnation` 0 when not known. A larger incarnation than the session's fails the session
 * with DXP_EPEERRESET. The same one at another address has moved: its session goes on there.
 * DXP_ENOMEM; DXP_EINVAL for our own id. */
struct rltp_peer_info {
	uint16_t node;
	struct wire_address address;
	uint64_t incarnation;
	uint16_t payload_bytes;
	uint64_t patience_ns; /* silence that its session survives; less than RLTP_DEAD_NS, 0 among
				 them: RLTP_DEAD_NS */
};
int rltp_endpoint_peer(struct rltp_endpoint *e, const struct rltp_peer_info *peer, uint64_t now_ns);

/* Fails the session with a peer, which stays a peer: the next message, or its greeting, opens a new
 * one. It learns of the end when it sends a packet of this one. */
void rltp_endpoint_fail(struct rltp_endpoint *e, uint16_t node, int status);

/* The next peer whose open session has ended since this was asked, and how; false when there is
 * none. Its owner may have lost what was never under way: a session that rested, too, is over. */
bool rltp_endpoint_ended(struct rltp_endpoint *e, uint16_t *node, int *status);

/* The peer is gone: fails its session with `status` and forgets it. */
void rltp_endpoint_peer_lost(struct rltp_endpoint *e, uint16_t node, int status);

/* The session with a peer, or NULL when the node is not a peer. It stays valid until the peer is
 * lost. */
struct rltp_session *rltp_endpoint_session(struct rltp_endpoint *e, uint16_t node);

/* Queues a message for a peer's session; greets the peer first when need be. DXP_ENOMEM: it is not
 * queued. */
int rltp_endpoint_post(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
		       uint64_t now_ns);

/* What rltp_session_cancel does, and the session is looked after. */
void rltp_endpoint_cancel(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
			  int status);

/* What rltp_session_accept and rltp_session_refuse do, likewise. */
void rltp_endpoint_accept(struct rltp_endpoint *e, struct rltp_session *s, uint32_t psn,
			  uint32_t payload_bytes, uint64_t now_ns);
void rltp_endpoint_refuse(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_nack_body *nack);

/* Takes one datagram. DXP_OK also for what is counted and dropped; DXP_EMALFORMED and DXP_EIO as
 * wire_header_decode; DXP_EUNSUPPORTED for management frames, which are not ours. */
int rltp_endpoint_receive(struct rltp_endpoint *e, const struct link_arrival *arrival,
			  uint64_t now_ns);

size_t rltp_endpoint_send(struct rltp_endpoint *e, struct link_datagram *out, size_t count,
			  uint64_t now_ns);
uint64_t rltp_endpoint_deadline(const struct rltp_endpoint *e);

/* Ends every session with DXP_ECLOSED and has each open one told so, once, by the next calls of
 * rltp_endpoint_send. The peers' work with us ends at once, and not after silence. */
void rltp_endpoint_close(struct rltp_endpoint *e);

/* How full the link's receive buffer is, 0 .. 31: the peers learn it by acknowledgements. */
void rltp_endpoint_level(struct rltp_endpoint *e, uint8_t level);

const struct rltp_endpoint_counters *rltp_endpoint_counters(const struct rltp_endpoint *e);

/* What rltp_session_grant and rltp_session_want do, and the session is looked after. */
void rltp_endpoint_call(struct rltp_endpoint *e, struct rltp_session *s,
			const struct wire_nack_body *nack);
void rltp_endpoint_grant(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void rltp_endpoint_want(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);

/* What rltp_session_watch does, likewise. */
bool rltp_endpoint_watch(struct rltp_endpoint *e, struct rltp_session *s, bool on,
			 uint64_t since_ns, uint64_t now_ns);

/* The share of a channel, 1 .. 64, of what this endpoint sends, whomever to. */
void rltp_endpoint_weight(struct rltp_endpoint *e, uint32_t channel, uint32_t weight);

/* New packets of a channel leave as this bucket allows; NULL: no limit. It stays the caller's, who
 * may change its rate at any time; then rltp_endpoint_send has to be called again. */
void rltp_endpoint_limit(struct rltp_endpoint *e, uint32_t channel, struct bucket *limit);

/* Calls `visit` for each session that exists. */
void rltp_endpoint_sessions(struct rltp_endpoint *e,
			    void (*visit)(void *context, struct rltp_session *s), void *context);

#endif
