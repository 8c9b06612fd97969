/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_events.h"
#include "manager/etcd_rows.h"

#define FORMAT      1
#define CHECK_LABEL "dxp export check 1"
#define DAMAGED     "the file is damaged; export the registry again"

static bool check_make(const uint8_t fabric_key[FABRIC_KEY_BYTES], char out[KEY_TEXT_BYTES])
{
	uint8_t check[KEYS_BYTES];

	if (!keys_hmac(fabric_key, CHECK_LABEL, sizeof(CHECK_LABEL), "", 0, check))
		return false;
	key_format(check, out);
	return true;
}

static void row_count(struct transfer *t, const struct store_op *op)
{
	t->nodes += op->kind == STORE_NODE_PUT;
	t->keys += op->kind == STORE_KEY_PUT;
	t->tokens += op->kind == STORE_TOKEN_PUT;
	t->grants += op->kind == STORE_GRANT_PUT;
}

/* Returns all rows as an object; NULL: no memory. */
static json_t *rows_write(struct transfer *t)
{
	json_t *rows = json_object();
	char key[ETCD_KEY_BYTES];
	struct store_op op;
	int failed = rows ? 0 : -1;

	registry_store_again(t->registry);
	while (failed == 0 && registry_next_store(t->registry, &op)) {
		if (op.kind == STORE_NODE_DELETE || op.kind == STORE_GRANT_DELETE)
			continue;
		failed = json_object_set_new(rows, key, etcd_row_json(&op, key));
		row_count(t, &op);
	}
	keys_erase(&op, sizeof(op));
	if (failed == 0)
		return rows;
	json_decref(rows);
	return NULL;
}

/* JSON needs UTF-8. */
static void bytes_replace(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x7f)
			*text = '?';
}

/* Returns the event log as an object of blocks, each with the events from 16 N on; NULL: no
 * memory. */
static json_t *events_write(struct transfer *t)
{
	const struct event_journal *l = registry_events(t->registry);
	json_t *blocks = json_object();
	int failed = blocks ? 0 : -1;

	for (uint64_t number = l->first / ETCD_EVENTS_PART;
	     failed == 0 && number * ETCD_EVENTS_PART < l->next; number++) {
		const uint64_t first = number * ETCD_EVENTS_PART;
		char name[24], *text = etcd_events_write(l, first, first + ETCD_EVENTS_PART);
		snprintf(name, sizeof(name), "%" PRIu64, number);
		if (text)
			bytes_replace(text);
		failed = text ? json_object_set_new(blocks, name, json_string(text)) : -1;
		free(text);
	}
	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		t->events++;
	if (failed == 0)
		return blocks;
	json_decref(blocks);
	return NULL;
}

char *transfer_write(struct transfer *t, const uint8_t fabric_key[FABRIC_KEY_BYTES])
{
	char check[KEY_TEXT_BYTES], key[KEY_TEXT_BYTES], *text = NULL;
	json_t *rows = rows_write(t), *events = events_write(t);

	if (rows && events && check_make(fabric_key, check)) {
		json_t *all = json_pack(
			"{s:i, s:s, s:s, s:o, s:O, s:O}", "dxp_registry", FORMAT, "check", check,
			"private_key", key_format(t->private_key, key), "version",
			json_sprintf("%" PRIu64, t->version), "rows", rows, "events", events);
		text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
		json_decref(all);
		keys_erase(key, sizeof(key));
	}
	json_decref(rows);
	json_decref(events);
	return text;
}

/* Loads the rows whose keys begin with `kind`, or all others if `kind` is "". */
static int rows_read(struct transfer *t, const json_t *rows, const char *kind)
{
	const size_t length = strlen(kind);
	struct store_op op;
	const char *key;
	json_t *row;

	json_object_foreach((json_t *)rows, key, row)
	{
		const bool first = strncmp(key, "key/", 4) == 0;
		if (length ? strncmp(key, kind, length) != 0 : first)
			continue;
		int status = etcd_row_json_read(key, row, &op);
		if (status == DXP_OK)
			status = registry_load(t->registry, &op);
		if (status != DXP_OK) {
			keys_erase(&op, sizeof(op));
			return status == DXP_ENOMEM ? status : DXP_EMALFORMED;
		}
		row_count(t, &op);
	}
	keys_erase(&op, sizeof(op));
	return DXP_OK;
}

static int events_read(struct transfer *t, const json_t *blocks)
{
	struct event_journal *l = registry_events(t->registry);
	const char *name;
	json_t *block;

	json_object_foreach((json_t *)blocks, name, block)
	{
		const char *text = json_string_value(block);
		char *copy = text ? strdup(text) : NULL;
		if (!copy)
			return text ? DXP_ENOMEM : DXP_EMALFORMED;
		const uint64_t first = strtoull(name, NULL, 10) * ETCD_EVENTS_PART;
		const unsigned invalid = etcd_events_read(copy, first, l);
		free(copy);
		if (invalid)
			return DXP_EMALFORMED;
	}
	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		t->events++;
	return DXP_OK;
}

/* Reads what comes before the rows. */
static int head_read(const json_t *all, const uint8_t fabric_key[FABRIC_KEY_BYTES],
		     struct transfer *t)
{
	const char *check = json_string_value(json_object_get(all, "check"));
	const char *key = json_string_value(json_object_get(all, "private_key"));
	const char *version = json_string_value(json_object_get(all, "version"));
	const json_int_t format = json_integer_value(json_object_get(all, "dxp_registry"));
	char own[KEY_TEXT_BYTES];

	if (format != FORMAT && format > 0) {
		log_error("the file is of another version of dxp-manager (format %lld, this "
			  "version has format %d); use that version",
			  (long long)format, FORMAT);
		return DXP_EUNSUPPORTED;
	}
	if (format == FORMAT && check && check_make(fabric_key, own) && strcmp(check, own) != 0) {
		log_error("the file is of a fabric with another key; copy the key file of that "
			  "fabric here, and name it with --key");
		return DXP_EMALFORMED;
	}
	if (format != FORMAT || !check || !key || !key_parse(key, t->private_key) || !version ||
	    strspn(version, "0123456789") != strlen(version)) {
		log_error(DAMAGED);
		return DXP_EMALFORMED;
	}
	t->version = strtoull(version, NULL, 10);
	return DXP_OK;
}

int transfer_read(const char *text, const uint8_t fabric_key[FABRIC_KEY_BYTES], struct transfer *t)
{
	json_t *all = json_loads(text, 0, NULL);
	const json_t *rows = json_object_get(all, "rows"), *events = json_object_get(all, "events");
	int status = head_read(all, fabric_key, t);

	if (status == DXP_OK) {
		status = json_is_object(rows) && json_is_object(events) ? DXP_OK : DXP_EMALFORMED;
		if (status == DXP_OK)
			status = rows_read(t, rows, "key/"); /* nodes refer to keys */
		if (status == DXP_OK)
			status = rows_read(t, rows, "");
		if (status == DXP_OK)
			status = events_read(t, events);
		if (status == DXP_EMALFORMED)
			log_error(DAMAGED);
	}
	json_decref(all);
	registry_store_again(t->registry);
	registry_events(t->registry)->unsaved = registry_events(t->registry)->first;
	return status;
}
