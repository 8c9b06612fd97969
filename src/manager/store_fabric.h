/* SPDX-License-Identifier: BSD-3-Clause */
/* The rotated fabric key in the SQLite database: one row of the table `fabric`, which exists after
 * the first rotation. */
#ifndef MANAGER_STORE_FABRIC_H
#define MANAGER_STORE_FABRIC_H

#include <sqlite3.h>

#include "manager/registry.h"

/* `user_version` of a database with that table, so that earlier releases, which would use the
 * former key, refuse it */
#define STORE_FABRIC_VERSION 3

/* Writes the row, in a transaction of the caller. Returns false with SQLite's error. */
bool store_fabric_put(sqlite3 *db, const struct fabric_row *row);
/* Passes the row, if there is one, to registry_load. DXP_EINVAL: it is invalid; DXP_EIO: SQLite
 * cannot read it. */
int store_fabric_load(sqlite3 *db, struct registry *r);

#endif
