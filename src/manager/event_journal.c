/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/event_journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#define SCAN_MAX 4096 /* events that are examined per page, which takes about 10 us */

int event_journal_create(struct event_journal *l, uint32_t space)
{
	*l = (struct event_journal){
		.ring = calloc(space, sizeof(*l->ring)), .space = space, .first = 1, .next = 1};
	l->unsaved = 1;
	return l->ring ? DXP_OK : DXP_ENOMEM;
}

void event_journal_destroy(struct event_journal *l)
{
	free(l->ring);
}

uint64_t event_journal_bound(const struct event_journal *l)
{
	return l->next > l->space ? l->next - l->space : 1;
}

/* Returns the place for the event `sequence`, which becomes the newest. */
static struct event_row *row_begin(struct event_journal *l, uint64_t sequence)
{
	struct event_row *row = &l->ring[sequence % l->space];

	l->next = sequence + 1;
	l->first = max_u64(l->first, event_journal_bound(l));
	return row;
}

void event_journal_give_up(struct event_journal *l, uint64_t sequence)
{
	if (l->unsaved >= sequence)
		return;
	l->lost += sequence - l->unsaved;
	l->unsaved = sequence;
}

void event_journal_begin(struct event_journal *l, const struct event_losses *losses)
{
	l->lost = losses->lost;
	l->reported = losses->reported;
}

uint64_t event_journal_end(struct event_journal *l, struct event_losses *losses)
{
	const uint64_t unsaved = l->next - l->unsaved;

	if (l->report < l->unsaved)
		losses->reported = max_u64(losses->reported, l->reported);
	event_journal_give_up(l, l->next);
	losses->lost = max_u64(losses->lost, l->lost);
	return unsaved;
}

void event_journal_add(struct event_journal *l, uint64_t time_ms, enum event_kind kind,
		       const char *subject, const char *format, ...)
{
	struct event_row *row = row_begin(l, l->next);
	va_list arguments;

	*row = (struct event_row){
		.sequence = l->next - 1, .time_ms = time_ms, .kind = (uint8_t)kind};
	snprintf(row->subject, sizeof(row->subject), "%s", subject);
	va_start(arguments, format);
	vsnprintf(row->text, sizeof(row->text), format, arguments);
	va_end(arguments);
	event_journal_give_up(l, l->first);
}

bool event_journal_load(struct event_journal *l, const struct event_row *row)
{
	const bool none = l->next == l->first;

	l->read++;
	if (row->sequence < l->next || row->sequence > EVENT_SEQUENCE_MAX || row->kind == 0)
		return false;
	if (none)
		l->first = row->sequence;
	*row_begin(l, row->sequence) = *row;
	l->unsaved = l->next;
	return true;
}

void event_journal_older(struct event_journal *l, uint64_t oldest)
{
	l->older = oldest < l->first ? oldest : 0;
}

uint64_t event_journal_wanted(const struct event_journal *l, uint32_t count)
{
	const uint64_t end = max_u64(l->older, event_journal_bound(l));

	return l->older ? max_u64(end, l->first - min_u64(l->first, count)) : 0;
}

bool event_journal_load_older(struct event_journal *l, const struct event_row *row)
{
	l->read++;
	if (row->sequence >= l->first || row->sequence < event_journal_bound(l) || row->kind == 0)
		return false;
	l->ring[row->sequence % l->space] = *row;
	return true;
}

void event_journal_loaded(struct event_journal *l, uint64_t from)
{
	l->first = min_u64(l->first, from);
	if (l->first <= max_u64(l->older, event_journal_bound(l)))
		l->older = 0;
}

const struct event_row *event_journal_next(const struct event_journal *l, uint64_t from)
{
	for (uint64_t at = max_u64(from, l->first); at < l->next; at++) {
		const struct event_row *row = &l->ring[at % l->space];
		if (row->sequence == at)
			return row;
	}
	return NULL;
}

void event_journal_page(const struct event_journal *l, const struct events_request *request,
			struct events_page *page)
{
	const struct event_row *row = event_journal_next(l, request->from);

	page->oldest = l->first;
	page->newest = l->next - 1;
	page->from = request->from;
	page->next = l->next;
	page->count = 0;
	for (unsigned scanned = 0; row; row = event_journal_next(l, row->sequence + 1)) {
		if (scanned++ == SCAN_MAX || page->count == EVENTS_PAGE_ROWS) {
			page->next = row->sequence;
			return;
		}
		if ((request->kind == 0 || row->kind == request->kind) &&
		    row->time_ms >= request->since_ms)
			page->rows[page->count++] = *row;
	}
}
