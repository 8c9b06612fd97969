/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes rows of the node table: id, kind, and unless GONE or REVOKED, which remove an
 * entry, the rest. */
#include "wire/manage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/address.h"
#include "wire/manage_entry.h"

#define ROWS_HEAD    46 /* before the first row */
#define FLAG_ALIVE   1u
#define FLAG_GRANTED 2u
#define FLAG_KEYED   4u /* role and key follow the texts */
#define FLAGS        (FLAG_ALIVE | FLAG_GRANTED | FLAG_KEYED)

bool manage_name_valid(const char *name)
{
	size_t length = strnlen(name, FABRIC_NAME_BYTES);

	if (length == 0 || length == FABRIC_NAME_BYTES)
		return false;
	return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
	       length;
}

const char *manage_release_format(uint32_t capabilities, char out[MANAGE_RELEASE_BYTES])
{
	const uint32_t release = capabilities >> MANAGE_RELEASE_SHIFT;

	out[0] = '\0';
	if (release)
		snprintf(out, MANAGE_RELEASE_BYTES, "%u.%u.%u", release >> 16, release >> 8 & 0xff,
			 release & 0xff);
	return out;
}

const char *manage_memory_text(const struct node_entry *entry)
{
	if (entry->kind != MANAGE_XPU)
		return "";
	return entry->capabilities & MANAGE_CAPABILITY_BRIDGED ? "bridged" : "direct";
}

void manage_entry_put(struct put_cursor *c, const struct node_entry *entry)
{
	uint8_t address[WIRE_ADDRESS_BYTES];

	wire_address_encode(&entry->address, address);
	put_16(c, entry->id);
	put_8(c, entry->kind);
	put_8(c, (uint8_t)((entry->alive ? FLAG_ALIVE : 0) | (entry->granted ? FLAG_GRANTED : 0) |
			   (entry->role ? FLAG_KEYED : 0)));
	put_32(c, entry->capabilities);
	put_32(c, entry->magic);
	put_64(c, entry->incarnation);
	put_64(c, entry->memory_bytes);
	put_bytes(c, entry->uuid, sizeof(entry->uuid));
	put_bytes(c, address, sizeof(address));
	put_text(c, entry->name);
	put_text(c, entry->engine);
	put_text(c, entry->device);
	if (!entry->role)
		return;
	put_8(c, entry->role);
	put_bytes(c, entry->key, sizeof(entry->key));
}

static void entry_rest_get(struct get_cursor *c, struct node_entry *entry)
{
	uint8_t flags = get_8(c), address[WIRE_ADDRESS_BYTES] = {0};

	entry->alive = flags & FLAG_ALIVE;
	entry->granted = flags & FLAG_GRANTED;
	entry->capabilities = get_32(c);
	entry->magic = get_32(c);
	entry->incarnation = get_64(c);
	entry->memory_bytes = get_64(c);
	get_bytes(c, entry->uuid, sizeof(entry->uuid));
	get_bytes(c, address, sizeof(address));
	wire_address_decode(address, &entry->address);
	get_text(c, entry->name, sizeof(entry->name));
	get_text(c, entry->engine, sizeof(entry->engine));
	get_text(c, entry->device, sizeof(entry->device));
	if (flags & FLAG_KEYED) {
		entry->role = get_8(c);
		get_bytes(c, entry->key, sizeof(entry->key));
		c->bad |= entry->role < ROLE_HOST || entry->role > ROLE_OPERATOR;
	}
	c->bad |= flags & ~FLAGS;
	c->bad |= entry->kind != MANAGE_HOST && entry->kind != MANAGE_XPU;
	c->bad = c->bad || !manage_name_valid(entry->name);
}

void manage_entry_get(struct get_cursor *c, struct node_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	entry->id = get_16(c);
	entry->kind = get_8(c);
	entry_rest_get(c, entry);
}

static void row_get(struct get_cursor *c, struct node_entry *entry, bool *removed)
{
	memset(entry, 0, sizeof(*entry));
	entry->id = get_16(c);
	entry->kind = get_8(c);
	*removed = entry->kind == MANAGE_GONE || entry->kind == MANAGE_REVOKED;
	c->bad |= entry->id < WIRE_NODE_FIRST || entry->id > WIRE_NODE_LAST;
	if (!*removed)
		entry_rest_get(c, entry);
}

void manage_rows_begin(struct manage_writer *w, uint8_t *out, size_t out_bytes)
{
	assert(out_bytes >= WIRE_COMMON_BYTES + ROWS_HEAD + MAC_BYTES);
	w->frame = out;
	w->used = WIRE_COMMON_BYTES + ROWS_HEAD;
	w->space = out_bytes - MAC_BYTES;
	w->count = 0;
}

static bool row_written(struct manage_writer *w, const struct put_cursor *c)
{
	if (c->bad)
		return false;
	w->used = (size_t)(c->at - w->frame);
	w->count++;
	return true;
}

bool manage_rows_add(struct manage_writer *w, const struct node_entry *entry)
{
	struct put_cursor c = {w->frame + w->used, w->frame + w->space, false};

	assert(manage_name_valid(entry->name));
	manage_entry_put(&c, entry);
	return row_written(w, &c);
}

bool manage_rows_remove(struct manage_writer *w, uint16_t id, enum manage_kind kind)
{
	struct put_cursor c = {w->frame + w->used, w->frame + w->space, false};

	assert(kind == MANAGE_GONE || kind == MANAGE_REVOKED);
	put_16(&c, id);
	put_8(&c, (uint8_t)kind);
	return row_written(w, &c);
}

size_t manage_rows_finish(struct manage_writer *w, uint8_t type, uint16_t target,
			  const struct manage_rows *rows, struct mac *mac)
{
	struct put_cursor c = {w->frame + WIRE_COMMON_BYTES,
			       w->frame + WIRE_COMMON_BYTES + ROWS_HEAD, false};

	put_64(&c, rows->request);
	put_64(&c, rows->nonce);
	put_64(&c, rows->epoch);
	put_64(&c, rows->from);
	put_64(&c, rows->to);
	put_16(&c, rows->first);
	put_16(&c, rows->next);
	put_16(&c, w->count);
	assert(!c.bad && c.at == c.end);
	return manage_seal(type, WIRE_NODE_MANAGER, target, w->used - WIRE_COMMON_BYTES, mac,
			   w->frame);
}

/* Rows of a NODE_TABLE set entries, and their ids grow within [first, next). */
static bool rows_sound(uint8_t type, const struct manage_rows *rows, struct get_cursor c)
{
	uint32_t at_least = rows->first;
	uint32_t below = rows->next ? rows->next : WIRE_NODE_LAST + 1;
	struct node_entry entry;
	bool removed;

	for (unsigned i = 0; i < rows->count && !c.bad; i++) {
		row_get(&c, &entry, &removed);
		if (type != WIRE_NODE_TABLE)
			continue;
		c.bad |= removed || entry.id < at_least || entry.id >= below;
		at_least = entry.id + 1u;
	}
	return get_done(&c);
}

static bool range_sound(uint8_t type, const struct manage_rows *rows)
{
	if (rows->epoch == 0)
		return false;
	if (type == WIRE_NODE_DELTA)
		return rows->from < rows->to && rows->first == 0 && rows->next == 0;
	return rows->from == rows->to && (rows->next == 0 || rows->next > rows->first);
}

int manage_rows_decode(uint8_t type, struct manage_body body, struct manage_rows *out,
		       struct manage_reader *reader)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct manage_rows rows = {
		.request = get_64(&c),
		.nonce = get_64(&c),
		.epoch = get_64(&c),
		.from = get_64(&c),
		.to = get_64(&c),
		.first = get_16(&c),
		.next = get_16(&c),
		.count = get_16(&c),
	};

	assert(type == WIRE_NODE_TABLE || type == WIRE_NODE_DELTA);
	if (c.bad || !range_sound(type, &rows) || !rows_sound(type, &rows, c))
		return DXP_EMALFORMED;
	*out = rows;
	*reader = (struct manage_reader){c.at, c.end, rows.count};
	return DXP_OK;
}

bool manage_rows_next(struct manage_reader *reader, struct node_entry *entry, bool *removed)
{
	struct get_cursor c = {reader->at, reader->end, false};

	if (reader->left == 0)
		return false;
	row_get(&c, entry, removed);
	assert(!c.bad);
	reader->at = c.at;
	reader->left--;
	return true;
}
