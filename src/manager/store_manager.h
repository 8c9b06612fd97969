/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's rotated key pair in the SQLite database: one row of the table `manager`, which
 * exists after the first rotation. */
#ifndef MANAGER_STORE_MANAGER_H
#define MANAGER_STORE_MANAGER_H

#include <sqlite3.h>

#include "manager/registry.h"

/* `user_version` of a database with that table, so that earlier releases, which would use the
 * former key pair, refuse it */
#define STORE_MANAGER_VERSION 4

/* Writes the row, in a transaction of the caller. Returns false with SQLite's error. */
bool store_manager_put(sqlite3 *db, const struct manager_row *row);
/* Passes the row, if there is one, to registry_load. DXP_EINVAL: it is invalid; DXP_EIO: SQLite
 * cannot read it. */
int store_manager_load(sqlite3 *db, struct registry *r);

#endif
