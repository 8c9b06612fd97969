/* SPDX-License-Identifier: BSD-3-Clause */
/* Models the data path of RLTP from node A (0, sender) to node B (1, receiver): handshakes,
 * packets, acknowledgements with a bitmap, RESET, restarts. Each step names the function that it
 * models.
 *
 * Without LIVE: safety, on the worst network: every frame ever sent may arrive at any time, never,
 * or any number of times. With LIVE: everything completes. The network is then a queue that may
 * lose, duplicate and reorder a bounded number of frames; every activity is a process, so that weak
 * fairness applies to each.
 *
 * Not modelled: times (any timer may fire at any moment), payload, tokens (a RESET names its
 * session, and only its owner can make one). Assumed: session ids are never reused, and the packet
 * numbers of two sessions, which start at random, never meet in one window of 4096.
 *
 * Proved: a message is delivered at most once, for all restarts. Success implies delivery. No
 * packet is accepted by another incarnation than its target, nor from one older than the receiver
 * has seen. Every posted message completes (LIVE), and all succeed if there is no restart.
 *
 * BREAK=1 accepts packets of any session; 2 gives a retransmission a new number; 3 posts the
 * messages of a lost session again; 4 accepts any handshake, however old; 5 starts every session
 * with the same packet number; 6 (LIVE) does not acknowledge a duplicate. spin must find all of
 * these. */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef FAULTS
#define FAULTS 1 /* restarts plus time-outs of a session */
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef SESSIONS
#define SESSIONS 3 /* per node: a handshake that needs one more counts as lost */
#endif
#ifndef TROUBLES
#define TROUBLES 2 /* LIVE: frames that the network loses, duplicates or reorders */
#endif

#define A       0
#define B       1
#define WINDOW  2
#define PACKETS MESSAGES /* packet numbers of one session */
#define OTHER(n) (1 - (n))

/* States of a session (enum rltp_state); outcomes of a message. */
#define IDLE     0
#define GREETING 1
#define OPEN     2
#define PENDING  0
#define DONE     1 /* DXP_OK */
#define FAILED   2 /* DXP_EPEERRESET, DXP_ETIMEDOUT: reported to the user, delivery unknown */
#define DIED     3 /* lost with the process that posted it */

/* Frames encoded as small numbers. s, t: session ids, 1 .. SESSIONS, of the frame's sender and
 * receiver. */
#define HELLO_BASE     0
#define HELLO_ACK_BASE SESSIONS
#define RESET_BASE     (HELLO_ACK_BASE + SESSIONS * SESSIONS)
#define DATA_BASE      (RESET_BASE + SESSIONS)
#define DATA_LAST      (DATA_BASE + SESSIONS * SESSIONS * PACKETS)
#define ACK_BASE       DATA_BASE /* acknowledgements travel in the other direction */
#define ACK_LAST       (ACK_BASE + SESSIONS * (PACKETS + 1) * 2)

#define HELLO(s)        (HELLO_BASE + (s))
#define HELLO_ACK(s, t) (HELLO_ACK_BASE + ((s) - 1) * SESSIONS + (t))
#define RESET(t)        (RESET_BASE + (t))
/* A packet does not carry its sender's session s: that is ghost state of the proof. */
#define DATA(t, s, p)     (DATA_BASE + (((t) - 1) * SESSIONS + (s) - 1) * PACKETS + (p) + 1)
#define ACK(t, cum, held) (ACK_BASE + (((t) - 1) * (PACKETS + 1) + (cum)) * 2 + (held) + 1)

/* ---- the network ---- */

#ifdef LIVE
/* Timers are slower than the network: they retransmit when nothing else is in flight. So answers
 * find space; a frame without space is dropped, as in a full socket. */
chan to[2] = [3] of { byte };
byte troubles = TROUBLES;
#define QUIET(n) (empty(to[n]))
#define SEND(n, code)                   \
	if                              \
	:: nfull(to[n]) -> to[n] ! code \
	:: full(to[n]) -> skip          \
	fi
#else
#define WORDS 3
int sent[2 * WORDS]; /* bit code % 30 of word code / 30: this frame was sent to that node */
#define QUIET(n) true
#define SEND(n, code) \
	sent[(n) * WORDS + (code) / 30] = sent[(n) * WORDS + (code) / 30] | (1 << ((code) % 30))
#define WAS_SENT(n, code) ((sent[(n) * WORDS + (code) / 30] >> ((code) % 30)) & 1)
#endif

/* ---- state of each node ---- */

byte incarnation[2] = 1;
byte epoch[2];                      /* endpoint: of the session opened last */
byte state[2];
byte own[2];                        /* local_id */
byte peer[2];                       /* peer_id */
byte peer_incarnation[2];
byte peer_epoch[2];

/* Content of the handshake of session s of node n; ids are drawn in this order. */
byte drawn[2];
byte said_incarnation[2 * (SESSIONS + 1)];
byte said_epoch[2 * (SESSIONS + 1)];
#define SAID(n, s) ((n) * (SESSIONS + 1) + (s))

/* The sending half of A. */
byte una, next, acked;              /* acked: bit of each packet number */
byte posted;                        /* messages posted to RLTP so far */
byte unsent;                        /* first of them without a packet number */
byte ended[MESSAGES];
byte in_packet[(SESSIONS + 1) * (PACKETS + 1)]; /* message in packet p of session s */
#define IN_PACKET(s, p) in_packet[(s) * (PACKETS + 1) + (p)]

/* The receiving half of B: rx_map.c. */
byte cum, held;                     /* held: the packet after cum has arrived */
bool ack_now;

/* Ghost state of the proof: deliveries, and the newest incarnation of A that B has seen. */
byte delivered[MESSAGES];
byte heard;
byte faults = FAULTS;
#if BREAK == 6
bool fresh;
#endif
byte k, m;                          /* scratch; always 0 between steps */

/* ---- sessions: session.c, handshake.c ---- */

/* handshake.c numbers_draw */
inline numbers_draw(n)
{
	drawn[n]++;
	epoch[n]++;
	own[n] = drawn[n];
	said_incarnation[SAID(n, own[n])] = incarnation[n];
	said_epoch[SAID(n, own[n])] = epoch[n]
}

/* Completes the posted messages: message_remove in session.c. */
inline messages_end(how)
{
	if
	:: BREAK == 3 && how == FAILED ->
		/* Broken: sends the messages in flight again. */
		m = 0;
		do
		:: m < posted && ended[m] == PENDING -> unsent = m; break
		:: m < posted && ended[m] != PENDING -> m++
		:: m >= posted -> unsent = posted; break
		od
	:: else ->
		m = 0;
		do
		:: m < posted ->
			if
			:: ended[m] == PENDING -> ended[m] = how
			:: else -> skip
			fi;
			m++
		:: else -> break
		od;
		unsent = posted
	fi;
	m = 0
}

/* session.c rltp_session_fail */
inline session_fail(n)
{
	state[n] = IDLE;
	peer[n] = 0;
	if
	:: n == A -> messages_end(FAILED); una = 0; next = 0; acked = 0
	:: else -> cum = 0; held = 0; ack_now = false
	fi
}

inline hear(what)
{
	if
	:: what > heard -> heard = what
	:: else -> skip
	fi
}

/* session.c rltp_session_open, with the content of the handshake of the other's session s */
inline session_open(n, s)
{
	state[n] = OPEN;
	peer[n] = s;
	peer_incarnation[n] = said_incarnation[SAID(OTHER(n), s)];
	peer_epoch[n] = said_epoch[SAID(OTHER(n), s)];
	if
	:: n == A -> una = 0; next = 0; acked = 0
	:: else -> cum = 0; held = 0; ack_now = false; hear(peer_incarnation[B])
	fi
}

/* handshake.c handshake_stale */
#if BREAK == 4
#define STALE(n, s) false
#else
#define STALE(n, s)                                                                       \
	((said_incarnation[SAID(OTHER(n), s)] != peer_incarnation[n])                     \
		 -> (said_incarnation[SAID(OTHER(n), s)] < peer_incarnation[n])           \
		 : (peer_epoch[n] != 0 && said_epoch[SAID(OTHER(n), s)] < peer_epoch[n]))
#endif
/* handshake.c handshake_repeated */
#define REPEATED(n, s)                                                           \
	(state[n] == OPEN && peer[n] == s &&                                     \
	 peer_incarnation[n] == said_incarnation[SAID(OTHER(n), s)] &&           \
	 peer_epoch[n] == said_epoch[SAID(OTHER(n), s)])
#define CAN_DRAW(n) (drawn[n] < SESSIONS)

/* handshake.c handshake_receive, hello_receive. The answer leaves at once, before anything else of this
 * node (endpoint.c sends handshakes first). */
inline hello_receive(n, s)
{
	if
	:: STALE(n, s) -> skip
	:: else ->
		if
		:: REPEATED(n, s) -> SEND(OTHER(n), HELLO_ACK(own[n], s))
		:: else ->
			if
			:: state[n] == OPEN && CAN_DRAW(n) -> /* session_renew */
				session_fail(n);
				numbers_draw(n);
				session_open(n, s);
				SEND(OTHER(n), HELLO_ACK(own[n], s))
			:: state[n] == IDLE && CAN_DRAW(n) ->
				numbers_draw(n);
				session_open(n, s);
				SEND(OTHER(n), HELLO_ACK(own[n], s))
			:: state[n] == GREETING ->
				session_open(n, s);
				SEND(OTHER(n), HELLO_ACK(own[n], s))
			:: else -> skip
			fi
		fi
	fi
}

/* handshake.c hello_ack_receive: the other's session s answers our session t */
inline hello_ack_receive(n, s, t)
{
	if
	:: !STALE(n, s) && t == own[n] && state[n] == GREETING -> session_open(n, s)
	:: else -> skip
	fi
}

/* handshake.c reset_receive */
inline reset_receive(n, t)
{
	if
	:: state[n] == OPEN && t == peer[n] -> session_fail(n)
	:: else -> skip
	fi
}

/* endpoint.c session_by_id, session_frame */
#define KNOWN(n, t) (own[n] == (t) && state[n] != IDLE)

/* ---- data: receive.c, acknowledge.c, recovery.c ---- */

/* receive.c aggregator_data_receive passes up packet p, which A's session s sent to B's session t. */
inline deliver(t, s, p)
{
	m = IN_PACKET(s, p);
	assert(delivered[m] == 0);
	assert(said_incarnation[SAID(B, t)] == incarnation[B]);
	assert(said_incarnation[SAID(A, s)] >= heard);
	delivered[m]++;
#if BREAK == 6
	fresh = true;
#endif
	m = 0
}

inline aggregator_data_receive(t, s, p)
{
	if
	:: (BREAK != 1 && !KNOWN(B, t)) || state[B] == IDLE -> SEND(A, RESET(t))
	:: else ->
		if
		:: state[B] != OPEN -> skip
		:: else ->
			if
			/* Numbered from another start than B's map: with probability 1 - 2^-20 a
			 * duplicate or beyond the window. */
			:: s != peer[B] && BREAK != 5 -> skip
			/* rx_map.c rx_map_test and rx_map_set */
			:: (s == peer[B] || BREAK == 5) &&
			   (p < cum || (p == cum + 1 && held == 1) || p >= cum + WINDOW) -> skip
			:: (s == peer[B] || BREAK == 5) && p == cum ->
				deliver(t, s, p); cum = cum + 1 + held; held = 0
			:: (s == peer[B] || BREAK == 5) && p == cum + 1 && held == 0 ->
				deliver(t, s, p); held = 1
			fi;
#if BREAK == 6
			ack_now = ack_now || fresh;
			fresh = false
#else
			ack_now = true /* arrival_note, duplicate_note */
#endif
		fi
	fi
}

/* recovery.c entry_acked */
inline entry_acked(p)
{
	if
	:: p >= una && p < next && !((acked >> (p)) & 1) ->
		acked = acked | (1 << (p));
		m = IN_PACKET(own[A], p);
		assert(ended[m] == PENDING);
		assert(delivered[m] == 1);
		ended[m] = DONE;
		m = 0
	:: else -> skip
	fi
}

/* recovery.c recovery_acknowledge: cumulative_apply, bitmap_apply, settled_skip */
inline ack_receive(t, c, h)
{
	if
	:: !KNOWN(A, t) -> SEND(B, RESET(t))
	:: KNOWN(A, t) && (state[A] != OPEN || c > next) -> skip
	:: else ->
		k = una;
		do
		:: k < c -> entry_acked(k); k++
		:: else -> break
		od;
		if
		:: h == 1 -> entry_acked(c + 1)
		:: else -> skip
		fi;
		k = 0;
		do
		:: una < next && ((acked >> una) & 1) -> una++
		:: else -> break
		od
	fi
}

/* endpoint.c rltp_endpoint_receive */
inline frame_receive(n, code)
{
	if
	:: code <= HELLO_ACK_BASE -> hello_receive(n, code)
	:: code > HELLO_ACK_BASE && code <= RESET_BASE ->
		hello_ack_receive(n, (code - HELLO_ACK_BASE - 1) / SESSIONS + 1,
				  (code - HELLO_ACK_BASE - 1) % SESSIONS + 1)
	:: code > RESET_BASE && code <= DATA_BASE -> reset_receive(n, code - RESET_BASE)
	:: code > DATA_BASE && n == B ->
		aggregator_data_receive((code - DATA_BASE - 1) / (SESSIONS * PACKETS) + 1,
			     ((code - DATA_BASE - 1) / PACKETS) % SESSIONS + 1,
			     (code - DATA_BASE - 1) % PACKETS)
	:: code > ACK_BASE && n == A ->
		ack_receive((code - ACK_BASE - 1) / (2 * (PACKETS + 1)) + 1,
			    ((code - ACK_BASE - 1) / 2) % (PACKETS + 1),
			    (code - ACK_BASE - 1) % 2)
	fi
}

/* ---- spontaneous steps of a node: the guard, then the step ---- */

/* endpoint.c rltp_endpoint_post, handshake.c handshake_begin */
#define CAN_POST (posted < MESSAGES && posted - unsent < WINDOW && (state[A] != IDLE || CAN_DRAW(A)))
inline post()
{
	posted++;
	if
	:: state[A] == IDLE -> numbers_draw(A); state[A] = GREETING
	:: else -> skip
	fi
}

/* B may also start a handshake, first or at the same time: once per incarnation. */
#define CAN_GREET (state[B] == IDLE && epoch[B] == 0 && CAN_DRAW(B))
inline greet()
{
	numbers_draw(B);
	state[B] = GREETING
}

/* handshake.c handshake_send */
#define CAN_HELLO(n) (state[n] == GREETING && QUIET(OTHER(n)))

/* transmit.c new_next */
#define CAN_SEND (state[A] == OPEN && unsent < posted && next - una < WINDOW && next < PACKETS)
inline send()
{
	IN_PACKET(own[A], next) = unsent;
	SEND(B, DATA(peer[A], own[A], next));
	next++;
	unsent++
}

/* transmit.c repeat_next, after recovery.c probe_mark or timeout_mark or losses_find: the oldest
 * unacknowledged packet, with its old number. */
#define CAN_REPEAT (state[A] == OPEN && una < next && QUIET(B))
inline repeat()
{
#if BREAK == 2
	if
	:: next < PACKETS ->
		IN_PACKET(own[A], next) = IN_PACKET(own[A], una);
		SEND(B, DATA(peer[A], own[A], next));
		next++
	:: else -> SEND(B, DATA(peer[A], own[A], una))
	fi
#else
	SEND(B, DATA(peer[A], own[A], una))
#endif
}

/* acknowledge.c rltp_ack_build */
#ifdef LIVE
#define CAN_ACK (state[B] == OPEN && ack_now)
#else
#define CAN_ACK (state[B] == OPEN)
#endif
inline acknowledge()
{
	SEND(A, ACK(peer[B], cum, held));
	ack_now = false
}

/* The process exits and starts again with a larger incarnation; all other state and the user's
 * messages are lost. It gets its peer from the node table (endpoint.c lose_peer_add), which may
 * already have the peer's incarnation, or from the first handshake. */
inline restart(n)
{
	if
	:: n == A -> messages_end(DIED)
	:: else -> skip
	fi;
	session_fail(n);
	if
	:: n == B -> heard = 0
	:: else -> skip
	fi;
	incarnation[n]++;
	epoch[n] = 0;
	own[n] = 0;
	peer_epoch[n] = 0;
	if
	:: peer_incarnation[n] = 0
	:: peer_incarnation[n] = incarnation[OTHER(n)]
	fi
}

/* endpoint.c rltp_endpoint_peer: the node table reports the peer's restart */
#define CAN_LEARN(n) (peer_incarnation[n] < incarnation[OTHER(n)] && incarnation[OTHER(n)] > 1)
inline learn(n)
{
	if
	:: state[n] != IDLE && peer_incarnation[n] != 0 -> session_fail(n)
	:: else -> skip
	fi;
	peer_incarnation[n] = incarnation[OTHER(n)];
	peer_epoch[n] = 0;
	if
	:: n == B -> hear(incarnation[A])
	:: else -> skip
	fi
}

#ifndef LIVE
/* ---- safety: one process, any step at any time ---- */

inline any_frame_receive(n, last)
{
	code = 1;
	do
	:: code < last -> code++
	:: WAS_SENT(n, code) -> frame_receive(n, code); break
	:: code == last && !WAS_SENT(n, code) -> break
	od;
	code = 0
}

active proctype nodes()
{
	byte code;
end:
	do
	:: atomic { CAN_POST -> post() }
	:: atomic { CAN_GREET -> greet() }
	:: atomic { CAN_HELLO(A) && !WAS_SENT(B, HELLO(own[A])) -> SEND(B, HELLO(own[A])) }
	:: atomic { CAN_HELLO(B) && !WAS_SENT(A, HELLO(own[B])) -> SEND(A, HELLO(own[B])) }
	:: atomic { CAN_SEND -> send() }
	:: atomic { CAN_REPEAT -> repeat() }
	:: atomic { CAN_ACK && !WAS_SENT(A, ACK(peer[B], cum, held)) -> acknowledge() }
	:: atomic { sent[A * WORDS] + sent[A * WORDS + 1] + sent[A * WORDS + 2] != 0 ->
			any_frame_receive(A, ACK_LAST) }
	:: atomic { sent[B * WORDS] + sent[B * WORDS + 1] + sent[B * WORDS + 2] != 0 ->
			any_frame_receive(B, DATA_LAST) }
	:: atomic { faults > 0 -> faults--; restart(A) }
	:: atomic { faults > 0 -> faults--; restart(B) }
	/* endpoint.c session_send: rltp_session_dead */
	:: atomic { faults > 0 && state[A] != IDLE && unsent + (next - una) > 0 ->
			faults--; session_fail(A) }
	:: atomic { faults > 0 && state[B] != IDLE -> faults--; session_fail(B) }
	:: atomic { CAN_LEARN(A) -> learn(A) }
	:: atomic { CAN_LEARN(B) -> learn(B) }
	od
}

#else
/* ---- liveness: concurrent activities, one process each ---- */

active [2] proctype receiver()
{
	byte code;
end:
	do
	:: atomic { nempty(to[_pid]) ->
			to[_pid] ? code; frame_receive(_pid, code); code = 0 }
	:: atomic { nempty(to[_pid]) && troubles > 0 ->
			troubles--; to[_pid] ? <code>; frame_receive(_pid, code); code = 0 }
	:: atomic { len(to[_pid]) > 1 && troubles > 0 ->
			troubles--; to[_pid] ? code; to[_pid] ! code; code = 0 }
	:: atomic { nempty(to[_pid]) && troubles > 0 -> troubles--; to[_pid] ? code; code = 0 }
	od
}

active proctype user() { end: do :: atomic { CAN_POST -> post() } od }
active proctype greeter()
{
end:
	do
	:: atomic { CAN_GREET -> greet() }
	:: true -> break
	od
}
active proctype hello_a() { end: do :: atomic { CAN_HELLO(A) -> SEND(B, HELLO(own[A])) } od }
active proctype hello_b() { end: do :: atomic { CAN_HELLO(B) -> SEND(A, HELLO(own[B])) } od }
active proctype sender() { end: do :: atomic { CAN_SEND -> send() } od }
active proctype repeater() { end: do :: atomic { CAN_REPEAT -> repeat() } od }
active proctype acknowledger() { end: do :: atomic { CAN_ACK -> acknowledge() } od }

active proctype fate()
{
	do
	:: atomic { faults > 0 -> faults--; restart(A) }
	:: atomic { faults > 0 -> faults--; restart(B) }
	:: atomic { faults > 0 && state[A] != IDLE -> faults--; session_fail(A) }
	:: atomic { faults > 0 && state[B] != IDLE -> faults--; session_fail(B) }
	:: break
	od
}

#define ENDED(i) (ended[i] != PENDING)
#define GOOD(i)  (ended[i] == DONE)
#if MESSAGES == 2
ltl all_end { <> (ENDED(0) && ENDED(1)) }
ltl all_good { <> (GOOD(0) && GOOD(1)) }
#else
ltl all_end { <> (ENDED(0) && ENDED(1) && ENDED(2)) }
ltl all_good { <> (GOOD(0) && GOOD(1) && GOOD(2)) }
#endif
#endif
