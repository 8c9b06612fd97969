/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_manager.h"

#include <string.h>

#include <dxp/status.h>

static const char table[] =
	"CREATE TABLE IF NOT EXISTS manager (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, "
	"key BLOB NOT NULL, former BLOB NOT NULL, rotated INTEGER NOT NULL, "
	"overlap INTEGER NOT NULL);"
	"PRAGMA user_version = 4";

_Static_assert(STORE_MANAGER_VERSION == 4, "the table's text has it");

bool store_manager_put(sqlite3 *db, const struct manager_row *row)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_exec(db, table, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "REPLACE INTO manager VALUES (0,?1,?2,?3,?4,?5)", -1, &statement,
			       NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_int64(statement, 1, row->generation);
	sqlite3_bind_blob(statement, 2, row->key, sizeof(row->key), SQLITE_TRANSIENT);
	sqlite3_bind_blob(statement, 3, row->former, sizeof(row->former), SQLITE_TRANSIENT);
	sqlite3_bind_int64(statement, 4, (sqlite3_int64)row->rotated_ms);
	sqlite3_bind_int64(statement, 5, row->overlap_s);
	const bool good = sqlite3_step(statement) == SQLITE_DONE;
	sqlite3_finalize(statement);
	return good;
}

static int row_load(sqlite3_stmt *row, struct registry *r)
{
	const sqlite3_int64 generation = sqlite3_column_int64(row, 0);
	const sqlite3_int64 rotated = sqlite3_column_int64(row, 3);
	const sqlite3_int64 overlap = sqlite3_column_int64(row, 4);
	struct store_op op = {.kind = STORE_MANAGER_PUT};

	if (generation <= 0 || generation > UINT32_MAX || rotated < 0 || overlap < 0 ||
	    overlap > UINT32_MAX || sqlite3_column_bytes(row, 1) != KEYS_BYTES ||
	    sqlite3_column_bytes(row, 2) != KEYS_BYTES)
		return DXP_EINVAL;
	op.manager.generation = (uint32_t)generation;
	op.manager.rotated_ms = (uint64_t)rotated;
	op.manager.overlap_s = (uint32_t)overlap;
	memcpy(op.manager.key, sqlite3_column_blob(row, 1), KEYS_BYTES);
	memcpy(op.manager.former, sqlite3_column_blob(row, 2), KEYS_BYTES);
	int status = registry_load(r, &op);
	keys_erase(&op, sizeof(op));
	return status;
}

int store_manager_load(sqlite3 *db, struct registry *r)
{
	sqlite3_stmt *statement = NULL;
	int status = DXP_OK;

	if (sqlite3_table_column_metadata(db, NULL, "manager", NULL, NULL, NULL, NULL, NULL,
					  NULL) != SQLITE_OK)
		return DXP_OK;
	int code = sqlite3_prepare_v2(
		db, "SELECT generation, key, former, rotated, overlap FROM manager WHERE id = 0",
		-1, &statement, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		status = row_load(statement, r);
	else if (code != SQLITE_DONE)
		status = DXP_EIO;
	sqlite3_finalize(statement);
	return status;
}
