/* SPDX-License-Identifier: BSD-3-Clause */
/* The session and its parts, only for src/rltp. Other folders use session.h.
 *
 * Invariants: tx_una <= tx_next in serial arithmetic; tx_next - tx_una <= WIRE_WINDOW_MAX. Each
 * ring entry in state TX_SENT, TX_LOST or TX_WAIT is once in the list `sent`, `lost` or `waiting`.
 * A session with outstanding work has its `io`. */
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
	uint64_t sent_ns; /* time of the last transmission; in TX_WAIT: time of the next attempt */
	uint32_t psn, sub;
	/* neighbours in the list of entries in the same state; TX_NONE: none */
	uint16_t previous, next;
	uint8_t state;      /* enum tx_state */
	uint8_t tries;      /* transmissions of the packet; stops at 255 */
	uint8_t rejections; /* rejections of the packet for lack of space; stops at 255 */
	/* reason of the next retransmission, enum datagram_cause; only for observers */
	uint8_t cause;
};

/* List of entries in one state: `sent` in order of transmission, `lost` in order of detection. */
struct tx_list {
	uint16_t first, last;
	uint32_t count;
};

/* Messages of one queue pair and direction. Flow 0 is control and always goes first. The other
 * flows form channels. Channels share the endpoint by weight; the flows of a channel share the
 * channel equally. */
struct rltp_flow {
	struct rltp_message *head, *tail;
	uint32_t unacked; /* packets of this flow that were sent and not acknowledged */
	/* packets of `unacked` that the receiver rejected for lack of space; while it is > 0, the
	 * flow sends no new packets except granted ones */
	uint32_t refused;
	/* True: the last PUT waited for a grant. So the next PUT first sends only one packet. */
	bool waited;
	int32_t deficit; /* bytes left in the flow's quantum */
};

struct rltp_channel {
	uint8_t ready; /* bit q: flow q has messages */
	uint8_t flow;  /* flow that is served now */
};

/* State that all sessions of an endpoint share. The endpoint owns it. */
struct rltp_shared {
	uint16_t node; /* id of this node */
	uint16_t rwnd; /* packets that each peer may have in flight to this node */
	/* packets that fit into the link's receive buffer; 0: unknown, and `rwnd` is constant */
	uint32_t receive_packets;
	uint32_t active; /* number of sessions with `io`, which share receive_packets */
	/* Reserves memory for the deadlines of `active` sessions. DXP_OK or DXP_ENOMEM. NULL: the
	 * endpoint keeps no deadlines. */
	int (*reserve)(struct rltp_shared *shared, uint32_t active);
	uint8_t rx_level; /* fill level of the link's receive buffer, 0 .. 31 */
	bool payload_crc; /* true: the checksum covers the payload too */
	struct rltp_tuning tuning;
	/* maximum number of packets in flight per session, 1 .. WIRE_WINDOW_MAX */
	uint32_t window_packets;
	const struct rltp_user_ops *ops;
	void *user;
	const struct rltp_seal_ops *seal; /* NULL: no protection */
	uint32_t ends;                    /* number of sessions that have a status in `end` */
	struct arbiter arbiter;           /* initialized before the first session */
};

struct keepalive {
	uint64_t ping_ns;     /* when this side last sent a PING; 0: never */
	uint64_t answered_ns; /* when this side last sent a PONG; 0: never */
	uint64_t opaque;      /* value of the peer's PING, which the PONG repeats */
	bool answer_due;
};

enum pmtu_state {
	PMTU_REST,   /* the path MTU is known, and no probe is outstanding */
	PMTU_SEARCH, /* probes test whether the path carries packets of `size` */
	/* pairs of probes test whether the path still carries `unit`, and whether it carries the
	 * floor */
	PMTU_VERIFY
};

/* Path MTU discovery by probes (RFC 8899). Sizes are payload bytes of a data packet. The floor is
 * the size that works on every path. */
struct pmtu {
	uint8_t state; /* enum pmtu_state */
	uint8_t tries, floor_answers;
	bool floor_due;  /* PMTU_VERIFY: the next probe has the floor's size */
	bool answer_due; /* the probe `answer` of the peer must be acknowledged */
	uint16_t size;   /* PMTU_SEARCH: size under test */
	uint16_t high;   /* PMTU_SEARCH: smallest size that the path does not carry */
	uint32_t id;     /* id of the outstanding probes */
	/* packets longer than the floor that were lost since such a packet last arrived */
	uint32_t lost_large;
	uint64_t deadline_ns;
	struct wire_pmtu answer;
};

/* A handshake with protection. It exists until the session is open. At the answering side, it
 * exists until the first sealed frame proves that the HELLO was no replay. */
struct rltp_handshake {
	uint8_t frame[WIRE_HELLO_SEALED_FRAME]; /* HELLO or HELLO_ACK of this side; retransmitted
						   unchanged */
	/* answering side: time at which it stops waiting for a sealed frame and starts its own
	 * handshake */
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
	/* size of the ring in entries, a power of two; grows up to WIRE_WINDOW_MAX */
	uint32_t tx_size;
	struct tx_entry *tx;
	struct tx_list sent, lost, waiting;
	/* true: memory for a longer ring was short; an acknowledgement clears this */
	bool ring_short;
	/* time of the last transmission; unique, so it orders the packets of a batch */
	uint64_t last_sent_ns;
	struct cc cc;
	struct pace pace;
	/* true: the next packet is one that the receiver rejected, not a new one; alternates */
	bool rejected_next;
	/* true: the window or the pace blocked a packet since the last acknowledgement */
	bool limited;

	/* loss recovery */
	/* send time of the newest transmission that arrived; rack_rtt_ns is its round trip */
	uint64_t rack_ns;
	uint64_t rack_rtt_ns;
	/* earliest time at which a packet in `waiting` is due; UINT64_MAX: none */
	uint64_t wait_deadline_ns;
	uint64_t reorder_deadline_ns;
	/* spurious retransmissions counted; each makes the reorder window longer */
	uint32_t reorder_steps;
	uint32_t clean_repeats; /* retransmissions since the last spurious one */
	uint32_t repeats_sent;  /* retransmissions that the peer may still report in dup_count */
	/* retransmissions of held packets that the peer may still report in dup_count; these never
	 * count as spurious */
	uint32_t held_repeats;
	uint32_t probes, backoff;
	uint64_t arrived_ns; /* time of the last arrival of a frame */
	/* True: nothing arrived for WAIT_SPIN_NS, so the peer may need a wakeup before it
	 * answers. */
	bool peer_idle;
	/* true: the receiver will acknowledge the last sent packet without delay */
	bool answer_prompt;
	/* true: the next retransmission is a probe and ignores window and pace */
	bool probe_due;

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	/* go-back-N: true if the gap was reported and `cum` has not advanced since */
	bool gap_reported;
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* credits */
	bool grants_due;            /* true: ops->grants has limits to send */
	uint64_t credit_request_ns; /* time of the next credit request; UINT64_MAX: none */
	uint64_t credit_interval_ns;

	/* handshake */
	uint64_t hello_deadline_ns, hello_interval_ns;
	/* numbers of the peer's HELLO, which the HELLO_ACK repeats */
	uint32_t hello_echo_session, hello_echo_psn;
	/* tag of the last HELLO that was sent; a REJECT quotes it */
	uint8_t hello_tag[WIRE_TAG_BYTES];
	struct rltp_handshake *handshake;

	/* keepalive and path MTU */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns; /* last activity; RLTP_REST_NS later the session becomes idle */
	struct arbiter_link links[RLTP_CHANNELS]; /* neighbours in the run queue of each channel */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io;     /* state while the session is active; NULL: idle */
	void *owner;            /* pointer of the layer above; RLTP never uses it */
	struct rltp_seal *seal; /* keys; NULL: the session's packets have no protection */
	struct udp_address address;
	uint16_t node; /* id of the peer in this endpoint */
	uint8_t state; /* enum rltp_state */
	/* Loss detection method of the peer's sender, enum rltp_recovery; it selects how this side
	 * receives. */
	uint8_t peer_recovery;
	/* Largest data payload that the local interface carries to this peer; a multiple of 64. */
	uint16_t payload_bytes;
	uint16_t agreed; /* largest payload that both sides accept */
	/* Payload that the path is known to carry. New messages are split into packets of this
	 * size. */
	uint16_t unit;
	uint16_t peer_window; /* packets that the peer allows in flight */
	uint16_t peer_credit; /* NAPs that each queue pair of the peer accepts before a grant */
	/* dst_session in packets from the peer; 0 before the first handshake */
	uint32_t local_id;
	uint32_t peer_id; /* dst_session in packets to the peer; 0 until received */
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch, epoch;
	uint32_t initial_psn;
	uint32_t tx_next; /* packet number of the next new packet */
	/* Next expected packet number, while the session is idle. An active session uses
	 * io->rx.cum. */
	uint32_t rx_cum;
	/* Number of answers that the layer above waits for. While it is > 0, silence of the peer
	 * closes the session. */
	uint32_t awaited;
	/* Number of incomplete messages that the layer above has received. While it is > 0, silence
	 * of the peer closes the session, but after a longer time. */
	uint32_t partial;
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	/* packets marked "congestion experienced": received here; reported by the peer */
	uint16_t ce_count, peer_ce_count;
	/* features that the peer supports, bits of enum wire_feature */
	uint32_t peer_features;
	bool watched; /* true: see rltp_session_watch */
	bool outside; /* true: see rltp_peer_info */
	/* Node id in packets from and to the peer. Equals `node`, except if `outside` is true: then
	 * it is WIRE_NODE_NONE until the handshake reports the id. */
	uint16_t peer_node;
	uint32_t path_ns; /* lowest fabric delay on this path, also while idle; 0: unknown */
	/* time of the last good frame; if later, the time from which the peer's silence counts */
	uint64_t received_ns;
	uint64_t patience_ns; /* silence that closes the session, at least RLTP_DEAD_NS */
	uint8_t protect;      /* enum wire_protect of the open session */
	uint16_t away;        /* how often this process paused since received_ns */
	int32_t end;          /* status of the last close, until it is reported; DXP_OK: none */
	struct rltp_counters counters;

	/* time of the next search for a larger path MTU, in s; UINT32_MAX: never */
	uint32_t pmtu_again_s;

	/* fields that the endpoint uses */
	uint32_t bye_id; /* dst_session of the BYE that must be sent */
	/* index in the heap of deadlines, plus 1; 0: the heap has no entry */
	uint32_t heap_index;
	/* second in which `hello_spent` handshakes of this peer were accepted */
	uint16_t hello_second;
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

/* Returns how many bytes protection takes from the payload of each packet. */
static inline uint16_t session_overhead(const struct rltp_session *s)
{
	return s->seal ? WIRE_SEAL_BYTES : 0;
}

/* Returns true while this side has answered a HELLO and does not know whether the HELLO was a
 * replay. Until a sealed frame arrives, it sends no data. */
static inline bool session_unconfirmed(const struct rltp_session *s)
{
	return s->state == RLTP_OPEN && s->io && s->io->handshake;
}

/* session.c: frees the keys and the handshake. */
void session_keys_drop(struct rltp_session *s);

/* session.c: returns true if an active session can become idle without losing state. */
bool session_resting(const struct rltp_session *s);

/* Returns the receive window to advertise, in packets. If the session's packets are short, the
 * window is larger, because more of them fit into the link's buffer. */
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
/* Makes space for one more packet; may allocate a longer ring. Returns false if there is no space
 * now. */
bool tx_ring_has_space(struct rltp_session *s);
void tx_ring_reset(struct rltp_io *io);
void tx_entry_enter(struct rltp_io *io, struct tx_entry *entry, enum tx_state state);
void tx_entry_leave(struct rltp_io *io, struct tx_entry *entry);
struct tx_entry *tx_entry_first(struct rltp_io *io, const struct tx_list *list);  /* NULL: none */
struct tx_entry *tx_entry_next(struct rltp_io *io, const struct tx_entry *entry); /* NULL: none */

/* flow.c: selects the next message to send */
void flow_append(struct rltp_session *s, struct rltp_message *m);
void flow_remove_head(struct rltp_session *s, uint8_t flow);
/* Returns true if flow_next would find a message in the control flow, or in a channel in which the
 * session waits in no run queue. */
bool flow_ready(const struct rltp_session *s);
/* Returns a mask of the channels in which flow_next would find a message. */
uint32_t flow_channels(const struct rltp_session *s);
/* Returns the flow to send from: the control flow, or a flow of a channel in `mask`. NULL: none. */
struct rltp_flow *flow_next(struct rltp_session *s, uint32_t mask, uint8_t *index);
/* charges the flow's quantum */
void flow_charge(struct rltp_session *s, uint8_t index, uint32_t bytes);
/* Charges sent bytes, including retransmissions, to the channel of flow `index`. */
void flow_spend(struct rltp_session *s, uint8_t index, uint32_t bytes, uint64_t now_ns);
void flow_cut(struct rltp_io *io, uint8_t index); /* counts a packet in flight */
/* counts a packet that is complete */
void flow_settled(struct rltp_io *io, const struct tx_entry *entry);
/* Removes any message; for closing a session. NULL: none is left. */
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
uint32_t session_window(const struct rltp_session *s); /* send window, in packets */
void recovery_acknowledge(struct rltp_session *s, const struct wire_header *h,
			  const struct wire_ack *ack, uint64_t arrived_ns, uint64_t now_ns);
void recovery_timers(struct rltp_session *s, uint64_t now_ns);
uint64_t recovery_deadline(const struct rltp_session *s);
uint64_t recovery_reorder_window(const struct rltp_session *s);
void recovery_entry_lost(struct rltp_session *s, struct tx_entry *entry);

/* rejection.c: packets that the receiver rejected */
void rejection_receive(struct rltp_session *s, const struct wire_nack_body *nack, uint64_t now_ns);
void rejection_settled(struct rltp_session *s, const struct tx_entry *entry);
/* Returns how many packets of the new message `m` may be sent before the receiver answers. */
uint32_t rejection_granted(const struct rltp_flow *f, const struct rltp_message *m);
/* packet to retransmit now; NULL: none */
struct tx_entry *rejection_due(struct rltp_io *io, uint64_t now_ns);

/* keepalive.c: PING and PONG */
size_t keepalive_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t keepalive_deadline(const struct rltp_session *s);
void keepalive_ping_receive(struct rltp_session *s, const struct wire_header *h,
			    const uint8_t *body, uint64_t now_ns);

/* pmtu.c: path MTU. pmtu_lost: a packet was declared lost. pmtu_acked: a packet arrived after such
 * losses. */
void pmtu_open(struct rltp_session *s, uint64_t now_ns);
size_t pmtu_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns);
uint64_t pmtu_deadline(const struct rltp_session *s);
bool pmtu_resting(const struct rltp_session *s);
void pmtu_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		  uint64_t now_ns);
void pmtu_lost(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);
void pmtu_acked(struct rltp_session *s, const struct tx_entry *entry, uint64_t now_ns);

/* comparator.c: other loss detection methods, for comparison */
void comparator_irn_losses(struct rltp_session *s, uint32_t highest);
void comparator_gbn_rewind(struct rltp_session *s);

#endif
