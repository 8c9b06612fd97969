/* SPDX-License-Identifier: BSD-3-Clause */
/* Transactions of a store in etcd. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/etcd_store.h"
#include "manager/store_etcd.h"

#define SAVE_MAX_NS (3 * S_NS) /* a manager that cannot write for this long resigns */

void etcd_save_drop(struct etcd_store *s, size_t first)
{
	for (size_t i = first; i < s->count; i++) {
		if (s->rows[i].value)
			keys_erase(s->rows[i].value, strlen(s->rows[i].value));
		free(s->rows[i].value);
	}
	s->count = min_u64(s->count, first);
}

void etcd_save_clear(struct etcd_store *s)
{
	etcd_save_drop(s, 0);
}

static void rows_put(struct etcd_txn *t, const struct etcd_store *s, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		const struct etcd_row *row = &s->rows[i];
		if (row->value)
			etcd_txn_put(t, row->key, row->value, 0);
		else if (row->from)
			etcd_txn_delete_range(t, row->from, row->key);
		else
			etcd_txn_delete(t, row->key);
	}
}

static char *save_body(const struct etcd_store *s, size_t first, size_t count)
{
	char key[ETCD_KEY_BYTES], number[ETCD_NUMBER_BYTES];
	struct etcd_txn t;

	etcd_txn_begin(&t);
	etcd_txn_created(&t, etcd_store_key(s, "active", key), s->term);
	etcd_txn_read(&t, key);
	snprintf(number, sizeof(number), "%" PRIu64, s->version);
	etcd_txn_equals(&t, etcd_store_key(s, "version", key), number);
	etcd_txn_read(&t, key);
	snprintf(number, sizeof(number), "%" PRIu64, s->version + 1);
	etcd_txn_put(&t, key, number, 0);
	rows_put(&t, s, first, count);
	return etcd_txn_body(&t);
}

/* Decides what a transaction means whose comparisons failed. DXP_OK: an earlier try was executed;
 * DXP_EAGAIN: none was; DXP_EIO: another manager is active. */
static int conflict_read(const struct etcd_store *s, const struct etcd_answer *a)
{
	char key[ETCD_KEY_BYTES], number[ETCD_NUMBER_BYTES];
	const struct etcd_pair *active = etcd_answer_find(a, etcd_store_key(s, "active", key));
	const struct etcd_pair *version = etcd_answer_find(a, etcd_store_key(s, "version", key));

	if (!active || active->created != s->term || !version)
		return DXP_EIO;
	snprintf(number, sizeof(number), "%" PRIu64, s->version + 1);
	if (strcmp(version->value, number) == 0)
		return DXP_OK;
	snprintf(number, sizeof(number), "%" PRIu64, s->version);
	return strcmp(version->value, number) == 0 ? DXP_EAGAIN : DXP_EIO;
}

int etcd_save_commit(struct etcd_store *s, size_t first, size_t count)
{
	const uint64_t until_ns = etcd_store_now(s) + SAVE_MAX_NS;
	const int64_t term = s->term;

	for (;;) {
		struct etcd_answer a;
		etcd_lease_step(&s->base);
		if (s->term != term)
			return DXP_EIO;
		if (etcd_store_now(s) >= until_ns) {
			etcd_lease_give_up(s, "etcd executes no transaction");
			return DXP_EIO;
		}
		if (etcd_call(&s->etcd, "/v3/kv/txn", save_body(s, first, count), &a) != DXP_OK) {
			etcd_pause(&s->etcd);
			continue;
		}
		int status = a.succeeded ? DXP_OK : conflict_read(s, &a);
		etcd_answer_free(&a);
		if (status == DXP_OK) {
			s->version++;
			return DXP_OK;
		}
		if (status == DXP_EIO) {
			etcd_lease_give_up(s, "another manager is active");
			return DXP_EIO;
		}
	}
}

int etcd_save_try(struct etcd_store *s)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	struct etcd_txn t;

	etcd_txn_begin(&t);
	etcd_txn_created(&t, etcd_store_key(s, "active", key), s->term);
	rows_put(&t, s, 0, s->count);
	if (etcd_call(&s->etcd, "/v3/kv/txn", etcd_txn_body(&t), &a) != DXP_OK)
		return DXP_EAGAIN;
	const bool executed = a.succeeded;
	etcd_answer_free(&a);
	if (executed)
		return DXP_OK;
	etcd_lease_give_up(s, "another manager is active");
	return DXP_EIO;
}

struct etcd_row *etcd_save_row(struct etcd_store *s)
{
	if (s->count == s->space) {
		const size_t space = s->space ? 2 * s->space : ETCD_ROWS_MAX;
		struct etcd_row *rows = realloc(s->rows, space * sizeof(*rows));
		if (!rows)
			return NULL;
		s->rows = rows;
		s->space = space;
	}
	s->rows[s->count].value = NULL;
	s->rows[s->count].from = NULL;
	return &s->rows[s->count++];
}

static int row_add(struct etcd_store *s, const struct store_op *op)
{
	struct etcd_row *row = etcd_save_row(s);

	return row ? etcd_row_make(&s->seal, s->prefix, op, row) : DXP_ENOMEM;
}

/* Orders rows: keys, tokens, others. So a token and the keys that it admits share a transaction. */
static int row_rank(const struct etcd_store *s, const struct etcd_row *row)
{
	const char *kind = row->key + strlen(s->prefix);

	return *kind == 'k' ? 0 : *kind == 't' ? 1 : 2;
}

static void rows_order(struct etcd_store *s)
{
	size_t placed = 0;

	for (int rank = 0; rank < 2; rank++)
		for (size_t i = placed; i < s->count; i++)
			if (row_rank(s, &s->rows[i]) == rank) {
				const struct etcd_row row = s->rows[i];
				s->rows[i] = s->rows[placed];
				s->rows[placed++] = row;
			}
}

int etcd_save_changes(struct store *base, struct registry *r)
{
	struct etcd_store *s = etcd_store_own(base);
	int status = etcd_lease_term(base) ? DXP_OK : DXP_EIO;
	struct store_op op;

	while (status == DXP_OK && registry_next_store(r, &op))
		status = row_add(s, &op);
	keys_erase(&op, sizeof(op));
	if (status == DXP_ENOMEM)
		etcd_lease_give_up(s, "memory is short"); /* the registry has lost a change */
	rows_order(s);
	const size_t changes = s->count;
	/* The events share the last transaction. */
	const uint64_t logged =
		status == DXP_OK && changes ? etcd_log_rows(s, registry_events(r)) : 0;
	for (size_t at = 0; status == DXP_OK && at < changes; at += ETCD_ROWS_MAX)
		status = etcd_save_commit(
			s, at, changes - at > ETCD_ROWS_MAX ? ETCD_ROWS_MAX : s->count - at);
	etcd_save_clear(s);
	if (status == DXP_OK)
		registry_store_done(r);
	if (status == DXP_OK && logged)
		etcd_log_saved(s, registry_events(r), logged);
	return status == DXP_OK ? DXP_OK : DXP_EIO;
}
