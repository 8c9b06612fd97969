/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's storage: an SQLite database in the state folder (mode 0700; file 0600, because it
 * holds magics). It uses a write-ahead log (WAL). So a manager that is killed loses nothing that it
 * has confirmed to a node. A second manager cannot open the database. Errors are logged here, with
 * the next step. */
#ifndef MANAGER_STORE_H
#define MANAGER_STORE_H

#include "manager/registry.h"

struct store;

/* Opens folder and database, or creates them. DXP_EBUSY: another manager uses the database;
 * DXP_EACCESS: not writable; DXP_EMALFORMED: damaged, or the file of another program;
 * DXP_EUNSUPPORTED: another version; DXP_EIO; DXP_ENOMEM. */
int store_open(const char *folder, struct store **out);
void store_close(struct store *s);

/* Passes all rows to registry_load. DXP_EMALFORMED: a row is invalid. */
int store_load(struct store *s, struct registry *r);

/* Checks that the file at the path is still the open database; call it about once a second. If the
 * file is missing, writes it again from the registry. If another file is in its place, first
 * renames that file and logs it. DXP_EBUSY: another manager uses that file; other statuses are
 * those of store_open. After a failure nothing is saved until a later call succeeds. */
int store_check(struct store *s, struct registry *r);

/* Writes all changes in one transaction. DXP_EIO: nothing was written (for instance because the
 * disk is full); the registry returns all changes again. */
int store_save(struct store *s, struct registry *r);

#endif
