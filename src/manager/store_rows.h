/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts between rows of the SQLite database and changes of the registry (struct store_op). */
#ifndef MANAGER_STORE_ROWS_H
#define MANAGER_STORE_ROWS_H

#include <sqlite3.h>

#include "manager/registry.h"

/* Read a row that `SELECT *` returned. Return false if a blob has the wrong size. */
bool store_node_read(sqlite3_stmt *row, struct store_op *op);
bool store_key_read(sqlite3_stmt *row, struct store_op *op);
bool store_token_read(sqlite3_stmt *row, struct store_op *op);
bool store_grant_read(sqlite3_stmt *row, struct store_op *op);

/* Binds the parameters of the statement that saves this change. */
void store_op_bind(sqlite3_stmt *row, const struct store_op *op);

#endif
