/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/programs.h"

#include <stdlib.h>

/* Ids are consecutive, so their low bits are evenly spread. */
static uint32_t bucket_of(const struct programs *p, uint32_t id)
{
	return id & ((p->buckets ? p->bucket_count : PROGRAMS_FEW) - 1);
}

static struct program_entry **bucket(struct programs *p, uint32_t id)
{
	return (p->buckets ? p->buckets : p->few) + bucket_of(p, id);
}

static void chain_add(struct programs *p, struct program_entry *e)
{
	struct program_entry **at = bucket(p, e->id);

	e->chain = *at;
	*at = e;
}

/* Without memory, the chains become longer instead. */
static void grow(struct programs *p)
{
	uint32_t now = p->buckets ? p->bucket_count : PROGRAMS_FEW;

	if (p->count < 2 * now)
		return;
	struct program_entry **more = calloc((size_t)now * 4, sizeof(struct program_entry *));
	if (!more)
		return;
	free(p->buckets);
	p->buckets = more;
	p->bucket_count = now * 4;
	for (struct program_entry *e = p->newest; e; e = e->older)
		chain_add(p, e);
}

void programs_add(struct programs *p, struct program_entry *e)
{
	grow(p);
	chain_add(p, e);
	e->newer = NULL;
	e->older = p->newest;
	if (p->newest)
		p->newest->newer = e;
	else
		p->oldest = e;
	p->newest = e;
	p->count++;
}

void programs_remove(struct programs *p, struct program_entry *e)
{
	struct program_entry **at = bucket(p, e->id);

	while (*at != e)
		at = &(*at)->chain;
	*at = e->chain;
	if (e->newer)
		e->newer->older = e->older;
	else
		p->newest = e->older;
	if (e->older)
		e->older->newer = e->newer;
	else
		p->oldest = e->newer;
	p->count--;
}

struct program_entry *programs_find(const struct programs *p, uint32_t id)
{
	struct program_entry *e = (p->buckets ? p->buckets : p->few)[bucket_of(p, id)];

	while (e && e->id != id)
		e = e->chain;
	return e;
}

void programs_clear(struct programs *p)
{
	free(p->buckets);
	*p = (struct programs){0};
}
