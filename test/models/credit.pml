/* SPDX-License-Identifier: BSD-3-Clause */
/* Models NAP credits of one queue pair and one sender, as in docs/reference/wire.md "CREDIT" and
 * src/nic/credit.c. A sends NAPs into a ring of RING buffers at B. It may send number n of a
 * session if n is below its known limit; B's limits are absolute and only grow. CREDIT frames and
 * requests for them may be lost, duplicated and delayed. Either side may restart, which opens a new
 * session with new numbers, while NAPs of the last one are still in the ring. The first FIRST
 * credits of a session are granted without a check; a NAP without a buffer is rejected and sent
 * again. data.pml proves that NAPs arrive exactly once, in any order; this model assumes it.
 *
 * Without LIVE: safety. Every frame ever sent may arrive at any time, never, or often, and the
 * receiver may grant whenever allowed. With LIVE: everything completes, under weak fairness and a
 * network with a bounded number of faults; B grants only when it must.
 *
 * Proved: no NAP arrives without a grant; at each grant every granted slot is free; the ring never
 * overflows; every NAP completes, and arrives if there is no restart.
 *
 * BREAK=1 accepts a CREDIT of any session; 2 ignores earlier grants at a grant; 3 (LIVE) answers no
 * request, as if no CREDIT were ever lost; 4 treats limits as increments. spin must find all of
 * these. */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef RESTARTS
#define RESTARTS 2
#endif
#ifndef NAPS
#define NAPS 4
#endif
#ifndef RING
#define RING 2
#endif
#ifndef FIRST
#define FIRST 1 /* NIC_NAP_CREDIT, hello_nap_credit */
#endif
#ifndef TROUBLES
#define TROUBLES 2
#endif

#define SESSIONS  (RESTARTS + 1)
#define LIMIT_MAX (NAPS + RING)

byte last;                /* newest session */
byte restarts = RESTARTS;

/* A */
byte session_a;
bool open_a = true;       /* has received B's handshake for this session */
byte limit_a = FIRST;     /* tx_stream.limit */
byte number;              /* tx_stream.naps: of the next NAP in this session */
byte posted;              /* NAPs sent in all sessions */
byte arrived_total;       /* NAPs of `posted` that arrived */
byte lost_total;          /* NAPs whose session was lost in a restart */

/* B: rx_stream */
byte session_b;
byte limit_b = FIRST;
byte consumed;            /* NAPs of this session that the user dequeued */
byte arrived;             /* bit n: NAP n of this session has arrived */
byte count;               /* number of these bits: rx_stream.taken */
byte old;                 /* buffers that hold NAPs of earlier sessions */
bool waits;               /* A has no credit left, and no buffer was free */
bool due;                 /* a CREDIT must be sent: tell() */

/* bit n: NAP n of A's session is in flight. Those of older sessions were rejected or are lost. */
byte in_flight;
byte k;

#define USED       (old + count - consumed) /* event_received_used */
#define FIRST_LEFT (count < FIRST -> FIRST - count : 0)
#define PROMISED   (limit_b - count - FIRST_LEFT)
#if BREAK == 2
#define SLOT_FREE (USED < RING)
#else
#define SLOT_FREE (USED + PROMISED < RING)
#endif

/* ---- the network: CREDIT and requests; both name the session and a limit ---- */

#ifdef LIVE
chan credits = [2] of { byte, byte };
chan questions = [2] of { byte, byte };
byte troubles = TROUBLES;
#define CREDIT_ROOM        nfull(credits)
#define CREDIT_SEND(s, l)  credits ! s, l
#else
#define CREDIT_ROOM        true
short credit_sent[SESSIONS]; /* bit l: CREDIT with limit l */
short question_sent[SESSIONS];
#define CREDIT_SEND(s, l)  credit_sent[s] = credit_sent[s] | (1 << (l))
#endif

/* ---- A ---- */

#define CAN_SEND (open_a && posted < NAPS && number < limit_a)
inline send()
{
	in_flight = in_flight | (1 << number);
	number++;
	posted++
}

#define BLOCKED (open_a && posted < NAPS && number == limit_a)

inline credit_receive(s, l)
{
	if
#if BREAK == 1
	:: l > limit_a -> limit_a = l
#elif BREAK == 4
	:: s == session_a && open_a && l > 0 && limit_a < LIMIT_MAX -> limit_a++
#else
	:: s == session_a && open_a && l > limit_a -> limit_a = l
#endif
	:: else -> skip
	fi
}

/* Fails all posted NAPs with the session (rltp_session_fail); numbers restart. */
inline session_end_a()
{
	lost_total = posted - arrived_total;
	in_flight = 0;
	number = 0;
	limit_a = 0;
	open_a = false
}

inline greeting_receive_a()
{
	if
	:: session_a != session_b -> session_end_a(); session_a = session_b
	:: else -> skip
	fi;
	limit_a = FIRST;
	open_a = true
}

/* ---- B ---- */

/* credit.c offer: grants one more if a buffer is free */
inline grant()
{
	limit_b++;
	assert(USED + PROMISED <= RING);
	waits = false;
	due = true
}

/* nic/receive.c, then credit.c credit_use. A NAP without a buffer is rejected (RNR) and arrives
 * again. */
inline arrive(n)
{
	assert(n < limit_b);
	if
	:: USED < RING ->
		in_flight = in_flight & ~(1 << n);
		arrived = arrived | (1 << n);
		count++;
		arrived_total++;
		if
		:: limit_b == count && SLOT_FREE && limit_b < LIMIT_MAX -> grant()
		:: limit_b == count && !SLOT_FREE -> waits = true
		:: else -> skip
		fi
	:: else -> skip
	fi
}

#define CAN_CONSUME (((arrived >> consumed) & 1) || old > 0)
inline consume()
{
	if
	:: old > 0 -> old--
	:: (arrived >> consumed) & 1 -> consumed++
	fi
}

/* credit.c credits_poll */
#define CAN_GRANT (waits && SLOT_FREE && limit_b < LIMIT_MAX)

/* credit.c credit_grants */
inline tell()
{
	CREDIT_SEND(session_b, limit_b);
	due = false
}

/* credit.c credit_requested: a stream without arrivals still has all its credit outstanding. */
inline question_receive(s, l)
{
	if
	:: s != session_b || count == 0 || BREAK == 3 -> skip
	:: s == session_b && count > 0 && BREAK != 3 ->
		if
		:: limit_b == l && limit_b == count && SLOT_FREE && limit_b < LIMIT_MAX -> grant()
		:: limit_b == l && limit_b == count && !SLOT_FREE -> waits = true
		:: else -> skip
		fi;
		due = true
	fi
}

/* A's NAPs in the ring stay there: the user has not dequeued them yet. */
inline greeting_receive_b()
{
	session_b = session_a;
	old = USED;
	consumed = 0;
	arrived = 0;
	count = 0;
	waits = false;
	due = false;
	limit_b = FIRST
}

/* ---- restarts ---- */

inline restart_a()
{
	session_end_a();
	last++;
	session_a = last
}

inline restart_b()
{
	last++;
	session_b = last;
	limit_b = FIRST;
	consumed = 0;
	arrived = 0;
	count = 0;
	old = 0;
	waits = false;
	due = false
}

#define CAN_GREET_A (session_b >= session_a && (session_b != session_a || !open_a))
#define CAN_GREET_B (session_a > session_b)

#ifndef LIVE
/* ---- safety ---- */

active proctype nodes()
{
	byte s, l;
end:
	do
	:: atomic { CAN_SEND -> send() }
	:: atomic { BLOCKED ->
			question_sent[session_a] = question_sent[session_a] | (1 << limit_a) }
	:: atomic { session_a == session_b && in_flight != 0 ->
			l = 0;
			do
			:: l < NAPS - 1 -> l++
			:: (in_flight >> l) & 1 -> arrive(l); break
			:: l == NAPS - 1 && !((in_flight >> l) & 1) -> break
			od;
			l = 0 }
	:: atomic { CAN_CONSUME -> consume() }
	:: atomic { SLOT_FREE && limit_b < LIMIT_MAX -> grant() }
	:: atomic { due -> tell() }
	:: atomic { true ->
			do
			:: s < SESSIONS - 1 -> s++
			:: break
			od;
			do
			:: l < LIMIT_MAX -> l++
			:: break
			od;
			if
			:: (credit_sent[s] >> l) & 1 -> credit_receive(s, l)
			:: (question_sent[s] >> l) & 1 -> question_receive(s, l)
			:: else -> skip
			fi;
			s = 0;
			l = 0 }
	:: atomic { CAN_GREET_A -> greeting_receive_a() }
	:: atomic { CAN_GREET_B -> greeting_receive_b() }
	:: atomic { restarts > 0 -> restarts--; restart_a() }
	:: atomic { restarts > 0 -> restarts--; restart_b() }
	od
}

#else
/* ---- liveness: concurrent activities, one process each ---- */

active proctype sender() { end: do :: atomic { CAN_SEND -> send() } od }
active proctype asker()
{
end:
	do
	:: atomic { BLOCKED && nfull(questions) -> questions ! session_a, limit_a }
	od
}
active proctype carrier()
{
end:
	do
	:: atomic { session_a == session_b && in_flight != 0 ->
			k = 0;
			do
			:: (in_flight >> k) & 1 -> break
			:: else -> k++
			od;
			arrive(k);
			k = 0 }
	od
}
active proctype consumer() { end: do :: atomic { CAN_CONSUME -> consume() } od }
active proctype granter() { end: do :: atomic { CAN_GRANT -> grant() } od }
active proctype teller() { end: do :: atomic { due && CREDIT_ROOM -> tell() } od }
active proctype credit_receiver()
{
	byte s, l;
end:
	do
	:: atomic { credits ? s, l -> credit_receive(s, l); s = 0; l = 0 }
	:: atomic { nempty(credits) && troubles > 0 ->
			troubles--; credits ? <s, l>; credit_receive(s, l); s = 0; l = 0 }
	:: atomic { nempty(credits) && troubles > 0 ->
			troubles--; credits ? s, l; s = 0; l = 0 }
	:: atomic { len(credits) > 1 && troubles > 0 ->
			troubles--; credits ? s, l; credits ! s, l; s = 0; l = 0 }
	od
}
active proctype question_receiver()
{
	byte s, l;
end:
	do
	:: atomic { nempty(questions) ->
			questions ? s, l; question_receive(s, l); s = 0; l = 0 }
	:: atomic { nempty(questions) && troubles > 0 ->
			troubles--; questions ? s, l; s = 0; l = 0 }
	od
}
active proctype greeting_a() { end: do :: atomic { CAN_GREET_A -> greeting_receive_a() } od }
active proctype greeting_b() { end: do :: atomic { CAN_GREET_B -> greeting_receive_b() } od }
active proctype fate()
{
	do
	:: atomic { restarts > 0 -> restarts--; restart_a() }
	:: atomic { restarts > 0 -> restarts--; restart_b() }
	:: break
	od
}

ltl all_end { <> (posted == NAPS && arrived_total + lost_total == NAPS) }
#endif
