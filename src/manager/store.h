/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's memory: one SQLite database in the state folder (mode 0700, the file 0600: it
 * holds the magics of nodes). It is written ahead (WAL), so that a manager that is killed at any
 * moment loses nothing it has answered for. One manager at a time: the second is refused. Errors
 * are logged here, with the next step. */
#ifndef MANAGER_STORE_H
#define MANAGER_STORE_H

#include "manager/registry.h"

struct store;

/* Opens, or makes, the database in `folder`, which is made too. DXP_EBUSY: another manager has it;
 * DXP_EACCESS: this user may not write there; DXP_EMALFORMED: not our database, or damaged;
 * DXP_EUNSUPPORTED: of a later version; DXP_EIO; DXP_ENOMEM. */
int store_open(const char *folder, struct store **out);
void store_close(struct store *s);

/* Gives everything that is stored to registry_load. Rows that cannot be are DXP_EMALFORMED. */
int store_load(struct store *s, struct registry *r);

/* Looks whether the database's file is still the one that is open. One that was removed is made
 * again, of what the registry knows; another file in its place is kept under another name first
 * (logged). Call it every second or so. DXP_EBUSY: another manager uses that file; others as
 * store_open. Then nothing is saved until a later call succeeds. */
int store_check(struct store *s, struct registry *r);

/* Writes all changes that the registry has, as one transaction: all or none. DXP_OK also when there
 * are none. DXP_EIO: none was written (disk full, for instance); the registry will give them again.
 */
int store_save(struct store *s, struct registry *r);

#endif
