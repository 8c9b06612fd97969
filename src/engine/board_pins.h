/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory that was pinned for a board: only known, so that it can be told whether a bridge
 * registers its rings once. Its pages are not locked: threads copy, and locking costs 80 us for
 * each MiB (128 MiB in place at 2000 MB/s: a sixth of the time, for nothing). One thread. */
#ifndef ENGINE_BOARD_PINS_H
#define ENGINE_BOARD_PINS_H

#include <stdint.h>

#include "base/limits.h"

struct board_pins {
	struct board_pin {
		void *base;
		uint64_t bytes;
	} list[BOARD_PINS_MAX];
	uint32_t count;
	uint64_t ever; /* how often something was pinned */
};

/* DXP_EINVAL: nothing, or pinned already; DXP_ENOMEM: BOARD_PINS_MAX are. */
int board_pins_add(struct board_pins *p, void *base, uint64_t bytes);
/* One that was not pinned is our own mistake. */
void board_pins_remove(struct board_pins *p, void *base);
void board_pins_clear(struct board_pins *p);

#endif
