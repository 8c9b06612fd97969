/* SPDX-License-Identifier: BSD-3-Clause */
#include "rltp/rx_map.h"

#include <string.h>

#include "base/bytes.h"
#include "base/util.h"

static uint32_t entry_of(uint32_t psn)
{
	return psn % WIRE_WINDOW_MAX;
}

static bool bit_get(const struct rx_map *m, uint32_t psn)
{
	return m->words[entry_of(psn) / 64] >> (entry_of(psn) % 64) & 1;
}

static void bit_put(struct rx_map *m, uint32_t psn, bool value)
{
	uint64_t bit = 1ull << (entry_of(psn) % 64);
	uint64_t *word = &m->words[entry_of(psn) / 64];

	*word = value ? *word | bit : *word & ~bit;
}

void rx_map_init(struct rx_map *m, uint32_t first_psn)
{
	memset(m, 0, sizeof(*m));
	m->cum = first_psn;
	m->end = first_psn;
}

enum rx_verdict rx_map_test(const struct rx_map *m, uint32_t psn)
{
	if (seq_before(psn, m->cum))
		return RX_DUPLICATE;
	if (psn - m->cum >= WIRE_WINDOW_MAX)
		return RX_BEYOND;
	return bit_get(m, psn) ? RX_DUPLICATE : RX_NEW;
}

bool rx_map_set(struct rx_map *m, uint32_t psn)
{
	if (psn == m->cum && m->cum == m->end) {
		m->cum = m->end = psn + 1; /* no hole */
		return false;
	}
	bool gap = seq_before(m->end, psn);
	if (!seq_before(psn, m->end))
		m->end = psn + 1;
	bit_put(m, psn, true);
	while (m->cum != m->end && bit_get(m, m->cum))
		bit_put(m, m->cum++, false);
	return gap;
}

/* Returns the bits of 64 packets from cum + distance on. */
static uint64_t word_from(const struct rx_map *m, uint32_t distance)
{
	uint32_t entry = entry_of(m->cum + distance), shift = entry % 64;
	uint64_t low = m->words[entry / 64] >> shift;

	if (shift == 0)
		return low;
	return low | m->words[(entry / 64 + 1) % RX_MAP_WORDS] << (64 - shift);
}

uint32_t rx_map_missing(const struct rx_map *m, uint32_t psn)
{
	uint32_t before = seq_before(psn, m->cum) ? 0 : psn - m->cum, missing = before;

	for (uint32_t d = 0; d < before; d += 64) {
		uint64_t word = word_from(m, d);
		if (before - d < 64)
			word &= (1ull << (before - d)) - 1;
		missing -= (uint32_t)__builtin_popcountll(word);
	}
	return missing;
}

/* Selects `words_max` of `words` words for a report; returns how many to skip from the oldest. */
static uint32_t part_choose(struct rx_map *m, uint32_t words, uint32_t words_max)
{
	uint32_t report = m->reports++, newest = words - words_max;
	uint32_t parts = (words + words_max - 1) / words_max;

	if (report % 2 == 0)
		return newest;
	uint32_t skipped = report / 2 % parts * words_max;
	return skipped < newest ? skipped : newest;
}

uint32_t rx_map_report(struct rx_map *m, uint8_t *out, uint32_t words_max, uint16_t *offset)
{
	uint32_t span = m->end - m->cum;
	uint32_t words = (span + 63) / 64;
	uint32_t skipped = words > words_max ? part_choose(m, words, words_max) : 0;

	if (words > words_max)
		words = words_max;
	*offset = (uint16_t)(skipped * 64);
	for (uint32_t w = 0; w < words; w++)
		put_be64(out + 8 * w, word_from(m, (skipped + w) * 64));
	return words;
}
