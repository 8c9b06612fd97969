/* SPDX-License-Identifier: BSD-3-Clause */
/* The store in etcd. Keys, below /dxp/FABRIC/:
 *
 *   active     address of the active manager, bound to its lease: the election key
 *   format     version of this layout, and a check value of the fabric key
 *   identity   private key of the managers, sealed
 *   version    number of transactions so far
 *   others     rows (etcd_rows.h)
 *
 * Each write compares that `active` was created at the revision of this manager's election, and
 * that `version` is the last one, and sets the next version. So a manager that lost its lease
 * cannot write. A transaction without an answer is repeated: if `version` then has the next value,
 * the first try was executed. A lease counts here from the time at which its request was sent. */
#include "manager/store_etcd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "manager/etcd_rows.h"
#include "manager/store_internal.h"

#define FORMAT        1
#define LEASE_S       3             /* s; etcd's shortest lease is 2 s */
#define KEEP_NS       (500 * MS_NS) /* a sixth of the lease, so that some renewals may fail */
#define POLL_NS       (300 * MS_NS) /* wait of a standing-by manager between two looks */
#define RETRY_NS      (100 * MS_NS)
#define RESIGN_NS     (1 * S_NS) /* another manager takes over meanwhile */
#define SAVE_MAX_NS   (3 * S_NS) /* a manager that cannot write for this long resigns */
#define OPEN_ATTEMPTS 12
#define PAGE_ROWS     500
#define NUMBER_BYTES  24
#define FORMAT_BYTES  (NUMBER_BYTES + KEY_TEXT_BYTES)
#define ADDRESS_BYTES 64
#define CHECK_LABEL   "dxp etcd check 1"

struct etcd_store {
	struct store base;
	struct etcd etcd;
	struct etcd_place place;
	struct etcd_seal seal;
	uint8_t check[KEYS_BYTES], private_key[KEYS_BYTES];
	char prefix[ETCD_PREFIX_BYTES], address[ADDRESS_BYTES], other[ADDRESS_BYTES];
	int64_t lease; /* id of the lease; 0: none */
	/* revision at which this manager's election key was created; 0: it stands by */
	int64_t term;
	/* time in ns at which the lease ends; the manager acts only before */
	uint64_t lease_until_ns;
	uint64_t step_ns; /* when the next step is due */
	uint64_t version;
	struct etcd_row *rows; /* changes of a store_save */
	size_t count, space;
};

static struct etcd_store *own(const struct store *base)
{
	return CONTAINER_OF(base, struct etcd_store, base);
}

static uint64_t now(const struct etcd_store *s)
{
	return s->etcd.transport.now_ns(s->etcd.transport.context);
}

static const char *name_of(const struct etcd_store *s, const char *name, char out[ETCD_KEY_BYTES])
{
	snprintf(out, ETCD_KEY_BYTES, "%s%s", s->prefix, name);
	return out;
}

static void rows_clear(struct etcd_store *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->rows[i].value)
			keys_erase(s->rows[i].value, strlen(s->rows[i].value));
		free(s->rows[i].value);
	}
	s->count = 0;
}

/* Reads one key. *value is NULL if it does not exist, else free() it. */
static int key_get(struct etcd_store *s, const char *name, char **value)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/kv/range",
			       etcd_range_body(name_of(s, name, key), NULL, 1), &a);

	*value = NULL;
	if (status == DXP_OK && a.count > 0) {
		*value = strdup(a.pairs[0].value);
		status = *value ? DXP_OK : DXP_ENOMEM;
	}
	etcd_answer_free(&a);
	return status;
}

/* Writes the value of `format`. */
static void format_write(const struct etcd_store *s, char out[FORMAT_BYTES])
{
	char check[KEY_TEXT_BYTES];

	snprintf(out, FORMAT_BYTES, "%d %s", FORMAT, key_format(s->check, check));
}

/* Checks the value of `format`. */
static int format_check(const struct etcd_store *s, const char *value)
{
	char own_value[FORMAT_BYTES], *end;
	const long format = strtol(value, &end, 10);

	format_write(s, own_value);
	if (strcmp(value, own_value) == 0)
		return DXP_OK;
	if (end == value || *end != ' ') {
		log_error("%sformat in etcd is damaged; choose another fabric name: --store "
			  "etcd://HOST:PORT/NAME",
			  s->prefix);
		return DXP_EMALFORMED;
	}
	if (format != FORMAT) {
		log_error("%s in etcd was written by another version of dxp-manager (format %ld, "
			  "this version has format %d); use that version",
			  s->prefix, format, FORMAT);
		return DXP_EUNSUPPORTED;
	}
	log_error("%s in etcd belongs to a fabric with another key; copy the key file of that "
		  "fabric here, or choose another fabric name: --store etcd://HOST:PORT/NAME",
		  s->prefix);
	return DXP_EMALFORMED;
}

/* Creates the keys of a new fabric, unless one of them exists: another manager creates them at the
 * same time, or the fabric is damaged. */
static int fabric_create(struct etcd_store *s)
{
	char format[FORMAT_BYTES], text[KEY_TEXT_BYTES], key[ETCD_KEY_BYTES];
	uint8_t drawn[KEYS_BYTES];
	struct etcd_answer a;
	struct etcd_txn t;

	rng_entropy_kernel(NULL, drawn, sizeof(drawn));
	key_format(drawn, text);
	keys_erase(drawn, sizeof(drawn));
	char *sealed = etcd_seal_text(&s->seal, name_of(s, "identity", key), text);
	keys_erase(text, sizeof(text));
	if (!sealed)
		return DXP_ENOMEM;
	format_write(s, format);
	etcd_txn_begin(&t);
	etcd_txn_created(&t, key, 0);
	etcd_txn_put(&t, key, sealed, 0);
	etcd_txn_created(&t, name_of(s, "format", key), 0);
	etcd_txn_put(&t, key, format, 0);
	etcd_txn_created(&t, name_of(s, "version", key), 0);
	etcd_txn_put(&t, key, "0", 0);
	free(sealed);
	int status = etcd_call(&s->etcd, "/v3/kv/txn", etcd_txn_body(&t), &a);
	etcd_answer_free(&a);
	return status;
}

/* Reads the private key from its sealed text. */
static int identity_read(struct etcd_store *s, const char *sealed)
{
	char key[ETCD_KEY_BYTES];
	char *text = etcd_seal_open_text(&s->seal, name_of(s, "identity", key), sealed);
	bool good = text && key_parse(text, s->private_key);

	if (text)
		keys_erase(text, strlen(text));
	free(text);
	if (good)
		return DXP_OK;
	log_error("%sidentity in etcd is damaged; restore etcd from a backup, or choose another "
		  "fabric name: --store etcd://HOST:PORT/NAME",
		  s->prefix);
	return DXP_EMALFORMED;
}

/* Makes one attempt to read or create the fabric. DXP_EIO and DXP_EAGAIN: try again. */
static int fabric_find(struct etcd_store *s)
{
	char *format, *identity = NULL;
	int status = key_get(s, "format", &format);

	if (status == DXP_OK && !format) {
		status = fabric_create(s);
		return status == DXP_OK ? DXP_EAGAIN : status; /* reads what now exists */
	}
	if (status == DXP_OK)
		status = format_check(s, format);
	if (status == DXP_OK)
		status = key_get(s, "identity", &identity);
	if (status == DXP_OK)
		status = identity_read(s, identity ? identity : "");
	free(format);
	free(identity);
	return status;
}

static int fabric_open(struct etcd_store *s)
{
	int status = DXP_EIO;

	for (int i = 0; i < OPEN_ATTEMPTS && (status == DXP_EIO || status == DXP_EAGAIN); i++) {
		status = fabric_find(s);
		if (status == DXP_EIO)
			etcd_pause(&s->etcd);
	}
	if (status == DXP_EAGAIN) {
		log_error("%sformat in etcd is missing, although the fabric exists; restore etcd "
			  "from a backup, or choose another fabric name: --store "
			  "etcd://HOST:PORT/NAME",
			  s->prefix);
		return DXP_EMALFORMED;
	}
	if (status == DXP_EIO) {
		log_error("no etcd of --store can be used; %s: %s; check that it runs there",
			  s->place.endpoints[s->etcd.current], s->etcd.reason);
		return DXP_EIO;
	}
	return status;
}

/* Ends the lease in etcd, so that the next manager need not wait. */
static void lease_end(struct etcd_store *s)
{
	struct etcd_answer a;

	for (unsigned i = 0; s->lease && i < s->etcd.endpoints; i++)
		if (etcd_call(&s->etcd, "/v3/lease/revoke", etcd_lease_body(s->lease), &a) ==
		    DXP_OK) {
			etcd_answer_free(&a);
			break;
		}
	s->lease = 0;
}

static void resign(struct etcd_store *s, const char *why)
{
	if (s->term)
		log_warn("this manager stands by now: %s", why);
	s->term = 0;
	s->lease_until_ns = 0;
	rows_clear(s);
	lease_end(s);
	s->step_ns = now(s) + RETRY_NS;
}

static void etcd_resign(struct store *base)
{
	resign(own(base), "it cannot act");
	own(base)->step_ns = now(own(base)) + RESIGN_NS;
}

static uint64_t etcd_term(const struct store *base)
{
	const struct etcd_store *s = own(base);

	return s->term && now(s) < s->lease_until_ns ? (uint64_t)s->term : 0;
}

static const char *etcd_other(const struct store *base)
{
	return own(base)->other;
}

/* Renews the lease by one attempt. */
static void lease_keep(struct etcd_store *s)
{
	const uint64_t sent_ns = now(s);
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/lease/keepalive", etcd_lease_body(s->lease), &a);

	if (status != DXP_OK) {
		s->step_ns = sent_ns + RETRY_NS;
		if (now(s) >= s->lease_until_ns)
			resign(s, "it could not renew its lease in etcd");
		return;
	}
	const bool ended = a.ttl_s <= 0 || a.lease != s->lease;
	const uint64_t ttl_ns = min_u64((uint64_t)a.ttl_s, LEASE_S) * S_NS;
	etcd_answer_free(&a);
	if (ended)
		s->lease = 0;
	if (ended || now(s) >= s->lease_until_ns) {
		resign(s, "its lease in etcd has ended");
		return;
	}
	s->lease_until_ns = sent_ns + ttl_ns;
	s->step_ns = sent_ns + KEEP_NS;
}

static void elected(struct etcd_store *s, int64_t term)
{
	s->term = term;
	s->other[0] = '\0';
	s->step_ns = now(s) + KEEP_NS;
	log_info("this manager is active now");
}

/* Looks who is active. DXP_OK: none, or this manager, which sets s->term. DXP_EBUSY: another. */
static int active_look(struct etcd_store *s)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/kv/range",
			       etcd_range_body(name_of(s, "active", key), NULL, 1), &a);
	const struct etcd_pair *pair = etcd_answer_find(&a, key);

	if (pair && s->lease && pair->lease == s->lease) {
		elected(s, pair->created); /* the answer to the election was lost */
	} else if (pair) {
		snprintf(s->other, sizeof(s->other), "%s", pair->value);
		status = DXP_EBUSY;
	}
	etcd_answer_free(&a);
	return status;
}

static int lease_get(struct etcd_store *s)
{
	const uint64_t sent_ns = now(s);
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/lease/grant", etcd_grant_body(LEASE_S), &a);

	if (status != DXP_OK)
		return status;
	s->lease = a.lease;
	s->lease_until_ns = sent_ns + min_u64(a.ttl_s > 0 ? (uint64_t)a.ttl_s : 0, LEASE_S) * S_NS;
	etcd_answer_free(&a);
	return DXP_OK;
}

/* Creates the election key if there is none. */
static void election_try(struct etcd_store *s)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	struct etcd_txn t;

	name_of(s, "active", key);
	etcd_txn_begin(&t);
	etcd_txn_created(&t, key, 0);
	etcd_txn_put(&t, key, s->address, s->lease);
	int status = etcd_call(&s->etcd, "/v3/kv/txn", etcd_txn_body(&t), &a);
	if (status == DXP_OK && a.succeeded)
		elected(s, a.revision);
	etcd_answer_free(&a);
}

/* Tries to become active. */
static void campaign(struct etcd_store *s)
{
	if (s->lease && now(s) >= s->lease_until_ns)
		s->lease = 0;
	s->step_ns = now(s) + POLL_NS;
	int status = active_look(s);
	if (status == DXP_OK && !s->term && !s->lease)
		status = lease_get(s);
	if (status == DXP_OK && !s->term)
		election_try(s);
	if (status == DXP_EBUSY && s->lease)
		lease_end(s);
	if (s->term && now(s) >= s->lease_until_ns)
		resign(s, "its lease in etcd has ended");
}

static uint64_t etcd_step(struct store *base)
{
	struct etcd_store *s = own(base);

	if (s->term && now(s) >= s->lease_until_ns)
		resign(s, "it could not renew its lease in etcd");
	if (now(s) >= s->step_ns) {
		if (s->term)
			lease_keep(s);
		else
			campaign(s);
	}
	return s->step_ns - min_u64(s->step_ns, now(s));
}

static int etcd_private_key(struct store *base, uint8_t key[KEYS_BYTES])
{
	memcpy(key, own(base)->private_key, KEYS_BYTES);
	return DXP_OK;
}

/* Handles one pair of the fabric. *version becomes true when `version` was read. */
static int pair_load(struct etcd_store *s, struct registry *r, const struct etcd_pair *pair,
		     bool *version)
{
	const char *name = pair->key + strlen(s->prefix);
	struct store_op op;
	char *end;

	if (strcmp(name, "active") == 0 || strcmp(name, "identity") == 0)
		return DXP_OK;
	if (strcmp(name, "format") == 0)
		return format_check(s, pair->value);
	if (strcmp(name, "version") == 0) {
		s->version = strtoull(pair->value, &end, 10);
		*version = end != pair->value && *end == '\0';
		return *version ? DXP_OK : DXP_EINVAL;
	}
	int status = etcd_row_read(&s->seal, s->prefix, pair, &op);
	if (status == DXP_OK)
		status = registry_load(r, &op);
	keys_erase(&op, sizeof(op));
	return status;
}

static int page_load(struct etcd_store *s, struct registry *r, const struct etcd_answer *a,
		     bool *version)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *key = a->pairs[i].key;
		int status = strncmp(key, s->prefix, strlen(s->prefix)) == 0
				     ? pair_load(s, r, &a->pairs[i], version)
				     : DXP_EMALFORMED;
		if (status == DXP_EINVAL || status == DXP_EMALFORMED) {
			const bool row = strchr(key + strlen(s->prefix), '/') != NULL;
			log_error("%s in etcd is damaged; %s", key,
				  row ? "delete this key to continue without it"
				      : "restore etcd from a backup");
			return DXP_EMALFORMED;
		}
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

/* Reads all keys of the fabric in pages. No manager but this one can write meanwhile. */
static int etcd_load(struct store *base, struct registry *r)
{
	struct etcd_store *s = own(base);
	char from[ETCD_KEY_BYTES + 1], end[ETCD_KEY_BYTES];
	const uint64_t term = etcd_term(base);
	bool version = false, more = true;
	int status = term ? DXP_OK : DXP_EIO;

	snprintf(from, sizeof(from), "%s", s->prefix);
	snprintf(end, sizeof(end), "%.*s0", (int)strlen(s->prefix) - 1, s->prefix); /* '/' + 1 */
	while (status == DXP_OK && more) {
		struct etcd_answer a;
		etcd_step(base);
		if (etcd_term(base) != term)
			return DXP_EIO;
		if (etcd_call(&s->etcd, "/v3/kv/range", etcd_range_body(from, end, PAGE_ROWS),
			      &a) != DXP_OK) {
			etcd_pause(&s->etcd);
			continue; /* the lease bounds the number of attempts */
		}
		status = page_load(s, r, &a, &version);
		more = a.more && a.count > 0;
		if (more) /* the next key in etcd's order; no key has a byte 1 */
			snprintf(from, sizeof(from), "%.*s\1", ETCD_KEY_BYTES - 1,
				 a.pairs[a.count - 1].key);
		etcd_answer_free(&a);
	}
	if (status == DXP_OK && !version) {
		log_error("%sversion in etcd is missing; restore etcd from a backup", s->prefix);
		return DXP_EMALFORMED;
	}
	return status;
}

static int etcd_check(struct store *base, struct registry *r)
{
	return DXP_OK;
}

static char *save_body(const struct etcd_store *s, size_t first, size_t count)
{
	char key[ETCD_KEY_BYTES], number[NUMBER_BYTES];
	struct etcd_txn t;

	etcd_txn_begin(&t);
	etcd_txn_created(&t, name_of(s, "active", key), s->term);
	etcd_txn_read(&t, key);
	snprintf(number, sizeof(number), "%" PRIu64, s->version);
	etcd_txn_equals(&t, name_of(s, "version", key), number);
	etcd_txn_read(&t, key);
	snprintf(number, sizeof(number), "%" PRIu64, s->version + 1);
	etcd_txn_put(&t, key, number, 0);
	for (size_t i = first; i < first + count; i++) {
		if (s->rows[i].value)
			etcd_txn_put(&t, s->rows[i].key, s->rows[i].value, 0);
		else
			etcd_txn_delete(&t, s->rows[i].key);
	}
	return etcd_txn_body(&t);
}

/* Decides what a transaction means whose comparisons failed. DXP_OK: an earlier try was executed;
 * DXP_EAGAIN: none was; DXP_EIO: another manager is active. */
static int conflict_read(const struct etcd_store *s, const struct etcd_answer *a)
{
	char key[ETCD_KEY_BYTES], number[NUMBER_BYTES];
	const struct etcd_pair *active = etcd_answer_find(a, name_of(s, "active", key));
	const struct etcd_pair *version = etcd_answer_find(a, name_of(s, "version", key));

	if (!active || active->created != s->term || !version)
		return DXP_EIO;
	snprintf(number, sizeof(number), "%" PRIu64, s->version + 1);
	if (strcmp(version->value, number) == 0)
		return DXP_OK;
	snprintf(number, sizeof(number), "%" PRIu64, s->version);
	return strcmp(version->value, number) == 0 ? DXP_EAGAIN : DXP_EIO;
}

/* Commits some rows: repeats the transaction until its outcome is known. */
static int rows_commit(struct etcd_store *s, size_t first, size_t count)
{
	const uint64_t until_ns = now(s) + SAVE_MAX_NS;
	const int64_t term = s->term;

	for (;;) {
		struct etcd_answer a;
		etcd_step(&s->base);
		if (s->term != term)
			return DXP_EIO;
		if (now(s) >= until_ns) {
			resign(s, "etcd executes no transaction");
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
			resign(s, "another manager is active");
			return DXP_EIO;
		}
	}
}

static int row_add(struct etcd_store *s, const struct store_op *op)
{
	if (s->count == s->space) {
		const size_t space = s->space ? 2 * s->space : ETCD_ROWS_MAX;
		struct etcd_row *rows = realloc(s->rows, space * sizeof(*rows));
		if (!rows)
			return DXP_ENOMEM;
		s->rows = rows;
		s->space = space;
	}
	int status = etcd_row_make(&s->seal, s->prefix, op, &s->rows[s->count]);
	if (status == DXP_OK)
		s->count++;
	return status;
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

static int etcd_save(struct store *base, struct registry *r)
{
	struct etcd_store *s = own(base);
	int status = etcd_term(base) ? DXP_OK : DXP_EIO;
	struct store_op op;

	while (status == DXP_OK && registry_next_store(r, &op))
		status = row_add(s, &op);
	keys_erase(&op, sizeof(op));
	if (status == DXP_ENOMEM)
		resign(s, "memory is short"); /* the registry has lost a change */
	rows_order(s);
	for (size_t at = 0; status == DXP_OK && at < s->count; at += ETCD_ROWS_MAX)
		status = rows_commit(s, at, min_u64(s->count - at, ETCD_ROWS_MAX));
	rows_clear(s);
	return status == DXP_OK ? DXP_OK : DXP_EIO;
}

static void etcd_close(struct store *base)
{
	struct etcd_store *s = own(base);

	rows_clear(s);
	lease_end(s);
	s->etcd.transport.close(s->etcd.transport.context);
	etcd_seal_close(&s->seal);
	free(s->rows);
	keys_erase(s, sizeof(*s));
	free(s);
}

static const struct store_ops etcd_ops = {
	.private_key = etcd_private_key,
	.step = etcd_step,
	.term = etcd_term,
	.other = etcd_other,
	.resign = etcd_resign,
	.close = etcd_close,
	.load = etcd_load,
	.check = etcd_check,
	.save = etcd_save,
};

int store_etcd_open(const struct store_etcd_options *options, struct store **out)
{
	struct etcd_store *s = calloc(1, sizeof(*s));
	int status = s ? etcd_seal_open(options->fabric_key, &s->seal) : DXP_ENOMEM;

	if (status != DXP_OK) {
		options->transport.close(options->transport.context);
		free(s);
		return status;
	}
	s->base.ops = &etcd_ops;
	s->place = options->place;
	s->etcd = (struct etcd){.transport = options->transport,
				.endpoints = options->place.count,
				.place = &s->place};
	snprintf(s->prefix, sizeof(s->prefix), "/dxp/%s/", s->place.fabric);
	snprintf(s->address, sizeof(s->address), "%s", options->address);
	if (!keys_hmac(options->fabric_key, CHECK_LABEL, sizeof(CHECK_LABEL), "", 0, s->check))
		status = DXP_ENOMEM;
	if (status == DXP_OK)
		status = fabric_open(s);
	if (status != DXP_OK) {
		etcd_close(&s->base);
		return status;
	}
	*out = &s->base;
	return DXP_OK;
}
