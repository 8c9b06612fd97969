/* SPDX-License-Identifier: BSD-3-Clause */
/* The store in SQLite: loads and saves rows. A row of table `node` is one node with all its fields.
 * 64-bit numbers are stored as SQLite's signed numbers. */
#include "manager/store_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/secrets.h"
#include "manager/store_events.h"
#include "manager/store_fabric.h"
#include "manager/store_file.h"
#include "manager/store_rows.h"

enum statement { NODE_PUT, NODE_DELETE, GRANT_PUT, GRANT_DELETE, KEY_PUT, TOKEN_PUT, STATEMENTS };

static const char *const statement_texts[STATEMENTS] = {
	[NODE_PUT] = "REPLACE INTO node VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
	[NODE_DELETE] = "DELETE FROM node WHERE id = ?1",
	[GRANT_PUT] = "INSERT OR REPLACE INTO permission VALUES (?1,?2)",
	[GRANT_DELETE] = "DELETE FROM permission WHERE host = ?1 AND xpu = ?2",
	[KEY_PUT] = "INSERT OR REPLACE INTO key VALUES (?1,?2,?3,?4,?5)",
	[TOKEN_PUT] = "INSERT OR REPLACE INTO token VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
};

struct sqlite_store {
	struct store base;
	struct store_file file;
	sqlite3_stmt *statements[STATEMENTS];
	struct store_events events;
	bool failing; /* the last save failed; this was logged */
};

static int statements_prepare(struct sqlite_store *s)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(s->file.db, statement_texts[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &s->statements[i],
				       NULL) != SQLITE_OK)
			return store_file_complain(&s->file, "prepare");
	return DXP_OK;
}

static void database_close(struct sqlite_store *s)
{
	for (int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	store_events_close(&s->events);
	store_file_close(&s->file);
}

static void sqlite_close(struct store *base)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);

	database_close(s);
	free(s);
}

static int database_renew(struct sqlite_store *s, struct registry *r)
{
	database_close(s);
	int status = store_file_renew(&s->file);
	if (status == DXP_OK)
		status = statements_prepare(s);
	if (status == DXP_OK) {
		registry_store_again(r);
		registry_events(r)->unsaved = registry_events(r)->first;
	} else {
		database_close(s);
	}
	return status;
}

static int sqlite_check(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	bool lost;
	int status = store_file_check(&s->file, &lost);

	return lost ? database_renew(s, r) : status;
}

static int rows_load(struct sqlite_store *s, struct registry *r, const char *query,
		     bool (*read)(sqlite3_stmt *, struct store_op *))
{
	sqlite3_stmt *statement = NULL;
	struct store_op op;
	int code, status = DXP_OK;

	if (sqlite3_prepare_v2(s->file.db, query, -1, &statement, NULL) != SQLITE_OK)
		return store_file_complain(&s->file, "read");
	while (status == DXP_OK && (code = sqlite3_step(statement)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			status = store_file_complain(&s->file, "read");
		else
			status = read(statement, &op) ? registry_load(r, &op) : DXP_EINVAL;
	}
	sqlite3_finalize(statement);
	keys_erase(&op, sizeof(op)); /* erases the key of the last token */
	if (status != DXP_EINVAL)
		return status;
	log_error("%s holds invalid rows; move it away to start with an empty registry",
		  s->file.path);
	return DXP_EMALFORMED;
}

static int fabric_load(struct sqlite_store *s, struct registry *r)
{
	int status = store_fabric_load(s->file.db, r);

	if (status == DXP_EIO)
		return store_file_complain(&s->file, "read");
	if (status != DXP_EINVAL)
		return status;
	log_error("%s holds an invalid fabric key; restore it from a backup", s->file.path);
	return DXP_EMALFORMED;
}

static int sqlite_load(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	/* Loads keys before nodes, because nodes refer to keys. */
	int status = rows_load(s, r, "SELECT * FROM key ORDER BY id", store_key_read);

	if (status == DXP_OK)
		status = rows_load(s, r, "SELECT * FROM token ORDER BY id", store_token_read);
	if (status == DXP_OK)
		status = rows_load(s, r, "SELECT * FROM node ORDER BY id", store_node_read);
	if (status == DXP_OK)
		status = rows_load(s, r, "SELECT * FROM permission", store_grant_read);
	if (status == DXP_OK)
		status = fabric_load(s, r);
	if (status == DXP_OK)
		store_events_load(&s->events, s->file.db, s->file.path, registry_events(r));
	return status;
}

static bool op_save(struct sqlite_store *s, const struct store_op *op)
{
	static const enum statement of_kind[] = {
		[STORE_NODE_PUT] = NODE_PUT,   [STORE_NODE_DELETE] = NODE_DELETE,
		[STORE_GRANT_PUT] = GRANT_PUT, [STORE_GRANT_DELETE] = GRANT_DELETE,
		[STORE_KEY_PUT] = KEY_PUT,     [STORE_TOKEN_PUT] = TOKEN_PUT};

	if (op->kind == STORE_FABRIC_PUT)
		return store_fabric_put(s->file.db, &op->fabric);
	sqlite3_stmt *statement = s->statements[of_kind[op->kind]];

	store_op_bind(statement, op);
	bool good = sqlite3_step(statement) == SQLITE_DONE;
	sqlite3_reset(statement);
	return good;
}

static bool run(struct sqlite_store *s, const char *sql)
{
	return sqlite3_exec(s->file.db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

enum events_part { EVENTS_OMITTED, EVENTS_TRIED, EVENTS_REQUIRED };

/* Adds the new events to the transaction; sets *saved to true if it has them. Returns false if
 * `part` requires them and they are not saved. */
static bool events_save(struct sqlite_store *s, const struct event_journal *log,
			enum events_part part, bool *saved)
{
	*saved = part == EVENTS_REQUIRED
			 ? store_events_write(&s->events, s->file.db, log)
			 : store_events_put(&s->events, s->file.db, s->file.path, log);
	return *saved || part != EVENTS_REQUIRED;
}

/* Saves all changes in one transaction, with or without the new events. Begins the transaction at
 * the first change, so that nothing is written if there are no changes. */
static bool changes_save(struct sqlite_store *s, struct registry *r, enum events_part part)
{
	struct event_journal *log = registry_events(r);
	struct store_op op;
	bool begun = false, good = true, events = part != EVENTS_OMITTED;

	while (good && registry_next_store(r, &op)) {
		good = begun || run(s, "BEGIN");
		begun = true;
		good = good && op_save(s, &op);
	}
	keys_erase(&op, sizeof(op)); /* erases the key of the last token */
	events = events && good && store_events_due(&s->events, log);
	if (events) {
		good = begun || run(s, "BEGIN");
		begun = true;
		good = good && events_save(s, log, part, &events);
	}
	if (good && begun)
		good = run(s, "COMMIT");
	if (good)
		registry_store_done(r);
	if (good && events)
		store_events_saved(&s->events, s->file.path, log);
	return good;
}

/* Undoes the transaction that failed. */
static void changes_undo(struct sqlite_store *s, struct registry *r)
{
	if (!sqlite3_get_autocommit(s->file.db))
		run(s, "ROLLBACK");
	store_events_close(&s->events); /* the creation of their table may be undone, too */
	registry_store_again(r);
}

static int sqlite_save(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	if (!s->file.db)
		return DXP_EIO; /* the database is closed; sqlite_check has logged the cause */
	bool saved = changes_save(s, r, EVENTS_TRIED);
	if (!saved) {
		/* Tries again without the events, because the other changes may still fit the
		 * disk. */
		char why[128];
		snprintf(why, sizeof(why), "%s", sqlite3_errmsg(s->file.db));
		changes_undo(s, r);
		saved = changes_save(s, r, EVENTS_OMITTED);
		if (saved && registry_events(r)->unsaved < registry_events(r)->next)
			store_events_failed(&s->events, s->file.path, why);
	}
	if (saved) {
		if (s->failing)
			log_warn("%s can be written again", s->file.path);
		s->failing = false;
		return DXP_OK;
	}
	if (!s->failing)
		log_error("cannot write %s (%s); new ids and grants are lost if this manager "
			  "stops; free space or repair the disk; the manager tries again",
			  s->file.path, sqlite3_errmsg(s->file.db));
	s->failing = true;
	changes_undo(s, r);
	return DXP_EIO;
}

static int sqlite_save_all(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);

	if (changes_save(s, r, EVENTS_REQUIRED))
		return DXP_OK;
	store_file_complain(&s->file, "write");
	changes_undo(s, r);
	return DXP_EIO;
}

/* Loads older events of a large log, because store_save saves new ones. */
static uint64_t sqlite_log_save(struct store *base, struct registry *r, bool at_once)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);

	if (at_once || !s->file.db)
		return UINT64_MAX;
	const bool more =
		store_events_load_older(&s->events, s->file.db, s->file.path, registry_events(r));
	return more ? 0 : UINT64_MAX;
}

static int sqlite_private_key(struct store *base, uint8_t key[KEYS_BYTES])
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	char folder[PATH_MAX];

	store_file_folder(&s->file, folder);
	return secrets_manager_key(folder, key);
}

static const struct store_ops sqlite_ops = {
	.private_key = sqlite_private_key,
	.close = sqlite_close,
	.load = sqlite_load,
	.check = sqlite_check,
	.save = sqlite_save,
	.save_all = sqlite_save_all,
	.log_save = sqlite_log_save,
};

int store_sqlite_open(const char *folder, struct store **out)
{
	struct sqlite_store *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->base.ops = &sqlite_ops;
	int status = store_file_open(&s->file, folder);
	if (status == DXP_OK)
		status = statements_prepare(s);
	if (status != DXP_OK) {
		sqlite_close(&s->base);
		return status;
	}
	*out = &s->base;
	return DXP_OK;
}
