/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's storage: one SQLite database in the state folder (mode 0700; the file 0600, as
 * it holds magics). Write-ahead logging (WAL): a manager killed at any moment loses nothing it
 * has answered. A second manager is rejected. Errors are logged here, with the next step. */
#ifndef MANAGER_STORE_H
#define MANAGER_STORE_H

#include "manager/registry.h"

struct store;

/* Opens or creates folder and database. DXP_EBUSY: another manager uses it; DXP_EACCESS: not
 * writable for this user; DXP_EMALFORMED: another program's, or damaged; DXP_EUNSUPPORTED:
 * another version's; DXP_EIO; DXP_ENOMEM. */
int store_open(const char *folder, struct store **out);
void store_close(struct store *s);

/* Passes all rows to registry_load. DXP_EMALFORMED: an invalid row. */
int store_load(struct store *s, struct registry *r);

/* Checks that the open database is the file at its path; call every second or so. A removed file
 * is written again from the registry; another file in its place is renamed first (logged).
 * DXP_EBUSY: another manager uses that file; others as store_open. After a failure nothing is
 * saved until a later call succeeds. */
int store_check(struct store *s, struct registry *r);

/* Writes all changes in one transaction: all or none. DXP_OK also without changes. DXP_EIO: none
 * was written (disk full, for instance); the registry repeats them. */
int store_save(struct store *s, struct registry *r);

#endif
