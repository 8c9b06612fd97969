/* SPDX-License-Identifier: BSD-3-Clause */
/* One reliable session between two NICs. Its struct is private to src/rltp. It makes no system call
 * and reads no clock. It has memory for its queues only while it is active. Sources;
 * docs/reference/wire.md; docs/design/rltp.md "RLTP".
 *
 * The endpoint (endpoint.h) calls rltp_session_receive, _send, _sendable and _deadline to move
 * packets. It calls _wake, _rest, _open, _path, _away, _watch and _fail to change the state. The
 * layer above posts and cancels messages, answers packets and grants credit through the endpoint.
 * It calls the accessors and rltp_session_messages, _missing, _busy and _view directly.
 *
 * Packet numbers only serve to detect losses and duplicates; packets may arrive in any order. A
 * packet is acknowledged only after the layer above has placed it. */
#ifndef RLTP_SESSION_H
#define RLTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "rltp/limits.h"
#include "rltp/cc.h"
#include "rltp/message.h"

enum rltp_state { RLTP_IDLE, RLTP_HANDSHAKE, RLTP_OPEN };

/* Loss detection method; the value is sent on the wire. Only the first is for production; the
 * others are for comparison. */
enum rltp_recovery {
	RLTP_RACK, /* detects losses by echoed send times and by tail probes */
	/* retransmits each packet that is missing in the bitmap once; a further loss waits for the
	 * timeout */
	RLTP_IRN,
	RLTP_GBN_NAK, /* go-back-N: the receiver drops out-of-order packets and sends one NACK */
	RLTP_GBN_RTO, /* go-back-N, by timeout only */
	RLTP_RECOVERIES
};

/* Event counts, written by the session; all wrap around. */
struct rltp_counters {
	/* packets sent for the first time, and bytes of payload in them */
	uint64_t sent_packets, sent_bytes;
	/* packets received for the first time, and bytes of payload in them */
	uint64_t received_packets, received_bytes;
	/* packets of sent_packets that were acknowledged */
	uint64_t acked_packets;
	uint32_t abandoned_packets;     /* packets in flight when the session closed */
	uint32_t retransmitted_gap;     /* retransmitted because a later packet was acknowledged */
	uint32_t retransmitted_probe;   /* retransmitted as tail probes */
	uint32_t retransmitted_timeout; /* retransmitted after a timeout */
	uint32_t retransmitted_busy;    /* retransmitted because the receiver had no buffer */
	uint32_t spurious;              /* retransmissions of packets that had already arrived */
	uint32_t timeouts;              /* timeouts that declared all packets in flight lost */
	uint32_t duplicates;            /* arrivals of packets received before */
	uint32_t beyond_window;         /* arrivals outside the window; dropped */
	uint32_t out_of_order;          /* go-back-N: arrivals out of order; dropped */
	uint32_t refused;               /* packets that the layer above rejected */
	uint32_t held;                  /* NACKs received with code WIRE_NACK_HELD */
	uint32_t no_memory;             /* arrivals dropped for lack of memory */
	uint32_t marked;                /* arrivals with the mark "congestion experienced" */
	uint32_t acks_sent, acks_received, acks_bad, nacks_sent, nacks_received;
	uint32_t credits_sent, credits_received, credits_asked;
	uint32_t pings_sent;
	uint16_t probes_sent; /* path MTU probes */
	uint16_t black_holes; /* how often the path MTU shrank (black holes) */
};

/* Options of the sender. All zero is the recommended setting. */
struct rltp_tuning {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	bool no_pacing;
	uint64_t rto_min_ns; /* shortest timeout; 0: default of the method `recovery` */
};

/* Snapshot of a session for display. Times in ns; 0: no sample yet. */
struct rltp_view {
	uint16_t node;
	uint8_t state;
	uint16_t unit;             /* payload bytes per packet */
	uint32_t window, inflight; /* both in packets */
	/* packets to retransmit now; packets that wait to be retransmitted later */
	uint32_t lost, waiting;
	uint32_t window_fine; /* congestion window, 1/256 packets */
	uint32_t peer_window;
	uint32_t srtt_ns, min_rtt_ns, delay_ns, min_delay_ns, reorder_window_ns;
	uint8_t protect; /* enum wire_protect of the open session */
	/* largest payload that both sides accept; `unit` is the payload that the path carries */
	uint16_t agreed;
	bool searching;    /* a search for the path MTU is in progress: `unit` may grow */
	uint64_t pace_bps; /* pace in bytes per second; UINT64_MAX: not paced */
	struct rltp_counters counters;
};

/* A peer of the endpoint. rltp_endpoint_peer describes the fields. */
struct rltp_peer_info {
	uint16_t node;
	struct udp_address address;
	uint64_t incarnation;
	uint16_t payload_bytes;
	/* Silence after which the peer's session is closed, in ns; at least RLTP_DEAD_NS. */
	uint64_t patience_ns;
	/* True: the peer is not in the node table, and its own id is unknown. So its address
	 * identifies it. `node` is then a number of this endpoint only, WIRE_NODE_OUTSIDE or
	 * higher. */
	bool outside;
};

struct rltp_session;
struct rltp_shared;

/* Returns the values that the last rltp_endpoint_peer set. */
struct rltp_peer_info rltp_session_peer(const struct rltp_session *s);
const struct udp_address *rltp_session_address(const struct rltp_session *s);
bool rltp_session_is_outside(const struct rltp_session *s);
/* Returns true from the handshake until the session closes. */
bool rltp_session_is_open(const struct rltp_session *s);
/* Returns true while the session has memory for its queues. */
bool rltp_session_is_active(const struct rltp_session *s);
/* Returns how many NAPs each queue pair of the peer accepts before a grant. Valid while the session
 * is open. */
uint16_t rltp_session_credit(const struct rltp_session *s);
/* Returns the time of the last good frame. If the peer's silence counts only from a later time,
 * returns that time. */
uint64_t rltp_session_received_ns(const struct rltp_session *s);
bool rltp_session_is_watched(const struct rltp_session *s);
const struct rltp_counters *rltp_session_counters(const struct rltp_session *s);
/* The owner is a pointer of the layer above; initially NULL. */
void *rltp_session_owner(const struct rltp_session *s);
void rltp_session_owner_set(struct rltp_session *s, void *owner);

/* Notes that the layer above waits for an answer, until rltp_session_answered. During this time,
 * silence of the peer closes the session. If there is no other outstanding work, the silence counts
 * from now. */
void rltp_session_await(struct rltp_session *s, uint64_t now_ns);
void rltp_session_answered(struct rltp_session *s);

/* Notes that the layer above has received an incomplete message, until rltp_session_released.
 * During this time, silence of the peer closes the session, but later than if an answer is
 * awaited. */
void rltp_session_held(struct rltp_session *s);
void rltp_session_released(struct rltp_session *s);

/* Creates a session in state RLTP_IDLE. The endpoint starts the handshake at the first post.
 * DXP_ENOMEM. */
int rltp_session_create(struct rltp_shared *shared, uint16_t node, struct rltp_session **out);
void rltp_session_destroy(struct rltp_session *s);

/* Allocates the state of an active session. If the session is active already, marks it as used.
 * DXP_ENOMEM. */
int rltp_session_wake(struct rltp_session *s, uint64_t now_ns);

/* Frees the state of an active session after RLTP_REST_NS without work. Returns true if the session
 * is idle now. */
bool rltp_session_rest(struct rltp_session *s, uint64_t now_ns);

/* Queues a message. RLTP owns it until ops->done. The caller bounds the number of its outstanding
 * messages. DXP_ENOMEM: not queued. */
int rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns);

/* Cancels a message. Its payload is not read any more; ops->fill is still called for its header.
 * When the peer has acknowledged the cancellation, ops->done is called with `status`, even if the
 * whole message arrived. If the message has failed before, its first status stays. */
void rltp_session_cancel(struct rltp_session *s, struct rltp_message *m, int status);

/* Accepts a packet for which ops->deliver returned WIRE_NACK_HELD: counts it and acknowledges it at
 * once. `payload_bytes` is its length. Does nothing if a retransmission of the packet was accepted
 * before. */
void rltp_session_accept(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes,
			 uint64_t now_ns);

/* Rejects for good a packet for which ops->deliver returned WIRE_NACK_HELD; sends a NACK at once.
 * If the peer retransmits the packet, the layer above must reject it again. Does nothing if the
 * packet was accepted before. */
void rltp_session_reject(struct rltp_session *s, const struct wire_nack_body *nack);

/* Grants packets to a blocked message by one NACK with code WIRE_NACK_WAIT. This NACK may be lost,
 * so the caller must repeat the grant. */
void rltp_session_call(struct rltp_session *s, const struct wire_nack_body *nack);

/* Returns how many packets before `psn` are not accepted yet. `psn` must be in the window. */
uint32_t rltp_session_missing(const struct rltp_session *s, uint32_t psn);

/* Calls `visit` for each message that RLTP owns, possibly several times per message. `visit` may
 * cancel the message. */
void rltp_session_messages(struct rltp_session *s,
			   void (*visit)(void *context, struct rltp_message *m), void *context);

/* Notes that ops->grants has new limits to send. */
void rltp_session_grant(struct rltp_session *s, uint64_t now_ns);

/* Starts requests for NAP credit, which are repeated until ops->wants returns 0. */
void rltp_session_want(struct rltp_session *s, uint64_t now_ns);

/* Opens an active session. The packet numbers of both sides start with the numbers in the
 * handshake. */
void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns);

/* Sets the payload that the local interface carries. If `another` is true, the network changed, so
 * the path MTU is unknown. New messages then use smaller packets until probes succeed. Messages
 * that were already split into longer packets complete with DXP_EPATH. */
void rltp_session_path(struct rltp_session *s, uint16_t payload_bytes, bool another,
		       uint64_t now_ns);

/* Processes one decoded frame of an open session. `arrival` holds the sender's address and the
 * payload. */
void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const struct datagram_arrival *arrival, uint64_t now_ns);

/* Writes up to `count` due datagrams to `out`; returns their number. Sends new packets only from
 * channels in `mask`, within their limits. If it returns 0, nothing is due before
 * rltp_session_deadline(). */
size_t rltp_session_send(struct rltp_session *s, uint32_t mask, struct datagram *out, size_t count,
			 uint64_t now_ns);

/* Returns a mask of the channels that could send a new packet now. */
uint32_t rltp_session_sendable(struct rltp_session *s, uint64_t now_ns);

/* Returns the time at which rltp_session_send() must be called even without an arrival; 0: now,
 * UINT64_MAX: never. Packets that wait in a run queue are not included; see arbiter_deadline(). */
uint64_t rltp_session_deadline(const struct rltp_session *s);

/* Returns the time at which silence closes the session; the endpoint calls rltp_session_fail then.
 * UINT64_MAX: the session does not wait for the peer. */
uint64_t rltp_session_dead_ns(const struct rltp_session *s);

/* Subtracts `away_ns` from the peer's silence, because this process did not run in the last
 * `away_ns`. */
void rltp_session_away(struct rltp_session *s, uint64_t away_ns, uint64_t now_ns);

/* Closes the session: completes every message with `status`, and forgets the session id of the
 * peer. The next post starts a handshake. */
void rltp_session_fail(struct rltp_session *s, int status);

/* Turns PINGs of an idle open session on or off. While they are on, silence of the peer closes the
 * session. Closing turns them off. If there is no outstanding work, silence counts from `since_ns`
 * or a later arrival. Returns true if they are on now. */
bool rltp_session_watch(struct rltp_session *s, bool on, uint64_t since_ns, uint64_t now_ns);

/* Returns true if a message is queued or not completely acknowledged, if an answer is awaited, or
 * if the session is watched. */
bool rltp_session_busy(const struct rltp_session *s);

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out);

/* Parses "rack", "irn", "gbn_nak" or "gbn_rto"; returns false for other text. */
bool rltp_recovery_parse(const char *text, enum rltp_recovery *out);
const char *rltp_recovery_name(enum rltp_recovery recovery);

#endif
