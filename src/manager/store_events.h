/* SPDX-License-Identifier: BSD-3-Clause */
/* The table `event` of the SQLite store: the event log. Its failures are logged and affect no other
 * table. */
#ifndef MANAGER_STORE_EVENTS_H
#define MANAGER_STORE_EVENTS_H

#include <sqlite3.h>

#include "manager/event_journal.h"

struct store_events {
	sqlite3_stmt *put, *forget; /* NULL: the table does not exist yet */
	bool failing;               /* the last save failed; this was logged */
	uint64_t retry_ns;          /* no save before this time */
	bool excess;                /* the table may have many events beyond the log's bound */
	uint64_t trim_ns;           /* when the next of them are deleted */
};

/* Adds the newest rows to the log, at most STORE_EVENTS_START, so that a manager with a large log
 * starts soon; store_events_load_older adds the others. Both leave out rows beyond the log's bound,
 * and log how many rows are invalid or unreadable. */
#define STORE_EVENTS_START 10000
void store_events_load(struct store_events *e, sqlite3 *db, const char *path,
		       struct event_journal *l);

/* Adds some older rows. Returns whether there are more. */
bool store_events_load_older(struct store_events *e, sqlite3 *db, const char *path,
			     struct event_journal *l);

/* Returns whether events are to be saved or deleted now. After a failure this waits a second. */
bool store_events_due(const struct store_events *e, const struct event_journal *l);

/* Saves the unsaved events inside the present transaction, and deletes some that are beyond the
 * log's bound. Returns false if that fails; the transaction then has a part of them. */
bool store_events_write(struct store_events *e, sqlite3 *db, const struct event_journal *l);
/* Saves the unsaved events inside the present transaction. Returns false, logs it and changes
 * nothing if that fails. */
bool store_events_put(struct store_events *e, sqlite3 *db, const char *path,
		      const struct event_journal *l);

/* Call store_events_saved() once the transaction with the events is committed, and
 * store_events_failed() if it failed because of them. */
void store_events_saved(struct store_events *e, const char *path, struct event_journal *l);
void store_events_failed(struct store_events *e, const char *path, const char *why);

void store_events_close(struct store_events *e);

#endif
