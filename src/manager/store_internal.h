/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of store behind store.h. */
#ifndef MANAGER_STORE_INTERNAL_H
#define MANAGER_STORE_INTERNAL_H

#include "manager/store.h"

/* The contracts of these functions are those of store.h. */
struct store_ops {
	int (*private_key)(struct store *s, uint8_t key[KEYS_BYTES]);
	/* The next four functions are NULL if the manager is always active. */
	uint64_t (*step)(struct store *s);
	uint64_t (*term)(const struct store *s);
	const char *(*other)(const struct store *s);
	void (*resign)(struct store *s);
	void (*close)(struct store *s);
	int (*load)(struct store *s, struct registry *r);
	int (*check)(struct store *s, struct registry *r);
	int (*save)(struct store *s, struct registry *r);
	int (*save_all)(struct store *s, struct registry *r);                    /* or NULL */
	uint64_t (*version)(const struct store *s);                              /* or NULL */
	int (*import_mark)(struct store *s, const char *digest);                 /* or NULL */
	uint64_t (*log_save)(struct store *s, struct registry *r, bool at_once); /* or NULL */
};

/* The first member of each kind of store. */
struct store {
	const struct store_ops *ops;
};

int store_sqlite_open(const char *folder, struct store **out);

#endif
