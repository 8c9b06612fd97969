/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements choice.h: size classes, the order of the timed calls, and medians. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"

unsigned choice_class(size_t bytes)
{
	unsigned class = 0;

	while (class < CHOICE_CLASSES - 1 && bytes > choice_class_bytes(class))
		class ++;
	return class;
}

size_t choice_class_bytes(unsigned class)
{
	return (size_t)CHOICE_SHORT_BYTES << class;
}

/* Returns true if timed call `i` is ordinary. The order is S O O S S O O S ... (S: switches, O:
 * ordinary). A program may alternate between two message lengths of one class. With this order,
 * both lengths are then measured in both ways. */
static bool timed_ordinary(unsigned i)
{
	return (i + 1) / 2 % 2 == 1;
}

struct choice_call choice_begin(struct choice *c)
{
	if (c->wait > 0) {
		c->wait--;
		return (struct choice_call){.ordinary = c->ordinary};
	}
	return (struct choice_call){.ordinary = timed_ordinary(c->timed), .timed = true};
}

bool choice_record(struct choice *c, int64_t ns)
{
	c->ns[c->timed++] = ns;
	return c->timed == CHOICE_CALLS;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t median_of(const int64_t ns[CHOICE_CALLS], bool ordinary)
{
	int64_t own[CHOICE_ROUNDS];
	unsigned count = 0;

	for (unsigned i = 0; i < CHOICE_CALLS; i++)
		if (timed_ordinary(i) == ordinary)
			own[count++] = ns[i];
	qsort(own, count, sizeof(own[0]), by_size);
	return own[count / 2];
}

static bool worse(int64_t present_ns, int64_t other_ns)
{
	return other_ns < present_ns - present_ns / 10;
}

static bool chosen(const struct choice *c)
{
	if (c->ordinary)
		return !worse(c->ordinary_ns, c->switches_ns);
	return worse(c->switches_ns, c->ordinary_ns);
}

void choice_decide(struct choice *c, const int64_t ns[CHOICE_CALLS], int64_t calls)
{
	bool ordinary = c->ordinary, changed;

	if (ns) {
		c->switches_ns = median_of(ns, false);
		c->ordinary_ns = median_of(ns, true);
		ordinary = chosen(c);
	}
	changed = ordinary != c->ordinary;
	if (!ns || !c->known || changed)
		c->interval = calls;
	else if (c->interval < calls * CHOICE_INTERVALS)
		c->interval *= 2;
	c->known = c->known || ns;
	c->ordinary = ordinary;
	c->wait = c->interval;
	c->timed = 0;
	c->spoilt = false;
}
