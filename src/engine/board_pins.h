/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory pinned for a board, listed to verify that a bridge registers its rings once. Pages
 * are not locked: threads copy, and locking costs 80 us per MiB (128 MiB in place at 2000 MB/s: a
 * sixth of the time). One thread. */
#ifndef ENGINE_BOARD_PINS_H
#define ENGINE_BOARD_PINS_H

#include <stdint.h>

#include "engine/limits.h"

struct board_pins {
	struct board_pin {
		void *base;
		uint64_t bytes;
	} list[BOARD_PINS_MAX];
	uint32_t count;
	uint64_t ever; /* number of pins so far */
};

/* Adds a range. DXP_EINVAL: no bytes, or pinned already; DXP_ENOMEM: the list is full. */
int board_pins_add(struct board_pins *p, void *base, uint64_t bytes);
/* Removes a range; it must be pinned (assert). */
void board_pins_remove(struct board_pins *p, void *base);
void board_pins_clear(struct board_pins *p);

#endif
