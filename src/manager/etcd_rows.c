/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/etcd_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/address.h"

#define SEAL_LABEL "dxp etcd seal 1"
#define VALUE_MAX  16384 /* bytes of a sealed value; a block of events has fewer than 11000 */

int etcd_seal_open(const uint8_t fabric_key[FABRIC_KEY_BYTES], struct etcd_seal *out)
{
	*out = (struct etcd_seal){.entropy = rng_entropy_kernel};
	int status = crypto_open(&out->crypto);

	if (status == DXP_OK &&
	    !keys_hmac(fabric_key, SEAL_LABEL, sizeof(SEAL_LABEL), "", 0, out->key)) {
		etcd_seal_close(out);
		status = DXP_ENOMEM;
	}
	return status;
}

void etcd_seal_close(struct etcd_seal *s)
{
	crypto_close(&s->crypto);
	keys_erase(s, sizeof(*s));
}

static void hex_write(const uint8_t *data, size_t bytes, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes; i++) {
		*out++ = digits[data[i] >> 4];
		*out++ = digits[data[i] & 15];
	}
	*out = '\0';
}

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads exactly `bytes` bytes. */
static bool hex_read(const char *text, uint8_t *out, size_t bytes)
{
	if (!text || strlen(text) != 2 * bytes)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		const int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

char *etcd_seal_text(const struct etcd_seal *s, const char *name, const char *text)
{
	const size_t bytes = strlen(text), all = CRYPTO_NONCE_BYTES + bytes + CRYPTO_TAG_BYTES;
	uint8_t *sealed = malloc(all);
	char *out = malloc(2 * all + 1);

	if (sealed)
		s->entropy(s->entropy_context, sealed, CRYPTO_NONCE_BYTES);
	const struct crypto_aead a = {s->key, sealed, {name, strlen(name)}};
	if (!sealed || !out ||
	    !crypto_aead_seal(&s->crypto, &a, (struct crypto_bytes){text, bytes},
			      sealed + CRYPTO_NONCE_BYTES)) {
		free(sealed);
		free(out);
		return NULL;
	}
	hex_write(sealed, all, out);
	free(sealed);
	return out;
}

char *etcd_seal_open_text(const struct etcd_seal *s, const char *name, const char *sealed)
{
	const size_t least = CRYPTO_NONCE_BYTES + CRYPTO_TAG_BYTES, all = strlen(sealed) / 2;
	uint8_t data[VALUE_MAX / 2];

	if (all < least || all > sizeof(data) || !hex_read(sealed, data, all))
		return NULL;
	const struct crypto_aead a = {s->key, data, {name, strlen(name)}};
	char *text = malloc(all - least + 1);
	if (text && (!crypto_aead_open(&s->crypto, &a,
				       (struct crypto_bytes){data + CRYPTO_NONCE_BYTES,
							     all - CRYPTO_NONCE_BYTES},
				       (uint8_t *)text) ||
		     memchr(text, '\0', all - least))) {
		free(text);
		return NULL;
	}
	if (text)
		text[all - least] = '\0';
	return text;
}

static json_t *hex(const void *data, size_t bytes)
{
	char text[2 * FABRIC_DEVICE_BYTES + 1];

	hex_write(data, bytes, text);
	return json_string(text);
}

static bool hex_get(const json_t *row, const char *name, uint8_t *out, size_t bytes)
{
	return hex_read(json_string_value(json_object_get(row, name)), out, bytes);
}

/* Reads a number of at most `most`. All numbers are texts, because some have 64 bits. */
static bool number_get(const json_t *row, const char *name, uint64_t most, uint64_t *out)
{
	const char *text = json_string_value(json_object_get(row, name));

	if (!text || !*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 20)
		return false;
	*out = strtoull(text, NULL, 10);
	return *out <= most;
}

static bool text_get(const json_t *row, const char *name, char *out, size_t bytes)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text && strlen(text) < bytes && memcpy(out, text, strlen(text) + 1);
}

/* Reads a text in hexadecimal digits. Nodes choose its bytes, which may not be UTF-8, as JSON
 * requires. */
static bool bytes_get(const json_t *row, const char *name, char *out, size_t space)
{
	const char *text = json_string_value(json_object_get(row, name));
	const size_t bytes = text ? strlen(text) / 2 : space;

	if (bytes >= space || !hex_read(text, (uint8_t *)out, bytes))
		return false;
	out[bytes] = '\0';
	return memchr(out, '\0', bytes) == NULL;
}

static json_t *numeral(uint64_t number)
{
	return json_sprintf("%" PRIu64, number);
}

static json_t *node_write(const struct store_op *op)
{
	const struct node_entry *e = &op->entry;
	uint8_t address[WIRE_ADDRESS_BYTES];

	wire_address_encode(&e->address, address);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}",
			 "uuid", hex(e->uuid, WIRE_UUID_BYTES), "state", numeral(op->state), "kind",
			 numeral(e->kind), "incarnation", numeral(e->incarnation), "capabilities",
			 numeral(e->capabilities), "magic", numeral(e->magic), "memory",
			 numeral(e->memory_bytes), "address", hex(address, sizeof(address)), "name",
			 e->name, "engine", hex(e->engine, strlen(e->engine)), "device",
			 hex(e->device, strlen(e->device)), "role", numeral(e->role), "key",
			 hex(e->key, e->role ? sizeof(e->key) : 0));
}

static bool node_read(const json_t *row, uint64_t id, struct store_op *op)
{
	struct node_entry *e = &op->entry;
	uint8_t address[WIRE_ADDRESS_BYTES];
	uint64_t state, kind, capabilities, magic, role;

	op->kind = STORE_NODE_PUT;
	if (id > WIRE_NODE_LAST || !number_get(row, "state", NODE_GONE, &state) ||
	    !number_get(row, "kind", UINT8_MAX, &kind) ||
	    !number_get(row, "incarnation", UINT64_MAX, &e->incarnation) ||
	    !number_get(row, "capabilities", UINT32_MAX, &capabilities) ||
	    !number_get(row, "magic", UINT32_MAX, &magic) ||
	    !number_get(row, "memory", UINT64_MAX, &e->memory_bytes) ||
	    !number_get(row, "role", UINT8_MAX, &role) ||
	    !hex_get(row, "uuid", e->uuid, WIRE_UUID_BYTES) ||
	    !hex_get(row, "address", address, sizeof(address)) ||
	    !text_get(row, "name", e->name, sizeof(e->name)) ||
	    !bytes_get(row, "engine", e->engine, sizeof(e->engine)) ||
	    !bytes_get(row, "device", e->device, sizeof(e->device)) ||
	    !hex_get(row, "key", e->key, role ? sizeof(e->key) : 0))
		return false;
	wire_address_decode(address, &e->address);
	op->state = (enum node_state)state;
	e->id = (uint16_t)id;
	e->kind = (uint8_t)kind;
	e->capabilities = (uint32_t)capabilities;
	e->magic = (uint32_t)magic;
	e->role = (uint8_t)role;
	return true;
}

static json_t *key_write(const struct key_row *k)
{
	return json_pack("{s:o, s:s, s:o, s:o}", "key", hex(k->key, sizeof(k->key)), "name",
			 k->name, "role", numeral(k->role), "removed",
			 numeral(k->replaced ? KEY_REPLACED : k->removed));
}

static bool key_read(const json_t *row, uint64_t index, struct store_op *op)
{
	uint64_t role, removed;

	op->kind = STORE_KEY_PUT;
	op->index = index;
	if (!hex_get(row, "key", op->key.key, sizeof(op->key.key)) ||
	    !text_get(row, "name", op->key.name, sizeof(op->key.name)) ||
	    !number_get(row, "role", UINT8_MAX, &role) ||
	    !number_get(row, "removed", KEY_REPLACED, &removed))
		return false;
	op->key.role = (uint8_t)role;
	op->key.removed = removed != 0;
	op->key.replaced = removed == KEY_REPLACED;
	return true;
}

static json_t *token_write(const struct token_row *t)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "id", hex(t->id, sizeof(t->id)),
			 "psk", hex(t->psk, sizeof(t->psk)), "role", numeral(t->role), "uses",
			 numeral(t->uses), "expires", numeral(t->expires_s), "revoked",
			 numeral(t->revoked), "used_by", t->used_by);
}

static bool token_read(const json_t *row, uint64_t index, struct store_op *op)
{
	uint64_t role, uses, revoked;

	op->kind = STORE_TOKEN_PUT;
	op->index = index;
	if (!hex_get(row, "id", op->token.id, sizeof(op->token.id)) ||
	    !hex_get(row, "psk", op->token.psk, sizeof(op->token.psk)) ||
	    !text_get(row, "used_by", op->token.used_by, sizeof(op->token.used_by)) ||
	    !number_get(row, "role", UINT8_MAX, &role) ||
	    !number_get(row, "uses", UINT32_MAX, &uses) ||
	    !number_get(row, "expires", UINT64_MAX, &op->token.expires_s) ||
	    !number_get(row, "revoked", 1, &revoked))
		return false;
	op->token.role = (uint8_t)role;
	op->token.uses = (uint32_t)uses;
	op->token.revoked = revoked != 0;
	return true;
}

static json_t *fabric_write(const struct fabric_row *f)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "generation", numeral(f->generation), "key",
			 hex(f->key, sizeof(f->key)), "rotated", numeral(f->rotated_ms), "overlap",
			 numeral(f->overlap_s));
}

static bool fabric_read(const json_t *row, struct store_op *op)
{
	uint64_t generation, overlap;

	op->kind = STORE_FABRIC_PUT;
	if (!number_get(row, "generation", UINT32_MAX, &generation) ||
	    !hex_get(row, "key", op->fabric.key, sizeof(op->fabric.key)) ||
	    !number_get(row, "rotated", UINT64_MAX, &op->fabric.rotated_ms) ||
	    !number_get(row, "overlap", UINT32_MAX, &overlap))
		return false;
	op->fabric.generation = (uint32_t)generation;
	op->fabric.overlap_s = (uint32_t)overlap;
	return true;
}

static json_t *manager_write(const struct manager_row *m)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "generation", numeral(m->generation), "key",
			 hex(m->key, sizeof(m->key)), "former", hex(m->former, sizeof(m->former)),
			 "rotated", numeral(m->rotated_ms), "overlap", numeral(m->overlap_s));
}

static bool manager_read(const json_t *row, struct store_op *op)
{
	uint64_t generation, overlap;

	op->kind = STORE_MANAGER_PUT;
	if (!number_get(row, "generation", UINT32_MAX, &generation) ||
	    !hex_get(row, "key", op->manager.key, sizeof(op->manager.key)) ||
	    !hex_get(row, "former", op->manager.former, sizeof(op->manager.former)) ||
	    !number_get(row, "rotated", UINT64_MAX, &op->manager.rotated_ms) ||
	    !number_get(row, "overlap", UINT32_MAX, &overlap))
		return false;
	op->manager.generation = (uint32_t)generation;
	op->manager.overlap_s = (uint32_t)overlap;
	return true;
}

static bool grant_read(const json_t *row, struct store_op *op)
{
	op->kind = STORE_GRANT_PUT;
	return text_get(row, "host", op->host, sizeof(op->host)) &&
	       text_get(row, "xpu", op->xpu, sizeof(op->xpu));
}

/* Writes the key of the row. Ids have 5 digits, so that etcd sorts the keys by number. */
static void row_key(const char *prefix, const struct store_op *op, char out[ETCD_KEY_BYTES])
{
	switch (op->kind) {
	case STORE_NODE_PUT:
	case STORE_NODE_DELETE:
		snprintf(out, ETCD_KEY_BYTES, "%snode/%05u", prefix, op->entry.id);
		break;
	case STORE_KEY_PUT: snprintf(out, ETCD_KEY_BYTES, "%skey/%05zu", prefix, op->index); break;
	case STORE_TOKEN_PUT:
		snprintf(out, ETCD_KEY_BYTES, "%stoken/%05zu", prefix, op->index);
		break;
	case STORE_FABRIC_PUT: snprintf(out, ETCD_KEY_BYTES, "%sfabric/key", prefix); break;
	case STORE_MANAGER_PUT: snprintf(out, ETCD_KEY_BYTES, "%smanager/key", prefix); break;
	default: snprintf(out, ETCD_KEY_BYTES, "%sgrant/%s/%s", prefix, op->host, op->xpu); break;
	}
}

static json_t *row_write(const struct store_op *op)
{
	switch (op->kind) {
	case STORE_NODE_PUT: return node_write(op);
	case STORE_KEY_PUT: return key_write(&op->key);
	case STORE_TOKEN_PUT: return token_write(&op->token);
	case STORE_FABRIC_PUT: return fabric_write(&op->fabric);
	case STORE_MANAGER_PUT: return manager_write(&op->manager);
	default: return json_pack("{s:s, s:s}", "host", op->host, "xpu", op->xpu);
	}
}

json_t *etcd_row_json(const struct store_op *op, char key[ETCD_KEY_BYTES])
{
	row_key("", op, key);
	return row_write(op);
}

int etcd_row_make(const struct etcd_seal *s, const char *prefix, const struct store_op *op,
		  struct etcd_row *out)
{
	out->value = NULL;
	out->from = NULL;
	row_key(prefix, op, out->key);
	if (op->kind == STORE_NODE_DELETE || op->kind == STORE_GRANT_DELETE)
		return DXP_OK;
	json_t *row = row_write(op);
	char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
	json_decref(row);
	if (text) {
		out->value = etcd_seal_text(s, out->key, text);
		keys_erase(text, strlen(text));
		free(text);
	}
	return out->value ? DXP_OK : DXP_ENOMEM;
}

/* Reads the row from JSON; `kind` is the key without the prefix. */
static bool row_parse(const char *kind, const json_t *row, struct store_op *out)
{
	const char *slash = strchr(kind, '/');
	const uint64_t number = slash ? strtoull(slash + 1, NULL, 10) : 0;

	if (strncmp(kind, "node/", 5) == 0)
		return node_read(row, number, out);
	if (strncmp(kind, "key/", 4) == 0)
		return key_read(row, number, out);
	if (strncmp(kind, "token/", 6) == 0)
		return token_read(row, number, out);
	if (strncmp(kind, "fabric/", 7) == 0)
		return fabric_read(row, out);
	if (strncmp(kind, "manager/", 8) == 0)
		return manager_read(row, out);
	return strncmp(kind, "grant/", 6) == 0 && grant_read(row, out);
}

int etcd_row_json_read(const char *key, const json_t *row, struct store_op *out)
{
	char same[ETCD_KEY_BYTES];

	*out = (struct store_op){0};
	if (!row_parse(key, row, out))
		return DXP_EMALFORMED;
	row_key("", out, same);
	return strcmp(key, same) == 0 ? DXP_OK : DXP_EMALFORMED;
}

int etcd_row_read(const struct etcd_seal *s, const char *prefix, const struct etcd_pair *pair,
		  struct store_op *out)
{
	const size_t length = strlen(prefix);

	*out = (struct store_op){0};
	if (strncmp(pair->key, prefix, length) != 0)
		return DXP_EMALFORMED;
	char *text = etcd_seal_open_text(s, pair->key, pair->value);
	json_t *row = text ? json_loads(text, 0, NULL) : NULL;
	if (text)
		keys_erase(text, strlen(text));
	free(text);
	int status = row ? etcd_row_json_read(pair->key + length, row, out) : DXP_EMALFORMED;
	json_decref(row);
	return status;
}
