/* SPDX-License-Identifier: BSD-3-Clause */
/* One reliable session between two NICs: the whole transport in four calls: post, receive, send,
 * deadline. No system call, no clock, no allocation but at open.; docs/wire.md;
 * docs/design.md "RLTP".
 *
 * Packet numbers exist to find losses and duplicates, nothing waits for their order. Invariants:
 * tx_una <= tx_next in serial arithmetic, tx_next - tx_una <= window; inflight counts the slots in
 * state SENT, lost those in state LOST; a packet is acknowledged only after the layer above has
 * placed it. */
#ifndef RLTP_SESSION_H
#define RLTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "rltp/message.h"
#include "rltp/rx_map.h"
#include "wire/address.h"

enum rltp_state { RLTP_IDLE, RLTP_GREETING, RLTP_OPEN };

enum tx_state { TX_FREE, TX_SENT, TX_LOST, TX_WAIT, TX_ACKED };

/* A packet in flight. */
struct tx_slot {
	struct rltp_message *message;
	uint64_t sent_ns; /* last transmission; with TX_WAIT: when to try again */
	uint32_t sub;
	uint8_t state; /* enum tx_state */
	uint8_t tries; /* transmissions so far, saturating */
};

struct rltp_flow {
	struct rltp_message *head, *tail;
};

/* All counts wrap. Written by the session only. */
struct rltp_counters {
	uint64_t sent_packets, sent_bytes;         /* first transmissions; bytes of payload */
	uint64_t received_packets, received_bytes; /* first arrivals */
	uint64_t retransmitted_gap;                /* because a later packet was acknowledged */
	uint64_t retransmitted_probe;              /* tail probes */
	uint64_t retransmitted_timeout;            /* after a timeout */
	uint64_t retransmitted_busy;               /* because the receiver had no buffer */
	uint64_t duplicates;                       /* arrivals of something already here */
	uint64_t beyond_window;                    /* arrivals outside the window; dropped */
	uint64_t refused;                          /* packets the layer above did not take */
	uint64_t acks_sent, acks_received, acks_bad, nacks_sent, nacks_received;
	uint64_t timeouts;
};

struct rltp_session_options {
	uint16_t local_node, peer_node;
	uint32_t window_packets; /* most packets in flight, 1 .. RLTP_WINDOW_MAX */
	uint16_t payload_bytes;  /* largest data payload on this path, a multiple of 64 */
	bool payload_crc;        /* cover payload by the checksum */
	const struct rltp_user_ops *ops;
	void *user;
};

struct rltp_session {
	struct rltp_session_options options;
	struct wire_address address;
	enum rltp_state state;
	uint32_t local_id; /* what the peer puts into dst_session; 0 before the first greeting */
	uint32_t peer_id;  /* what we put there; 0 until the peer has said it */
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch;
	uint32_t peer_window; /* packets the peer will take */
	uint16_t unit;        /* payload agreed with the peer */
	uint64_t owner;       /* for the layer above; RLTP never looks at it */
	uint32_t awaited; /* answers that the layer above waits for, written by it: silence counts
			     for them too */

	/* sending */
	struct rltp_flow flows[RLTP_FLOWS_MAX];
	uint32_t flow_turn, flow_left;
	uint32_t tx_una, tx_next;
	uint32_t tx_size; /* slots, a power of two >= window */
	struct tx_slot *tx;
	uint32_t inflight, lost, waiting;
	uint32_t
		window; /* packets in flight allowed now: less than the most only after a timeout */
	uint32_t repeats;      /* slots in flight that were sent more than once */
	uint32_t lost_hint;    /* no slot before this packet is in state LOST */
	uint64_t last_sent_ns; /* unique per transmission: orders packets that left in one batch */

	/* loss recovery */
	uint64_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint64_t rack_ns; /* newest transmission known to have arrived, and its round trip */
	uint64_t rack_rtt_ns;
	uint64_t wait_deadline_ns; /* earliest slot in state WAIT; UINT64_MAX when there is none */
	uint32_t reorder_steps; /* spurious repeats seen: each widens the reorder window by min_rtt
				   / 4 */
	uint16_t peer_dup_count;
	uint64_t heard_ns; /* last good frame from the peer, or when waiting for it began */
	uint64_t reorder_deadline_ns;
	uint32_t probes, backoff;

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	uint16_t dup_count;
	uint32_t rx_count;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* greeting */
	uint32_t initial_psn, epoch;
	uint64_t hello_deadline_ns, hello_interval_ns;
	bool hello_ack_due;
	uint32_t hello_echo_session, hello_echo_psn;

	struct rltp_counters counters;
	struct rltp_session *next_active; /* the endpoint's list of sessions with something to do */
	bool active;
};

/* DXP_ENOMEM. The session starts idle; the endpoint greets the peer when something is posted. */
int rltp_session_create(const struct rltp_session_options *options, struct rltp_session **out);
void rltp_session_destroy(struct rltp_session *s);

/* Queues a message; it is RLTP's until ops->done. Never fails: the poster bounds how many it has
 * outstanding. */
void rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns);

/* Starts the packet numbers afresh on both sides, with what the greeting agreed. */
void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns);

/* Takes one decoded data, ACK or NACK frame of an open session. `arrived_ns` is when the kernel had
 * it. */
void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const uint8_t *payload, uint64_t arrived_ns, uint64_t now_ns);

/* Fills `out` with the datagrams due now, up to `count`. Returns how many; 0 when nothing is due
 * before rltp_session_deadline(). */
size_t rltp_session_send(struct rltp_session *s, struct link_datagram *out, size_t count,
			 uint64_t now_ns);

/* When rltp_session_send() must be called again even if nothing arrives: 0 for now, UINT64_MAX when
 * nothing is pending. */
uint64_t rltp_session_deadline(const struct rltp_session *s);

/* Silent for too long with work outstanding? The endpoint then fails the session. */
bool rltp_session_dead(const struct rltp_session *s, uint64_t now_ns);

/* Ends every message with `status` and forgets the peer; the next post greets it again. */
void rltp_session_fail(struct rltp_session *s, int status);

/* Anything queued, in flight or awaited? */
bool rltp_session_busy(const struct rltp_session *s);

#endif
