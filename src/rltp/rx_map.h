/* SPDX-License-Identifier: BSD-3-Clause */
/* Received packets: all before `cum`, and a bit for each of the WIRE_WINDOW_MAX from `cum` on. Only
 * this map detects duplicates. Invariant: the bit of `cum` is clear; no bit from `end` on is
 * set; cum <= end <= cum + WIRE_WINDOW_MAX. */
#ifndef RLTP_RX_MAP_H
#define RLTP_RX_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "rltp/limits.h"
#include "wire/limits.h"

#define RX_MAP_WORDS (WIRE_WINDOW_MAX / 64)

struct rx_map {
	uint32_t cum;
	uint32_t end;                 /* after the highest received packet */
	uint32_t reports;             /* reports without space for all words */
	uint64_t words[RX_MAP_WORDS]; /* psn has bit psn % WIRE_WINDOW_MAX */
};

enum rx_verdict { RX_NEW, RX_DUPLICATE, RX_BEYOND };

void rx_map_init(struct rx_map *m, uint32_t first_psn);

enum rx_verdict rx_map_test(const struct rx_map *m, uint32_t psn);

/* Adds an RX_NEW packet. True: a new gap opens before it. */
bool rx_map_set(struct rx_map *m, uint32_t psn);

/* Counts packets before `psn` that have not arrived. `psn` is in the window. */
uint32_t rx_map_missing(const struct rx_map *m, uint32_t psn);

static inline bool rx_map_has_holes(const struct rx_map *m)
{
	return m->end != m->cum;
}

/* Writes an ACK's bitmap: bit i of the big-endian word w is packet cum + *offset + 64 w + i.
 * Returns its words, at most `words_max`. If the map needs more, every second report has the newest
 * words, and the others cycle from the oldest. */
uint32_t rx_map_report(struct rx_map *m, uint8_t *out, uint32_t words_max, uint16_t *offset);

#endif
