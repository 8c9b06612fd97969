/* SPDX-License-Identifier: BSD-3-Clause */
/* Map of received packets. All packets before `cum` were received. For the window of
 * WIRE_WINDOW_MAX packets from `cum` on, there is a bit each. Only this map detects duplicates
 * . Invariant: the bit of `cum` is clear; no bit from `end` on is set; cum <= end <= cum +
 * WIRE_WINDOW_MAX. */
#ifndef RLTP_RX_MAP_H
#define RLTP_RX_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "rltp/limits.h"
#include "wire/limits.h"

#define RX_MAP_WORDS (WIRE_WINDOW_MAX / 64)

struct rx_map {
	uint32_t cum;                 /* next expected packet number */
	uint32_t end;                 /* number after the highest received packet */
	uint32_t reports;             /* number of reports that had no space for all words */
	uint64_t words[RX_MAP_WORDS]; /* packet psn has bit psn % WIRE_WINDOW_MAX */
};

enum rx_verdict { RX_NEW, RX_DUPLICATE, RX_BEYOND };

void rx_map_init(struct rx_map *m, uint32_t first_psn);

enum rx_verdict rx_map_test(const struct rx_map *m, uint32_t psn);

/* Adds a packet for which rx_map_test returned RX_NEW. Returns true if a new gap opens before this
 * packet. */
bool rx_map_set(struct rx_map *m, uint32_t psn);

/* Returns how many packets before `psn` have not arrived. `psn` must not lie beyond the window. */
uint32_t rx_map_missing(const struct rx_map *m, uint32_t psn);

static inline bool rx_map_has_holes(const struct rx_map *m)
{
	return m->end != m->cum;
}

/* Writes the bitmap of an acknowledgement. Bit i of word w is packet cum + *offset + 64 w + i.
 * Words are big-endian. Returns the number of words, at most `words_max`. If the map needs more
 * words, every second report contains the newest words. The other reports contain one part after
 * another, from the oldest. */
uint32_t rx_map_report(struct rx_map *m, uint8_t *out, uint32_t words_max, uint16_t *offset);

#endif
