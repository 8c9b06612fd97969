/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of user memory that an engine has pinned. A range is pinned because the user requested
 * it, or only while a transfer uses the range. Ranges do not overlap, because engines do not pin a
 * page twice. */
#ifndef DMA_PINS_H
#define DMA_PINS_H

#include "dma/limits.h"
#include "engine/engine.h"

struct pin {
	uint8_t *base;
	uint64_t bytes; /* length of the range; 0: this entry is free */
	uint32_t users; /* transfers that use the range now */
	bool kept;      /* true: pinned until pins_release(); false: pinned until `users` is 0 */
};

struct pins {
	struct engine *engine;
	struct pin all[DMA_PINS_MAX];
};

/* Pins a range until pins_release() is called. DXP_EEXIST: the range overlaps a pinned range;
 * DXP_EBUSY: DMA_PINS_MAX ranges are pinned; other statuses of engine_pin(). */
int pins_keep(struct pins *p, void *base, uint64_t bytes);
/* Unpins a range. DXP_ENOENT: pins_keep() did not pin the range; DXP_EBUSY: a transfer uses the
 * range. */
int pins_release(struct pins *p, const void *base);

/* Returns the pin of a range; pins it if needed. NULL: the range cannot be pinned, and the transfer
 * must copy. */
struct pin *pins_use(struct pins *p, const void *base, uint64_t bytes);
/* Ends one use of `pin` by a transfer; NULL is allowed. */
void pins_drop(struct pins *p, struct pin *pin);

/* Unpins all ranges. No transfer may use them. */
void pins_clear(struct pins *p);

#endif
