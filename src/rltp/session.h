/* SPDX-License-Identifier: BSD-3-Clause */
/* One reliable session between two NICs: the whole transport in four calls: post, receive, send,
 * deadline. No system call, no clock; memory is taken when the session wakes and given back when it
 * has rested.; docs/wire.md; docs/design.md "RLTP".
 *
 * Packet numbers exist to find losses and duplicates, nothing waits for their order. Invariants:
 * tx_una <= tx_next in serial arithmetic, tx_next - tx_una <= RLTP_WINDOW_MAX; `sent`, `lost` and
 * `waiting` hold the slots in these states, each exactly once; a packet is acknowledged only after
 * the layer above has placed it; a session with anything to do has its `io`. */
#ifndef RLTP_SESSION_H
#define RLTP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "rltp/limits.h"
#include "rltp/arbiter.h"
#include "rltp/cc.h"
#include "rltp/message.h"
#include "rltp/pace.h"
#include "rltp/rx_map.h"
#include "wire/address.h"

enum rltp_state { RLTP_IDLE, RLTP_GREETING, RLTP_OPEN };

/* How losses are found. All but the first are there to be compared with. The numbers are the
 * wire's. */
enum rltp_recovery {
	RLTP_RACK,    /* by time order, on echoed time stamps, with tail probes */
	RLTP_IRN,     /* selective repeat of what the bitmap misses, once; then by timeout */
	RLTP_GBN_NAK, /* go-back-N: the receiver drops what is not next and says so once */
	RLTP_GBN_RTO, /* go-back-N by timeout alone */
	RLTP_RECOVERIES
};

enum tx_state { TX_FREE, TX_SENT, TX_LOST, TX_WAIT, TX_ACKED };

#define TX_NONE UINT16_MAX

/* A packet in flight. */
struct tx_slot {
	struct rltp_message *message;
	uint64_t sent_ns; /* last transmission; with TX_WAIT: when to try again */
	uint32_t psn, sub;
	uint16_t previous, next; /* in the list of its state; TX_NONE ends it */
	uint8_t state;           /* enum tx_state */
	uint8_t tries;           /* transmissions so far, saturating */
	uint8_t refusals;        /* times the receiver had no room for it, saturating */
	uint8_t cause;           /* enum datagram_cause of the next repeat, for observers */
};

/* Slots of one state: `sent` in order of transmission, `lost` in that of discovery. */
struct tx_list {
	uint16_t first, last;
	uint32_t count;
};

/* The messages of one queue pair. Flow 0 is control: always first. The others are grouped into
 * channels, which share the endpoint by weight; the flows of a channel share it equally. */
struct rltp_flow {
	struct rltp_message *head, *tail;
	uint32_t unacked; /* packets cut and not acknowledged */
	uint32_t refused; /* of them those the receiver had no room for: no more are cut then */
	bool waited;      /* its last PUT had to wait to be called: the next asks with one packet */
	int32_t deficit;  /* bytes it may still send in its turn */
};

struct rltp_channel {
	uint8_t ready; /* bit q: its flow q has messages */
	uint8_t turn;  /* flow that is served */
};

/* All counts wrap. Written by the session only. */
struct rltp_counters {
	uint64_t sent_packets, sent_bytes;         /* first transmissions; bytes of payload */
	uint64_t received_packets, received_bytes; /* first arrivals */
	uint64_t acked_packets;                    /* of sent_packets */
	uint32_t abandoned_packets;                /* in flight when their session ended */
	uint32_t retransmitted_gap;                /* because a later packet was acknowledged */
	uint32_t retransmitted_probe;              /* tail probes */
	uint32_t retransmitted_timeout;            /* after a timeout */
	uint32_t retransmitted_busy;               /* because the receiver had no buffer */
	uint32_t spurious;                         /* repeats that the receiver had already */
	uint32_t timeouts;      /* times that everything in flight was given up */
	uint32_t duplicates;    /* arrivals of something already here */
	uint32_t beyond_window; /* arrivals outside the window; dropped */
	uint32_t out_of_order;  /* go-back-N: arrivals that were not next; dropped */
	uint32_t refused;       /* packets the layer above did not take */
	uint32_t held;          /* words of the peer that it holds one of ours for a device */
	uint32_t no_memory;     /* arrivals dropped for want of memory; the peer repeats them */
	uint32_t marked;        /* arrivals with the mark "congestion experienced" */
	uint32_t acks_sent, acks_received, acks_bad, nacks_sent, nacks_received;
	uint32_t credits_sent, credits_received, credits_asked;
	uint32_t pings_sent;
	uint16_t probes_sent; /* of the path */
	uint16_t black_holes; /* times that the path carried less than before */
};

/* How this side sends. All zero is what people should use. */
struct rltp_tuning {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	bool no_pacing;
	uint64_t rto_min_ns; /* floor of the timeout; 0: the recovery's own */
};

/* What all sessions of an endpoint have in common; the endpoint's, and read whenever needed. */
struct rltp_shared {
	uint16_t node;            /* own id */
	uint16_t rwnd;            /* packets in flight that each peer is allowed now */
	uint32_t receive_packets; /* what the link's buffer holds; 0: not told, rwnd stays */
	uint32_t awake;           /* sessions that have their `io`: they share it */
	/* Makes room for the deadlines of so many; DXP_ENOMEM. NULL: nobody keeps them. */
	int (*reserve)(struct rltp_shared *shared, uint32_t awake);
	uint8_t rx_level; /* fill of our receive buffer, 0 .. 31 */
	bool payload_crc; /* cover payload by the checksum */
	struct rltp_tuning tuning;
	uint32_t window_packets; /* most packets in flight, 1 .. RLTP_WINDOW_MAX */
	const struct rltp_user_ops *ops;
	void *user;
	uint32_t ends;          /* sessions whose `end` nobody has taken */
	struct arbiter arbiter; /* between the channels; arbiter_init before the first session */
};

struct keepalive {
	uint64_t asked_ns;    /* last PING; 0: none */
	uint64_t answered_ns; /* last PONG; 0: none */
	uint64_t opaque;      /* of the PING to be answered */
	bool answer_due;
};

enum pmtu_state {
	PMTU_REST,   /* nothing to find out now */
	PMTU_SEARCH, /* does the path carry `size`? */
	PMTU_VERIFY  /* does it still carry `unit`, and the floor? */
};

/* Path MTU discovery by probes (RFC 8899). Sizes are payloads of a data packet. */
struct pmtu {
	uint8_t state; /* enum pmtu_state */
	uint8_t tries, floor_answers;
	bool floor_due;      /* VERIFY: the probe of the floor is the next */
	bool answer_due;     /* to the peer's probe `answer` */
	uint16_t size;       /* SEARCH: what is tried */
	uint16_t high;       /* SEARCH: least that is not carried */
	uint32_t id;         /* of the probes under way */
	uint32_t lost_large; /* packets above the floor lost since one arrived */
	uint64_t deadline_ns;
	struct wire_pmtu answer;
};

/* What a session needs while anything is under way. */
struct rltp_io {
	/* queues */
	struct rltp_flow flows[RLTP_FLOWS];
	struct rltp_channel channels[RLTP_CHANNELS];
	uint32_t channels_ready; /* bit c: channel c has messages */
	uint32_t lined;          /* bit c: it waits in the arbiter's lane c */
	uint32_t flows_active;   /* with messages or packets under way */

	/* sending */
	uint32_t tx_una;
	uint32_t tx_size; /* slots, a power of two; grows with need up to RLTP_WINDOW_MAX */
	struct tx_slot *tx;
	struct tx_list sent, lost, waiting;
	bool ring_short;       /* it could not grow; until an acknowledgement makes room */
	uint64_t last_sent_ns; /* unique per transmission: orders packets that left in one batch */
	struct cc cc;
	struct pace pace;
	bool refused_turn; /* what was refused and what is new take turns */
	bool limited;      /* window or pace held something back since the last acknowledgement */

	/* loss recovery */
	uint64_t rack_ns; /* newest transmission known to have arrived, and its round trip */
	uint64_t rack_rtt_ns;
	uint64_t wait_deadline_ns; /* earliest of `waiting`; UINT64_MAX when there is none */
	uint64_t reorder_deadline_ns;
	uint32_t reorder_steps; /* needless repeats seen: each widens the reorder window */
	uint32_t clean_repeats; /* repeats since the last needless one */
	uint32_t repeats_sent;  /* not yet matched with the receiver's count of duplicates */
	uint32_t held_repeats;  /* likewise, of held packets: those are nobody's mistake */
	uint32_t probes, backoff;
	uint64_t arrived_ns; /* when a frame came last */
	bool peer_asleep;    /* so long ago that the peer has to be woken to answer */
	bool answer_prompt;  /* what was sent last is acknowledged at once if it arrives */
	bool probe_due;      /* the next repeat leaves whatever window and pace say */

	/* receiving */
	struct rx_map rx;
	uint32_t unacked_arrivals;
	bool ack_now, gap_new;
	bool gap_told; /* go-back-N: the gap has been reported, and cum has not moved since */
	uint64_t ack_deadline_ns;
	uint32_t echo_ts, echo_psn;
	uint64_t echo_arrived_ns;
	bool echo_valid;
	struct wire_nack_body nacks[RLTP_NACKS_PENDING];
	uint32_t nack_count;

	/* credits */
	bool grants_due;          /* the layer above has limits to tell */
	uint64_t ask_deadline_ns; /* UINT64_MAX: nobody waits for credit */
	uint64_t ask_interval_ns;

	/* greeting */
	uint64_t hello_deadline_ns, hello_interval_ns;
	uint32_t hello_echo_session, hello_echo_psn; /* of the HELLO that an answer is due to */

	/* signs of life, and what the path carries */
	struct keepalive keepalive;
	struct pmtu pmtu;

	uint64_t active_ns; /* when something last happened: it rests RLTP_REST_NS later */
	struct lane_place places[RLTP_CHANNELS]; /* in the arbiter's lanes */
};

struct rltp_session {
	struct rltp_shared *shared;
	struct rltp_io *io; /* NULL: rests */
	uint64_t owner;     /* for the layer above; RLTP never looks at it */
	struct wire_address address;
	uint16_t node;          /* the peer's id */
	uint8_t state;          /* enum rltp_state */
	uint8_t peer_recovery;  /* enum rltp_recovery of its sending: the receiver acts accordingly
				 */
	uint16_t payload_bytes; /* what the path carries: largest data payload, a multiple of 64 */
	uint16_t agreed;        /* payload that both ends take */
	uint16_t unit;          /* payload that the path is known to carry: new messages are cut
				   by it */
	uint16_t peer_window;   /* packets in flight that the peer takes */
	uint16_t peer_credit;   /* NAPs that each of its queue pairs takes before a grant */
	uint32_t local_id; /* what the peer puts into dst_session; 0 before the first greeting */
	uint32_t peer_id;  /* what we put there; 0 until the peer has said it */
	uint64_t peer_incarnation, peer_token;
	uint32_t peer_epoch, epoch;
	uint32_t initial_psn;
	uint32_t tx_next; /* next packet number */
	uint32_t rx_cum;  /* next expected while it rests; awake: io->rx.cum */
	uint32_t awaited; /* answers that the layer above waits for, written by it: silence counts
			     for them too */
	uint32_t partial; /* messages that the layer above holds in part, written by it: whoever
			     falls silent loses them */
	uint32_t srtt_ns, rttvar_ns, min_rtt_ns; /* 0: no sample yet */
	uint32_t rx_count;
	uint16_t dup_count, peer_dup_count;
	uint16_t ce_count, peer_ce_count; /* marked packets received, and those the peer told of */
	uint32_t peer_features;           /* enum wire_feature */
	bool watched;                     /* rltp_session_watch */
	uint64_t heard_ns;    /* last good frame from the peer, or when waiting for it began */
	uint64_t patience_ns; /* silence survived; less than RLTP_DEAD_NS: that */
	uint16_t away;        /* times since then that this process did not run */
	int32_t end;          /* an open one has ended so, and nobody was told; DXP_OK: none has */
	uint32_t path_ns;     /* lowest fabric delay known when it went to rest; 0: none */
	struct rltp_counters counters;

	uint32_t pmtu_again_s; /* when the path may be tried for more; UINT32_MAX: no need */

	/* the endpoint's */
	uint32_t bye_id;       /* what a BYE that is due must put into dst_session */
	uint32_t heap_index;   /* 1 + place in the heap of deadlines; 0: not there */
	uint16_t hello_second; /* in which `hello_spent` greetings had their tag computed */
	uint8_t hello_spent;
	bool hello_ack_due;
	bool bye_due;
	bool ready; /* in the queue of those to be looked at now */
	struct rltp_session *next_ready;
};

/* A look from outside, for people. Times in ns; 0: no sample yet. */
struct rltp_view {
	uint16_t node;
	uint8_t state;
	uint16_t unit;             /* payload bytes per packet */
	uint32_t window, inflight; /* packets */
	uint32_t lost, waiting;    /* packets to be sent again: now, and later */
	uint32_t window_fine;      /* congestion window, 1/256 packets */
	uint32_t peer_window;
	uint32_t srtt_ns, min_rtt_ns, delay_ns, min_delay_ns, reorder_window_ns;
	uint16_t agreed;   /* what both ends take; `unit` is what the path carries */
	uint64_t pace_bps; /* UINT64_MAX: not paced */
	struct rltp_counters counters;
};

/* DXP_ENOMEM. The session starts idle; the endpoint greets the peer when something is posted. */
int rltp_session_create(struct rltp_shared *shared, uint16_t node, struct rltp_session **out);
void rltp_session_destroy(struct rltp_session *s);

/* Takes the memory that anything but resting needs. DXP_ENOMEM. */
int rltp_session_wake(struct rltp_session *s, uint64_t now_ns);

/* Gives it back when nothing has been under way for RLTP_REST_NS. Returns whether it rests. */
bool rltp_session_rest(struct rltp_session *s, uint64_t now_ns);

/* Queues a message; it is RLTP's until ops->done. DXP_ENOMEM: it is not. The poster bounds how many
 * it has outstanding. */
int rltp_session_post(struct rltp_session *s, struct rltp_message *m, uint64_t now_ns);

/* Its poster takes back a message that RLTP has: no byte of it is asked for any more. It ends as a
 * refused one does, with `status`: ops->fill is still asked for its header, and ops->done comes
 * when the peer knows, or as usual when all of it has arrived. */
void rltp_session_cancel(struct rltp_session *s, struct rltp_message *m, int status);

/* A packet that the layer above called held, of so many bytes, is good now: it counts as arrived,
 * and the peer is told at once. Nothing happens where a repeat of it was accepted before. */
void rltp_session_accept(struct rltp_session *s, uint32_t psn, uint32_t payload_bytes,
			 uint64_t now_ns);

/* A packet that was called held is refused after all, for good: the peer is told at once, and again
 * by the layer above if it repeats the packet. Nothing happens where it was accepted before. */
void rltp_session_refuse(struct rltp_session *s, const struct wire_nack_body *nack);

/* Of a message that had to wait so many packets may come now; told once, the caller repeats it. */
void rltp_session_call(struct rltp_session *s, const struct wire_nack_body *nack);

/* How many packets before this one, which is in the window, have not been accepted. */
uint32_t rltp_session_missing(const struct rltp_session *s, uint32_t psn);

/* Calls `visit` for each message that RLTP has, for some of them more than once; it may cancel. */
void rltp_session_messages(struct rltp_session *s,
			   void (*visit)(void *context, struct rltp_message *m), void *context);

/* The layer above has limits that ops->grants will tell. */
void rltp_session_grant(struct rltp_session *s, uint64_t now_ns);

/* The layer above waits for credit: the peer is asked, until ops->wants names nothing any more. */
void rltp_session_want(struct rltp_session *s, uint64_t now_ns);

/* Starts the packet numbers afresh on both sides, with what the greeting agreed. The session is
 * awake. */
void rltp_session_open(struct rltp_session *s, const struct wire_hello *peer, uint64_t now_ns);

/* The path's interface carries no more than `payload_bytes` now, or the path is another one, of
 * which nothing is known: messages are cut smaller, until probes say more. Those whose packets are
 * too long already end with DXP_EPATH. */
void rltp_session_path(struct rltp_session *s, uint16_t payload_bytes, bool another,
		       uint64_t now_ns);

/* Takes one decoded frame of an open session; `arrival` is where it came from, payload included. */
void rltp_session_receive(struct rltp_session *s, const struct wire_header *header,
			  const struct link_arrival *arrival, uint64_t now_ns);

/* Fills `out` with the datagrams due now, up to `count`; new packets only of the channels in `mask`
 * that are within their limits. Returns how many; 0 when nothing is due before
 * rltp_session_deadline(). */
size_t rltp_session_send(struct rltp_session *s, uint32_t mask, struct link_datagram *out,
			 size_t count, uint64_t now_ns);

/* Bit c: it could send a new packet of channel c now. */
uint32_t rltp_session_sendable(struct rltp_session *s, uint64_t now_ns);

/* When rltp_session_send() must be called again even if nothing arrives: 0 for now, UINT64_MAX when
 * nothing is pending. What waits in a lane has its turn by the arbiter's deadline. */
uint64_t rltp_session_deadline(const struct rltp_session *s);

/* When silence will have lasted too long; the endpoint then fails the session. UINT64_MAX: nobody
 * waits. */
uint64_t rltp_session_dead_ns(const struct rltp_session *s);

/* This process did not run for `away_ns` until now: that was not the peer's silence. */
void rltp_session_away(struct rltp_session *s, uint64_t away_ns, uint64_t now_ns);

/* Ends every message with `status` and forgets the peer; the next post greets it again. */
void rltp_session_fail(struct rltp_session *s, int status);

/* Whether an open session pings its peer also while nothing is under way, so that silence ends it.
 * Ends with the session. Silence counts from `since_ns`, or from what was heard later, where
 * nothing was under way. Returns whether the session is watched now. */
bool rltp_session_watch(struct rltp_session *s, bool on, uint64_t since_ns, uint64_t now_ns);

/* Anything queued, in flight or awaited, or is it watched? */
bool rltp_session_busy(const struct rltp_session *s);

void rltp_session_view(const struct rltp_session *s, struct rltp_view *out);

/* "rack", "irn", "gbn_nak", "gbn_rto"; false for another text. */
bool rltp_recovery_parse(const char *text, enum rltp_recovery *out);
const char *rltp_recovery_name(enum rltp_recovery recovery);

#endif
