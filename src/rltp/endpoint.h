/* SPDX-License-Identifier: BSD-3-Clause */
/* All sessions of one NIC: the table of peers, and the handshake (HELLO, HELLO_ACK) that opens a
 * session in one round trip at the first post to a peer. Answers packets of closed sessions with
 * RESET, without state.
 *
 * A node id identifies a peer. Its address and incarnation come from the node table through
 * rltp_endpoint_peer. Handshakes of unknown nodes are counted and ignored, unless the owner's
 * policy admits their address; the address identifies such a peer. Single-threaded, like all of
 * RLTP.
 */
#ifndef RLTP_ENDPOINT_H
#define RLTP_ENDPOINT_H

#include "base/bucket.h"
#include "rltp/protect.h"
#include "rltp/session.h"

struct rltp_endpoint_options {
	uint16_t node;        /* id of this node; WIRE_NODE_NONE until rltp_endpoint_node sets it */
	uint64_t incarnation; /* grows with each start of this process */
	uint8_t uuid[16];
	/* Most packets in flight per session, 1 .. WIRE_WINDOW_MAX; 0: RLTP_WINDOW_DEFAULT. */
	uint32_t window_packets;
	/* Packets of maximum size that the link's buffer holds; the active sessions share it. 0:
	 * each peer may have window_packets in flight. */
	uint32_t receive_packets;
	bool payload_crc;
	struct rltp_tuning tuning;
	uint16_t nap_credit; /* NAPs per local queue pair that a peer may send before a grant */
	const struct rltp_user_ops *ops;
	void *user;
	/* Fills `out` with random bytes for packet numbers and session ids. */
	void (*entropy)(void *context, void *out, uint64_t bytes);
	void *entropy_context;
	/* Returns the token that proves that a RESET of session `id` comes from this node: a keyed
	 * hash of the id. It must be the same after a restart. */
	uint64_t (*token)(void *context, uint32_t id);
	void *token_context;
	/* Computes the tag of a handshake packet: a keyed hash of `bytes` bytes at `frame`. NULL
	 * for nodes without a fabric key: then tags are zero and prove nothing. */
	void (*authenticate)(void *context, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	/* Policy for handshakes from addresses that no peer has, with `user` as context.
	 * outside_admits: returns whether a node there may become a peer. outside_add: adds this
	 * peer, after its handshake proved the fabric key; NULL: no space. NULL: such handshakes
	 * are rejected. */
	bool (*outside_admits)(void *user, const struct udp_address *from);
	struct rltp_session *(*outside_add)(void *user, const struct udp_address *from);
	/* Returns the protection that sessions with a peer at this address must have: enum
	 * wire_protect. NULL: none. Anything else needs `seal`. */
	uint8_t (*protect)(void *context, const struct udp_address *peer);
	void *protect_context;
	const struct rltp_seal_ops *seal;
	void *seal_context;
};

/* Counts of frames by reason; all wrap. */
struct rltp_endpoint_counters {
	uint64_t malformed;  /* failed to decode */
	uint64_t corrupt;    /* wrong checksum */
	uint64_t not_for_us; /* dst_node is another node */
	uint64_t unknown_session;
	/* handshake from a node or address that is not in the table, nor admitted outside of it */
	uint64_t unknown_peer;
	uint64_t wrong_address; /* frame from an address that is not the peer's */
	uint64_t stale;         /* frame of an earlier incarnation or session */
	uint64_t unauthentic;   /* handshake whose tag does not match the fabric key */
	uint64_t flooded;       /* handshake above RLTP_HANDSHAKES_PER_S; dropped */
	uint64_t resets_sent, resets_accepted, resets_refused;
	uint64_t hellos_sent, hellos_received;
	uint64_t byes_sent, byes_accepted, byes_rejected;
	uint64_t seal_wrong;       /* sealed frame whose tag is wrong */
	uint64_t seal_replayed;    /* sealed frame that arrived before, or is too old */
	uint64_t unsealed;         /* frame without a tag, of a session that has protection */
	uint64_t other_protection; /* handshake with another protection than required here */
	uint64_t rejects_sent, rejects_accepted, rejects_refused;
};

/* A peer that requires another protection of its sessions. */
struct rltp_mismatch {
	uint16_t node;
	uint8_t own, peer; /* enum wire_protect */
};

struct rltp_endpoint;

int rltp_endpoint_create(const struct rltp_endpoint_options *options, struct rltp_endpoint **out);
/* Frees everything. Does not call ops->done, because the owner is destroyed too. */
void rltp_endpoint_destroy(struct rltp_endpoint *e);

void rltp_endpoint_node(struct rltp_endpoint *e, uint16_t node);

/* Adds or updates a peer. `payload_bytes`: what the local interface carries. `incarnation`: 0 if
 * unknown. A larger incarnation than before fails the session with DXP_EPEERRESET. The same
 * incarnation at another address continues the session there. DXP_ENOMEM; DXP_EINVAL: it is the id
 * of this node. */
int rltp_endpoint_peer(struct rltp_endpoint *e, const struct rltp_peer_info *peer, uint64_t now_ns);

/* Fails the session with a peer and keeps the peer. The next message, or the peer's handshake,
 * opens a new session. The peer's next packet is answered with RESET. */
void rltp_endpoint_fail(struct rltp_endpoint *e, uint16_t node, int status);

/* Returns the next peer whose open session has closed since the last call, with the status; false:
 * none. Includes idle sessions, because the caller may hold state of the peer. */
bool rltp_endpoint_ended(struct rltp_endpoint *e, uint16_t *node, int *status);

/* Returns the last handshake that failed because the two sides require different protection, once;
 * false: none since the last call. */
bool rltp_endpoint_mismatch(struct rltp_endpoint *e, struct rltp_mismatch *out);

/* Removes a peer: fails its session with `status` and frees it. */
void rltp_endpoint_peer_lost(struct rltp_endpoint *e, uint16_t node, int status);

/* Returns the session of a peer, or NULL. It stays valid until the peer is removed. */
struct rltp_session *rltp_endpoint_session(struct rltp_endpoint *e, uint16_t node);

/* Returns the session of the peer outside of the node table at this address, or NULL. */
struct rltp_session *rltp_endpoint_outside(struct rltp_endpoint *e, const struct udp_address *at);

/* Queues a message. Starts the handshake if necessary. DXP_ENOMEM: not queued. */
int rltp_endpoint_post(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
		       uint64_t now_ns);

/* Calls rltp_session_cancel and schedules the session. */
void rltp_endpoint_cancel(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
			  int status);

/* Call rltp_session_accept or rltp_session_reject, and schedule the session. */
void rltp_endpoint_accept(struct rltp_endpoint *e, struct rltp_session *s, uint32_t psn,
			  uint32_t payload_bytes, uint64_t now_ns);
void rltp_endpoint_refuse(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_nack_body *nack);

/* Processes one datagram. DXP_OK also if it is counted and dropped; DXP_EMALFORMED and DXP_EIO as
 * wire_header_decode; DXP_EUNSUPPORTED for management frames. */
int rltp_endpoint_receive(struct rltp_endpoint *e, const struct datagram_arrival *arrival,
			  uint64_t now_ns);

/* Fills `out` with up to `count` due datagrams; returns their number. They are valid until the next
 * call. */
size_t rltp_endpoint_send(struct rltp_endpoint *e, struct datagram *out, size_t count,
			  uint64_t now_ns);
uint64_t rltp_endpoint_deadline(const struct rltp_endpoint *e);

/* Fails every session with DXP_ECLOSED. The next rltp_endpoint_send sends each open peer a BYE, so
 * that peers need not wait for a timeout. */
void rltp_endpoint_close(struct rltp_endpoint *e);

/* Sets the fill level of the link's receive buffer, 0 .. 31. Acknowledgements carry it to the
 * peers. */
void rltp_endpoint_level(struct rltp_endpoint *e, uint8_t level);

const struct rltp_endpoint_counters *rltp_endpoint_counters(const struct rltp_endpoint *e);

/* Call rltp_session_call, rltp_session_grant or rltp_session_want, and schedule the session. */
void rltp_endpoint_call(struct rltp_endpoint *e, struct rltp_session *s,
			const struct wire_nack_body *nack);
void rltp_endpoint_grant(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void rltp_endpoint_want(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);

/* Calls rltp_session_watch and schedules the session. */
bool rltp_endpoint_watch(struct rltp_endpoint *e, struct rltp_session *s, bool on,
			 uint64_t since_ns, uint64_t now_ns);

/* Sets a channel's weight, 1 .. 64, for its share of all bytes that this endpoint sends. */
void rltp_endpoint_weight(struct rltp_endpoint *e, uint32_t channel, uint32_t weight);

/* Sets whether the channel is served before those without priority. Initially not. */
void rltp_endpoint_priority(struct rltp_endpoint *e, uint32_t channel, bool high);

/* Limits new packets of a channel by a bucket; NULL: no limit. The caller owns the bucket. After
 * changing its rate, the caller must call rltp_endpoint_send. */
void rltp_endpoint_limit(struct rltp_endpoint *e, uint32_t channel, struct bucket *limit);

void rltp_endpoint_sessions(struct rltp_endpoint *e,
			    void (*visit)(void *context, struct rltp_session *s), void *context);

#endif
