/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves a registry between stores through a file: a JSON object with all rows, the event log, the
 * private key of the managers, and the number of transactions. The file has all secrets of the
 * fabric but the fabric key; it has a check value of that. Errors are logged. */
#ifndef MANAGER_TRANSFER_H
#define MANAGER_TRANSFER_H

#include "manager/server.h"
#include "manager/store_etcd.h"

struct transfer {
	struct registry *registry;
	uint8_t private_key[KEYS_BYTES];
	uint64_t version;
	size_t nodes, keys, tokens, grants, events; /* rows, for a report */
	size_t events_left_out; /* of `events`, older ones for which the target has no space */
};

/* Returns the text of the file, and sets the numbers of rows; free() it. NULL: no memory. */
char *transfer_write(struct transfer *t, const uint8_t fabric_key[FABRIC_KEY_BYTES]);
/* Reads the text of the file into the empty registry t->registry, all of which the next store_save
 * writes. DXP_EMALFORMED: damaged, or of another fabric key; DXP_EUNSUPPORTED: of another version;
 * DXP_ENOMEM. */
int transfer_read(const char *text, const uint8_t fabric_key[FABRIC_KEY_BYTES], struct transfer *t);

/* Checks that a store in which this process may act has no rows and no events. DXP_EEXIST: it has
 * some, other than those of an interrupted import of the same file. `import` is that of the store
 * in etcd, or NULL. */
int transfer_empty(struct store *s, const struct store_import *import);
/* Saves everything to such a store. DXP_EIO: SQLite has nothing of it, etcd a part. */
int transfer_save(struct transfer *t, struct store *s, const struct store_import *import);

/* Write the registry of a store to a file that does not exist, and read it from a file into an
 * empty store. DXP_EBUSY: a manager runs; DXP_EEXIST: the file exists, or the store is not empty;
 * DXP_ENOENT: no such store or file, or no manager.key beside manager.db; other statuses are those
 * of the functions above. t->private_key stays set after success. */
int transfer_export(const struct server_options *options, const char *path, struct transfer *t);
int transfer_import(const struct server_options *options, const char *path, struct transfer *t);

#endif
