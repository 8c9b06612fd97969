/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of the fabric itself in etcd: format and identity. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "manager/etcd_store.h"

#define FORMAT        1
#define FORMAT_BYTES  (ETCD_NUMBER_BYTES + KEY_TEXT_BYTES)
#define OPEN_ATTEMPTS 12

/* Reads one key. *value is NULL if it does not exist, else free() it. */
static int key_get(struct etcd_store *s, const char *name, char **value)
{
	char key[ETCD_KEY_BYTES];
	struct etcd_answer a;
	int status = etcd_call(&s->etcd, "/v3/kv/range",
			       etcd_range_body(etcd_store_key(s, name, key), NULL, 1), &a);

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

int etcd_fabric_check(const struct etcd_store *s, const char *value)
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
		  "fabric here (after a rotation store.key, from the state folder of another "
		  "manager), or choose another fabric name: --store etcd://HOST:PORT/NAME",
		  s->prefix);
	return DXP_EMALFORMED;
}

/* Creates the keys of a new fabric, unless one of them exists: another manager creates them at the
 * same time, or the fabric is damaged. */
static int fabric_create(struct etcd_store *s)
{
	char format[FORMAT_BYTES], text[KEY_TEXT_BYTES], key[ETCD_KEY_BYTES];
	char version[ETCD_NUMBER_BYTES];
	uint8_t drawn[KEYS_BYTES];
	struct etcd_answer a;
	struct etcd_txn t;

	rng_entropy_kernel(NULL, drawn, sizeof(drawn));
	key_format(s->import ? s->import->private_key : drawn, text);
	snprintf(version, sizeof(version), "%" PRIu64, s->import ? s->import->version : 0);
	keys_erase(drawn, sizeof(drawn));
	char *sealed = etcd_seal_text(&s->seal, etcd_store_key(s, "identity", key), text);
	keys_erase(text, sizeof(text));
	if (!sealed)
		return DXP_ENOMEM;
	format_write(s, format);
	etcd_txn_begin(&t);
	etcd_txn_created(&t, key, 0);
	etcd_txn_put(&t, key, sealed, 0);
	etcd_txn_created(&t, etcd_store_key(s, "format", key), 0);
	etcd_txn_put(&t, key, format, 0);
	etcd_txn_created(&t, etcd_store_key(s, "version", key), 0);
	etcd_txn_put(&t, key, version, 0);
	free(sealed);
	int status = etcd_call(&s->etcd, "/v3/kv/txn", etcd_txn_body(&t), &a);
	etcd_answer_free(&a);
	return status;
}

/* Reads the private key from its sealed text. */
static int identity_read(struct etcd_store *s, const char *sealed)
{
	char key[ETCD_KEY_BYTES];
	char *text = etcd_seal_open_text(&s->seal, etcd_store_key(s, "identity", key), sealed);
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

	if (status == DXP_OK && !format && s->must_exist) {
		log_error("%s in etcd does not exist; correct --store", s->prefix);
		return DXP_ENOENT;
	}
	if (status == DXP_OK && !format) {
		status = fabric_create(s);
		return status == DXP_OK ? DXP_EAGAIN : status; /* reads what now exists */
	}
	if (status == DXP_OK)
		status = etcd_fabric_check(s, format);
	if (status == DXP_OK)
		status = key_get(s, "identity", &identity);
	if (status == DXP_OK)
		status = identity_read(s, identity ? identity : "");
	free(format);
	free(identity);
	return status;
}

int etcd_fabric_open(struct etcd_store *s)
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

int etcd_import_mark(struct store *base, const char *digest)
{
	struct etcd_store *s = etcd_store_own(base);
	struct etcd_row *row = etcd_save_row(s);
	int status = DXP_ENOMEM;

	if (row) {
		etcd_store_key(s, ETCD_IMPORTING, row->key);
		row->value = digest ? strdup(digest) : NULL;
	}
	if (row && (row->value || !digest))
		status = etcd_save_commit(s, 0, 1);
	etcd_save_clear(s);
	return status;
}

int etcd_import_check(struct etcd_store *s, const char *value)
{
	if (s->import && strcmp(value, s->import->digest) == 0) {
		s->import->resumed = true;
		return DXP_OK;
	}
	log_error("an import into %s in etcd was interrupted; run `dxp manager import` again with "
		  "the same file, or delete all keys of the fabric: etcdctl del --prefix %s",
		  s->prefix, s->prefix);
	return DXP_EUNSUPPORTED;
}
