/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's bitmap. */
#include "rltp/rx_map.h"

#include <string.h>

#include "base/bytes.h"
#include "base/util.h"

static uint32_t slot_of(uint32_t psn)
{
	return psn % RLTP_WINDOW_MAX;
}

static bool bit_get(const struct rx_map *m, uint32_t psn)
{
	return m->words[slot_of(psn) / 64] >> (slot_of(psn) % 64) & 1;
}

static void bit_put(struct rx_map *m, uint32_t psn, bool value)
{
	uint64_t bit = 1ull << (slot_of(psn) % 64);
	uint64_t *word = &m->words[slot_of(psn) / 64];

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
	if (psn - m->cum >= RLTP_WINDOW_MAX)
		return RX_BEYOND;
	return bit_get(m, psn) ? RX_DUPLICATE : RX_NEW;
}

bool rx_map_set(struct rx_map *m, uint32_t psn)
{
	bool gap = seq_before(m->end, psn);

	if (!seq_before(psn, m->end))
		m->end = psn + 1;
	bit_put(m, psn, true);
	while (m->cum != m->end && bit_get(m, m->cum))
		bit_put(m, m->cum++, false);
	return gap;
}

uint32_t rx_map_report(const struct rx_map *m, uint8_t *out, uint32_t words_max, uint16_t *offset)
{
	uint32_t span = m->end - m->cum;
	uint32_t words = (span + 63) / 64;
	uint32_t skipped = words > words_max ? words - words_max : 0;

	words -= skipped;
	*offset = (uint16_t)(skipped * 64);
	for (uint32_t w = 0; w < words; w++) {
		uint64_t word = 0;
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t distance = (skipped + w) * 64 + i;
			if (distance < span && bit_get(m, m->cum + distance))
				word |= 1ull << i;
		}
		put_be64(out + 8 * w, word);
	}
	return words;
}
