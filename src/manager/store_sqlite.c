/* SPDX-License-Identifier: BSD-3-Clause */
/* The store in SQLite. The database stays locked while it is open. A row of table `node` is one
 * node with all its fields. 64-bit numbers are stored as SQLite's signed numbers. */
#include "manager/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "manager/secrets.h"
#include "manager/store_events.h"
#include "manager/store_fabric.h"
#include "manager/store_rows.h"

#define FILE_NAME "manager.db"
#define FOUND_MAX 100 /* most bad files that are kept under other names */
/* Bytes of a database file that SQLite locks: PENDING, RESERVED and SHARED. */
#define SQLITE_LOCKS      0x40000000
#define SQLITE_LOCK_BYTES 512
#define APPLICATION_ID    0x6478706d /* "dxpm" */
#define SCHEMA_VERSION    2

enum statement { NODE_PUT, NODE_DELETE, GRANT_PUT, GRANT_DELETE, KEY_PUT, TOKEN_PUT, STATEMENTS };

static const char *const statement_texts[STATEMENTS] = {
	[NODE_PUT] = "REPLACE INTO node VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
	[NODE_DELETE] = "DELETE FROM node WHERE id = ?1",
	[GRANT_PUT] = "INSERT OR REPLACE INTO permission VALUES (?1,?2)",
	[GRANT_DELETE] = "DELETE FROM permission WHERE host = ?1 AND xpu = ?2",
	[KEY_PUT] = "INSERT OR REPLACE INTO key VALUES (?1,?2,?3,?4,?5)",
	[TOKEN_PUT] = "INSERT OR REPLACE INTO token VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
};

static const char schema[] =
	"BEGIN;"
	"CREATE TABLE node (id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, state INTEGER NOT "
	"NULL, kind INTEGER NOT NULL,"
	" incarnation INTEGER NOT NULL, capabilities INTEGER NOT NULL, magic INTEGER NOT NULL, "
	"memory INTEGER NOT NULL,"
	" address BLOB NOT NULL, name TEXT NOT NULL, engine TEXT NOT NULL, device TEXT NOT NULL);"
	"CREATE TABLE permission (host TEXT NOT NULL, xpu TEXT NOT NULL, PRIMARY KEY (host, xpu));"
	"PRAGMA application_id = 1685614701;" /* the value of APPLICATION_ID in decimal */
	"PRAGMA user_version = 1;"
	"COMMIT";

/* Changes from version 1 to 2: adds keys and tokens. Their ids are indices in the manager's
 * tables. */
static const char schema_keys[] =
	"BEGIN;"
	"ALTER TABLE node ADD COLUMN role INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE node ADD COLUMN key BLOB;"
	"CREATE TABLE key (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, name TEXT NOT NULL,"
	" role INTEGER NOT NULL, removed INTEGER NOT NULL);"
	"CREATE TABLE token (id INTEGER PRIMARY KEY, name BLOB NOT NULL, psk BLOB NOT NULL,"
	" role INTEGER NOT NULL, uses INTEGER NOT NULL, expires INTEGER NOT NULL,"
	" revoked INTEGER NOT NULL, used_by TEXT NOT NULL);"
	"PRAGMA user_version = 2;"
	"COMMIT";

_Static_assert(APPLICATION_ID == 1685614701, "the schema writes it in decimal");

struct sqlite_store {
	struct store base;
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	struct store_events events;
	bool failing;     /* the last save failed; this was logged */
	bool in_use;      /* another manager uses the file at the path; this was logged */
	struct stat file; /* inode and device of the open file */
	char path[PATH_MAX];
};

/* Writes the cause of an error, which SQLite's text omits: the error of the system call, else a
 * limit on file sizes. */
static void cause_of(struct sqlite_store *s, char *out, size_t bytes)
{
	int error = sqlite3_system_errno(s->db);
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	out[0] = '\0';
	getrlimit(RLIMIT_FSIZE, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(out, bytes, " (the limit of a file is %llu bytes: raise \"ulimit -f\")",
			 (unsigned long long)limit.rlim_cur);
	else if (error)
		snprintf(out, bytes, ": %s", strerror(error));
}

static int complain(struct sqlite_store *s, const char *doing)
{
	char cause[128];
	int code = sqlite3_errcode(s->db) & 0xff;

	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		log_error(
			"another manager uses %s; stop it, or give this one its own --state folder",
			s->path);
		return DXP_EBUSY;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		log_error("%s is damaged or not a manager's database (%s); move it away to start "
			  "with an empty registry; nodes keep their ids if these are free",
			  s->path, sqlite3_errmsg(s->db));
		return DXP_EMALFORMED;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		log_error("cannot write %s (%s); choose a --state folder that this user may write",
			  s->path, sqlite3_errmsg(s->db));
		return DXP_EACCESS;
	case SQLITE_FULL:
		log_error("cannot write %s (%s); free space, or choose a --state folder on another "
			  "file system",
			  s->path, sqlite3_errmsg(s->db));
		return DXP_EACCESS;
	case SQLITE_NOMEM: return DXP_ENOMEM;
	default:
		cause_of(s, cause, sizeof(cause));
		log_error("%s: cannot %s: %s%s", s->path, doing, sqlite3_errmsg(s->db), cause);
		return DXP_EIO;
	}
}

static int number_read(struct sqlite_store *s, const char *pragma, int *out)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(s->db, pragma, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW) {
		sqlite3_finalize(statement);
		return complain(s, "read the database");
	}
	*out = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return DXP_OK;
}

/* Checks that the file is a manager's database of this version. Creates the tables if the database
 * is empty. */
static int schema_ensure(struct sqlite_store *s)
{
	int application = 0, version = 0, tables = 0;
	int status = number_read(s, "PRAGMA application_id", &application);

	if (status == DXP_OK)
		status = number_read(s, "PRAGMA user_version", &version);
	if (status == DXP_OK)
		status = number_read(s, "SELECT count(*) FROM sqlite_master", &tables);
	if (status != DXP_OK)
		return status;
	if (application == 0 && version == 0 && tables == 0) {
		if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
			return complain(s, "create the tables");
		application = APPLICATION_ID;
		version = 1;
	}
	if (application != APPLICATION_ID) {
		log_error("%s is another program's database; choose an empty --state folder",
			  s->path);
		return DXP_EMALFORMED;
	}
	if (version == 1) {
		if (sqlite3_exec(s->db, schema_keys, NULL, NULL, NULL) != SQLITE_OK)
			return complain(s, "add the tables of keys");
		version = SCHEMA_VERSION;
	}
	if (version != SCHEMA_VERSION && version != STORE_FABRIC_VERSION) {
		log_error("%s was written by another version of dxp-manager (format %d, this "
			  "version has formats up to %d); use that version",
			  s->path, version, STORE_FABRIC_VERSION);
		return DXP_EUNSUPPORTED;
	}
	return DXP_OK;
}

/* Locks the database until it is closed, so that a second manager fails. quick_check finds damage
 * before the database is used. */
static int database_begin(struct sqlite_store *s)
{
	sqlite3_stmt *statement = NULL;
	int status;

	if (sqlite3_exec(s->db,
			 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA "
			 "synchronous = FULL;"
			 "BEGIN EXCLUSIVE; COMMIT",
			 NULL, NULL, NULL) != SQLITE_OK)
		return complain(s, "lock the database");
	if (sqlite3_db_readonly(s->db, "main") == 1) {
		log_error("cannot write %s; choose a --state folder that this user may write",
			  s->path);
		return DXP_EACCESS;
	}
	if (sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		status = complain(s, "check the database");
	else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
		log_error("%s is damaged (%s); move it away to start with an empty registry; nodes "
			  "keep their ids if these are free",
			  s->path, (const char *)sqlite3_column_text(statement, 0));
		status = DXP_EMALFORMED;
	} else {
		status = DXP_OK;
	}
	sqlite3_finalize(statement);
	return status;
}

static int statements_prepare(struct sqlite_store *s)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(s->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &s->statements[i], NULL) != SQLITE_OK)
			return complain(s, "prepare");
	return DXP_OK;
}

static int folder_ensure(struct sqlite_store *s, const char *folder)
{
	int length = snprintf(s->path, sizeof(s->path), "%s/" FILE_NAME, folder);

	if (length < 0 || (size_t)length >= sizeof(s->path)) {
		log_error("the name of the state folder is too long");
		return DXP_EIO;
	}
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		log_error("cannot create the state folder %s: %s; choose another with --state",
			  folder, strerror(errno));
		return errno == EACCES || errno == EPERM || errno == EROFS ? DXP_EACCESS : DXP_EIO;
	}
	return DXP_OK;
}

static int database_open(struct sqlite_store *s)
{
	mode_t before = umask(0077);
	int code = sqlite3_open_v2(s->path, &s->db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				   NULL);
	int status = code == SQLITE_OK ? DXP_OK : s->db ? complain(s, "open") : DXP_ENOMEM;

	if (status == DXP_OK)
		status = database_begin(s);
	if (status == DXP_OK)
		status = schema_ensure(s);
	if (status == DXP_OK)
		status = statements_prepare(s);
	if (status == DXP_OK && stat(s->path, &s->file) != 0)
		/* another process has removed the file already; sqlite_check detects that */
		memset(&s->file, 0, sizeof(s->file));
	umask(before);
	return status;
}

static void database_close(struct sqlite_store *s)
{
	for (int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	store_events_close(&s->events);
	sqlite3_close(s->db);
	s->db = NULL;
}

static void sqlite_close(struct store *base)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);

	database_close(s);
	free(s);
}

/* Returns true if another process holds SQLite's locks on the file. */
static bool file_in_use(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = SQLITE_LOCKS,
			     .l_len = SQLITE_LOCK_BYTES};
	int fd = descriptor_raise(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	bool used = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return used;
}

/* Renames the bad file at the path to PATH.found, or to PATH.found2 and so on if that exists. */
static int file_rename_bad(struct sqlite_store *s)
{
	char name[PATH_MAX + 24];

	for (int i = 1; i <= FOUND_MAX; i++) {
		snprintf(name, sizeof(name), i > 1 ? "%s.found%d" : "%s.found", s->path, i);
		if (renameat2(AT_FDCWD, s->path, AT_FDCWD, name, RENAME_NOREPLACE) == 0) {
			log_warn("another file replaced %s while the manager was running: it is "
				 "kept as %s, and the registry is written again from memory; to "
				 "use that file, stop the manager first, then name it " FILE_NAME,
				 s->path, name);
			return DXP_OK;
		}
		if (errno != EEXIST)
			break;
	}
	log_error("another file replaced %s and cannot be renamed (%s); new ids and grants are "
		  "lost if this manager stops; move that file away",
		  s->path, strerror(errno));
	return DXP_EACCESS;
}

/* Clears the path for a new database: renames a file that is there, and logs that. */
static int entry_clear(struct sqlite_store *s)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	char name[PATH_MAX + 16];

	if (access(s->path, F_OK) != 0) {
		log_warn("%s was removed while the manager was running; it is written again from "
			 "memory; to start with an empty registry, stop the manager first",
			 s->path);
	} else {
		int status = file_rename_bad(s);
		if (status != DXP_OK)
			return status;
	}
	/* These journal files belong to the old database. SQLite would apply them to the new
	 * one. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", s->path, ends[i]);
		unlink(name);
	}
	return DXP_OK;
}

/* Writes the folder of the database. */
static void folder_of(const struct sqlite_store *s, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s", (int)(strlen(s->path) - sizeof(FILE_NAME)), s->path);
}

static int database_renew(struct sqlite_store *s, struct registry *r)
{
	char folder[PATH_MAX];

	folder_of(s, folder);
	database_close(s);
	int status = folder_ensure(s, folder);
	if (status == DXP_OK)
		status = entry_clear(s);
	if (status == DXP_OK)
		status = database_open(s);
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
	struct stat now;
	bool there = stat(s->path, &now) == 0;

	if (!there && errno != ENOENT && errno != ENOTDIR)
		return DXP_OK; /* the state of the file is unknown now; the next check decides */
	if (s->db && there && now.st_ino == s->file.st_ino && now.st_dev == s->file.st_dev)
		return DXP_OK;
	if (there && file_in_use(s->path)) {
		if (!s->in_use)
			log_error("another manager uses the file that replaced %s; new ids and "
				  "grants are lost if this manager stops; stop one of the two",
				  s->path);
		s->in_use = true;
		return DXP_EBUSY;
	}
	s->in_use = false;
	return database_renew(s, r);
}

static int rows_load(struct sqlite_store *s, struct registry *r, const char *query,
		     bool (*read)(sqlite3_stmt *, struct store_op *))
{
	sqlite3_stmt *statement = NULL;
	struct store_op op;
	int code, status = DXP_OK;

	if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL) != SQLITE_OK)
		return complain(s, "read");
	while (status == DXP_OK && (code = sqlite3_step(statement)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			status = complain(s, "read");
		else
			status = read(statement, &op) ? registry_load(r, &op) : DXP_EINVAL;
	}
	sqlite3_finalize(statement);
	keys_erase(&op, sizeof(op)); /* erases the key of the last token */
	if (status != DXP_EINVAL)
		return status;
	log_error("%s holds invalid rows; move it away to start with an empty registry", s->path);
	return DXP_EMALFORMED;
}

static int fabric_load(struct sqlite_store *s, struct registry *r)
{
	int status = store_fabric_load(s->db, r);

	if (status == DXP_EIO)
		return complain(s, "read");
	if (status != DXP_EINVAL)
		return status;
	log_error("%s holds an invalid fabric key; restore it from a backup", s->path);
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
		store_events_load(&s->events, s->db, s->path, registry_events(r));
	return status;
}

static bool op_save(struct sqlite_store *s, const struct store_op *op)
{
	static const enum statement of_kind[] = {
		[STORE_NODE_PUT] = NODE_PUT,   [STORE_NODE_DELETE] = NODE_DELETE,
		[STORE_GRANT_PUT] = GRANT_PUT, [STORE_GRANT_DELETE] = GRANT_DELETE,
		[STORE_KEY_PUT] = KEY_PUT,     [STORE_TOKEN_PUT] = TOKEN_PUT};

	if (op->kind == STORE_FABRIC_PUT)
		return store_fabric_put(s->db, &op->fabric);
	sqlite3_stmt *statement = s->statements[of_kind[op->kind]];

	store_op_bind(statement, op);
	bool good = sqlite3_step(statement) == SQLITE_DONE;
	sqlite3_reset(statement);
	return good;
}

static bool run(struct sqlite_store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

enum events_part { EVENTS_OMITTED, EVENTS_TRIED, EVENTS_REQUIRED };

/* Adds the new events to the transaction; sets *saved to true if it has them. Returns false if
 * `part` requires them and they are not saved. */
static bool events_save(struct sqlite_store *s, const struct event_journal *log,
			enum events_part part, bool *saved)
{
	*saved = part == EVENTS_REQUIRED ? store_events_write(&s->events, s->db, log)
					 : store_events_put(&s->events, s->db, s->path, log);
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
		store_events_saved(&s->events, s->path, log);
	return good;
}

/* Undoes the transaction that failed. */
static void changes_undo(struct sqlite_store *s, struct registry *r)
{
	if (!sqlite3_get_autocommit(s->db))
		run(s, "ROLLBACK");
	store_events_close(&s->events); /* the creation of their table may be undone, too */
	registry_store_again(r);
}

static int sqlite_save(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	if (!s->db)
		return DXP_EIO; /* the database is closed; sqlite_check has logged the cause */
	bool saved = changes_save(s, r, EVENTS_TRIED);
	if (!saved) {
		/* Tries again without the events, because the other changes may still fit the
		 * disk. */
		char why[128];
		snprintf(why, sizeof(why), "%s", sqlite3_errmsg(s->db));
		changes_undo(s, r);
		saved = changes_save(s, r, EVENTS_OMITTED);
		if (saved && registry_events(r)->unsaved < registry_events(r)->next)
			store_events_failed(&s->events, s->path, why);
	}
	if (saved) {
		if (s->failing)
			log_warn("%s can be written again", s->path);
		s->failing = false;
		return DXP_OK;
	}
	if (!s->failing)
		log_error("cannot write %s (%s); new ids and grants are lost if this manager "
			  "stops; free space or repair the disk; the manager tries again",
			  s->path, sqlite3_errmsg(s->db));
	s->failing = true;
	changes_undo(s, r);
	return DXP_EIO;
}

static int sqlite_save_all(struct store *base, struct registry *r)
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);

	if (changes_save(s, r, EVENTS_REQUIRED))
		return DXP_OK;
	complain(s, "write");
	changes_undo(s, r);
	return DXP_EIO;
}

static int sqlite_private_key(struct store *base, uint8_t key[KEYS_BYTES])
{
	struct sqlite_store *s = CONTAINER_OF(base, struct sqlite_store, base);
	char folder[PATH_MAX];

	folder_of(s, folder);
	return secrets_manager_key(folder, key);
}

static const struct store_ops sqlite_ops = {
	.private_key = sqlite_private_key,
	.close = sqlite_close,
	.load = sqlite_load,
	.check = sqlite_check,
	.save = sqlite_save,
	.save_all = sqlite_save_all,
};

int store_sqlite_open(const char *folder, struct store **out)
{
	struct sqlite_store *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->base.ops = &sqlite_ops;
	int status = folder_ensure(s, folder);
	if (status == DXP_OK)
		status = database_open(s);
	if (status != DXP_OK) {
		sqlite_close(&s->base);
		return status;
	}
	*out = &s->base;
	return DXP_OK;
}
