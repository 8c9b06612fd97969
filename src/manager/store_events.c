/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_events.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#define RETRY_NS (1 * S_NS)
/* Old rows that one transaction deletes, which takes about 2 ms, and ns between two deletions, so
 * that a manager with a smaller bound than before answers meanwhile. */
#define TRIM_ROWS 4096
#define TRIM_NS   (250 * MS_NS)
#define LOAD_ROWS 2048 /* older events that are loaded at a time: 2 ms */

static const char table[] = "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, time "
			    "INTEGER NOT NULL, kind INTEGER NOT NULL, subject TEXT NOT NULL, text "
			    "TEXT NOT NULL)";

/* Creates the table here, not with the others, so that earlier versions can use the database. */
static bool ready(struct store_events *e, sqlite3 *db)
{
	if (e->put && e->forget)
		return true;
	return sqlite3_exec(db, table, NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v3(db, "INSERT OR REPLACE INTO event VALUES (?1,?2,?3,?4,?5)", -1,
				  SQLITE_PREPARE_PERSISTENT, &e->put, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v3(db,
				  "DELETE FROM event WHERE id < ?1 AND id < "
				  "(SELECT min(id) FROM event) + ?2",
				  -1, SQLITE_PREPARE_PERSISTENT, &e->forget, NULL) == SQLITE_OK;
}

static bool column_copy(char *to, size_t to_bytes, sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text && snprintf(to, to_bytes, "%s", (const char *)text) < (int)to_bytes;
}

static bool row_read(sqlite3_stmt *statement, struct event_row *out)
{
	const sqlite3_int64 id = sqlite3_column_int64(statement, 0);
	const sqlite3_int64 time = sqlite3_column_int64(statement, 1);
	const int kind = sqlite3_column_int(statement, 2);

	*out = (struct event_row){.sequence = (uint64_t)id, .time_ms = (uint64_t)time};
	if (id <= 0 || time < 0 || kind <= 0 || kind > UINT8_MAX ||
	    !column_copy(out->subject, sizeof(out->subject), statement, 3) ||
	    !column_copy(out->text, sizeof(out->text), statement, 4))
		return false;
	out->kind = (uint8_t)kind;
	return true;
}

/* Adds the rows with first <= id < end to the log. */
static void rows_load(sqlite3 *db, const char *path, struct event_journal *l, uint64_t first,
		      uint64_t end, bool (*add)(struct event_journal *, const struct event_row *))
{
	sqlite3_stmt *statement = NULL;
	struct event_row row;
	unsigned invalid = 0;
	int code = sqlite3_prepare_v2(db,
				      "SELECT id, time, kind, subject, text FROM event WHERE id >= "
				      "?1 AND id < ?2 ORDER BY id",
				      -1, &statement, NULL);

	sqlite3_bind_int64(statement, 1, (sqlite3_int64)first);
	sqlite3_bind_int64(statement, 2, (sqlite3_int64)end);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		if (code == SQLITE_ROW)
			invalid += !row_read(statement, &row) || !add(l, &row);
	}
	if (code != SQLITE_DONE)
		log_warn("%s: cannot read all events (%s); the log goes on without the others",
			 path, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	if (invalid)
		log_warn("%s: %u rows of the event log are invalid and are left out; all else is "
			 "in use",
			 path, invalid);
}

/* Returns the lowest or highest number of an event; 0: there is none. */
static uint64_t number_read(sqlite3 *db, const char *query)
{
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 number = 0;

	if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)EVENT_SEQUENCE_MAX);
		if (sqlite3_step(statement) == SQLITE_ROW)
			number = sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	return number > 0 ? (uint64_t)number : 0;
}

void store_events_load(struct store_events *e, sqlite3 *db, const char *path,
		       struct event_journal *l)
{
	if (sqlite3_table_column_metadata(db, NULL, "event", NULL, NULL, NULL, NULL, NULL, NULL) !=
	    SQLITE_OK)
		return; /* the database of an earlier version, or a new one */
	const uint64_t last =
		number_read(db, "SELECT max(id) FROM event WHERE id > 0 AND id <= ?1");
	const uint64_t oldest =
		number_read(db, "SELECT min(id) FROM event WHERE id > 0 AND id <= ?1");
	const uint64_t count = min_u64(min_u64(STORE_EVENTS_START, l->space), last);

	rows_load(db, path, l, last + 1 - count, last + 1, event_journal_load);
	event_journal_older(l, max_u64(oldest, event_journal_bound(l)));
	e->excess = true;
}

bool store_events_load_older(struct store_events *e, sqlite3 *db, const char *path,
			     struct event_journal *l)
{
	const uint64_t from = event_journal_wanted(l, LOAD_ROWS);

	if (!from)
		return false;
	rows_load(db, path, l, from, l->first, event_journal_load_older);
	event_journal_loaded(l, from);
	return l->older != 0;
}

static bool row_put(struct store_events *e, const struct event_row *row)
{
	sqlite3_bind_int64(e->put, 1, (sqlite3_int64)row->sequence);
	sqlite3_bind_int64(e->put, 2, (sqlite3_int64)row->time_ms);
	sqlite3_bind_int(e->put, 3, row->kind);
	sqlite3_bind_text(e->put, 4, row->subject, -1, SQLITE_STATIC);
	sqlite3_bind_text(e->put, 5, row->text, -1, SQLITE_STATIC);
	const bool good = sqlite3_step(e->put) == SQLITE_DONE;
	sqlite3_reset(e->put);
	return good;
}

bool store_events_write(struct store_events *e, sqlite3 *db, const struct event_journal *l)
{
	const struct event_row *row = event_journal_next(l, l->unsaved);

	if (!ready(e, db))
		return false;
	for (; row; row = event_journal_next(l, row->sequence + 1))
		if (!row_put(e, row))
			return false;
	sqlite3_bind_int64(e->forget, 1, (sqlite3_int64)event_journal_bound(l));
	sqlite3_bind_int(e->forget, 2, TRIM_ROWS);
	const bool good = sqlite3_step(e->forget) == SQLITE_DONE;
	sqlite3_reset(e->forget);
	e->excess = e->excess && good && sqlite3_changes(db) > 0;
	e->trim_ns = clock_now_ns() + TRIM_NS;
	return good;
}

bool store_events_due(const struct store_events *e, const struct event_journal *l)
{
	const uint64_t now_ns = clock_now_ns();

	return now_ns >= e->retry_ns &&
	       (l->unsaved < l->next || (e->excess && now_ns >= e->trim_ns));
}

bool store_events_put(struct store_events *e, sqlite3 *db, const char *path,
		      const struct event_journal *l)
{
	if (sqlite3_exec(db, "SAVEPOINT events", NULL, NULL, NULL) != SQLITE_OK)
		return false;
	if (store_events_write(e, db, l))
		return sqlite3_exec(db, "RELEASE events", NULL, NULL, NULL) == SQLITE_OK;
	store_events_failed(e, path, sqlite3_errmsg(db));
	store_events_close(e); /* because their table may be undone, too */
	sqlite3_exec(db, "ROLLBACK TO events; RELEASE events", NULL, NULL, NULL);
	return false;
}

void store_events_saved(struct store_events *e, const char *path, struct event_journal *l)
{
	if (e->failing)
		log_warn("%s: events can be written again", path);
	e->failing = false;
	l->unsaved = l->next;
}

void store_events_failed(struct store_events *e, const char *path, const char *why)
{
	if (!e->failing)
		log_error("%s: cannot write the event log (%s); new events are lost if this "
			  "manager stops, all else is safe; free space or repair the disk; the "
			  "manager tries again",
			  path, why);
	e->failing = true;
	e->retry_ns = clock_now_ns() + RETRY_NS;
}

void store_events_close(struct store_events *e)
{
	sqlite3_finalize(e->put);
	sqlite3_finalize(e->forget);
	e->put = e->forget = NULL;
}
