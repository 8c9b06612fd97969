/* SPDX-License-Identifier: BSD-3-Clause */
/* Two lists of copies: delayed ones in the order of leaving, and those in use by the caller.
 * Without memory, a datagram is dropped, a valid fault. */
#include "link/fault.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "link/batch.h"

#define LEAVES_FIRST 0 /* leaves_at of datagrams without space in the kernel */

struct copy {
	struct datagram datagram; /* its only slice is `bytes` */
	struct copy *next;
	uint64_t leaves_at; /* leaves when `passed` reaches this ... */
	uint64_t until_ns;  /* ... or at this time */
	uint8_t bytes[];
};

struct fault {
	struct fault_options options;
	struct rng rng;
	uint64_t passed; /* datagrams so far */
	uint64_t count;  /* datagrams with a fault */
	unsigned fate;   /* of the last datagram, enum link_fate */
	size_t held_count;
	struct copy *held;   /* delayed; by leaves_at, then age */
	struct copy *loaned; /* copies lent until fault_settle; unsorted */
};

int fault_open(const struct fault_options *options, struct fault **out)
{
	struct fault *f = calloc(1, sizeof(*f));

	if (!f)
		return DXP_ENOMEM;
	f->options = *options;
	f->rng.state = options->seed;
	*out = f;
	return DXP_OK;
}

static void list_free(struct copy **list)
{
	while (*list) {
		struct copy *c = *list;
		*list = c->next;
		free(c);
	}
}

void fault_close(struct fault *f)
{
	if (!f)
		return;
	list_free(&f->held);
	list_free(&f->loaned);
	free(f);
}

/* Owns all its bytes, with the header. NULL: no memory. */
static struct copy *copy_make(const struct datagram *d)
{
	size_t slices_bytes = batch_datagram_bytes(d) - d->header_bytes, offset = 0;
	struct copy *c = malloc(sizeof(*c) + slices_bytes);

	if (!c)
		return NULL;
	c->datagram = *d;
	c->next = NULL;
	for (unsigned i = 0; i < d->slice_count; i++) {
		if (d->slices[i].bytes)
			memcpy(c->bytes + offset, d->slices[i].base, d->slices[i].bytes);
		offset += d->slices[i].bytes;
	}
	c->datagram.slice_count = 1;
	c->datagram.slices[0] = (struct datagram_slice){c->bytes, slices_bytes};
	return c;
}

static void bit_flip(struct copy *c, struct rng *rng)
{
	uint64_t bit = rng_below(rng, batch_datagram_bytes(&c->datagram) * 8);
	uint64_t byte = bit / 8;

	if (byte < c->datagram.header_bytes)
		c->datagram.header[byte] ^= (uint8_t)(1u << bit % 8);
	else
		c->bytes[byte - c->datagram.header_bytes] ^= (uint8_t)(1u << bit % 8);
}

/* False: too many are delayed, or memory is short. */
static bool hold(struct fault *f, const struct datagram *d, uint64_t leaves_at, uint64_t until_ns)
{
	struct copy *c = f->held_count < LINK_FAULT_HELD ? copy_make(d) : NULL;
	struct copy **link = &f->held;

	if (!c)
		return false;
	c->leaves_at = leaves_at;
	c->until_ns = until_ns;
	while (*link && (*link)->leaves_at <= leaves_at)
		link = &(*link)->next;
	c->next = *link;
	*link = c;
	f->held_count++;
	return true;
}

size_t fault_release(struct fault *f, uint64_t now_ns, const struct datagram **out)
{
	size_t count = 0;

	while (f->held && (f->held->leaves_at <= f->passed || f->held->until_ns <= now_ns)) {
		struct copy *c = f->held;
		f->held = c->next;
		f->held_count--;
		c->next = f->loaned;
		f->loaned = c;
		out[count++] = &c->datagram;
	}
	return count;
}

/* Returns a copy with one bit flipped if `corrupt`, else `in`. NULL: no memory. */
static const struct datagram *corrupt_maybe(struct fault *f, const struct datagram *in,
					    bool corrupt)
{
	if (!corrupt)
		return in;
	struct copy *c = copy_make(in);
	if (!c)
		return NULL;
	bit_flip(c, &f->rng);
	c->next = f->loaned;
	f->loaned = c;
	return &c->datagram;
}

size_t fault_pass(struct fault *f, const struct datagram *in, uint64_t now_ns,
		  const struct datagram **out)
{
	/* Always four numbers, so that faults are independent. */
	bool lost = rng_chance_ppm(&f->rng, f->options.loss_ppm);
	bool twice = rng_chance_ppm(&f->rng, f->options.dup_ppm);
	bool corrupt = rng_chance_ppm(&f->rng, f->options.corrupt_ppm);
	bool late = rng_chance_ppm(&f->rng, f->options.reorder_ppm);
	size_t count = 0;

	corrupt = corrupt && batch_datagram_bytes(in) > 0;
	f->count += lost || twice || corrupt || late;
	f->fate = lost ? LINK_FATE_LOST
		       : (twice ? LINK_FATE_TWICE : 0u) | (corrupt ? LINK_FATE_CORRUPT : 0u) |
				  (late ? LINK_FATE_LATE : 0u);
	f->passed++;
	const struct datagram *d = lost ? NULL : corrupt_maybe(f, in, corrupt);
	if (d && (!late || twice))
		out[count++] = d;
	if (d && !late && twice)
		out[count++] = d;
	/* Last, because a datagram delayed by one must leave behind the new one. */
	count += fault_release(f, now_ns, out + count);
	if (d && late)
		hold(f, d, f->passed + 1 + rng_below(&f->rng, LINK_FAULT_DISTANCE),
		     now_ns + LINK_FAULT_HOLD_NS);
	return count;
}

void fault_settle(struct fault *f, const struct datagram *const *unsent, size_t count)
{
	for (size_t i = 0; i < count; i++)
		f->count += !hold(f, unsent[i], LEAVES_FIRST, 0);
	list_free(&f->loaned);
}

bool fault_backlog(const struct fault *f)
{
	return f->held && f->held->leaves_at == LEAVES_FIRST;
}

uint64_t fault_deadline(const struct fault *f)
{
	return f->held ? f->held->until_ns : UINT64_MAX;
}

unsigned fault_fate(const struct fault *f)
{
	return f->fate;
}

uint64_t fault_count(const struct fault *f)
{
	return f->count;
}
