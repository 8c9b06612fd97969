/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of a group at two switches, as docs/inc.md "Segments and slots" has them: members 0 and 1
 * below a leaf, the leaf and member 2 below the root. Members contribute to segments 0, 1, 2 ...,
 * each WINDOW ahead of its results at most; a switch has 2 * WINDOW slots. The network is bad:
 * whatever was ever sent, up or down, may arrive at any time, never, or often; so members need not
 * be modelled to repeat anything, and neither do switches.
 *
 * Proved: when a slot is given away, all members have the result of the segment that leaves it, so
 * nobody can ever ask for it again; a result has exactly one contribution of each member to its own
 * segment; and no newer segment ever leaves for an older one.
 *
 * BREAK=1: as many slots as the window; 2: a member runs ahead by one more than the window; 3: what
 * a slot held is not cleared when it is given away; 4: an old contribution takes the slot of a
 * newer one; 5: a partial result counts for whatever segment is in the slot: all must be found. */
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

#define ALL 3 /* both children of either switch */

typedef ring { byte segment[SLOTS]; byte here[SLOTS]; bool result[SLOTS] }

byte sent[MEMBERS]; /* segments contributed to: 0 .. sent - 1 */
byte next[MEMBERS]; /* results that are there: 0 .. next - 1; early ones wait: */
short early[MEMBERS];
ring sw[2];
short partials;     /* bit s: the leaf has sent its partial result of s */
short downs[2];     /* bit s: the switch has sent the result of s to its children */

#define LEAST ((next[0] <= next[1] && next[0] <= next[2]) -> next[0] : \
	       (next[1] <= next[2] -> next[1] : next[2]))

/* The segment takes the slot, if it is newer. A fresh ring holds segments that never were; 255. */
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

/* From the root to the leaf. */
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

inline result_take(m, s)
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
		:: (downs[ROOT] >> s) & 1 && s < sent[2] -> result_take(2, s)
		:: (downs[LEAF] >> s) & 1 && s < sent[0] -> result_take(0, s)
		:: (downs[LEAF] >> s) & 1 && s < sent[1] -> result_take(1, s)
		:: else -> skip
		fi;
		s = 0 }
	od
}
