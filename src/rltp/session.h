/* SPDX-License-Identifier: BSD-3-Clause */
/* One reliable session between two NICs. It makes no system call and reads no clock. Only while
 * active it has memory for its queues. Sources; docs/reference/wire.md;
 * docs/design/rltp.md "RLTP".
 *
 *  The endpoint (endpoint.h) calls rltp_session_receive, _send, _sendable and _deadline to move
 *  packets. It calls _wake, _rest, _open, _path, _away, _watch and _fail to change the state. The
 *  layer above works through the endpoint, but calls the accessors and rltp_session_messages,
 *  _missing, _busy and _view directly.
 *
 *  Packet numbers only detect losses and duplicates; packets may arrive in any order. A packet is
 *  acknowledged only after the layer above has placed it. */
#ifndef RLTP_SESSION_H
#define RLTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "rltp/limits.h"
#include "rltp/cc.h"
#include "rltp/message.h"

enum rltp_state { RLTP_IDLE, RLTP_HANDSHAKE, RLTP_OPEN };

/* Loss detection, as on the wire. Only the first is for production. */
enum rltp_recovery {
	RLTP_RACK, /* echoed send times and tail probes */
	/* retransmits each packet missing in the bitmap once, then waits for the timeout */
	RLTP_IRN,
	RLTP_GBN_NAK, /* go-back-N: the receiver drops out-of-order packets and sends one NACK */
	RLTP_GBN_RTO, /* go-back-N, by timeout only */
	RLTP_RECOVERIES
};

/* Properties of a path, for sessions without protection. */
enum rltp_path {
	/* Bytes do not change on the path, so the checksum need not cover the payload. */
	RLTP_PATH_INTACT = 1 << 0,
	/* Probes check whether the path carries long frames. */
	RLTP_PATH_LONG = 1 << 1,
};

/* All wrap. */
struct rltp_counters {
	/* sent for the first time; payload bytes */
	uint64_t sent_packets, sent_bytes;
	/* arrived for the first time; payload bytes */
	uint64_t received_packets, received_bytes;
	/* of sent_packets */
	uint64_t acked_packets;
	uint32_t abandoned_packets;   /* in flight when the session closed */
	uint32_t retransmitted_gap;   /* a later packet was acknowledged */
	uint32_t retransmitted_probe; /* tail probes */
	uint32_t retransmitted_timeout;
	uint32_t retransmitted_busy; /* the receiver had no buffer */
	uint32_t spurious;           /* had already arrived */
	uint32_t timeouts;           /* all packets in flight were declared lost */
	uint32_t duplicates;
	uint32_t beyond_window;
	uint32_t out_of_order; /* go-back-N; dropped */
	uint32_t refused;      /* by the layer above */
	uint32_t held;         /* NACKs with WIRE_NACK_HELD */
	uint32_t no_memory;    /* arrivals dropped */
	uint32_t marked;       /* arrivals with the ECN mark */
	uint32_t acks_sent, acks_received, acks_bad, nacks_sent, nacks_received;
	uint32_t credits_sent, credits_received, credits_asked;
	uint32_t pings_sent;
	uint16_t probes_sent; /* path MTU probes */
	uint16_t black_holes; /* falls of the path MTU */
};

/* All zero is recommended. */
struct rltp_tuning {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	bool no_pacing;
	uint64_t rto_min_ns; /* 0: default of `recovery` */
};

/* Snapshot of a session. Times in ns; 0: no sample. */
struct rltp_view {
	uint16_t node;
	uint8_t state;
	uint16_t unit;             /* payload bytes per packet */
	uint32_t window, inflight; /* packets that may be in flight, and that are */
	/* packets to retransmit now, and later */
	uint32_t lost, waiting;
	uint32_t window_fine; /* congestion window, 1/256 packets */
	uint32_t peer_window;
	uint32_t srtt_ns, min_rtt_ns, delay_ns, min_delay_ns, reorder_window_ns;
	uint8_t protect; /* enum wire_protect */
	/* the checksum covers the payload */
	bool payload_crc;
	uint16_t longest; /* payload of the longest frames sent; above `unit`: long frames */
	/* largest payload that both sides accept */
	uint16_t agreed;
	bool searching;    /* a search may raise `unit` */
	uint64_t pace_bps; /* bytes/s; UINT64_MAX: not paced */
	struct rltp_counters counters;
};

struct rltp_peer_info {
	uint16_t node;
	struct udp_address address;
	uint64_t incarnation;
	uint16_t payload_bytes;
	/* silence in ns that closes the session; at least RLTP_DEAD_NS */
	uint64_t patience_ns;
	/* Not in the node table: the address identifies the peer. `node` is then local,
	 * WIRE_NODE_OUTSIDE or higher. */
	bool outside;
};

struct rltp_session;
struct rltp_shared;

/* See rltp_endpoint_peer. */
struct rltp_peer_info rltp_session_peer(const struct rltp_session *s);
const struct udp_address *rltp_session_address(const struct rltp_session *s);
bool rltp_session_is_outside(const struct rltp_session *s);
bool rltp_session_is_open(const struct rltp_session *s);
/* Active: has memory for its queues. */
bool rltp_session_is_active(const struct rltp_session *s);
/* NAPs that each queue pair of the peer accepts before a grant; valid while open. */
uint16_t rltp_session_credit(const struct rltp_session *s);
/* Returns when the last good frame arrived, or a later time from which silence counts. */
uint64_t rltp_session_received_ns(const struct rltp_session *s);
bool rltp_session_is_watched(const struct rltp_session *s);
const struct rltp_counters *rltp_session_counters(const struct rltp_session *s);
/* Initially NULL. */
void *rltp_session_owner(const struct rltp_session *s);
void rltp_session_owner_set(struct rltp_session *s, void *owner);

/* Until rltp_session_answered, silence of the peer closes the session. Without other outstanding
 * work, it counts from now. */
void rltp_session_await(struct rltp_session *s, uint64_t now_ns);
void rltp_session_answered(struct rltp_session *s);

/* The layer above has an incomplete message; until rltp_session_released, silence closes the
 * session, but later than above. */
void rltp_session_held(struct rltp_session *s);
void rltp_session_released(struct rltp_session *s);

/* DXP_ENOMEM. */
int rltp_session_create(struct rltp_shared *shared, uint16_t node, struct rltp_session **out);
void rltp_session_destroy(struct rltp_session *s);

/* Makes the session active, or marks it as used. DXP_ENOMEM. */
int rltp_session_wake(struct rltp_session *s, uint64_t now_ns);

/* Makes the session idle after RLTP_REST_NS without work. True: it is idle now. */
bool rltp_session_rest(struct rltp_session *s, uint64_t now_ns);

/* RLTP owns the message until ops->done. The caller bounds its outstanding messages. DXP_ENOMEM:
 * not queued. */
int rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns);

/* The payload is not read any more, but ops->fill is still called for the header. ops->done gets
 * `status` when the peer has acknowledged the cancellation, even if the whole message arrived. An
 * earlier failure's status stays. */
void rltp_session_cancel(struct rltp_session *s, struct rltp_message *m, int status);

/* Accepts a packet held by WIRE_NACK_HELD and acknowledges it at once. No effect if a
 * retransmission was accepted before. */
void rltp_session_accept(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes,
			 uint64_t now_ns);

/* Rejects a held packet for good; the layer above must reject its retransmissions too. No effect if
 * it was accepted before. */
void rltp_session_reject(struct rltp_session *s, const struct wire_nack_body *nack);

/* Grants packets to a blocked message by WIRE_NACK_WAIT, which may be lost, so the caller must
 * repeat it. */
void rltp_session_call(struct rltp_session *s, const struct wire_nack_body *nack);

/* Counts packets before `psn` that are not accepted. `psn` is in the window. */
uint32_t rltp_session_missing(const struct rltp_session *s, uint32_t psn);

/* Visits each message that RLTP owns, perhaps several times; `visit` may cancel it. */
void rltp_session_messages(struct rltp_session *s,
			   void (*visit)(void *context, struct rltp_message *m), void *context);

/* ops->grants has new limits to send. */
void rltp_session_grant(struct rltp_session *s, uint64_t now_ns);

/* Requests NAP credit until ops->wants returns 0. */
void rltp_session_want(struct rltp_session *s, uint64_t now_ns);

void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns);

/* Sets the payload that the local interface carries. `another`: the network and its path MTU are
 * unknown. New messages use smaller packets until probes succeed; those split into longer ones
 * complete with DXP_EPATH. */
void rltp_session_path(struct rltp_session *s, uint16_t payload_bytes, bool another,
		       uint64_t now_ns);

/* Handles one frame of an open session; `arrival` has its address and payload. */
void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const struct datagram_arrival *arrival, uint64_t now_ns);

/* Writes up to `count` due datagrams; returns their number. New packets come only from channels in
 * `mask`. */
size_t rltp_session_send(struct rltp_session *s, uint32_t mask, struct datagram *out, size_t count,
			 uint64_t now_ns);

uint32_t rltp_session_sendable(struct rltp_session *s, uint64_t now_ns);

/* Returns when rltp_session_send() must be called; 0: now, UINT64_MAX: never. Run queues have
 * arbiter_deadline(). */
uint64_t rltp_session_deadline(const struct rltp_session *s);

/* Returns when silence closes the session; UINT64_MAX: never. */
uint64_t rltp_session_dead_ns(const struct rltp_session *s);

/* This process did not run for `away_ns`; they are no silence of the peer. */
void rltp_session_away(struct rltp_session *s, uint64_t away_ns, uint64_t now_ns);

/* Completes every message with `status`, and forgets the peer's session id. The next post starts a
 * handshake. */
void rltp_session_fail(struct rltp_session *s, int status);

/* Turns PINGs of an idle open session on or off; returns true if they are on. While on, silence of
 * the peer closes the session, which turns them off. Without outstanding work, it counts from
 * `since_ns` or a later arrival. */
bool rltp_session_watch(struct rltp_session *s, bool on, uint64_t since_ns, uint64_t now_ns);

/* True: messages are unacknowledged, an answer is awaited, or the session is watched. */
bool rltp_session_busy(const struct rltp_session *s);

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out);

bool rltp_recovery_parse(const char *text, enum rltp_recovery *out);
const char *rltp_recovery_name(enum rltp_recovery recovery);

#endif
