/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how transfers are cut, by the times of earlier ones. No formula knows what a piece costs
 * on a machine: where network and DMA share processors, short pieces cost more than they overlap.
 * So a bridge times a few ways to cut for each path and class of length, and keeps the fastest.
 * Pure functions; time is an argument. */
#ifndef BRIDGE_CHOICE_H
#define BRIDGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"

enum choice_way {
	CHOICE_RAMP,       /* cut.h; the first transfers, and all that are not timed */
	CHOICE_COARSE,     /* cut.h, with longer pieces */
	CHOICE_BUFFERS,    /* whole buffers */
	CHOICE_SEQUENTIAL, /* whole buffers, one after the other */
	CHOICE_WAYS
};

/* Classes by powers of two: 16 KiB to 128 MiB. Shorter transfers are one piece; longer ones gain by
 * overlap alone. */
#define CHOICE_BYTES_MIN (16u << 10)
#define CHOICE_CLASSES   13

struct choice_class {
	uint32_t count; /* transfers timed */
	uint32_t tries[CHOICE_WAYS];
	uint64_t
		ns[CHOICE_WAYS]; /* ns per MiB: low values are followed at once, high ones slowly */
};

struct choice {
	struct choice_class classes[BRIDGE_PATHS][CHOICE_CLASSES];
};

/* Returns whether transfers of this length are timed. */
bool choice_covers(uint64_t bytes);
/* Returns the way for the next transfer. `ways`: bit w: this way differs from those before it, so
 * the last of them moves the bytes as mode SEQUENTIAL does. Another way must be faster by a margin,
 * because the times of nearly equal ways vary by more than they differ. */
enum choice_way choice_next(const struct choice *c, uint8_t path, uint64_t bytes, uint32_t ways);
/* Notes how long a transfer took that was alone. */
void choice_note(struct choice *c, uint8_t path, uint64_t bytes, enum choice_way way, uint64_t ns);

#endif
