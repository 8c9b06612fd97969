/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/store_rows.h"

#include <stdio.h>
#include <string.h>

#include "wire/address.h"

static void text_copy(char *to, size_t to_bytes, sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	snprintf(to, to_bytes, "%s", text ? (const char *)text : "");
}

/* Copies a blob. Returns false if the blob has another size. */
static bool blob_copy(void *to, size_t bytes, sqlite3_stmt *row, int column)
{
	if ((size_t)sqlite3_column_bytes(row, column) != bytes)
		return false;
	memcpy(to, sqlite3_column_blob(row, column), bytes);
	return true;
}

/* Reads a row of `node`. Returns false if a blob has the wrong size. */
bool store_node_read(sqlite3_stmt *row, struct store_op *op)
{
	struct node_entry *e = &op->entry;

	*op = (struct store_op){.kind = STORE_NODE_PUT,
				.state = (enum node_state)sqlite3_column_int(row, 2)};
	if (sqlite3_column_bytes(row, 1) != WIRE_UUID_BYTES ||
	    sqlite3_column_bytes(row, 8) != WIRE_ADDRESS_BYTES)
		return false;
	e->id = (uint16_t)sqlite3_column_int(row, 0);
	memcpy(e->uuid, sqlite3_column_blob(row, 1), WIRE_UUID_BYTES);
	e->kind = (uint8_t)sqlite3_column_int(row, 3);
	e->incarnation = (uint64_t)sqlite3_column_int64(row, 4);
	e->capabilities = (uint32_t)sqlite3_column_int64(row, 5);
	e->magic = (uint32_t)sqlite3_column_int64(row, 6);
	e->memory_bytes = (uint64_t)sqlite3_column_int64(row, 7);
	wire_address_decode(sqlite3_column_blob(row, 8), &e->address);
	text_copy(e->name, sizeof(e->name), row, 9);
	text_copy(e->engine, sizeof(e->engine), row, 10);
	text_copy(e->device, sizeof(e->device), row, 11);
	e->role = (uint8_t)sqlite3_column_int(row, 12);
	return e->role == ROLE_NONE || blob_copy(e->key, sizeof(e->key), row, 13);
}

bool store_key_read(sqlite3_stmt *row, struct store_op *op)
{
	*op = (struct store_op){.kind = STORE_KEY_PUT,
				.index = (size_t)sqlite3_column_int64(row, 0),
				.key.role = (uint8_t)sqlite3_column_int(row, 3),
				.key.removed = sqlite3_column_int(row, 4) != 0};
	text_copy(op->key.name, sizeof(op->key.name), row, 2);
	return blob_copy(op->key.key, sizeof(op->key.key), row, 1);
}

bool store_token_read(sqlite3_stmt *row, struct store_op *op)
{
	*op = (struct store_op){.kind = STORE_TOKEN_PUT,
				.index = (size_t)sqlite3_column_int64(row, 0),
				.token.role = (uint8_t)sqlite3_column_int(row, 3),
				.token.uses = (uint32_t)sqlite3_column_int64(row, 4),
				.token.expires_s = (uint64_t)sqlite3_column_int64(row, 5),
				.token.revoked = sqlite3_column_int(row, 6) != 0};
	text_copy(op->token.used_by, sizeof(op->token.used_by), row, 7);
	return blob_copy(op->token.id, sizeof(op->token.id), row, 1) &&
	       blob_copy(op->token.psk, sizeof(op->token.psk), row, 2);
}

bool store_grant_read(sqlite3_stmt *row, struct store_op *op)
{
	*op = (struct store_op){.kind = STORE_GRANT_PUT};
	text_copy(op->host, sizeof(op->host), row, 0);
	text_copy(op->xpu, sizeof(op->xpu), row, 1);
	return true;
}

static void node_bind(sqlite3_stmt *row, const struct store_op *op)
{
	const struct node_entry *e = &op->entry;
	uint8_t address[WIRE_ADDRESS_BYTES];

	wire_address_encode(&e->address, address);
	sqlite3_bind_int(row, 1, e->id);
	sqlite3_bind_blob(row, 2, e->uuid, WIRE_UUID_BYTES, SQLITE_TRANSIENT);
	sqlite3_bind_int(row, 3, op->state);
	sqlite3_bind_int(row, 4, e->kind);
	sqlite3_bind_int64(row, 5, (sqlite3_int64)e->incarnation);
	sqlite3_bind_int64(row, 6, e->capabilities);
	sqlite3_bind_int64(row, 7, e->magic);
	sqlite3_bind_int64(row, 8, (sqlite3_int64)e->memory_bytes);
	sqlite3_bind_blob(row, 9, address, sizeof(address), SQLITE_TRANSIENT);
	sqlite3_bind_text(row, 10, e->name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(row, 11, e->engine, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(row, 12, e->device, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(row, 13, e->role);
	if (e->role)
		sqlite3_bind_blob(row, 14, e->key, sizeof(e->key), SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(row, 14);
}

static void key_bind(sqlite3_stmt *row, const struct store_op *op)
{
	const struct key_row *k = &op->key;

	sqlite3_bind_int64(row, 1, (sqlite3_int64)op->index);
	sqlite3_bind_blob(row, 2, k->key, sizeof(k->key), SQLITE_TRANSIENT);
	sqlite3_bind_text(row, 3, k->name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(row, 4, k->role);
	sqlite3_bind_int(row, 5, k->removed);
}

static void token_bind(sqlite3_stmt *row, const struct store_op *op)
{
	const struct token_row *t = &op->token;

	sqlite3_bind_int64(row, 1, (sqlite3_int64)op->index);
	sqlite3_bind_blob(row, 2, t->id, sizeof(t->id), SQLITE_TRANSIENT);
	sqlite3_bind_blob(row, 3, t->psk, sizeof(t->psk), SQLITE_TRANSIENT);
	sqlite3_bind_int(row, 4, t->role);
	sqlite3_bind_int64(row, 5, t->uses);
	sqlite3_bind_int64(row, 6, (sqlite3_int64)t->expires_s);
	sqlite3_bind_int(row, 7, t->revoked);
	sqlite3_bind_text(row, 8, t->used_by, -1, SQLITE_TRANSIENT);
}

void store_op_bind(sqlite3_stmt *row, const struct store_op *op)
{
	if (op->kind == STORE_NODE_PUT) {
		node_bind(row, op);
	} else if (op->kind == STORE_NODE_DELETE) {
		sqlite3_bind_int(row, 1, op->entry.id);
	} else if (op->kind == STORE_KEY_PUT) {
		key_bind(row, op);
	} else if (op->kind == STORE_TOKEN_PUT) {
		token_bind(row, op);
	} else {
		sqlite3_bind_text(row, 1, op->host, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(row, 2, op->xpu, -1, SQLITE_TRANSIENT);
	}
}
