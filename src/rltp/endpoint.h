/* SPDX-License-Identifier: BSD-3-Clause */
/* All sessions of one NIC: the table of peers, and the handshake (HELLO, HELLO_ACK). The first post
 * to a peer starts the handshake, which opens the session in one round trip. Packets of closed
 * sessions are answered with RESET, or with REJECT if they are sealed. No state of the closed
 * session is kept for this.
 *
 * A node id identifies a peer. The peer's address and incarnation come from the node table through
 * rltp_endpoint_peer. Handshakes of unknown nodes are counted and ignored, unless the owner's
 * policy admits their address. A peer that the policy admits is identified by its address.
 *
 * Single-threaded, like all of RLTP. */
#ifndef RLTP_ENDPOINT_H
#define RLTP_ENDPOINT_H

#include "base/bucket.h"
#include "rltp/protect.h"
#include "rltp/session.h"

struct rltp_endpoint_options {
	uint16_t node;        /* id of this node; WIRE_NODE_NONE until rltp_endpoint_node sets it */
	uint64_t incarnation; /* grows with each start of this process */
	uint8_t uuid[16];
	/* Maximum number of packets in flight per session, 1 .. WIRE_WINDOW_MAX; 0:
	 * RLTP_WINDOW_DEFAULT. */
	uint32_t window_packets;
	/* How many packets of maximum size fit into the link's receive buffer; the active sessions
	 * share it. 0: each peer may have window_packets in flight. */
	uint32_t receive_packets;
	bool payload_crc;
	struct rltp_tuning tuning;
	uint16_t nap_credit; /* NAPs per local queue pair that a peer may send before a grant */
	const struct rltp_user_ops *ops;
	void *user;
	/* Fills `out` with random bytes for packet numbers and session ids. */
	void (*entropy)(void *context, void *out, uint64_t bytes);
	void *entropy_context;
	/* Returns the token that proves that a RESET of session `id` comes from this node. The
	 * token is a keyed hash of the id. It must be the same after a restart. */
	uint64_t (*token)(void *context, uint32_t id);
	void *token_context;
	/* Computes the tag of a handshake packet: a keyed hash of `bytes` bytes at `frame`. NULL:
	 * this node has no fabric key, so tags are zero and are not checked. */
	void (*authenticate)(void *context, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	/* Policy for handshakes from an address that belongs to no peer; `user` is the context.
	 *
	 * outside_admits: returns true if a node at this address may become a peer. NULL: such
	 * handshakes are rejected. outside_add: adds the peer after its handshake proved the fabric
	 * key; returns NULL if there is no space. */
	bool (*outside_admits)(void *user, const struct udp_address *from);
	struct rltp_session *(*outside_add)(void *user, const struct udp_address *from);
	/* Returns the protection that sessions with a peer at this address must have, enum
	 * wire_protect. NULL: no protection. If it returns any protection, `seal` must be set. */
	uint8_t (*protect)(void *context, const struct udp_address *peer);
	void *protect_context;
	const struct rltp_seal_ops *seal;
	void *seal_context;
};

/* Counts of frames by reason; all wrap around. */
struct rltp_endpoint_counters {
	uint64_t malformed;  /* failed to decode */
	uint64_t corrupt;    /* wrong checksum */
	uint64_t not_for_us; /* dst_node is another node */
	uint64_t unknown_session;
	/* handshake from a node or address that is not in the table and that the policy does not
	 * admit */
	uint64_t unknown_peer;
	uint64_t wrong_address; /* frame from an address other than the peer's */
	/* frame of an earlier incarnation of the peer, or of an earlier session */
	uint64_t stale;
	uint64_t unauthentic; /* handshake whose tag does not match the fabric key */
	uint64_t flooded;     /* handshake above one of the limits RLTP_HANDSHAKES_...; dropped */
	uint64_t resets_sent, resets_accepted, resets_refused;
	uint64_t hellos_sent, hellos_received;
	uint64_t byes_sent, byes_accepted, byes_rejected;
	uint64_t seal_wrong;    /* sealed frame whose tag is wrong */
	uint64_t seal_replayed; /* sealed frame that arrived before, or is too old */
	uint64_t unsealed;      /* frame without a tag, in a session that has protection */
	/* handshake that offers other protection than this node requires */
	uint64_t other_protection;
	uint64_t rejects_sent, rejects_accepted, rejects_refused;
};

/* A peer that requires other protection of its sessions than this node. */
struct rltp_mismatch {
	uint16_t node;
	uint8_t own, peer; /* protection that each side requires, enum wire_protect */
};

struct rltp_endpoint;

int rltp_endpoint_create(const struct rltp_endpoint_options *options, struct rltp_endpoint **out);
/* Frees the endpoint and its sessions. Does not call ops->done: the owner of the messages is
 * destroyed too. */
void rltp_endpoint_destroy(struct rltp_endpoint *e);

void rltp_endpoint_node(struct rltp_endpoint *e, uint16_t node);

/* Adds or updates a peer. `payload_bytes` of `peer` is the payload that the local interface
 * carries; `incarnation` is 0 if unknown. If the incarnation is larger than the one known before,
 * an open session fails with DXP_EPEERRESET. If only the address is another one, the session
 * continues there. DXP_ENOMEM; DXP_EINVAL: the id is the id of this node. */
int rltp_endpoint_peer(struct rltp_endpoint *e, const struct rltp_peer_info *peer, uint64_t now_ns);

/* Closes the session with a peer with `status`, and keeps the peer. A new session opens with the
 * next message to the peer, or with the peer's handshake. The peer's next packet of the old session
 * is answered with RESET, or with REJECT if it is sealed. */
void rltp_endpoint_fail(struct rltp_endpoint *e, uint16_t node, int status);

/* Returns true and the next peer whose open session has closed since the last call, with the
 * status. Returns false if there is none. It reports idle sessions too, because the caller may hold
 * state for that peer. */
bool rltp_endpoint_ended(struct rltp_endpoint *e, uint16_t *node, int *status);

/* Returns true if, since the last call, a handshake failed because the two sides require different
 * protection. *out describes the last one. */
bool rltp_endpoint_mismatch(struct rltp_endpoint *e, struct rltp_mismatch *out);

/* Removes a peer: closes its session with `status` and frees the session. */
void rltp_endpoint_peer_lost(struct rltp_endpoint *e, uint16_t node, int status);

/* Returns the session of a peer, or NULL. It stays valid until the peer is removed. */
struct rltp_session *rltp_endpoint_session(struct rltp_endpoint *e, uint16_t node);

/* Returns the session of the peer that is outside of the node table and has this address, or
 * NULL. */
struct rltp_session *rltp_endpoint_outside(struct rltp_endpoint *e, const struct udp_address *at);

/* Queues a message. Starts the handshake if necessary. DXP_ENOMEM: not queued. */
int rltp_endpoint_post(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
		       uint64_t now_ns);

/* Calls rltp_session_cancel and schedules the session. */
void rltp_endpoint_cancel(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
			  int status);

/* Call rltp_session_accept or rltp_session_reject, then schedule the session. */
void rltp_endpoint_accept(struct rltp_endpoint *e, struct rltp_session *s, uint32_t psn,
			  uint32_t payload_bytes, uint64_t now_ns);
void rltp_endpoint_refuse(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_nack_body *nack);

/* Processes one datagram. Returns DXP_OK also if the datagram is counted and dropped.
 * DXP_EMALFORMED and DXP_EIO: see wire_header_decode. DXP_EUNSUPPORTED: the frame is a management
 * frame. */
int rltp_endpoint_receive(struct rltp_endpoint *e, const struct datagram_arrival *arrival,
			  uint64_t now_ns);

/* Fills `out` with up to `count` due datagrams; returns their number. They are valid until the next
 * call. */
size_t rltp_endpoint_send(struct rltp_endpoint *e, struct datagram *out, size_t count,
			  uint64_t now_ns);
uint64_t rltp_endpoint_deadline(const struct rltp_endpoint *e);

/* Closes every session with DXP_ECLOSED. The next rltp_endpoint_send returns a BYE for each open
 * session, so that the peers need not wait for a timeout. */
void rltp_endpoint_close(struct rltp_endpoint *e);

/* Sets the fill level of the link's receive buffer, 0 .. 31. Acknowledgements carry this level to
 * the peers. */
void rltp_endpoint_level(struct rltp_endpoint *e, uint8_t level);

const struct rltp_endpoint_counters *rltp_endpoint_counters(const struct rltp_endpoint *e);

/* Call rltp_session_call, rltp_session_grant or rltp_session_want, then schedule the session. */
void rltp_endpoint_call(struct rltp_endpoint *e, struct rltp_session *s,
			const struct wire_nack_body *nack);
void rltp_endpoint_grant(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void rltp_endpoint_want(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);

/* Calls rltp_session_watch and schedules the session. */
bool rltp_endpoint_watch(struct rltp_endpoint *e, struct rltp_session *s, bool on,
			 uint64_t since_ns, uint64_t now_ns);

/* Sets a channel's weight, 1 .. 64. Channels share the bytes that this endpoint sends in proportion
 * to their weights. */
void rltp_endpoint_weight(struct rltp_endpoint *e, uint32_t channel, uint32_t weight);

/* Sets whether the channel has high priority. Initially it has not. */
void rltp_endpoint_priority(struct rltp_endpoint *e, uint32_t channel, bool high);

/* Limits the rate of new packets of a channel; NULL: no limit. The caller owns the bucket. After it
 * changes the bucket's rate, it must call rltp_endpoint_send. */
void rltp_endpoint_limit(struct rltp_endpoint *e, uint32_t channel, struct bucket *limit);

void rltp_endpoint_sessions(struct rltp_endpoint *e,
			    void (*visit)(void *context, struct rltp_session *s), void *context);

#endif
