/* SPDX-License-Identifier: BSD-3-Clause */
/* The store in etcd. Keys, below /dxp/FABRIC/:
 *
 *   active     address of the active manager, bound to its lease: the election key
 *   format     version of this layout, and a check value of the fabric key
 *   identity   private key of the managers, sealed
 *   version    number of transactions so far
 *   importing  digest of an import that is not complete; managers do not use the fabric then
 *   event/N    1 to 16 events of the log from number N on (etcd_events.h), sealed
 *   others     rows (etcd_rows.h)
 *
 * Each write of rows compares that `active` was created at the revision of this manager's election,
 * and that `version` is the last one, and sets the next version. So a manager that lost its lease
 * cannot write. A transaction without an answer is repeated: if `version` then has the next value,
 * the first try was executed. Events that no row accompanies are written without `version`, so that
 * they never decide about rows. A lease counts here from the time at which its request was sent. */
#include "manager/store_etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_store.h"

#define PAGE_ROWS   500
#define CHECK_LABEL "dxp etcd check 1"

char *etcd_store_key(const struct etcd_store *s, const char *name, char out[ETCD_KEY_BYTES])
{
	snprintf(out, ETCD_KEY_BYTES, "%s%s", s->prefix, name);
	return out;
}

static const char *etcd_other(const struct store *base)
{
	return etcd_store_own(base)->other;
}

static int etcd_private_key(struct store *base, uint8_t key[KEYS_BYTES])
{
	memcpy(key, etcd_store_own(base)->private_key, KEYS_BYTES);
	return DXP_OK;
}

/* Handles one pair of the fabric. *version becomes true when `version` was read. */
static int pair_load(struct etcd_store *s, struct registry *r, const struct etcd_pair *pair,
		     bool *version)
{
	const char *name = pair->key + strlen(s->prefix);
	struct store_op op;
	char *end;

	if (strncmp(name, "event/", 6) == 0) {
		etcd_log_load(s, registry_events(r), pair);
		return DXP_OK;
	}
	if (strcmp(name, "active") == 0 || strcmp(name, "identity") == 0)
		return DXP_OK;
	if (strcmp(name, ETCD_IMPORTING) == 0)
		return etcd_import_check(s, pair->value);
	if (strcmp(name, "format") == 0)
		return etcd_fabric_check(s, pair->value);
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
			const char *name = key + strlen(s->prefix);
			const bool row = strchr(name, '/') && strncmp(name, "manager/", 8) != 0 &&
					 strncmp(name, "fabric/", 7) != 0;
			log_error("%s in etcd is damaged; %s", key,
				  row ? "delete this key to continue without it"
				      : "restore etcd from a backup: without this key, machines "
					"that know it are lost");
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
	struct etcd_store *s = etcd_store_own(base);
	char from[ETCD_KEY_BYTES + 1], end[ETCD_KEY_BYTES];
	const uint64_t term = etcd_lease_term(base);
	bool version = false, more = true;
	int status = term ? DXP_OK : DXP_EIO;

	etcd_log_begin(s);
	snprintf(from, sizeof(from), "%s", s->prefix);
	snprintf(end, sizeof(end), "%.*s0", (int)strlen(s->prefix) - 1, s->prefix); /* '/' + 1 */
	while (status == DXP_OK && more) {
		struct etcd_answer a;
		etcd_lease_step(base);
		if (etcd_lease_term(base) != term)
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
	etcd_log_loaded(s);
	if (status == DXP_OK && etcd_lease_term(base) != term)
		return DXP_EIO;
	if (status == DXP_OK && !version) {
		log_error("%sversion in etcd is missing; restore etcd from a backup", s->prefix);
		return DXP_EMALFORMED;
	}
	return status;
}

static uint64_t etcd_version(const struct store *base)
{
	return etcd_store_own(base)->version;
}

static int etcd_check(struct store *base, struct registry *r)
{
	return DXP_OK;
}

static void etcd_close(struct store *base)
{
	struct etcd_store *s = etcd_store_own(base);

	etcd_save_clear(s);
	etcd_lease_end(s);
	s->etcd.transport.close(s->etcd.transport.context);
	etcd_seal_close(&s->seal);
	free(s->rows);
	keys_erase(s, sizeof(*s));
	free(s);
}

static const struct store_ops etcd_ops = {
	.private_key = etcd_private_key,
	.step = etcd_lease_step,
	.term = etcd_lease_term,
	.other = etcd_other,
	.resign = etcd_lease_resign,
	.close = etcd_close,
	.load = etcd_load,
	.check = etcd_check,
	.save = etcd_save_changes,
	.log_save = etcd_log_save,
	.version = etcd_version,
	.import_mark = etcd_import_mark,
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
	s->import = options->import;
	s->must_exist = options->must_exist;
	s->etcd = (struct etcd){.transport = options->transport,
				.endpoints = options->place.count,
				.place = &s->place};
	snprintf(s->prefix, sizeof(s->prefix), "/dxp/%s/", s->place.fabric);
	snprintf(s->address, sizeof(s->address), "%s", options->address);
	etcd_log_begin(s);
	if (!keys_hmac(options->fabric_key, CHECK_LABEL, sizeof(CHECK_LABEL), "", 0, s->check))
		status = DXP_ENOMEM;
	if (status == DXP_OK)
		status = etcd_fabric_open(s);
	if (status != DXP_OK) {
		etcd_close(&s->base);
		return status;
	}
	*out = &s->base;
	return DXP_OK;
}
