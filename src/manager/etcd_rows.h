/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the registry as keys and values of etcd. The key is PREFIX and node/ID, key/INDEX,
 * token/INDEX, grant/HOST/XPU or fabric/key. The value is a JSON object, sealed by AES-256-GCM with
 * a key that is derived from the fabric key, because rows hold magics and token secrets. Pure. */
#ifndef MANAGER_ETCD_ROWS_H
#define MANAGER_ETCD_ROWS_H

#include "crypto/crypto.h"
#include "manager/etcd.h"
#include "manager/registry.h"

/* bytes of PREFIX: /dxp/FABRIC/ */
#define ETCD_PREFIX_BYTES (ETCD_NAME_BYTES + 8)
#define ETCD_KEY_BYTES    (ETCD_PREFIX_BYTES + 2 * FABRIC_NAME_BYTES + 16)

struct etcd_seal {
	struct crypto crypto;
	uint8_t key[CRYPTO_KEY_BYTES];
	entropy_fn entropy; /* random source of nonces */
	void *entropy_context;
};

/* Derives the key. DXP_ENOMEM, DXP_EIO. End it with etcd_seal_close. */
int etcd_seal_open(const uint8_t fabric_key[FABRIC_KEY_BYTES], struct etcd_seal *out);
void etcd_seal_close(struct etcd_seal *s);
/* Seals a text for the etcd key `name`; the caller frees the result. NULL: no memory. */
char *etcd_seal_text(const struct etcd_seal *s, const char *name, const char *text);
/* Opens a sealed text; the caller frees the result. NULL: the text is damaged, or it was sealed
 * with another key or for another name. */
char *etcd_seal_open_text(const struct etcd_seal *s, const char *name, const char *sealed);

/* Returns the row of a change that stores something, not sealed, and sets its key without PREFIX;
 * json_decref it. NULL: no memory. */
json_t *etcd_row_json(const struct store_op *op, char key[ETCD_KEY_BYTES]);
/* Reads such a row. DXP_EMALFORMED: it is none. */
int etcd_row_json_read(const char *key, const json_t *row, struct store_op *out);

/* A change of etcd. */
struct etcd_row {
	char key[ETCD_KEY_BYTES];
	char *value; /* NULL: delete the key */
	/* If not NULL, and `value` is NULL: deletes the keys from this one on and before `key`. */
	const char *from;
};

/* Converts a change of the registry to one in etcd. The caller frees out->value. DXP_ENOMEM. */
int etcd_row_make(const struct etcd_seal *s, const char *prefix, const struct store_op *op,
		  struct etcd_row *out);
/* Reads a row. DXP_EMALFORMED: the pair is not a row of this fabric. */
int etcd_row_read(const struct etcd_seal *s, const char *prefix, const struct etcd_pair *pair,
		  struct store_op *out);

#endif
