/* SPDX-License-Identifier: BSD-3-Clause */
/* Which host may use which xPU (X-10: manual assignment). Either any host any xPU, or only what
 * rows say; a row names a host and an xPU by name, "*" for all. Names, because a grant may be made
 * before the node has ever been seen. */
#ifndef MANAGER_GRANTS_H
#define MANAGER_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

enum grants_policy { GRANTS_ANY, GRANTS_EXPLICIT };

struct grant {
	char host[FABRIC_NAME_BYTES];
	char xpu[FABRIC_NAME_BYTES];
	bool present; /* false: revoked, kept until the store knows */
	bool dirty;   /* the store does not know */
};

struct grants {
	enum grants_policy policy;
	uint64_t version; /* grows with every change */
	struct grant *rows;
	size_t count, room, dirty;
};

void grants_init(struct grants *g, enum grants_policy policy);
void grants_free(struct grants *g);

bool grants_allow(const struct grants *g, const char *host, const char *xpu);

/* Adds or removes a row. DXP_OK, also when it was so already; DXP_ENOMEM: no memory, or
 * FABRIC_GRANTS_MAX rows. */
int grants_set(struct grants *g, const char *host, const char *xpu, bool present);

/* The next row that the store does not know, which is taken as stored then; false when there is
 * none. */
bool grants_next_dirty(struct grants *g, struct grant *out);
void grants_dirty_all(struct grants *g);

/* "*" or the name itself. */
bool grants_match(const char *pattern, const char *name);

#endif
