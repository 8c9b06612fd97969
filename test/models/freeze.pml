/* SPDX-License-Identifier: BSD-3-Clause */
/* Models the agreement of the members on a lost group, as in docs/reference/inc.md "Losing a group"
 * and src/inc/lose.c. Results arrive from switches while a member's group is alive. Any member may
 * declare it lost at any time, and a member freezes when it receives FREEZE. Up to DEATHS members
 * may die at any time; a member that waits for a dead one gives up after its patience. Messages may
 * be lost, delayed and duplicated: an answer is the state of the other member at some time since it
 * froze.
 *
 * Assumed: patience exceeds the lifetime of messages, so no live member is given up, and no message
 * of a dead member arrives after it was given up.
 *
 * Proved: members that complete have the same results; a member still has every result that is
 * requested, and keeps at most WINDOW of them.
 *
 * BREAK=1 accepts results of switches after its answer; 2 answers without freezing; 3 keeps one
 * result less; 4 takes the minimum of the members' results, not the maximum; 5 keeps earlier
 * answers when a member is given up. spin must find all of these. */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef SEGMENTS
#define SEGMENTS 4
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#if BREAK == 3
#define KEPT (WINDOW - 1)
#else
#define KEPT WINDOW
#endif

#define LIVE     0
#define FREEZING 1
#define FETCHING 2
#define ENDED    3
#define DEAD     4

#define UNKNOWN 255
#define GONE    254 /* given up */

typedef row { byte next[MEMBERS] }

byte state[MEMBERS];
byte next[MEMBERS];   /* first segment whose result is missing */
byte sent[MEMBERS];   /* segments contributed to */
row told[MEMBERS];    /* answers of the others to each member */
byte common[MEMBERS];
byte source[MEMBERS];
byte deaths = DEATHS;

inline any(x)
{
	x = 0;
	do
	:: x < MEMBERS - 1 -> x++
	:: break
	od
}

/* True if the switches have the result of s: all members contributed. */
#define RESULT_OUT(s) (sent[0] > (s) && sent[1] > (s) && sent[2] > (s))
#define MAY_TAKE(m) (state[m] == LIVE || (BREAK == 1 && state[m] == FREEZING))

inline freeze(m)
{
	if
	:: state[m] == LIVE -> state[m] = FREEZING
	:: else -> skip
	fi
}

/* FREEZE of m arrives at x, and the answer at m. */
inline ask(m, x)
{
	if
	:: BREAK == 2 -> skip
	:: else -> freeze(x)
	fi;
	told[m].next[x] = next[x]
}

/* Fetches results once each other member has answered or was given up. */
inline settle(m)
{
	i = 0;
	all = true;
	do
	:: i < MEMBERS ->
		all = all && (i == m || told[m].next[i] != UNKNOWN);
		i++
	:: else -> break
	od;
	if
	:: all ->
		i = 0;
		common[m] = next[m];
		source[m] = m;
		do
		:: i < MEMBERS ->
			if
			:: i != m && told[m].next[i] < GONE &&
			   (BREAK == 4 -> told[m].next[i] < common[m] :
					  told[m].next[i] > common[m]) ->
				common[m] = told[m].next[i];
				source[m] = i
			:: else -> skip
			fi;
			i++
		:: else -> break
		od;
		state[m] = FETCHING
	:: else -> skip
	fi;
	i = 0;
	all = false
}

/* x is dead: requests the state of all others again, since they may have received results from x
 * that m lacks. */
inline give_up(m, x)
{
	i = 0;
	do
	:: i < MEMBERS && BREAK != 5 ->
		if
		:: told[m].next[i] != GONE -> told[m].next[i] = UNKNOWN
		:: else -> skip
		fi;
		i++
	:: else -> break
	od;
	told[m].next[x] = GONE;
	state[m] = FREEZING;
	i = 0
}

inline fetch(m)
{
	if
	:: next[m] < common[m] && state[source[m]] != DEAD ->
		assert(next[source[m]] - next[m] <= KEPT);
		next[m]++
	:: next[m] < common[m] && state[source[m]] == DEAD -> give_up(m, source[m])
	:: next[m] >= common[m] -> state[m] = ENDED
	fi
}

/* Members that completed have the same results. */
inline compare(m)
{
	i = 0;
	do
	:: i < MEMBERS ->
		assert(state[m] != ENDED || state[i] != ENDED || next[i] == next[m]);
		i++
	:: else -> break
	od;
	i = 0
}

byte i, x;
bool all;

proctype member(byte m)
{
end:
	do
	:: atomic { state[m] == LIVE && sent[m] < SEGMENTS && sent[m] < next[m] + WINDOW ->
			sent[m]++ }
	:: atomic { MAY_TAKE(m) && next[m] < sent[m] && RESULT_OUT(next[m]) -> next[m]++ }
	:: atomic { state[m] == LIVE -> freeze(m) }
	:: atomic { state[m] == FREEZING ->
			any(x);
			if
			:: x != m && state[x] != DEAD && told[m].next[x] == UNKNOWN -> ask(m, x)
			:: x != m && state[x] == DEAD && told[m].next[x] == UNKNOWN ->
				give_up(m, x)
			:: else -> skip
			fi;
			x = 0 }
	:: atomic { state[m] == FREEZING -> settle(m) }
	:: atomic { state[m] == FETCHING -> fetch(m); compare(m) }
	:: atomic { deaths > 0 && state[m] != DEAD && state[m] != ENDED ->
			deaths--;
			state[m] = DEAD }
	od
}

init
{
	atomic {
		do
		:: i < MEMBERS ->
			x = 0;
			do
			:: x < MEMBERS -> told[i].next[x] = UNKNOWN; x++
			:: else -> break
			od;
			run member(i);
			i++
		:: else -> break
		od;
		i = 0;
		x = 0
	}
}
