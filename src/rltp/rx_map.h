/* SPDX-License-Identifier: BSD-3-Clause */
/* Map of received packets: all before `cum`, and those whose bit is set in the window of
 * WIRE_WINDOW_MAX packets from `cum`. It alone detects duplicates. Invariant: the bit of
 * `cum` is clear; no bit at or beyond `end` is set; cum <= end <= cum + WIRE_WINDOW_MAX. */
#ifndef RLTP_RX_MAP_H
#define RLTP_RX_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "rltp/limits.h"
#include "wire/limits.h"

#define RX_MAP_WORDS (WIRE_WINDOW_MAX / 64)

struct rx_map {
	uint32_t cum;                 /* next packet number expected */
	uint32_t end;                 /* one past the highest received */
	uint32_t reports;             /* reports made while one could not hold all */
	uint64_t words[RX_MAP_WORDS]; /* bit psn % WIRE_WINDOW_MAX */
};

enum rx_verdict { RX_NEW, RX_DUPLICATE, RX_BEYOND };

void rx_map_init(struct rx_map *m, uint32_t first_psn);

/* Classifies a packet; changes nothing. */
enum rx_verdict rx_map_test(const struct rx_map *m, uint32_t psn);

/* Adds a packet for which rx_map_test returned RX_NEW. Returns true if it opens a new gap. */
bool rx_map_set(struct rx_map *m, uint32_t psn);

/* Returns the number of packets before `psn` that have not arrived. `psn` must not lie beyond the
 * window. */
uint32_t rx_map_missing(const struct rx_map *m, uint32_t psn);

static inline bool rx_map_has_holes(const struct rx_map *m)
{
	return m->end != m->cum;
}

/* Writes the bitmap of an acknowledgement: bit i of word w = packet cum + *offset + 64 w + i; words
 * big-endian, at most `words_max`. If the map needs more words, every second report holds the
 * newest `words_max`; the others go through the parts from the oldest. Returns the number of words.
 */
uint32_t rx_map_report(struct rx_map *m, uint8_t *out, uint32_t words_max, uint16_t *offset);

#endif
