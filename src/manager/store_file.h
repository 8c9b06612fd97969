/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of the SQLite store, and its tables. The database stays locked while it is open. Errors
 * are logged with the next step. */
#ifndef MANAGER_STORE_FILE_H
#define MANAGER_STORE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <sqlite3.h>

struct store_file {
	sqlite3 *db;        /* NULL: closed */
	bool in_use;        /* another manager uses the file at the path; this was logged */
	struct stat opened; /* inode and device of the open file */
	char path[PATH_MAX];
};

/* Opens or creates the database in this folder, which it creates if necessary. After an error, call
 * store_file_close(). DXP_EBUSY: another manager uses it; DXP_EMALFORMED, DXP_EUNSUPPORTED:
 * damaged, or of another program or version; DXP_EACCESS, DXP_EIO, DXP_ENOMEM. */
int store_file_open(struct store_file *f, const char *folder);
void store_file_close(struct store_file *f);

/* Checks that the file at the path is the open one. Sets *lost if it was removed or replaced; then
 * close it and call store_file_renew(). DXP_EBUSY: another manager uses the file that replaced it.
 */
int store_file_check(struct store_file *f, bool *lost);
/* Creates and opens the database again after store_file_close(). Keeps another file at the path
 * under a new name. Statuses of store_file_open(). */
int store_file_renew(struct store_file *f);

/* Writes the folder of the database. */
void store_file_folder(const struct store_file *f, char out[PATH_MAX]);

/* Logs SQLite's last error while `doing`, and returns its status. */
int store_file_complain(struct store_file *f, const char *doing);

#endif
