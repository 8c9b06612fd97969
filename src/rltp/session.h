/* SPDX-License-Identifier: BSD-3-Clause */
/* One reliable session between two NICs. Four calls drive the transport: post, receive, send,
 * deadline. It makes no system call and reads no clock. A session allocates its `io` when it
 * becomes active and frees it when it becomes idle.; docs/reference/wire.md;
 * docs/design/rltp.md "RLTP".
 *
 * Packet numbers serve to find losses and duplicates; packets need no order. Invariants: tx_una <=
 * tx_next in serial arithmetic; tx_next - tx_una <= WIRE_WINDOW_MAX. The lists `sent`, `lost` and
 * `waiting` hold the entries of these states, each exactly once. A packet is acknowledged only
 * after the layer above has placed it. A session with work under way has its `io`. */
#ifndef RLTP_SESSION_H
#define RLTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "rltp/limits.h"
#include "rltp/arbiter.h"
#include "rltp/cc.h"
#include "rltp/message.h"
#include "rltp/pace.h"
#include "rltp/rx_map.h"

enum rltp_state { RLTP_IDLE, RLTP_GREETING, RLTP_OPEN };

/* Loss detection method. All but the first exist for comparison. The values are those of the wire
 * format. */
enum rltp_recovery {
	RLTP_RACK,    /* by send time, on echoed time stamps, with tail probes */
	RLTP_IRN,     /* retransmit once each packet that the bitmap lacks; then by timeout */
	RLTP_GBN_NAK, /* go-back-N: receiver drops out-of-order packets and sends one NACK */
	RLTP_GBN_RTO, /* go-back-N by timeout alone */
	RLTP_RECOVERIES
};

enum tx_state { TX_FREE, TX_SENT, TX_LOST, TX_WAIT, TX_ACKED };

#define TX_NONE UINT16_MAX

/* A packet in flight: one entry of the ring `tx`. */
struct tx_slot {
	struct rltp_message *message;
	uint64_t sent_ns; /* last transmission; in TX_WAIT: time of the next attempt */
	uint32_t psn, sub;
	uint16_t previous, next; /* list of the entry's state; TX_NONE: none */
	uint8_t state;           /* enum tx_state */
	uint8_t tries;           /* transmissions so far, saturating */
	uint8_t refusals;        /* rejections for lack of space, saturating */
	uint8_t cause;           /* enum datagram_cause of the next retransmission; for observers */
};

/* List of the entries in one state: `sent` in order of transmission, `lost` in order of
 * detection. */
struct tx_list {
	uint16_t first, last;
	uint32_t count;
};

/* The messages of one queue pair. Flow 0 is control and is always served first. The others form
 * channels: channels share the endpoint by weight, the flows of a channel share it equally. */
struct rltp_flow {
	struct rltp_message *head, *tail;
	uint32_t unacked; /* packets sent at least once and not acknowledged */
	/* those of `unacked` rejected for lack of space; while > 0 no new packet is sent */
	uint32_t refused;
	/* The last PUT had to wait for a grant: the next PUT sends one packet first. */
	bool waited;
	int32_t deficit; /* bytes left in its quantum */
};

struct rltp_channel {
	uint8_t ready; /* bit q: its flow q has messages */
	uint8_t turn;  /* flow served now */
};

/* Event counts; all wrap. Written by the session only. */
struct rltp_counters {
	uint64_t sent_packets, sent_bytes;         /* first transmissions; payload bytes */
	uint64_t received_packets, received_bytes; /* first arrivals */
	uint64_t acked_packets;                    /* of sent_packets */
	uint32_t abandoned_packets;                /* in flight when their session closed */
	uint32_t retransmitted_gap;                /* a later packet was acknowledged */
	uint32_t retransmitted_probe;              /* tail probes */
	uint32_t retransmitted_timeout;            /* after a timeout */
	uint32_t retransmitted_busy;               /* the receiver had no buffer */
	uint32_t spurious;      /* retransmissions of packets that the receiver already had */
	uint32_t timeouts;      /* timeouts that declared all packets in flight lost */
	uint32_t duplicates;    /* arrivals of packets received before */
	uint32_t beyond_window; /* arrivals outside the window; dropped */
	uint32_t out_of_order;  /* go-back-N: arrivals out of order; dropped */
	uint32_t refused;       /* packets that the layer above rejected */
	uint32_t held;          /* NACKs with code WIRE_NACK_HELD received */
	uint32_t no_memory;     /* arrivals dropped for lack of memory; the peer retransmits */
	uint32_t marked;        /* arrivals with the mark "congestion experienced" */
	uint32_t acks_sent, acks_received, acks_bad, nacks_sent, nacks_received;
	uint32_t credits_sent, credits_received, credits_asked;
	uint32_t pings_sent;
	uint16_t probes_sent; /* path MTU probes */
	uint16_t black_holes; /* times that the path MTU was found to have shrunk */
};

/* How this side sends. All zero is the recommended setting. */
struct rltp_tuning {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	bool no_pacing;
	uint64_t rto_min_ns; /* lower bound of the timeout; 0: the default of the recovery */
};

/* State that all sessions of an endpoint share. The endpoint owns it; sessions read it when
 * needed. */
struct rltp_shared {
	uint16_t node;            /* own id */
	uint16_t rwnd;            /* packets that each peer may have in flight now */
	uint32_t receive_packets; /* capacity of the link's buffer; 0: unknown, rwnd is constant */
	uint32_t awake;           /* sessions that have their `io`; they share receive_packets */
	/* Reserves space for the deadlines of `awake` sessions; DXP_OK or DXP_ENOMEM. NULL:
	 * deadlines are not kept. */
	int (*reserve)(struct rltp_shared *shared, uint32_t awake);
	uint8_t rx_level; /* fill level of the receive buffer, 0 .. 31 */
	bool payload_crc; /* checksum covers the payload too */
	struct rltp_tuning tuning;
	uint32_t window_packets; /* most packets in flight, 1 .. WIRE_WINDOW_MAX */
	const struct rltp_user_ops *ops;
	void *user;
	uint32_t ends;          /* sessions whose `end` is not reported yet */
	struct arbiter arbiter; /* between the channels; arbiter_init before the first session */
};

struct keepalive {
	uint64_t asked_ns;    /* last PING; 0: none */
	uint64_t answered_ns; /* last PONG; 0: none */
	uint64_t opaque;      /* to copy into the PONG that is due */
	bool answer_due;
};

enum pmtu_state {
	PMTU_REST,   /* path MTU known; no probe under way */
	PMTU_SEARCH, /* probe whether the path carries `size` */
	PMTU_VERIFY  /* probe whether the path still carries `unit`, and the floor */
};

/* Path MTU discovery by probes (RFC 8899). Sizes are payload bytes of a data packet. */
struct pmtu {
	uint8_t state; /* enum pmtu_state */
	uint8_t tries, floor_answers;
	bool floor_due;      /* VERIFY: the next probe has the floor's size */
	bool answer_due;     /* acknowledge the peer's probe `answer` */
	uint16_t size;       /* SEARCH: size under test */
	uint16_t high;       /* SEARCH: smallest size known to be lost */
	uint32_t id;         /* of the current probes */
	uint32_t lost_large; /* packets above the floor lost since the last one arrived */
	uint64_t deadline_ns;
	struct wire_pmtu answer;
};

/* State of an active session. */
struct rltp_io {
	/* queues */
	struct rltp_flow flows[RLTP_FLOWS];
	struct rltp_channel channels[RLTP_CHANNELS];
	uint32_t channels_ready; /* bit c: channel c has messages */
	uint32_t lined;          /* bit c: session is in the arbiter's run queue of channel c */
	uint32_t flows_active;   /* flows with messages or packets under way */

	/* sending */
	uint32_t tx_una;
	uint32_t tx_size; /* entries, a power of two; grows on demand up to WIRE_WINDOW_MAX */
	struct tx_slot *tx;
	struct tx_list sent, lost, waiting;
	bool ring_short;       /* ring could not grow; reset by an acknowledgement */
	uint64_t last_sent_ns; /* unique per transmission: orders the packets of one batch */
	struct cc cc;
	struct pace pace;
	bool refused_turn; /* retransmissions of rejected packets and new packets alternate */
	bool limited;      /* window or pace blocked a packet since the last acknowledgement */

	/* loss recovery */
	uint64_t rack_ns; /* send time of the newest transmission known to have arrived; its RTT */
	uint64_t rack_rtt_ns;
	uint64_t wait_deadline_ns; /* earliest of `waiting`; UINT64_MAX: none */
	uint64_t reorder_deadline_ns;
	uint32_t reorder_steps; /* spurious retransmissions: each widens the reorder window */
	uint32_t clean_repeats; /* retransmissions since the last spurious one */
	uint32_t repeats_sent;  /* retransmissions not yet matched with the receiver's dup_count */
	uint32_t held_repeats;  /* likewise, of held packets: not counted as spurious */
	uint32_t probes, backoff;
	uint64_t arrived_ns; /* last arrival of a frame */
	/* no arrival for WAIT_SPIN_NS: the peer may have to wake before it answers */
	bool peer_asleep;
	bool answer_prompt; /* the receiver acknowledges the last packet sent without delay */
	bool probe_due;     /* next retransmission ignores window and pace */

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	bool gap_told; /* go-back-N: the gap is reported; cum has not moved since */
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* credits */
	bool grants_due;          /* ops->grants has limits to send */
	uint64_t ask_deadline_ns; /* next credit request; UINT64_MAX: none */
	uint64_t ask_interval_ns;

	/* handshake */
	uint64_t hello_deadline_ns, hello_interval_ns;
	uint32_t hello_echo_session, hello_echo_psn; /* of the HELLO to answer */

	/* keepalive and path MTU */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns; /* last activity; the session becomes idle RLTP_REST_NS later */
	struct lane_place places[RLTP_CHANNELS]; /* links in the arbiter's run queues */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io; /* NULL: idle */
	uint64_t owner;     /* for the layer above; RLTP never reads it */
	struct udp_address address;
	uint16_t node; /* the peer's id */
	uint8_t state; /* enum rltp_state */
	/* enum rltp_recovery by which the peer sends; selects the receiver's behaviour. */
	uint8_t peer_recovery;
	/* Largest data payload that the local interface carries to this peer, a multiple of 64. */
	uint16_t payload_bytes;
	uint16_t agreed; /* payload that both sides accept */
	/* Payload that the path is known to carry; new messages are split by it. */
	uint16_t unit;
	uint16_t peer_window; /* packets in flight that the peer accepts */
	uint16_t peer_credit; /* NAPs that each queue pair of the peer accepts before a grant */
	uint32_t local_id;    /* peer's dst_session; 0 before the first handshake */
	uint32_t peer_id;     /* our dst_session; 0 until the peer has sent it */
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch, epoch;
	uint32_t initial_psn;
	uint32_t tx_next; /* next packet number */
	uint32_t rx_cum;  /* next number expected while idle; active: io->rx.cum */
	/* Answers that the layer above waits for; written by it. While > 0, silence closes the
	 * session. */
	uint32_t awaited;
	/* Messages that the layer above holds incomplete; written by it. While > 0, silence closes
	 * the session, later. */
	uint32_t partial;
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	uint16_t ce_count, peer_ce_count; /* marked packets received; reported by the peer */
	uint32_t peer_features;           /* enum wire_feature */
	bool watched;                     /* rltp_session_watch */
	uint64_t heard_ns;                /* last good frame, or begin of the wait for one */
	uint64_t patience_ns;             /* tolerated silence; RLTP_DEAD_NS if less */
	uint16_t away;                    /* times since heard_ns that this process did not run */
	int32_t end;      /* status of the last close not yet reported; DXP_OK: none */
	uint32_t path_ns; /* lowest fabric delay known when it became idle; 0: none */
	struct rltp_counters counters;

	uint32_t pmtu_again_s; /* when to search for a larger MTU; UINT32_MAX: never */

	/* written by the endpoint */
	uint32_t bye_id;       /* dst_session of the BYE that is due */
	uint32_t heap_index;   /* 1 + index in the heap of deadlines; 0: none */
	uint16_t hello_second; /* second in which `hello_spent` handshake tags were computed */
	uint8_t hello_spent;
	bool hello_ack_due;
	bool bye_due;
	bool ready; /* in the schedule's ready queue */
	struct rltp_session *next_ready;
};

/* Snapshot of a session for display. Times in ns; 0: no sample yet. */
struct rltp_view {
	uint16_t node;
	uint8_t state;
	uint16_t unit;             /* payload bytes per packet */
	uint32_t window, inflight; /* packets */
	uint32_t lost, waiting;    /* packets to retransmit: now, and later */
	uint32_t window_fine;      /* congestion window, 1/256 packets */
	uint32_t peer_window;
	uint32_t srtt_ns, min_rtt_ns, delay_ns, min_delay_ns, reorder_window_ns;
	uint16_t agreed;   /* what both sides accept; `unit` is what the path carries */
	uint64_t pace_bps; /* UINT64_MAX: not paced */
	struct rltp_counters counters;
};

/* Creates a session in state RLTP_IDLE; the endpoint starts the handshake at the first post.
 * DXP_ENOMEM. */
int rltp_session_create(struct rltp_shared *shared, uint16_t node, struct rltp_session **out);
void rltp_session_destroy(struct rltp_session *s);

/* Allocates the state of an active session, or marks it as used now. DXP_ENOMEM. */
int rltp_session_wake(struct rltp_session *s, uint64_t now_ns);

/* Frees that state if nothing was under way for RLTP_REST_NS. Returns true if the session is
 * idle. */
bool rltp_session_rest(struct rltp_session *s, uint64_t now_ns);

/* Queues a message; RLTP owns it until ops->done. DXP_ENOMEM: not queued. The caller bounds the
 * number of its messages under way. */
int rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns);

/* Cancels a message that RLTP owns; its payload is not read any more. It completes with `status`,
 * like a rejected one: ops->fill is still called for its header. ops->done follows when the peer
 * has acknowledged the cancellation, or as usual if all of the message has arrived. */
void rltp_session_cancel(struct rltp_session *s, struct rltp_message *m, int status);

/* Accepts a packet for which ops->deliver returned WIRE_NACK_HELD: it counts as arrived and is
 * acknowledged at once. `payload_bytes` is its length. Does nothing if a retransmission was
 * accepted before. */
void rltp_session_accept(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes,
			 uint64_t now_ns);

/* Rejects for good a packet for which ops->deliver returned WIRE_NACK_HELD; sends the NACK at once.
 * If the peer retransmits the packet, the layer above rejects it again. Does nothing if the packet
 * was accepted before. */
void rltp_session_refuse(struct rltp_session *s, const struct wire_nack_body *nack);

/* Grants a blocked message packets: queues one NACK with code WIRE_NACK_WAIT. It may be lost, so
 * the caller repeats the grant. */
void rltp_session_call(struct rltp_session *s, const struct wire_nack_body *nack);

/* Returns the number of packets before `psn` that are not accepted yet. `psn` must lie in the
 * window. */
uint32_t rltp_session_missing(const struct rltp_session *s, uint32_t psn);

/* Calls `visit` for each message that RLTP owns, for some more than once. `visit` may cancel the
 * message. */
void rltp_session_messages(struct rltp_session *s,
			   void (*visit)(void *context, struct rltp_message *m), void *context);

/* Notes that ops->grants has limits to send. */
void rltp_session_grant(struct rltp_session *s, uint64_t now_ns);

/* Requests NAP credit from the peer repeatedly, until ops->wants returns 0. */
void rltp_session_want(struct rltp_session *s, uint64_t now_ns);

/* Opens the session: restarts the packet numbers of both sides with the values of the handshake.
 * The session must be active. */
void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns);

/* Sets the payload that the local interface carries; `another`: the network changed and its path
 * MTU is unknown. New messages are split smaller until probes succeed. Messages already split into
 * longer packets complete with DXP_EPATH. */
void rltp_session_path(struct rltp_session *s, uint16_t payload_bytes, bool another,
		       uint64_t now_ns);

/* Processes one decoded frame of an open session; `arrival` holds its source and payload. */
void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const struct datagram_arrival *arrival, uint64_t now_ns);

/* Fills `out` with up to `count` datagrams that are due. Sends new packets only of the channels in
 * `mask` within their limits. Returns the number; 0 if nothing is due before
 * rltp_session_deadline(). */
size_t rltp_session_send(struct rltp_session *s, uint32_t mask, struct datagram *out, size_t count,
			 uint64_t now_ns);

/* Returns the channels of which a new packet could leave now; bit c: channel c. */
uint32_t rltp_session_sendable(struct rltp_session *s, uint64_t now_ns);

/* Returns when to call rltp_session_send() even if nothing arrives: 0: now, UINT64_MAX: never.
 * Excludes packets that wait in a run queue; arbiter_deadline() covers these. */
uint64_t rltp_session_deadline(const struct rltp_session *s);

/* Returns when silence closes the session; the endpoint then fails it. UINT64_MAX: no answer is
 * awaited. */
uint64_t rltp_session_dead_ns(const struct rltp_session *s);

/* Excludes `away_ns` until now, in which this process did not run, from the peer's silence. */
void rltp_session_away(struct rltp_session *s, uint64_t away_ns, uint64_t now_ns);

/* Closes the session: completes every message with `status` and forgets the peer's session. The
 * next post starts a new handshake. */
void rltp_session_fail(struct rltp_session *s, int status);

/* Turns PINGs of an idle open session on or off, so that silence closes it. Closing turns it off.
 * If nothing was under way, silence counts from `since_ns` or a later arrival. Returns true if the
 * session is watched now. */
bool rltp_session_watch(struct rltp_session *s, bool on, uint64_t since_ns, uint64_t now_ns);

/* Returns true if anything is queued, in flight or awaited, or if the session is watched. */
bool rltp_session_busy(const struct rltp_session *s);

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out);

/* Parses "rack", "irn", "gbn_nak", "gbn_rto"; returns false for other text. */
bool rltp_recovery_parse(const char *text, enum rltp_recovery *out);
const char *rltp_recovery_name(enum rltp_recovery recovery);

#endif
