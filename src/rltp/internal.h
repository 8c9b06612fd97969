/* SPDX-License-Identifier: BSD-3-Clause */
/* The session and its parts, only for src/rltp. Invariants: tx_una <= tx_next in serial arithmetic;
 * tx_next - tx_una <= WIRE_WINDOW_MAX. Ring entries in TX_SENT, TX_LOST or TX_WAIT are once in
 * `sent`, `lost` or `waiting`. A session with outstanding work has its `io`. */
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

struct tx_entry {
	struct rltp_message *message;
	uint64_t sent_ns; /* last transmission; in TX_WAIT: next attempt */
	uint32_t psn, sub;
	/* in the list of its state, or TX_NONE */
	uint16_t previous, next;
	uint8_t state;
	uint8_t tries;      /* transmissions; stops at 255 */
	uint8_t rejections; /* for lack of space; stops at 255 */
	/* enum datagram_cause of the next retransmission; only for observers */
	uint8_t cause;
};

/* `sent` is in order of transmission, `lost` in order of detection. */
struct tx_list {
	uint16_t first, last;
	uint32_t count;
};

/* Messages of one queue pair and direction. Flow 0 is control and goes first. The others form
 * channels, which share the endpoint by weight. */
struct rltp_flow {
	struct rltp_message *head, *tail;
	uint32_t unacked; /* weights of packets in flight */
	/* of these, rejected for lack of space; while > 0, the flow sends new packets only if
	 * granted */
	uint32_t refused;
	/* The last PUT waited for a grant, so the next one first sends one packet. */
	bool waited;
	int32_t deficit; /* bytes left of the quantum */
};

struct rltp_channel {
	uint8_t ready; /* bit q: flow q has messages */
	uint8_t flow;  /* served now */
};

/* State of all sessions; the endpoint owns it. */
struct rltp_shared {
	uint16_t node;
	uint16_t rwnd; /* packets that each peer may have in flight to this node */
	/* packets in the link's receive buffer; 0: unknown, and `rwnd` is constant */
	uint32_t receive_packets;
	uint32_t active;
	/* Reserves memory for the deadlines of `active` sessions. DXP_ENOMEM. NULL: no
	 * deadlines. */
	int (*reserve)(struct rltp_shared *shared, uint32_t active);
	uint8_t rx_level; /* fill level of the link's receive buffer, 0 .. 31 */
	/* see rltp_endpoint_options */
	uint64_t machine;
	uint8_t (*path)(void *context, const struct udp_address *peer, bool same_machine);
	void *path_context;
	struct rltp_tuning tuning;
	/* per session, 1 .. WIRE_WINDOW_MAX */
	uint32_t window_packets;
	const struct rltp_user_ops *ops;
	void *user;
	const struct rltp_seal_ops *seal; /* NULL: no protection */
	uint32_t ends;                    /* sessions with a status in `end` */
	struct arbiter arbiter;           /* initialized before the first session */
};

struct keepalive {
	uint64_t ping_ns;     /* last PING sent; 0: never */
	uint64_t answered_ns; /* last PONG sent; 0: never */
	uint64_t opaque;      /* of the peer's PING, for the PONG */
	bool answer_due;
};

enum pmtu_state {
	PMTU_REST,   /* no probe is outstanding */
	PMTU_SEARCH, /* probes test packets of `size` */
	/* pairs of probes test `unit` and the floor */
	PMTU_VERIFY
};

/* Path MTU discovery by probes (RFC 8899). Sizes are payload bytes of a data packet. The floor
 * works on every path. */
struct pmtu {
	uint8_t state;
	uint8_t tries, floor_answers;
	bool floor_due;  /* PMTU_VERIFY: the next probe has the floor's size */
	bool answer_due; /* `answer` must be sent */
	uint16_t size;   /* size under test */
	uint16_t high;   /* PMTU_SEARCH: smallest size that failed */
	uint32_t id;     /* of the outstanding probes */
	/* lost packets above the floor, but not longer than new datagrams, since a packet above the
	 * floor arrived */
	uint32_t lost_large;
	/* lost_large for longer packets: long frames, and packets cut before the size fell;
	 * arrivals of shorter packets do not clear it */
	uint32_t lost_longer;
	uint64_t deadline_ns;
	struct wire_pmtu answer;
};

/* A handshake with protection. The answering side keeps it until the first sealed frame proves that
 * the HELLO was no replay. */
struct rltp_handshake {
	/* own HELLO or HELLO_ACK, retransmitted unchanged */
	uint8_t frame[WIRE_HELLO_SEALED_FRAME];
	/* answering side: without a sealed frame, starts its own handshake then */
	uint64_t until_ns;
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
	/* a power of two up to WIRE_WINDOW_MAX */
	uint32_t tx_size;
	struct tx_entry *tx;
	struct tx_list sent, lost, waiting;
	uint32_t inflight; /* weights of `sent` */
	/* no memory for a longer ring; cleared by an acknowledgement */
	bool ring_short;
	/* unique, so it orders the packets of a batch */
	uint64_t last_sent_ns;
	struct cc cc;
	struct pace pace;
	/* a rejected packet goes before a new one; alternates */
	bool rejected_next;
	/* the window or the pace blocked a packet since the last acknowledgement */
	bool limited;

	/* loss recovery */
	uint64_t rack_ns;
	uint64_t rack_rtt_ns;
	/* of the first packet in `waiting`; UINT64_MAX: none */
	uint64_t wait_deadline_ns;
	uint64_t reorder_deadline_ns;
	/* spurious retransmissions; each makes the reorder window longer */
	uint32_t reorder_steps;
	uint32_t clean_repeats; /* retransmissions since the last spurious one */
	uint32_t repeats_sent;  /* retransmissions that dup_count may still report */
	/* retransmissions of held packets that dup_count may report; they never count as
	 * spurious */
	uint32_t held_repeats;
	uint32_t probes, backoff;
	uint64_t arrived_ns; /* last arrival of a frame */
	/* Nothing arrived for WAIT_SPIN_NS: the peer may need a wakeup to answer. */
	bool peer_idle;
	/* the receiver acknowledges the last packet at once */
	bool answer_prompt;
	/* the next retransmission is a probe */
	bool probe_due;

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	/* go-back-N: the gap was reported and `cum` has not advanced since */
	bool gap_reported;
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* credits */
	bool grants_due;
	uint64_t credit_request_ns; /* next request; UINT64_MAX: none */
	uint64_t credit_interval_ns;

	/* handshake */
	uint64_t hello_deadline_ns, hello_interval_ns;
	/* of the peer, for the HELLO_ACK */
	uint32_t hello_echo_session, hello_echo_psn;
	uint8_t hello_key; /* enum rltp_key that authenticated it */
	/* of the last HELLO; a REJECT quotes it */
	uint8_t hello_tag[WIRE_TAG_BYTES];
	/* of the peer, for this handshake; 0: none */
	uint64_t cookie;
	uint32_t cookie_hellos; /* caused by COOKIEs in this handshake */
	struct rltp_handshake *handshake;

	/* keepalive and path MTU */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns;                       /* last activity; idle RLTP_REST_NS later */
	struct arbiter_link links[RLTP_CHANNELS]; /* in the run queue of each channel */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io;     /* NULL: idle */
	void *owner;            /* belongs to the layer above */
	struct rltp_seal *seal; /* NULL: no protection */
	struct udp_address address;
	uint16_t node; /* peer's id in this endpoint */
	uint8_t state; /* enum rltp_state */
	/* enum rltp_recovery of the peer; selects how this side receives */
	uint8_t peer_recovery;
	/* largest payload that the local interface carries; a multiple of 64 */
	uint16_t payload_bytes;
	/* largest payload of a datagram that both interfaces carry */
	uint16_t whole;
	/* `whole`, or the payload of a long frame if both accept it */
	uint16_t agreed;
	/* payload that the path is known to carry, for new messages */
	uint16_t unit;
	uint16_t peer_window; /* packets that the peer allows in flight */
	uint16_t peer_credit; /* NAPs per queue pair before a grant */
	/* as the handshake states */
	bool same_machine;
	uint8_t path; /* of the open session, enum rltp_path */
	/* dst_session of the peer's packets; 0 before the first handshake */
	uint32_t local_id;
	uint32_t peer_id; /* dst_session of own packets; 0 until received */
	/* s, next search; UINT32_MAX: never */
	uint32_t pmtu_again_s;
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch, epoch;
	uint32_t initial_psn;
	uint32_t tx_next; /* number of the next new packet */
	/* next expected number while idle; else io->rx.cum */
	uint32_t rx_cum;
	/* answers that the layer above awaits; while > 0, silence closes the session */
	uint32_t awaited;
	/* incomplete received messages; while > 0, silence closes it too, but later */
	uint32_t partial;
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	/* ECN marks received; reported by the peer */
	uint16_t ce_count, peer_ce_count;
	/* bits of enum wire_feature */
	uint32_t peer_features;
	bool watched; /* see rltp_session_watch */
	bool outside; /* see rltp_peer_info */
	/* Node id in packets: `node`; if `outside`, WIRE_NODE_NONE until the handshake. */
	uint16_t peer_node;
	uint32_t path_ns; /* lowest fabric delay, kept while idle; 0: unknown */
	/* last good frame, or a later time from which silence counts */
	uint64_t received_ns;
	uint64_t patience_ns; /* silence in ns that closes the session, at least RLTP_DEAD_NS */
	uint8_t protect;      /* enum wire_protect of the open session */
	uint16_t away;        /* pauses of this process since received_ns */
	int32_t end;          /* status of the last close until reported; DXP_OK: none */
	struct rltp_counters counters;

	/* used by the endpoint */
	uint32_t bye_id; /* dst_session of a BYE */
	/* in the heap of deadlines, plus 1; 0: none */
	uint32_t heap_index;
	/* second in which `hello_spent` HELLOs were checked, without and with a cookie */
	uint16_t hello_second;
	uint8_t hello_spent[2];
	bool hello_ack_due;
	bool bye_due;
	bool ready; /* in the ready queue */
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

static inline uint16_t session_overhead(const struct rltp_session *s)
{
	return s->seal ? WIRE_SEAL_BYTES : 0;
}

/* Returns the length of datagrams in a frame of `bytes`; 0: not a long one. */
static inline uint16_t session_segment(const struct rltp_session *s, uint32_t bytes)
{
	uint32_t datagram = s->whole + WIRE_DATA_BYTES;

	return (uint16_t)(bytes > datagram ? datagram : 0);
}

/* Answered a HELLO that may be a replay. Sends no data until a sealed frame arrives. */
static inline bool session_unconfirmed(const struct rltp_session *s)
{
	return s->state == RLTP_OPEN && s->io && s->io->handshake;
}

/* session.c: reads the properties of the path again. */
void session_path_look(struct rltp_session *s);

/* session.c: frees keys and handshake. */
void session_keys_drop(struct rltp_session *s);

/* session.c: the session can become idle without losing state. */
bool session_resting(const struct rltp_session *s);

/* Returns the receive window to advertise. More short packets fit into the link's buffer. */
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

/* tx_ring.c */
int tx_ring_create(struct rltp_io *io);
/* Makes space for one more packet, perhaps in a longer ring. */
bool tx_ring_has_space(struct rltp_session *s);
void tx_ring_reset(struct rltp_io *io);
void tx_entry_enter(struct rltp_io *io, struct tx_entry *entry, enum tx_state state);
void tx_entry_leave(struct rltp_io *io, struct tx_entry *entry);
struct tx_entry *tx_entry_first(struct rltp_io *io, const struct tx_list *list);
struct tx_entry *tx_entry_next(struct rltp_io *io, const struct tx_entry *entry);

/* flow.c */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
/* True: the control flow has a message, or a channel in whose run queue the session is not. */
bool flow_ready(const struct rltp_session *s);
uint32_t flow_channels(const struct rltp_session *s);
/* Returns the control flow, or one of a channel in `mask`. NULL: none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
/* charges the quantum */
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes);
/* Charges sent bytes, including retransmissions, to the flow's channel. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, const struct rltp_message *m);
void flow_settled(struct rltp_io *io, const struct tx_entry *entry);
/* Removes any message; NULL: none. */
struct rltp_message *flow_dequeue(struct rltp_session *s);
void flows_free(struct rltp_session *s);

/* acknowledge.c */
bool rltp_ack_due(const struct rltp_session *s, uint64_t now_ns);
void rltp_ack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_nack_build(struct rltp_session *s, uint64_t now_ns, struct datagram *out);
void rltp_control_finish(const struct udp_address *to, const struct wire_header *h,
			 size_t body_bytes, struct datagram *out);

/* credit.c */
size_t credits_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns);

/* recovery.c */
uint32_t session_window(const struct rltp_session *s); /* send window, in packets */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t recovery_reorder_window(const struct rltp_session *s);
void recovery_entry_lost(struct rltp_session *s, struct tx_entry *entry);

/* rejection.c */
void rejection_receive(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
void rejection_settled(struct rltp_session *s, const struct tx_entry *entry);
/* Returns packets of the new message that may be sent before an answer. */
uint32_t rejection_granted(const struct rltp_flow *f, const struct rltp_message *m);
/* to retransmit now; NULL: none */
struct tx_entry *rejection_due(struct rltp_io *io, uint64_t now_ns);

/* keepalive.c */
size_t keepalive_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t keepalive_deadline(const struct rltp_session *s);
void keepalive_ping_receive(struct rltp_session *s, const struct wire_header *h,
			    const uint8_t *body, uint64_t now_ns);

/* pmtu.c. pmtu_acked: a packet arrived after losses. */
void pmtu_open(struct rltp_session *s, uint64_t now_ns);
size_t pmtu_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t pmtu_deadline(const struct rltp_session *s);
bool pmtu_resting(const struct rltp_session *s);
void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);
void pmtu_lost(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);
void pmtu_acked(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);

/* comparator.c */
void comparator_irn_losses(struct rltp_session *s, uint32_t highest);
void comparator_gbn_rewind(struct rltp_session *s);

#endif
