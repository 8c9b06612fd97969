/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants: which host may use which xPU (X-10: manual assignment). Either every host may use every
 * xPU, or rows decide. A row names a host and an xPU; "*" means all. Names need not exist yet. */
#ifndef MANAGER_GRANTS_H
#define MANAGER_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"

enum grants_policy { GRANTS_ANY, GRANTS_EXPLICIT };

struct grant {
	char host[FABRIC_NAME_BYTES];
	char xpu[FABRIC_NAME_BYTES];
	bool present; /* false: revoked; kept until deleted from the store */
	bool dirty;
};

struct grants {
	enum grants_policy policy;
	uint64_t version; /* grows with each change */
	struct grant *rows;
	size_t count, space, dirty;
};

void grants_init(struct grants *g, enum grants_policy policy);
void grants_free(struct grants *g);

bool grants_allow(const struct grants *g, const char *host, const char *xpu);

/* Adds or removes a row, if needed. DXP_ENOMEM: no memory, or FABRIC_GRANTS_MAX rows. */
int grants_set(struct grants *g, const char *host, const char *xpu, bool present);

/* Returns the next row to store and marks it as stored; false: none. */
bool grants_next_dirty(struct grants *g, struct grant *out);
void grants_dirty_all(struct grants *g);

/* Returns whether `pattern` is "*" or equals `name`. */
bool grants_match(const char *pattern, const char *name);

#endif
