/* SPDX-License-Identifier: BSD-3-Clause */
/* Models the aggregators (slots) of a group at two switches, as in docs/reference/inc.md "Segments
 * and aggregators": members 0 and 1 below a leaf, the leaf and member 2 below the root. Members
 * contribute to segments 0, 1, 2 ..., each at most WINDOW ahead of its results; a switch has 2 *
 * WINDOW aggregators. Every packet ever sent, up or down, may arrive at any time, never, or often;
 * so retransmissions of members and switches need no model.
 *
 * Proved: when an aggregator is reused, all members have the result of its old segment, so no
 * member can request it again. A result has exactly one contribution of each member to its own
 * segment. No newer segment is ever replaced by an older one.
 *
 * BREAK=1: as many aggregators as the window; 2: a member exceeds the window by one; 3: a reused
 * aggregator is not cleared; 4: an old contribution replaces a newer segment; 5: a partial result
 * counts for any segment in the aggregator. spin must find all of these. */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef SEGMENTS
#define SEGMENTS 7
#endif

#define MEMBERS 3
#define LEAF    0
#define ROOT    1
#if BREAK == 1
#define SLOTS WINDOW
#else
#define SLOTS (2 * WINDOW)
#endif
#if BREAK == 2
#define AHEAD (WINDOW + 1)
#else
#define AHEAD WINDOW
#endif

#define ALL 3 /* both children of a switch */

typedef ring { byte segment[SLOTS]; byte here[SLOTS]; bool result[SLOTS] }

byte sent[MEMBERS]; /* segments contributed to: 0 .. sent - 1 */
byte next[MEMBERS]; /* results complete: 0 .. next - 1; early ones wait: */
short early[MEMBERS];
ring sw[2];
short partials;     /* bit s: the leaf has sent its partial result of s */
short downs[2];     /* bit s: the switch has sent the result of s to its children */

#define LEAST ((next[0] <= next[1] && next[0] <= next[2]) -> next[0] : \
	       (next[1] <= next[2] -> next[1] : next[2]))

/* The segment gets the aggregator if it is newer. 255: a new ring, no segment yet. */
inline place(w, s)
{
	k = s % SLOTS;
	if
	:: sw[w].segment[k] == 255 -> sw[w].segment[k] = s
	:: sw[w].segment[k] != 255 && sw[w].segment[k] != s &&
	   (sw[w].segment[k] < s || BREAK == 4) ->
		assert(sw[w].segment[k] < LEAST);
		assert(sw[w].segment[k] < s);
		sw[w].segment[k] = s;
		if
		:: BREAK != 3 -> sw[w].here[k] = 0; sw[w].result[k] = false
		:: BREAK == 3 -> skip
		fi
	:: else -> skip
	fi
}

inline result_send(w, s)
{
	assert(sent[0] > s && sent[1] > s && sent[2] > s);
	downs[w] = downs[w] | (1 << s)
}

inline contribute(w, s, child)
{
	place(w, s);
	if
	:: sw[w].segment[k] == s || (BREAK == 5 && w == ROOT && child == 0) ->
		sw[w].here[k] = sw[w].here[k] | (1 << child);
		if
		:: sw[w].here[k] == ALL && w == ROOT ->
			sw[w].result[k] = true;
			done = sw[w].segment[k];
			result_send(ROOT, done)
		:: sw[w].here[k] == ALL && w == LEAF && !sw[w].result[k] ->
			assert(sent[0] > s && sent[1] > s);
			partials = partials | (1 << s)
		:: else -> skip
		fi
	:: else -> skip
	fi;
	k = 0;
	done = 0
}

/* The result passes from the root to the leaf. */
inline result_pass(s)
{
	k = s % SLOTS;
	if
	:: sw[LEAF].segment[k] == s && !sw[LEAF].result[k] ->
		sw[LEAF].result[k] = true;
		result_send(LEAF, s)
	:: else -> skip
	fi;
	k = 0
}

inline segment_result_receive(m, s)
{
	early[m] = early[m] | (1 << s);
	do
	:: (early[m] >> next[m]) & 1 -> next[m]++
	:: else -> break
	od
}

inline any(s)
{
	s = 0;
	do
	:: s < SEGMENTS - 1 -> s++
	:: break
	od
}

byte k, done;

init
{
	atomic {
		for (k : 0 .. SLOTS - 1) {
			sw[LEAF].segment[k] = 255;
			sw[ROOT].segment[k] = 255
		}
		k = 0;
		run world()
	}
}

proctype world()
{
	byte s, m;

	do
	:: atomic { any(m); /* a member contributes to its next segment */
		if
		:: m < MEMBERS && sent[m] < SEGMENTS && sent[m] < next[m] + AHEAD -> sent[m]++
		:: else -> skip
		fi;
		m = 0 }
	:: atomic { any(s);
		if
		:: s < sent[0] -> contribute(LEAF, s, 0)
		:: s < sent[1] -> contribute(LEAF, s, 1)
		:: s < sent[2] -> contribute(ROOT, s, 1)
		:: (partials >> s) & 1 -> contribute(ROOT, s, 0)
		:: (downs[ROOT] >> s) & 1 -> result_pass(s)
		:: (downs[ROOT] >> s) & 1 && s < sent[2] -> segment_result_receive(2, s)
		:: (downs[LEAF] >> s) & 1 && s < sent[0] -> segment_result_receive(0, s)
		:: (downs[LEAF] >> s) & 1 && s < sent[1] -> segment_result_receive(1, s)
		:: else -> skip
		fi;
		s = 0 }
	od
}
