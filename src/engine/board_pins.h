/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory pinned for a board. The list serves to verify that a bridge pins its rings only once.
 * Pages are not really locked: the board's threads copy the bytes, and locking costs 80 us per MiB.
 * For 128 MiB at 2000 MB/s that would be a sixth of the time. Only one thread may call these
 * functions. */
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
	uint64_t ever; /* number of pins so far, for tests */
};

/* Adds a range. DXP_EINVAL: the range has no bytes or is already in the list; DXP_ENOMEM: the list
 * is full. */
int board_pins_add(struct board_pins *p, void *base, uint64_t bytes);
/* Removes a range, which must be in the list (assert). */
void board_pins_remove(struct board_pins *p, void *base);
void board_pins_clear(struct board_pins *p);

#endif
