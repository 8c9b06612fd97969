/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_fabric.h"

#include <string.h>

#include <dxp/status.h>

static const char table[] =
	"CREATE TABLE IF NOT EXISTS fabric (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, "
	"key BLOB NOT NULL, rotated INTEGER NOT NULL, overlap INTEGER NOT NULL)";

/* Raises the version, which is higher if the key pair of the manager was rotated too. */
static bool version_raise(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	int version = 0;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) != SQLITE_OK)
		return false;
	const bool good = sqlite3_step(statement) == SQLITE_ROW;
	version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return good && (version >= STORE_FABRIC_VERSION ||
			sqlite3_exec(db, "PRAGMA user_version = 3", NULL, NULL, NULL) == SQLITE_OK);
}

_Static_assert(STORE_FABRIC_VERSION == 3, "version_raise has it");

bool store_fabric_put(sqlite3 *db, const struct fabric_row *row)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_exec(db, table, NULL, NULL, NULL) != SQLITE_OK || !version_raise(db) ||
	    sqlite3_prepare_v2(db, "REPLACE INTO fabric VALUES (0,?1,?2,?3,?4)", -1, &statement,
			       NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_int64(statement, 1, row->generation);
	sqlite3_bind_blob(statement, 2, row->key, sizeof(row->key), SQLITE_TRANSIENT);
	sqlite3_bind_int64(statement, 3, (sqlite3_int64)row->rotated_ms);
	sqlite3_bind_int64(statement, 4, row->overlap_s);
	const bool good = sqlite3_step(statement) == SQLITE_DONE;
	sqlite3_finalize(statement);
	return good;
}

static int row_load(sqlite3_stmt *row, struct registry *r)
{
	const sqlite3_int64 generation = sqlite3_column_int64(row, 0);
	const sqlite3_int64 rotated = sqlite3_column_int64(row, 2);
	const sqlite3_int64 overlap = sqlite3_column_int64(row, 3);
	struct store_op op = {.kind = STORE_FABRIC_PUT};

	if (generation <= 0 || generation > UINT32_MAX || rotated < 0 || overlap < 0 ||
	    overlap > UINT32_MAX || sqlite3_column_bytes(row, 1) != FABRIC_KEY_BYTES)
		return DXP_EINVAL;
	op.fabric.generation = (uint32_t)generation;
	op.fabric.rotated_ms = (uint64_t)rotated;
	op.fabric.overlap_s = (uint32_t)overlap;
	memcpy(op.fabric.key, sqlite3_column_blob(row, 1), FABRIC_KEY_BYTES);
	int status = registry_load(r, &op);
	keys_erase(&op, sizeof(op));
	return status;
}

int store_fabric_load(sqlite3 *db, struct registry *r)
{
	sqlite3_stmt *statement = NULL;
	int status = DXP_OK;

	if (sqlite3_table_column_metadata(db, NULL, "fabric", NULL, NULL, NULL, NULL, NULL, NULL) !=
	    SQLITE_OK)
		return DXP_OK;
	int code = sqlite3_prepare_v2(
		db, "SELECT generation, key, rotated, overlap FROM fabric WHERE id = 0", -1,
		&statement, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		status = row_load(statement, r);
	else if (code != SQLITE_DONE)
		status = DXP_EIO;
	sqlite3_finalize(statement);
	return status;
}
