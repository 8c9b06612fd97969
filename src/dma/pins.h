/* SPDX-License-Identifier: BSD-3-Clause */
/* User memory that an engine has pinned, at the user's request or during a transfer. Ranges do not
 * overlap, because engines do not pin a page twice. */
#ifndef DMA_PINS_H
#define DMA_PINS_H

#include "dma/limits.h"
#include "engine/engine.h"

struct pin {
	uint8_t *base;
	uint64_t bytes; /* 0: free */
	uint32_t users; /* transfers that use it */
	bool kept;      /* until pins_release(); else until `users` is 0 */
};

struct pins {
	struct engine *engine;
	struct pin all[DMA_PINS_MAX];
};

/* Pins a range until pins_release() is called. DXP_EEXIST: the range overlaps a pinned range;
 * DXP_EBUSY: DMA_PINS_MAX ranges are pinned; other statuses of engine_pin(). */
int pins_keep(struct pins *p, void *base, uint64_t bytes);
/* DXP_ENOENT: not by pins_keep(); DXP_EBUSY: in use. */
int pins_release(struct pins *p, const void *base);

/* Pins the range if needed. NULL: impossible; the transfer must copy. */
struct pin *pins_use(struct pins *p, const void *base, uint64_t bytes);
/* NULL is allowed. */
void pins_drop(struct pins *p, struct pin *pin);

/* No transfer may use them. */
void pins_clear(struct pins *p);

#endif
