/* SPDX-License-Identifier: BSD-3-Clause */
/* The event log in etcd. A key holds consecutive events and is written once, so each event is
 * written once. Events are written with the next change of the registry, or after a few seconds
 * without one. A write that fails is repeated and ends no term. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_events.h"
#include "manager/etcd_store.h"
#include "manager/store_etcd.h"

/* longest time that an event waits for a change; a killed manager loses events of this time */
#define WAIT_NS       (3 * S_NS)
#define RETRY_MIN_NS  (1 * S_NS)
#define RETRY_MAX_NS  (32 * S_NS)
#define AT_ONCE_NS    (3 * S_NS) /* longest time that a manager waits for a write when it ends */
#define PARTS_MAX     (ETCD_LOG_ROWS - 1)
#define DELETE_EVENTS 64 /* old events that one deletion removes at least */
#define NAME          "event/"
#define OLDER_DIGITS  18 /* of keys of a layout before the first release */

static void part_key(const struct etcd_store *s, uint64_t first, char out[ETCD_KEY_BYTES])
{
	snprintf(out, ETCD_KEY_BYTES, "%s" NAME "%020" PRIu64, s->prefix, first);
}

static bool part_add(struct etcd_store *s, const struct event_journal *l, uint64_t first,
		     uint64_t end)
{
	struct etcd_row *row = etcd_save_row(s);
	char *text = row ? etcd_events_write(l, first, end) : NULL;

	if (!text)
		return false;
	part_key(s, first, row->key);
	row->value = etcd_seal_text(&s->seal, row->key, text);
	free(text);
	return row->value != NULL;
}

/* Returns the lowest number in the keys to keep: keys with lower numbers hold only old events. */
static uint64_t kept_from(const struct event_journal *l)
{
	const uint64_t oldest =
		max_u64(l->first, l->next > ETCD_EVENTS_MAX ? l->next - ETCD_EVENTS_MAX : 0);

	return oldest - min_u64(oldest, ETCD_EVENTS_PART - 1);
}

/* Adds a row that deletes old keys, if there are enough. */
static bool deletion_add(struct etcd_store *s, const struct event_journal *l)
{
	const uint64_t from = kept_from(l);

	if (from < s->log.deleted + DELETE_EVENTS)
		return true;
	struct etcd_row *row = etcd_save_row(s);
	if (!row)
		return false;
	part_key(s, from, row->key);
	row->from = s->log.first_key;
	return true;
}

uint64_t etcd_log_rows(struct etcd_store *s, struct event_journal *l)
{
	const size_t before = s->count;

	if (l->next > ETCD_EVENTS_MAX)
		event_journal_give_up(l, l->next - ETCD_EVENTS_MAX);
	if (l->unsaved >= l->next)
		return 0;
	if (s->log.sent <= l->unsaved)
		s->log.sent = 0;
	s->log.deleted = min_u64(s->log.deleted, l->unsaved);
	const uint64_t end = min_u64(s->log.sent ? s->log.sent : l->next,
				     l->unsaved + PARTS_MAX * ETCD_EVENTS_PART);
	bool good = deletion_add(s, l);
	for (uint64_t at = l->unsaved; good && at < end; at += ETCD_EVENTS_PART)
		good = part_add(s, l, at, min_u64(at + ETCD_EVENTS_PART, end));
	if (good)
		return end;
	etcd_save_drop(s, before);
	return 0;
}

void etcd_log_saved(struct etcd_store *s, struct event_journal *l, uint64_t saved)
{
	if (s->log.failures)
		log_warn("events can be written to etcd again");
	/* Events that came during failures have waited long enough. */
	s->log.due_ns = s->log.failures && saved < l->next ? etcd_store_now(s) : 0;
	l->unsaved = saved;
	if (kept_from(l) >= s->log.deleted + DELETE_EVENTS)
		s->log.deleted = kept_from(l);
	s->log.sent = 0;
	s->log.failures = 0;
}

/* `sent`: as etcd_log.sent, or 0 if memory is short. */
static void write_failed(struct etcd_store *s, uint64_t sent)
{
	const unsigned doubled = s->log.failures < 5 ? s->log.failures : 5;

	if (s->log.failures++ == 0)
		log_error("cannot write the event log to etcd (%s); all else is safe; check etcd "
			  "and its quota; the manager tries again",
			  sent ? s->etcd.reason : "memory is short");
	s->log.sent = sent ? sent : s->log.sent;
	s->log.due_ns = etcd_store_now(s) + min_u64(RETRY_MIN_NS << doubled, RETRY_MAX_NS);
}

/* Makes one attempt to write events. Returns whether it succeeded. */
static bool attempt(struct etcd_store *s, struct event_journal *l)
{
	const uint64_t end = etcd_log_rows(s, l);
	const int status = end ? etcd_save_try(s) : DXP_ENOMEM;

	etcd_save_clear(s);
	if (status == DXP_OK)
		etcd_log_saved(s, l, end);
	else if (status != DXP_EIO)
		write_failed(s, end);
	return status == DXP_OK;
}

/* Writes all events, unless nothing succeeds for a while or the term ends. */
static void write_all(struct etcd_store *s, struct event_journal *l)
{
	uint64_t until_ns = etcd_store_now(s) + AT_ONCE_NS;

	while (l->unsaved < l->next && etcd_store_now(s) < until_ns) {
		etcd_lease_step(&s->base);
		if (!etcd_lease_term(&s->base))
			return;
		if (attempt(s, l))
			until_ns = etcd_store_now(s) + AT_ONCE_NS;
		else
			etcd_pause(&s->etcd);
	}
}

uint64_t etcd_log_save(struct store *base, struct registry *r, bool at_once)
{
	struct etcd_store *s = etcd_store_own(base);
	struct event_journal *l = registry_events(r);
	const uint64_t now_ns = etcd_store_now(s);

	if (l->unsaved >= l->next || !etcd_lease_term(base))
		return UINT64_MAX;
	if (at_once) {
		write_all(s, l);
		return UINT64_MAX;
	}
	if (!s->log.due_ns)
		s->log.due_ns = now_ns + WAIT_NS;
	const bool full = !s->log.failures && l->next - l->unsaved >= PARTS_MAX * ETCD_EVENTS_PART;
	if (now_ns < s->log.due_ns && !full)
		return s->log.due_ns - now_ns;
	attempt(s, l);
	if (l->unsaved >= l->next || !etcd_lease_term(base))
		return UINT64_MAX;
	return s->log.due_ns ? s->log.due_ns - min_u64(s->log.due_ns, etcd_store_now(s)) : 0;
}

void etcd_log_begin(struct etcd_store *s)
{
	s->log = (struct etcd_log){.deleted = UINT64_MAX - DELETE_EVENTS};
	part_key(s, 0, s->log.first_key);
}

static void older_delete(struct etcd_store *s)
{
	if (s->count && etcd_save_try(s) != DXP_OK)
		s->log.older_left = true;
	etcd_save_clear(s);
}

/* Returns whether a key is of the older layout, and deletes such keys, many at a time. */
static bool older(struct etcd_store *s, const char *key, const char *digits)
{
	if (strlen(digits) != OLDER_DIGITS || strspn(digits, "0123456789") != OLDER_DIGITS)
		return false;
	struct etcd_row *row = etcd_save_row(s);
	if (row)
		snprintf(row->key, sizeof(row->key), "%s", key);
	s->log.older++;
	s->log.older_left |= !row;
	if (s->count >= ETCD_ROWS_MAX)
		older_delete(s);
	return true;
}

void etcd_log_loaded(struct etcd_store *s)
{
	older_delete(s);
	if (s->log.older)
		log_warn("etcd has %llu keys of events in the layout of an earlier version, which "
			 "%s; all else is in use",
			 (unsigned long long)s->log.older,
			 s->log.older_left ? "cannot be deleted now; the next takeover tries again"
					   : "are deleted");
}

void etcd_log_load(struct etcd_store *s, struct event_journal *l, const struct etcd_pair *pair)
{
	const char *digits = pair->key + strlen(s->prefix) + strlen(NAME);
	const uint64_t first = strtoull(digits, NULL, 10);

	if (older(s, pair->key, digits))
		return;
	char *text = etcd_seal_open_text(&s->seal, pair->key, pair->value);
	char key[ETCD_KEY_BYTES];

	part_key(s, first, key);
	if (strcmp(key, pair->key) != 0 || !text || etcd_events_read(text, first, l) > 0)
		log_warn("%s in etcd has invalid events, which are left out; all else is in use",
			 pair->key);
	free(text);
	s->log.deleted = min_u64(s->log.deleted, first);
}
