/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how transfers are cut, by times of earlier ones, because no formula knows the cost of a
 * piece: where network and DMA share processors, overlap of short pieces gains less than their
 * number costs. A bridge measures a few ways per path and class of lengths, and uses the fastest.
 * Pure functions. */
#ifndef BRIDGE_CHOICE_H
#define BRIDGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"

enum choice_way {
	/* cut.h; also the first, and all that are not timed */
	CHOICE_RAMP,
	CHOICE_COARSE,     /* cut.h, with pieces four times as long */
	CHOICE_BUFFERS,    /* as long as a buffer */
	CHOICE_SEQUENTIAL, /* as long as a buffer, one after the other */
	CHOICE_WAYS
};

/* Powers of two: 16 KiB to 128 MiB. Shorter transfers are one piece; longer ones gain only by
 * overlap. */
#define CHOICE_BYTES_MIN (16u << 10)
#define CHOICE_CLASSES   13

struct choice_class {
	uint32_t count; /* transfers timed */
	uint32_t tries[CHOICE_WAYS];
	uint64_t
		/* ns per MiB: follows a faster transfer at once, a slower one slowly */
		ns[CHOICE_WAYS];
};

struct choice {
	struct choice_class classes[BRIDGE_PATHS][CHOICE_CLASSES];
};

/* Transfers of this length are timed. */
bool choice_covers(uint64_t bytes);
/* `ways`: bit w: way w cuts this transfer differently from those before. So the last one moves
 * bytes as mode SEQUENTIAL does; another must be faster by a margin, because nearly equal ways vary
 * by more than they differ. */
enum choice_way choice_next(const struct choice *c, uint8_t path, uint64_t bytes, uint32_t ways);
/* Call it only if no other transfer ran. */
void choice_note(struct choice *c, uint8_t path, uint64_t bytes, enum choice_way way, uint64_t ns);

#endif
