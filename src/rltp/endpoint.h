/* SPDX-License-Identifier: BSD-3-Clause */
/* All sessions of one NIC: the table of peers, and the handshake (HELLO, HELLO_ACK). Packets of
 * closed sessions are answered with RESET, or with REJECT if they are sealed, without any state.
 *
 * A node id identifies a peer, whose address and incarnation come from the node table through
 * rltp_endpoint_peer. Handshakes of unknown nodes are counted and ignored, unless the owner's
 * policy admits their address, which then identifies the peer.
 *
 * Single-threaded, like all of RLTP. */
#ifndef RLTP_ENDPOINT_H
#define RLTP_ENDPOINT_H

#include "base/bucket.h"
#include "rltp/protect.h"
#include "rltp/session.h"

/* Keys of handshakes. While the fabric key changes there are two: the peer may have only one. */
enum rltp_key {
	RLTP_KEY_SEND,    /* of frames that answer nothing: the present or the former key */
	RLTP_KEY_PRESENT, /* accepted always */
	RLTP_KEY_FORMER   /* accepted while it exists */
};

struct rltp_endpoint_options {
	uint16_t node;        /* WIRE_NODE_NONE until rltp_endpoint_node */
	uint64_t incarnation; /* grows with each start */
	uint8_t uuid[16];
	/* packets in flight per session, 1 .. WIRE_WINDOW_MAX; 0: RLTP_WINDOW_DEFAULT */
	uint32_t window_packets;
	/* Packets of maximum size that the link's receive buffer holds for all active sessions. 0:
	 * each peer may have window_packets in flight. */
	uint32_t receive_packets;
	/* the same number as in struct wire_hello; 0: unknown */
	uint64_t machine;
	/* Returns bits of enum rltp_path. `same_machine`: the peer's handshake states the same
	 * `machine`. NULL: no path has any. */
	uint8_t (*path)(void *context, const struct udp_address *peer, bool same_machine);
	void *path_context;
	bool long_frames; /* the link delivers long frames; peers may send them */
	struct rltp_tuning tuning;
	uint16_t nap_credit; /* NAPs per queue pair that a peer may send before a grant */
	const struct rltp_user_ops *ops;
	void *user;
	/* for packet numbers and session ids */
	void (*entropy)(void *context, void *out, uint64_t bytes);
	void *entropy_context;
	/* Returns the proof that a RESET of session `id` comes from this node: a hash of the id,
	 * the same after a restart. */
	uint64_t (*token)(void *context, uint32_t id);
	void *token_context;
	/* Hashes `frame` by one of the fabric keys. False: no such key. NULL: no fabric key, so
	 * tags are zero and unchecked. */
	bool (*authenticate)(void *context, enum rltp_key key, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	/* Policy for handshakes from unknown addresses; `user` is the context. outside_admits: may
	 * a node there become a peer? NULL: no. outside_add adds it after its handshake proved the
	 * fabric key; NULL: no space. */
	bool (*outside_admits)(void *user, const struct udp_address *from);
	struct rltp_session *(*outside_add)(void *user, const struct udp_address *from);
	/* Returns the protection that sessions with this address need, enum wire_protect; any needs
	 * `seal`. NULL: none. */
	uint8_t (*protect)(void *context, const struct udp_address *peer);
	void *protect_context;
	const struct rltp_seal_ops *seal;
	void *seal_context;
};

/* Frames by reason; all wrap. */
struct rltp_endpoint_counters {
	uint64_t malformed;
	uint64_t corrupt;
	uint64_t not_for_us; /* dst_node is another node */
	uint64_t unknown_session;
	/* from a node or address that neither table nor policy admits */
	uint64_t unknown_peer;
	uint64_t wrong_address; /* another address than the peer's */
	/* of an earlier incarnation or session */
	uint64_t stale;
	uint64_t unauthentic;
	uint64_t flooded; /* HELLO above a limit; dropped */
	/* accepted: answered this side's HELLO */
	uint64_t cookies_sent, cookies_accepted, cookies_refused;
	uint64_t cookie_hellos; /* checked above a limit, by their cookie */
	uint64_t cookie_wrong;  /* above a limit, with a wrong or old cookie */
	uint64_t resets_sent, resets_accepted, resets_refused;
	uint64_t hellos_sent, hellos_received;
	uint64_t byes_sent, byes_accepted, byes_rejected;
	uint64_t seal_wrong;
	uint64_t seal_replayed; /* arrived before, or too old */
	uint64_t unsealed;      /* in a session with protection */
	/* handshake with other protection than required */
	uint64_t other_protection;
	uint64_t rejects_sent, rejects_accepted, rejects_refused;
};

/* A peer that requires other protection than this node. */
struct rltp_mismatch {
	uint16_t node;
	uint8_t own, peer; /* enum wire_protect */
};

struct rltp_endpoint;

int rltp_endpoint_create(const struct rltp_endpoint_options *options, struct rltp_endpoint **out);
/* Frees the sessions without ops->done: the owner of the messages is destroyed too. */
void rltp_endpoint_destroy(struct rltp_endpoint *e);

void rltp_endpoint_node(struct rltp_endpoint *e, uint16_t node);

/* Calls `path` of the options again for each open session, after this node's address has changed.
 */
void rltp_endpoint_moved(struct rltp_endpoint *e, uint64_t now_ns);

/* Adds or updates a peer. `payload_bytes` is what the local interface carries; `incarnation` is 0
 * if unknown. A larger incarnation fails an open session with DXP_EPEERRESET. With only another
 * address, the session continues there. DXP_ENOMEM; DXP_EINVAL: the id of this node. */
int rltp_endpoint_peer(struct rltp_endpoint *e, const struct rltp_peer_info *peer, uint64_t now_ns);

/* Closes the session with `status`; the peer stays. The next message or the peer's handshake opens
 * a new one. Packets of the old session get RESET, or REJECT if sealed. */
void rltp_endpoint_fail(struct rltp_endpoint *e, uint16_t node, int status);

/* Returns the next peer whose open session has closed since the last call. False: none. */
bool rltp_endpoint_ended(struct rltp_endpoint *e, uint16_t *node, int *status);

/* True: since the last call, a handshake failed because both sides require different protection;
 * *out is the last one. */
bool rltp_endpoint_mismatch(struct rltp_endpoint *e, struct rltp_mismatch *out);

void rltp_endpoint_peer_lost(struct rltp_endpoint *e, uint16_t node, int status);

/* NULL: none. Valid until the peer is removed. */
struct rltp_session *rltp_endpoint_session(struct rltp_endpoint *e, uint16_t node);

/* Returns the peer at this address that is not in the node table, or NULL. */
struct rltp_session *rltp_endpoint_outside(struct rltp_endpoint *e, const struct udp_address *at);

/* Queues a message, and starts the handshake if necessary. DXP_ENOMEM: not queued. */
int rltp_endpoint_post(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
		       uint64_t now_ns);

/* The next three call the function of the session, and schedule it. */
void rltp_endpoint_cancel(struct rltp_endpoint *e, struct rltp_session *s, struct rltp_message *m,
			  int status);

void rltp_endpoint_accept(struct rltp_endpoint *e, struct rltp_session *s, uint32_t psn,
			  uint32_t payload_bytes, uint64_t now_ns);
void rltp_endpoint_refuse(struct rltp_endpoint *e, struct rltp_session *s,
			  const struct wire_nack_body *nack);

/* DXP_OK also if the datagram is dropped and counted. DXP_EMALFORMED, DXP_EIO: see
 * wire_header_decode. DXP_EUNSUPPORTED: a management frame. */
int rltp_endpoint_receive(struct rltp_endpoint *e, const struct datagram_arrival *arrival,
			  uint64_t now_ns);

/* Writes up to `count` due datagrams, valid until the next call; returns their number. */
size_t rltp_endpoint_send(struct rltp_endpoint *e, struct datagram *out, size_t count,
			  uint64_t now_ns);
uint64_t rltp_endpoint_deadline(const struct rltp_endpoint *e);

/* Closes every session with DXP_ECLOSED. The next rltp_endpoint_send returns a BYE for each open
 * one. */
void rltp_endpoint_close(struct rltp_endpoint *e);

/* Sets the fill level of the link's receive buffer, 0 .. 31, for acknowledgements. */
void rltp_endpoint_level(struct rltp_endpoint *e, uint8_t level);

const struct rltp_endpoint_counters *rltp_endpoint_counters(const struct rltp_endpoint *e);

/* The next four call the function of the session, and schedule it. */
void rltp_endpoint_call(struct rltp_endpoint *e, struct rltp_session *s,
			const struct wire_nack_body *nack);
void rltp_endpoint_grant(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void rltp_endpoint_want(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);

bool rltp_endpoint_watch(struct rltp_endpoint *e, struct rltp_session *s, bool on,
			 uint64_t since_ns, uint64_t now_ns);

/* Sets a channel's share of the sent bytes, 1 .. 64. */
void rltp_endpoint_weight(struct rltp_endpoint *e, uint32_t channel, uint32_t weight);

void rltp_endpoint_priority(struct rltp_endpoint *e, uint32_t channel, bool high);

/* Limits new packets of a channel; NULL: no limit. The caller owns the bucket. After a change of
 * its rate, call rltp_endpoint_send. */
void rltp_endpoint_limit(struct rltp_endpoint *e, uint32_t channel, struct bucket *limit);

void rltp_endpoint_sessions(struct rltp_endpoint *e,
			    void (*visit)(void *context, struct rltp_session *s), void *context);

#endif
