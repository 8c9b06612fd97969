/* SPDX-License-Identifier: BSD-3-Clause */
/* The event log of the fabric: a bounded number of the newest events, in order. The store has a
 * copy.
 *
 * Invariant: the log has the events with first <= sequence < next that exist. Gaps come only from
 * invalid rows of the store. Events from `unsaved` on are not in the store yet; first <= unsaved.
 */
#ifndef MANAGER_EVENT_JOURNAL_H
#define MANAGER_EVENT_JOURNAL_H

#include "base/util.h"
#include "wire/events.h"

struct event_journal {
	struct event_row *ring; /* the event `sequence` is at index sequence % space */
	uint32_t space;
	uint64_t first, next, unsaved;
	/* While this is below `first`, the store has events from this one on that are not loaded
	 * yet; 0: all are loaded. */
	uint64_t older;
	uint64_t read;     /* rows of the store that were read */
	uint64_t lost;     /* events that were replaced or given up before the store had them */
	uint64_t reported; /* of those, the ones that EVENT_LOST reported */
	uint64_t report;   /* number of the last EVENT_LOST; 0: none in this term */
};

/* Counts of struct event_journal that a manager keeps from one term to the next. */
struct event_losses {
	uint64_t lost, reported;
};

/* Creates an empty log for `space` events. DXP_ENOMEM. */
int event_journal_create(struct event_journal *l, uint32_t space);
void event_journal_destroy(struct event_journal *l);

void event_journal_add(struct event_journal *l, uint64_t time_ms, enum event_kind kind,
		       const char *subject, const char *format, ...) PRINTF_LIKE(5, 6);

/* Gives up the unsaved events before `sequence`; they count as lost. */
void event_journal_give_up(struct event_journal *l, uint64_t sequence);

/* Begins a term, after the store's events were loaded. */
void event_journal_begin(struct event_journal *l, const struct event_losses *losses);
/* Ends it: gives up all unsaved events, and returns how many there are. A report among them must be
 * repeated. */
uint64_t event_journal_end(struct event_journal *l, struct event_losses *losses);

/* Adds a row from the store. Rows come in ascending order. Returns false if the row is invalid. */
bool event_journal_load(struct event_journal *l, const struct event_row *row);

/* The store has events from `oldest` on; those before the loaded ones follow later. */
void event_journal_older(struct event_journal *l, uint64_t oldest);
/* Returns the number from which on events are to be loaded next, at most `count` events; they end
 * before `first`. 0: all are loaded. */
uint64_t event_journal_wanted(const struct event_journal *l, uint32_t count);
/* Adds a row from the store between event_journal_wanted() and `first`. Returns false if the row is
 * invalid. */
bool event_journal_load_older(struct event_journal *l, const struct event_row *row);
/* The events from `from` on are loaded. */
void event_journal_loaded(struct event_journal *l, uint64_t from);

/* Returns the lowest number of an event that the bound of the log permits. */
uint64_t event_journal_bound(const struct event_journal *l);

/* Returns the first event with a number of at least `from`, or NULL. */
const struct event_row *event_journal_next(const struct event_journal *l, uint64_t from);

/* Fills a page for a request. Examines only a bounded number of events, so that a page may have few
 * rows although more follow. */
void event_journal_page(const struct event_journal *l, const struct events_request *request,
			struct events_page *page);

#endif
