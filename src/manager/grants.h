/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants: which host may use which xPU (X-10: manual assignment). By policy, either every host may
 * use every xPU, or the rows of this table decide. A row names a host and an xPU; "*" means all.
 * The named nodes need not exist yet. */
#ifndef MANAGER_GRANTS_H
#define MANAGER_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/hash_index.h"
#include "manager/list.h"
#include "wire/limits.h"

enum grants_policy { GRANTS_ANY, GRANTS_EXPLICIT };

struct grant {
	char host[FABRIC_NAME_BYTES];
	char xpu[FABRIC_NAME_BYTES];
	bool present; /* false: revoked; the row is kept until it is deleted from the store */
	bool dirty;
	struct hash_link by_names;
	struct list by_free;
};

struct grants {
	enum grants_policy policy;
	uint64_t version;   /* grows with each change */
	struct grant *rows; /* FABRIC_GRANTS_MAX rows, of which `count` were used; NULL: none yet */
	size_t count, dirty;
	size_t present;     /* number of rows that are not revoked */
	size_t wildcards;   /* number of used rows with "*" */
	size_t dirty_first; /* no row before this index is dirty */
	struct hash_index by_names;
	struct list free; /* revoked rows that are deleted from the store */
};

/* `secret`, `examined`: of hash_index_create. DXP_ENOMEM. */
int grants_create(struct grants *g, enum grants_policy policy, const uint64_t secret[2],
		  uint64_t *examined);
void grants_free(struct grants *g);

bool grants_allow(const struct grants *g, const char *host, const char *xpu);

/* Adds or removes a row; does nothing if the table is already as requested. DXP_ENOMEM: no memory,
 * or FABRIC_GRANTS_MAX rows. */
int grants_set(struct grants *g, const char *host, const char *xpu, bool present);

/* Returns the next row to store, and marks it as stored. Returns false if there is none. */
bool grants_next_dirty(struct grants *g, struct grant *out);
void grants_dirty_all(struct grants *g);

/* Returns true if `pattern` is "*" or equals `name`. */
bool grants_match(const char *pattern, const char *name);

#endif
