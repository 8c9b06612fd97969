/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned host memory, listed to verify that a bridge pins its rings only once. Pages are not
 * locked: the board's threads copy the bytes, and locking costs 80 us per MiB, for 128 MiB at 2000
 * MB/s a sixth of the time. For one thread. */
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
	uint64_t ever; /* pins so far, for tests */
};

/* DXP_EINVAL: no bytes, or already in the list; DXP_ENOMEM: the list is full. */
int board_pins_add(struct board_pins *p, void *base, uint64_t bytes);
/* The range must be in the list (assert). */
void board_pins_remove(struct board_pins *p, void *base);
void board_pins_clear(struct board_pins *p);

#endif
