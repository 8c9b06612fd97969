/* SPDX-License-Identifier: BSD-3-Clause */
/* The session and its parts, for src/rltp only. Other folders use session.h.
 *
 * Invariants: tx_una <= tx_next in serial arithmetic; tx_next - tx_una <= WIRE_WINDOW_MAX. The
 * lists `sent`, `lost` and `waiting` contain each entry of their states exactly once. A session
 * with outstanding work has its `io`. */
#ifndef RLTP_INTERNAL_H
#define RLTP_INTERNAL_H

#include "base/util.h"
#include "rltp/arbiter.h"
#include "rltp/cc.h"
#include "rltp/limits.h"
#include "rltp/message.h"
#include "rltp/pace.h"
#include "rltp/protect.h"
#include "rltp/rx_map.h"
#include "rltp/session.h"

enum tx_state { TX_FREE, TX_SENT, TX_LOST, TX_WAIT, TX_ACKED };

#define TX_NONE UINT16_MAX

/* A packet in flight: one entry of the ring `tx`. */
struct tx_entry {
	struct rltp_message *message;
	uint64_t sent_ns; /* last transmission; in TX_WAIT: next attempt */
	uint32_t psn, sub;
	/* neighbours in the list of entries in the same state; TX_NONE: none */
	uint16_t previous, next;
	uint8_t state;      /* enum tx_state */
	uint8_t tries;      /* transmissions, saturating */
	uint8_t rejections; /* rejections for lack of space, saturating */
	uint8_t cause;      /* enum datagram_cause of the next retransmission, for observers */
};

/* Entries in one state: `sent` in order of transmission, `lost` in order of detection. */
struct tx_list {
	uint16_t first, last;
	uint32_t count;
};

/* Messages of one queue pair. Flow 0 is control and always goes first. The others form channels:
 * channels share the endpoint by weight, the flows of a channel share it equally. */
struct rltp_flow {
	struct rltp_message *head, *tail;
	uint32_t unacked; /* packets sent and not acknowledged */
	/* packets of `unacked` that were rejected for lack of space; new packets wait while > 0 */
	uint32_t refused;
	/* The last PUT waited for a grant, so the next PUT first sends one packet. */
	bool waited;
	int32_t deficit; /* bytes left in the quantum */
};

struct rltp_channel {
	uint8_t ready; /* bit q: flow q has messages */
	uint8_t flow;  /* flow served now */
};

/* State that all sessions of an endpoint share. The endpoint owns it. */
struct rltp_shared {
	uint16_t node;            /* own id */
	uint16_t rwnd;            /* packets that each peer may have in flight */
	uint32_t receive_packets; /* packets that the link's buffer holds; 0: unknown, rwnd is
				     constant */
	uint32_t active;          /* sessions with `io`; they share receive_packets */
	/* Reserves memory for the deadlines of `active` sessions; DXP_OK or DXP_ENOMEM. NULL: the
	 * endpoint keeps no deadlines. */
	int (*reserve)(struct rltp_shared *shared, uint32_t active);
	uint8_t rx_level; /* fill level of the receive buffer, 0 .. 31 */
	bool payload_crc; /* the checksum covers the payload too */
	struct rltp_tuning tuning;
	uint32_t window_packets; /* most packets in flight, 1 .. WIRE_WINDOW_MAX */
	const struct rltp_user_ops *ops;
	void *user;
	const struct rltp_seal_ops *seal; /* NULL: no protection */
	uint32_t ends;                    /* sessions whose `end` was not reported yet */
	struct arbiter arbiter;           /* initialized before the first session */
};

struct keepalive {
	uint64_t ping_ns;     /* time of the last PING; 0: none */
	uint64_t answered_ns; /* time of the last PONG; 0: none */
	uint64_t opaque;      /* value for the PONG that is due */
	bool answer_due;
};

enum pmtu_state {
	PMTU_REST,   /* path MTU known; no probe outstanding */
	PMTU_SEARCH, /* probe whether the path carries `size` */
	/* probe whether the path still carries `unit`, and whether it carries the floor */
	PMTU_VERIFY
};

/* Path MTU discovery by probes (RFC 8899). Sizes are payload bytes of a data packet. */
struct pmtu {
	uint8_t state; /* enum pmtu_state */
	uint8_t tries, floor_answers;
	bool floor_due;  /* VERIFY: the next probe has the floor's size */
	bool answer_due; /* the peer's probe `answer` must be acknowledged */
	uint16_t size;   /* SEARCH: size under test */
	uint16_t high;   /* SEARCH: smallest size known to be lost */
	uint32_t id;     /* id of the outstanding probes */
	/* packets longer than the floor that were lost since the last packet of such length
	 * arrived */
	uint32_t lost_large;
	uint64_t deadline_ns;
	struct wire_pmtu answer;
};

/* A handshake with protection. It exists until the session is open and, at the side that answers,
 * until the first sealed frame proves that the peer is present. */
struct rltp_handshake {
	uint8_t frame[WIRE_HELLO_SEALED_FRAME]; /* own HELLO or HELLO_ACK, sent again unchanged */
	uint64_t until_ns; /* answering side: after this it sends a HELLO of its own */
};

/* State of an active session. */
struct rltp_io {
	/* queues */
	struct rltp_flow flows[RLTP_FLOWS];
	struct rltp_channel channels[RLTP_CHANNELS];
	uint32_t channels_ready; /* bit c: channel c has messages */
	uint32_t lined;          /* bit c: the session is in run queue c */
	uint32_t flows_active;   /* flows with messages or unacknowledged packets */

	/* sending */
	uint32_t tx_una;
	uint32_t tx_size; /* entries, a power of two; grows up to WIRE_WINDOW_MAX */
	struct tx_entry *tx;
	struct tx_list sent, lost, waiting;
	bool ring_short;       /* the ring could not grow; cleared by an acknowledgement */
	uint64_t last_sent_ns; /* unique per transmission, so it orders the packets of a batch */
	struct cc cc;
	struct pace pace;
	bool rejected_next; /* alternates retransmissions of rejected packets with new packets */
	bool limited;       /* window or pace blocked a packet since the last acknowledgement */

	/* loss recovery */
	uint64_t rack_ns; /* send time of the newest transmission that arrived, and its RTT */
	uint64_t rack_rtt_ns;
	uint64_t wait_deadline_ns; /* earliest of `waiting`; UINT64_MAX: none */
	uint64_t reorder_deadline_ns;
	uint32_t reorder_steps; /* number of spurious retransmissions; each widens the reorder
				   window */
	uint32_t clean_repeats; /* retransmissions since the last spurious one */
	uint32_t repeats_sent;  /* retransmissions not yet matched with the peer's dup_count */
	/* the same number for held packets, whose retransmissions never count as spurious */
	uint32_t held_repeats;
	uint32_t probes, backoff;
	uint64_t arrived_ns; /* last arrival of a frame */
	/* no arrival for WAIT_SPIN_NS: the peer may need a wakeup before it answers */
	bool peer_idle;
	bool answer_prompt; /* the receiver will acknowledge the last sent packet without delay */
	bool probe_due;     /* the next retransmission ignores window and pace */

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	bool gap_reported; /* go-back-N: the gap was reported and cum has not moved since */
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* credits */
	bool grants_due;            /* ops->grants has limits to send */
	uint64_t credit_request_ns; /* next credit request; UINT64_MAX: none */
	uint64_t credit_interval_ns;

	/* handshake */
	uint64_t hello_deadline_ns, hello_interval_ns;
	uint32_t hello_echo_session, hello_echo_psn; /* numbers of the HELLO to answer */
	uint8_t hello_tag[WIRE_TAG_BYTES];           /* of the last HELLO, which a REJECT quotes */
	struct rltp_handshake *handshake;

	/* keepalive and path MTU */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns; /* last activity; the session becomes idle RLTP_REST_NS later */
	struct arbiter_link links[RLTP_CHANNELS]; /* links in the arbiter's run queues */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io;     /* NULL: idle */
	void *owner;            /* belongs to the layer above; RLTP never reads it */
	struct rltp_seal *seal; /* keys; NULL: the packets have no protection */
	struct udp_address address;
	uint16_t node; /* id of the peer, at this endpoint */
	uint8_t state; /* enum rltp_state */
	/* enum rltp_recovery of the peer's sender; selects the receiver's behaviour. */
	uint8_t peer_recovery;
	/* Largest data payload to this peer on the local interface, a multiple of 64. */
	uint16_t payload_bytes;
	uint16_t agreed; /* payload that both sides accept */
	/* Payload that the path carries for sure; new messages are split by it. */
	uint16_t unit;
	uint16_t peer_window; /* packets in flight that the peer accepts */
	uint16_t peer_credit; /* NAPs per queue pair that the peer accepts before a grant */
	uint32_t local_id;    /* dst_session in the peer's packets; 0 before the first handshake */
	uint32_t peer_id;     /* dst_session in our packets; 0 until received */
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch, epoch;
	uint32_t initial_psn;
	uint32_t tx_next; /* number of the next new packet */
	/* next expected packet number of an idle session; an active one has io->rx.cum */
	uint32_t rx_cum;
	/* Number of answers that the layer above waits for. While > 0, silence closes the
	 * session. */
	uint32_t awaited;
	/* Number of incomplete messages of the layer above. While > 0, silence closes the session
	 * after a longer time. */
	uint32_t partial;
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	uint16_t ce_count, peer_ce_count; /* marked packets: received; reported by the peer */
	uint32_t peer_features;           /* enum wire_feature */
	bool watched;                     /* rltp_session_watch */
	bool outside;                     /* see rltp_peer_info */
	/* Id in packets from and to the peer. Equals `node`. If `outside`, it is WIRE_NODE_NONE
	 * until the handshake reports the id. */
	uint16_t peer_node;
	uint32_t path_ns;     /* lowest fabric delay, kept while idle; 0: none */
	uint64_t received_ns; /* time of the last good frame, or start of the wait for one */
	uint64_t patience_ns; /* tolerated silence, at least RLTP_DEAD_NS */
	uint8_t protect;      /* enum wire_protect of the open session */
	uint16_t away;        /* number of pauses of this process since received_ns */
	int32_t end;          /* status of the last close, until reported; DXP_OK: none */
	struct rltp_counters counters;

	uint32_t pmtu_again_s; /* when to search for a larger MTU, in s; UINT32_MAX: never */

	/* fields of the endpoint */
	uint32_t bye_id;       /* dst_session of the BYE that is due */
	uint32_t heap_index;   /* index in the heap of deadlines, plus 1; 0: not in the heap */
	uint16_t hello_second; /* second to which `hello_spent` belongs */
	uint8_t hello_spent;
	bool hello_ack_due;
	bool bye_due;
	bool ready; /* true while in the schedule's ready queue */
	struct rltp_session *next_ready;
};
#include "wire/limits.h"

static inline struct tx_entry *tx_entry_at(struct rltp_io *io, uint32_t psn)
{
	return &io->tx[psn & (io->tx_size - 1)];
}

static inline uint32_t timestamp_of(uint64_t now_ns)
{
	return (uint32_t)(now_ns / WIRE_TS_NS);
}

/* Returns the bytes that protection takes from the payload of each packet. */
static inline uint16_t session_overhead(const struct rltp_session *s)
{
	return s->seal ? WIRE_SEAL_BYTES : 0;
}

/* Returns true while this side has answered a HELLO and does not know yet whether the peer is
 * present or the HELLO was a replay. It sends no data until then. */
static inline bool session_unconfirmed(const struct rltp_session *s)
{
	return s->state == RLTP_OPEN && s->io && s->io->handshake;
}

/* session.c: forgets keys and handshake. */
void session_keys_drop(struct rltp_session *s);

/* session.c: returns true if an active session can become idle without losing state. */
bool session_resting(const struct rltp_session *s);

/* Returns the receive window to advertise, in packets. If packets are short, more of them fit into
 * the link's buffer. */
static inline uint16_t session_rwnd(const struct rltp_session *s)
{
	uint32_t rwnd = s->shared->rwnd;

	if (s->shared->receive_packets && s->payload_bytes <= RLTP_PMTU_BASE)
		rwnd *= RLTP_RWND_SHORT;
	return (uint16_t)(rwnd < WIRE_WINDOW_MAX ? rwnd : WIRE_WINDOW_MAX);
}

/* transmit.c */
void transmit_header_begin(const struct rltp_session *s, uint8_t type, uint64_t now_ns,
			   struct wire_header *h);

/* tx_ring.c: the ring of packets in flight and its lists */
int tx_ring_create(struct rltp_io *io);
/* Ensures space for one more packet; may grow the ring. Returns false if there is no space now. */
bool tx_ring_has_space(struct rltp_session *s);
void tx_ring_reset(struct rltp_io *io);
void tx_entry_enter(struct rltp_io *io, struct tx_entry *entry, enum tx_state state);
void tx_entry_leave(struct rltp_io *io, struct tx_entry *entry);
struct tx_entry *tx_entry_first(struct rltp_io *io, const struct tx_list *list);  /* NULL: none */
struct tx_entry *tx_entry_next(struct rltp_io *io, const struct tx_entry *entry); /* NULL: none */

/* flow.c: selects the next message */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
/* Returns true if flow_next would find a message in the control flow, or in a channel for which the
 * session is in no run queue. */
bool flow_ready(const struct rltp_session *s);
/* Returns a mask of the channels of which flow_next would find a message. */
uint32_t flow_channels(const struct rltp_session *s);
/* Returns the next flow: that of control, or one of a channel in `mask`; NULL: none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes); /* charges the quantum */
/* Charges sent bytes, including retransmissions, to the flow's channel. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, uint8_t index);                    /* counts a sent packet */
void flow_settled(struct rltp_io *io, const struct tx_entry *entry); /* counts a completed packet */
/* Removes any message. Used when a session closes. */
struct rltp_message *flow_dequeue(struct rltp_session *s);
void flows_free(struct rltp_session *s); /* call before freeing `io` */

/* acknowledge.c: packets from receiver to sender */
bool rltp_ack_due(const struct rltp_session *s, uint64_t now_ns);
void rltp_ack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_nack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_control_finish(const struct udp_address *to, const struct wire_header *h,
			 size_t body_bytes, struct datagram *out);

/* credit.c: grants and requests NAP credits */
size_t credits_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns);

/* recovery.c: the sender's loss detection */
uint32_t session_window(const struct rltp_session *s); /* send window in packets */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t recovery_reorder_window(const struct rltp_session *s);
void recovery_entry_lost(struct rltp_session *s, struct tx_entry *entry);

/* rejection.c: packets that the receiver rejects */
void rejection_receive(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
void rejection_settled(struct rltp_session *s, const struct tx_entry *entry);
/* Returns how many packets of a message may be sent before the receiver answers. */
uint32_t rejection_granted(const struct rltp_flow *f, const struct rltp_message *m);
struct tx_entry *rejection_due(struct rltp_io *io, uint64_t now_ns); /* NULL: none */

/* keepalive.c: PING and PONG */
size_t keepalive_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t keepalive_deadline(const struct rltp_session *s);
void keepalive_ping_receive(struct rltp_session *s, const struct wire_header *h,
			    const uint8_t *body, uint64_t now_ns);

/* pmtu.c: path MTU. pmtu_lost: a packet was declared lost; pmtu_acked: one arrived after losses. */
void pmtu_open(struct rltp_session *s, uint64_t now_ns);
size_t pmtu_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t pmtu_deadline(const struct rltp_session *s);
bool pmtu_resting(const struct rltp_session *s);
void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);
void pmtu_lost(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);
void pmtu_acked(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);

/* comparator.c: other loss detection methods */
void comparator_irn_losses(struct rltp_session *s, uint32_t highest);
void comparator_gbn_rewind(struct rltp_session *s);

#endif
