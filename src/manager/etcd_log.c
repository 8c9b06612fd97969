/* SPDX-License-Identifier: BSD-3-Clause */
/* The event log in etcd. It is written after the answers of requests are sent, in transactions of
 * its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_events.h"
#include "manager/etcd_store.h"
#include "manager/store_etcd.h"

#define INTERVAL_NS (200 * MS_NS) /* between transactions: a kill loses events of this time */
#define EVENTS_MAX  20000         /* that are stored: 20 MB, 1 % of etcd's default quota */
#define BLOCKS_MAX  16            /* of a transaction */
#define NAME        "event/"

static void block_key(const struct etcd_store *s, uint64_t number, char out[ETCD_KEY_BYTES])
{
	snprintf(out, ETCD_KEY_BYTES, "%s" NAME "%018" PRIu64, s->prefix, number);
}

/* Adds a row that writes the block. */
static bool block_add(struct etcd_store *s, const struct event_journal *l, uint64_t number)
{
	struct etcd_row *row = etcd_save_row(s);
	char *text = row ? etcd_events_write(l, number) : NULL;

	if (!text)
		return false;
	block_key(s, number, row->key);
	row->value = etcd_seal_text(&s->seal, row->key, text);
	free(text);
	return row->value != NULL;
}

/* Makes the rows of one transaction: deletes blocks before *block, and writes those with unsaved
 * events. Returns the number of the first event that needs another transaction; 0: no memory. */
static uint64_t rows_make(struct etcd_store *s, const struct event_journal *l, uint64_t *block)
{
	const uint64_t oldest = max_u64(l->first, l->next > EVENTS_MAX ? l->next - EVENTS_MAX : 0);
	const uint64_t kept = oldest / ETCD_EVENTS_BLOCK;
	uint64_t at = max_u64(l->unsaved / ETCD_EVENTS_BLOCK, kept);
	const uint64_t end = at + BLOCKS_MAX;

	for (; *block < kept && s->count < ETCD_ROWS_MAX - BLOCKS_MAX; (*block)++) {
		struct etcd_row *row = etcd_save_row(s);
		if (!row)
			return 0;
		block_key(s, *block, row->key);
	}
	for (; at * ETCD_EVENTS_BLOCK < l->next && at < end; at++)
		if (!block_add(s, l, at))
			return 0;
	return min_u64(at * ETCD_EVENTS_BLOCK, l->next);
}

uint64_t etcd_log_save(struct store *base, struct registry *r, bool at_once)
{
	struct etcd_store *s = etcd_store_own(base);
	struct event_journal *l = registry_events(r);
	const uint64_t now_ns = etcd_store_now(s);

	if (l->unsaved >= l->next || !etcd_lease_term(base))
		return UINT64_MAX;
	if (now_ns < s->events_ns && !at_once)
		return s->events_ns - now_ns;
	uint64_t block = min_u64(s->event_block, l->unsaved / ETCD_EVENTS_BLOCK);
	const uint64_t saved = rows_make(s, l, &block);
	if (saved && etcd_save_commit(s, 0, s->count) == DXP_OK) {
		l->unsaved = saved;
		s->event_block = block;
	}
	etcd_save_clear(s);
	s->events_ns = etcd_store_now(s) + INTERVAL_NS;
	return l->unsaved < l->next ? INTERVAL_NS : UINT64_MAX;
}

void etcd_log_load(struct etcd_store *s, struct event_journal *l, const struct etcd_pair *pair)
{
	const char *digits = pair->key + strlen(s->prefix) + strlen(NAME);
	const uint64_t number = strtoull(digits, NULL, 10);
	char *text = etcd_seal_open_text(&s->seal, pair->key, pair->value);
	char key[ETCD_KEY_BYTES];

	block_key(s, number, key);
	if (strcmp(key, pair->key) != 0 || !text || etcd_events_read(text, number, l) > 0)
		log_warn("%s in etcd has invalid events, which are left out; all else is in use",
			 pair->key);
	free(text);
	s->event_block = min_u64(s->event_block, number);
}
