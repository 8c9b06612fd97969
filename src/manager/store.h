/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's storage: an SQLite database in the state folder (mode 0700; file 0600, because it
 * holds magics). It uses a write-ahead log (WAL), so a manager that is killed loses nothing that it
 * has answered. A second manager cannot open it. Errors are logged here, with the next step. */
#ifndef MANAGER_STORE_H
#define MANAGER_STORE_H

#include "manager/registry.h"

struct store;

/* Opens or creates folder and database. DXP_EBUSY: another manager uses it; DXP_EACCESS: not
 * writable; DXP_EMALFORMED: damaged, or another program's; DXP_EUNSUPPORTED: another version;
 * DXP_EIO; DXP_ENOMEM. */
int store_open(const char *folder, struct store **out);
void store_close(struct store *s);

/* Passes all rows to registry_load. DXP_EMALFORMED: a row is invalid. */
int store_load(struct store *s, struct registry *r);

/* Checks that the file at the path is the open database; call about once a second. Writes a missing
 * file again from the registry. Renames another file in its place first, and logs that. DXP_EBUSY:
 * another manager uses that file; others as store_open. After a failure nothing is saved until a
 * later call succeeds. */
int store_check(struct store *s, struct registry *r);

/* Writes all changes in one transaction. DXP_EIO: wrote none (for instance, disk full); the
 * registry returns them again. */
int store_save(struct store *s, struct registry *r);

#endif
