/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how transfers are cut, by the times that earlier transfers took. No formula knows what a
 * piece costs on a machine: where network and DMA share processors, the overlap of short pieces
 * gains less than their number costs. So a bridge measures a few ways to cut, for each path and
 * class of lengths, and uses the fastest. Pure functions; time is an argument. */
#ifndef BRIDGE_CHOICE_H
#define BRIDGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"

enum choice_way {
	/* cut.h; used for the first transfers, and for all transfers that are not timed */
	CHOICE_RAMP,
	CHOICE_COARSE,     /* cut.h, with pieces four times as long */
	CHOICE_BUFFERS,    /* pieces as long as a buffer */
	CHOICE_SEQUENTIAL, /* pieces as long as a buffer, one after the other */
	CHOICE_WAYS
};

/* Classes of lengths, by powers of two: 16 KiB to 128 MiB. Shorter transfers are one piece; longer
 * ones gain only by overlap, so there is nothing to choose. */
#define CHOICE_BYTES_MIN (16u << 10)
#define CHOICE_CLASSES   13

struct choice_class {
	uint32_t count; /* number of transfers timed */
	uint32_t tries[CHOICE_WAYS];
	uint64_t
		/* estimate for each way in ns per MiB: it follows a faster transfer at once, and a
		 * slower one slowly */
		ns[CHOICE_WAYS];
};

struct choice {
	struct choice_class classes[BRIDGE_PATHS][CHOICE_CLASSES];
};

/* Returns true if transfers of this length are timed. */
bool choice_covers(uint64_t bytes);
/* Returns the way for the next transfer. `ways`: bit w: way w cuts this transfer differently from
 * the ways before it, so the last of them moves the bytes as mode SEQUENTIAL does. Another way must
 * be faster by a margin, because the times of nearly equal ways vary by more than they differ. */
enum choice_way choice_next(const struct choice *c, uint8_t path, uint64_t bytes, uint32_t ways);
/* Records the time of a transfer during which no other transfer ran. */
void choice_note(struct choice *c, uint8_t path, uint64_t bytes, enum choice_way way, uint64_t ns);

#endif
