/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of messages without a receive, and receives without a message. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "model/ranks_state.h"

#define BUCKETS_MIN 1024u /* text schedules may have few ranks but many tags */

int model_match_open(struct match *m, uint32_t ranks)
{
	uint32_t count = BUCKETS_MIN;

	while (count < ranks)
		count *= 2;
	*m = (struct match){.unused = NO_ENTRY, .mask = count - 1};
	m->buckets = malloc(count * sizeof(*m->buckets));
	if (!m->buckets)
		return DXP_ENOMEM;
	memset(m->buckets, 0xff, count * sizeof(*m->buckets));
	return DXP_OK;
}

void model_match_close(struct match *m)
{
	free(m->entries);
	free(m->buckets);
}

uint32_t model_match_new(struct match *m, const struct entry *e)
{
	uint32_t index = m->unused;

	if (index != NO_ENTRY) {
		m->unused = m->entries[index].next;
	} else {
		if (m->used == m->space) {
			uint32_t space = m->space ? m->space * 2 : 1024;
			void *entries = realloc(m->entries, space * sizeof(*m->entries));
			if (!entries || space > NO_ENTRY / 2) {
				m->entries = entries ? entries : m->entries;
				return NO_ENTRY;
			}
			m->entries = entries;
			m->space = space;
		}
		index = m->used++;
	}
	m->entries[index] = *e;
	m->entries[index].next = NO_ENTRY;
	return index;
}

void model_match_free(struct match *m, uint32_t index)
{
	m->entries[index].next = m->unused;
	m->unused = index;
}

static struct bucket *bucket_of(struct match *m, uint32_t from, uint32_t to, uint32_t tag)
{
	uint64_t key = (uint64_t)from * 0x9e3779b97f4a7c15ull ^ (uint64_t)tag << 40 ^ to;

	key *= 0xbf58476d1ce4e5b9ull;
	return &m->buckets[(key >> 32) & m->mask];
}

void model_match_store(struct match *m, uint32_t index)
{
	struct entry *e = &m->entries[index];
	struct bucket *b = bucket_of(m, e->from, e->to, e->tag);

	e->next = NO_ENTRY;
	if (b->head == NO_ENTRY)
		b->head = index;
	else
		m->entries[b->tail].next = index;
	b->tail = index;
}

uint32_t model_match_find(struct match *m, uint32_t from, uint32_t to, uint32_t tag, bool receive)
{
	struct bucket *b = bucket_of(m, from, to, tag);
	uint32_t before = NO_ENTRY;

	for (uint32_t i = b->head; i != NO_ENTRY; before = i, i = m->entries[i].next) {
		const struct entry *e = &m->entries[i];
		if (e->from != from || e->to != to || e->tag != tag)
			continue;
		if (e->receive != receive)
			return NO_ENTRY;
		if (before == NO_ENTRY)
			b->head = e->next;
		else
			m->entries[before].next = e->next;
		if (b->tail == i)
			b->tail = before;
		return i;
	}
	return NO_ENTRY;
}

const struct entry *model_match_any(const struct match *m, bool receive)
{
	const struct entry *found = NULL;

	for (uint32_t b = 0; b <= m->mask; b++)
		for (uint32_t i = m->buckets[b].head; i != NO_ENTRY; i = m->entries[i].next) {
			const struct entry *e = &m->entries[i];
			if (e->receive == receive && (!found || e->to < found->to))
				found = e;
		}
	return found;
}
