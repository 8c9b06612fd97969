/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of user memory that an engine has pinned: those that the user keeps pinned, and those that
 * are pinned while a transfer uses them. No two overlap, since no engine pins a page twice. */
#ifndef DMA_PINS_H
#define DMA_PINS_H

#include "engine/engine.h"

struct pin {
	uint8_t *base;
	uint64_t bytes; /* 0: the place is free */
	uint32_t users; /* transfers under way */
	bool kept;      /* until pins_release; else until users is 0 */
};

struct pins {
	struct engine *engine;
	struct pin all[DMA_PINS_MAX];
};

/* DXP_EEXIST: overlaps with one that is kept or in use; DXP_EBUSY: DMA_PINS_MAX are; else as
 * engine_pin. */
int pins_keep(struct pins *p, void *base, uint64_t bytes);
/* DXP_ENOENT: not what pins_keep was given; DXP_EBUSY: a transfer uses it. */
int pins_release(struct pins *p, const void *base);

/* The pin that holds the range, made where there is none. NULL: it stays unpinned, which works too.
 */
struct pin *pins_use(struct pins *p, const void *base, uint64_t bytes);
/* NULL is allowed. */
void pins_drop(struct pins *p, struct pin *pin);

/* Unpins all; nobody may use them. */
void pins_clear(struct pins *p);

#endif
