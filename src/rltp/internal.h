/* SPDX-License-Identifier: BSD-3-Clause */
/* The session and its parts, for the files of src/rltp only. Other folders use session.h.
 *
 * Invariants: tx_una <= tx_next in serial arithmetic; tx_next - tx_una <= WIRE_WINDOW_MAX. The
 * lists `sent`, `lost` and `waiting` hold the entries of these states, each exactly once. A session
 * with work under way has its `io`. */
#ifndef RLTP_INTERNAL_H
#define RLTP_INTERNAL_H

#include "base/util.h"
#include "rltp/arbiter.h"
#include "rltp/cc.h"
#include "rltp/limits.h"
#include "rltp/message.h"
#include "rltp/pace.h"
#include "rltp/rx_map.h"
#include "rltp/session.h"

enum tx_state { TX_FREE, TX_SENT, TX_LOST, TX_WAIT, TX_ACKED };

#define TX_NONE UINT16_MAX

/* A packet in flight: one entry of the ring `tx`. */
struct tx_entry {
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
	uint8_t flow;  /* flow served now */
};

/* State that all sessions of an endpoint share. The endpoint owns it; sessions read it when
 * needed. */
struct rltp_shared {
	uint16_t node;            /* own id */
	uint16_t rwnd;            /* packets that each peer may have in flight now */
	uint32_t receive_packets; /* capacity of the link's buffer; 0: unknown, rwnd is constant */
	uint32_t active;          /* sessions that have their `io`; they share receive_packets */
	/* Reserves space for the deadlines of `active` sessions; DXP_OK or DXP_ENOMEM. NULL:
	 * deadlines are not kept. */
	int (*reserve)(struct rltp_shared *shared, uint32_t active);
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
	uint64_t ping_ns;     /* last PING; 0: none */
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
	struct tx_entry *tx;
	struct tx_list sent, lost, waiting;
	bool ring_short;       /* ring could not grow; reset by an acknowledgement */
	uint64_t last_sent_ns; /* unique per transmission: orders the packets of one batch */
	struct cc cc;
	struct pace pace;
	bool refused_next; /* retransmissions of rejected packets and new packets alternate */
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
	bool peer_idle;
	bool answer_prompt; /* the receiver acknowledges the last packet sent without delay */
	bool probe_due;     /* next retransmission ignores window and pace */

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	bool gap_reported; /* go-back-N: the gap is reported; cum has not moved since */
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
	uint32_t hello_echo_session, hello_echo_psn; /* of the HELLO to answer */

	/* keepalive and path MTU */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns; /* last activity; the session becomes idle RLTP_REST_NS later */
	struct arbiter_link links[RLTP_CHANNELS]; /* links in the arbiter's run queues */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io; /* NULL: idle */
	void *owner;        /* of the layer above; RLTP never reads it */
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
	/* Answers that the layer above waits for. While > 0, silence closes the session. */
	uint32_t awaited;
	/* Messages that the layer above holds incomplete. While > 0, silence closes the session,
	 * later. */
	uint32_t partial;
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	uint16_t ce_count, peer_ce_count; /* marked packets received; reported by the peer */
	uint32_t peer_features;           /* enum wire_feature */
	bool watched;                     /* rltp_session_watch */
	uint64_t received_ns;             /* last good frame, or begin of the wait for one */
	uint64_t patience_ns;             /* tolerated silence; RLTP_DEAD_NS if less */
	uint16_t away;    /* times since received_ns that this process did not run */
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
#include "wire/limits.h"

static inline struct tx_entry *tx_entry_at(struct rltp_io *io, uint32_t psn)
{
	return &io->tx[psn & (io->tx_size - 1)];
}

static inline uint32_t timestamp_of(uint64_t now_ns)
{
	return (uint32_t)(now_ns / WIRE_TS_NS);
}

/* session.c: returns true if the session may become idle without losing state. It must be
 * active. */
bool session_resting(const struct rltp_session *s);

/* Returns the receive window to advertise, in packets. Short packets take less of the link's
 * buffer. */
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

/* tx_ring.c: the ring of packets in flight and its lists, one per state */
int tx_ring_create(struct rltp_io *io);
/* Makes space for one more packet; grows the ring if necessary. False: no space now. */
bool tx_ring_has_space(struct rltp_session *s);
void tx_ring_reset(struct rltp_io *io);
void tx_entry_enter(struct rltp_io *io, struct tx_entry *entry, enum tx_state state);
void tx_entry_leave(struct rltp_io *io, struct tx_entry *entry);
struct tx_entry *tx_entry_first(struct rltp_io *io, const struct tx_list *list);  /* or NULL */
struct tx_entry *tx_entry_next(struct rltp_io *io, const struct tx_entry *entry); /* or NULL */

/* flow.c: selection of the next message */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
/* Returns true if flow_next would find a message outside the run queues. */
bool flow_ready(const struct rltp_session *s);
/* Returns the channels of which flow_next would find a message; bit c: channel c. */
uint32_t flow_channels(const struct rltp_session *s);
/* Returns the next flow: control, or one of the channels in `mask`; NULL: none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes); /* to its quantum */
/* Charges `bytes` sent to the flow's channel; retransmissions count too. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, uint8_t index);                    /* counts one packet sent */
void flow_settled(struct rltp_io *io, const struct tx_entry *entry); /* counts it as completed */
/* Removes any message, for a session that closes. */
struct rltp_message *flow_dequeue(struct rltp_session *s);
void flows_free(struct rltp_session *s); /* before `io` is freed */

/* acknowledge.c: packets from receiver to sender */
bool rltp_ack_due(const struct rltp_session *s, uint64_t now_ns);
void rltp_ack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_nack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_control_finish(const struct udp_address *to, const struct wire_header *h,
			 size_t body_bytes, struct datagram *out);

/* credit.c: NAP credit limits, granted and requested */
size_t credits_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns);

/* recovery.c: the sender's loss detection */
uint32_t session_window(const struct rltp_session *s); /* packets */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t recovery_reorder_window(const struct rltp_session *s);
void recovery_entry_lost(struct rltp_session *s, struct tx_entry *entry);

/* refusal.c: packets that the receiver rejects */
void refusal_receive(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
/* Notes that the packet was accepted. */
void refusal_settled(struct rltp_session *s, const struct tx_entry *entry);
/* Returns the packets of a message that may be sent before the receiver answers. */
uint32_t refusal_granted(const struct rltp_flow *f, const struct rltp_message *m);
struct tx_entry *refusal_due(struct rltp_io *io, uint64_t now_ns); /* or NULL */

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
