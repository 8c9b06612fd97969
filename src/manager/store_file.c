/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/confinement.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "manager/store_fabric.h"
#include "manager/store_manager.h"

#define FILE_NAME "manager.db"
#define FOUND_MAX 100 /* most bad files that are kept under other names */
/* Bytes of a database file that SQLite locks: PENDING, RESERVED and SHARED. */
#define SQLITE_LOCKS      0x40000000
#define SQLITE_LOCK_BYTES 512
#define APPLICATION_ID    0x6478706d /* "dxpm" */
#define SCHEMA_VERSION    2

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

/* Writes the cause of an error, which SQLite's text omits: the error of the system call, else a
 * limit on file sizes. */
static void cause_of(struct store_file *f, char *out, size_t bytes)
{
	int error = sqlite3_system_errno(f->db);
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	out[0] = '\0';
	getrlimit(RLIMIT_FSIZE, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(out, bytes, " (the limit of a file is %llu bytes: raise \"ulimit -f\")",
			 (unsigned long long)limit.rlim_cur);
	else if (error)
		snprintf(out, bytes, ": %s", strerror(error));
}

int store_file_complain(struct store_file *f, const char *doing)
{
	char cause[128];
	int code = sqlite3_errcode(f->db) & 0xff;

	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		log_error(
			"another manager uses %s; stop it, or give this one its own --state folder",
			f->path);
		return DXP_EBUSY;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		log_error("%s is damaged or not a manager's database (%s); move it away to start "
			  "with an empty registry; nodes keep their ids if these are free",
			  f->path, sqlite3_errmsg(f->db));
		return DXP_EMALFORMED;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		log_error("cannot write %s (%s); choose a --state folder that this user may write",
			  f->path, sqlite3_errmsg(f->db));
		return DXP_EACCESS;
	case SQLITE_FULL:
		log_error("cannot write %s (%s); free space, or choose a --state folder on another "
			  "file system",
			  f->path, sqlite3_errmsg(f->db));
		return DXP_EACCESS;
	case SQLITE_NOMEM: return DXP_ENOMEM;
	default:
		cause_of(f, cause, sizeof(cause));
		log_error("%s: cannot %s: %s%s", f->path, doing, sqlite3_errmsg(f->db), cause);
		return DXP_EIO;
	}
}

static int number_read(struct store_file *f, const char *pragma, int *out)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(f->db, pragma, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW) {
		sqlite3_finalize(statement);
		return store_file_complain(f, "read the database");
	}
	*out = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return DXP_OK;
}

/* Checks that the file is a manager's database of this version. Creates the tables if the database
 * is empty. */
static int schema_ensure(struct store_file *f)
{
	int application = 0, version = 0, tables = 0;
	int status = number_read(f, "PRAGMA application_id", &application);

	if (status == DXP_OK)
		status = number_read(f, "PRAGMA user_version", &version);
	if (status == DXP_OK)
		status = number_read(f, "SELECT count(*) FROM sqlite_master", &tables);
	if (status != DXP_OK)
		return status;
	if (application == 0 && version == 0 && tables == 0) {
		if (sqlite3_exec(f->db, schema, NULL, NULL, NULL) != SQLITE_OK)
			return store_file_complain(f, "create the tables");
		application = APPLICATION_ID;
		version = 1;
	}
	if (application != APPLICATION_ID) {
		log_error("%s is another program's database; choose an empty --state folder",
			  f->path);
		return DXP_EMALFORMED;
	}
	if (version == 1) {
		if (sqlite3_exec(f->db, schema_keys, NULL, NULL, NULL) != SQLITE_OK)
			return store_file_complain(f, "add the tables of keys");
		version = SCHEMA_VERSION;
	}
	if (version < SCHEMA_VERSION || version > STORE_MANAGER_VERSION) {
		log_error("%s was written by another version of dxp-manager (format %d, this "
			  "version has formats up to %d); use that version",
			  f->path, version, STORE_MANAGER_VERSION);
		return DXP_EUNSUPPORTED;
	}
	return DXP_OK;
}

/* Locks the database until it is closed, so that a second manager fails. quick_check finds damage
 * before the database is used. */
static int database_begin(struct store_file *f)
{
	sqlite3_stmt *statement = NULL;
	int status;

	if (sqlite3_exec(f->db,
			 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA "
			 "synchronous = FULL;"
			 "BEGIN EXCLUSIVE; COMMIT",
			 NULL, NULL, NULL) != SQLITE_OK)
		return store_file_complain(f, "lock the database");
	if (sqlite3_db_readonly(f->db, "main") == 1) {
		log_error("cannot write %s; choose a --state folder that this user may write",
			  f->path);
		return DXP_EACCESS;
	}
	if (sqlite3_prepare_v2(f->db, "PRAGMA quick_check(1)", -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		status = store_file_complain(f, "check the database");
	else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
		log_error("%s is damaged (%s); move it away to start with an empty registry; nodes "
			  "keep their ids if these are free",
			  f->path, (const char *)sqlite3_column_text(statement, 0));
		status = DXP_EMALFORMED;
	} else {
		status = DXP_OK;
	}
	sqlite3_finalize(statement);
	return status;
}

static int folder_ensure(struct store_file *f, const char *folder)
{
	int length = snprintf(f->path, sizeof(f->path), "%s/" FILE_NAME, folder);

	if (length < 0 || (size_t)length >= sizeof(f->path)) {
		log_error("the name of the state folder is too long");
		return DXP_EIO;
	}
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		log_error("cannot create the state folder %s: %s; choose another with --state%s",
			  folder, strerror(errno), confinement_hint(errno));
		return errno == EACCES || errno == EPERM || errno == EROFS ? DXP_EACCESS : DXP_EIO;
	}
	return DXP_OK;
}

static int file_open(struct store_file *f)
{
	mode_t before = umask(0077);
	int code = sqlite3_open_v2(f->path, &f->db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				   NULL);
	int status = code == SQLITE_OK ? DXP_OK
		     : f->db           ? store_file_complain(f, "open")
				       : DXP_ENOMEM;

	if (status == DXP_OK)
		status = database_begin(f);
	if (status == DXP_OK)
		status = schema_ensure(f);
	if (status == DXP_OK && stat(f->path, &f->opened) != 0)
		/* another process has removed the file already; store_file_check detects that */
		memset(&f->opened, 0, sizeof(f->opened));
	umask(before);
	return status;
}

int store_file_open(struct store_file *f, const char *folder)
{
	int status = folder_ensure(f, folder);

	return status == DXP_OK ? file_open(f) : status;
}

void store_file_close(struct store_file *f)
{
	sqlite3_close(f->db);
	f->db = NULL;
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
static int file_rename_bad(struct store_file *f)
{
	char name[PATH_MAX + 24];

	for (int i = 1; i <= FOUND_MAX; i++) {
		snprintf(name, sizeof(name), i > 1 ? "%s.found%d" : "%s.found", f->path, i);
		if (renameat2(AT_FDCWD, f->path, AT_FDCWD, name, RENAME_NOREPLACE) == 0) {
			log_warn("another file replaced %s while the manager was running: it is "
				 "kept as %s, and the registry is written again from memory; to "
				 "use that file, stop the manager first, then name it " FILE_NAME,
				 f->path, name);
			return DXP_OK;
		}
		if (errno != EEXIST)
			break;
	}
	log_error("another file replaced %s and cannot be renamed (%s); new ids and grants are "
		  "lost if this manager stops; move that file away",
		  f->path, strerror(errno));
	return DXP_EACCESS;
}

/* Clears the path for a new database: renames a file that is there, and logs that. */
static int entry_clear(struct store_file *f)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	char name[PATH_MAX + 16];

	if (access(f->path, F_OK) != 0) {
		log_warn("%s was removed while the manager was running; it is written again from "
			 "memory; to start with an empty registry, stop the manager first",
			 f->path);
	} else {
		int status = file_rename_bad(f);
		if (status != DXP_OK)
			return status;
	}
	/* These journal files belong to the old database. SQLite would apply them to the new
	 * one. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", f->path, ends[i]);
		unlink(name);
	}
	return DXP_OK;
}

void store_file_folder(const struct store_file *f, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%.*s", (int)(strlen(f->path) - sizeof(FILE_NAME)), f->path);
}

int store_file_check(struct store_file *f, bool *lost)
{
	struct stat now;
	bool there = stat(f->path, &now) == 0;

	*lost = false;
	if (!there && errno != ENOENT && errno != ENOTDIR)
		return DXP_OK; /* the state of the file is unknown now; the next check decides */
	if (f->db && there && now.st_ino == f->opened.st_ino && now.st_dev == f->opened.st_dev)
		return DXP_OK;
	if (there && file_in_use(f->path)) {
		if (!f->in_use)
			log_error("another manager uses the file that replaced %s; new ids and "
				  "grants are lost if this manager stops; stop one of the two",
				  f->path);
		f->in_use = true;
		return DXP_EBUSY;
	}
	f->in_use = false;
	*lost = true;
	return DXP_OK;
}

int store_file_renew(struct store_file *f)
{
	char folder[PATH_MAX];

	store_file_folder(f, folder);
	int status = folder_ensure(f, folder);
	if (status == DXP_OK)
		status = entry_clear(f);
	return status == DXP_OK ? file_open(f) : status;
}
