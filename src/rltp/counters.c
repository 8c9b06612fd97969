/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a session at rest: most are zero or small then, so they are kept in few bytes: a map
 * of the 32-bit words that are not zero, then each of these in groups of 7 bits, low ones first. */
#include <stdlib.h>
#include <string.h>

#include "rltp/internal.h"

#define WORDS    (sizeof(struct rltp_counters) / sizeof(uint32_t))
#define MAP      sizeof(uint64_t)
#define WORD_MAX 5 /* bytes of one word, at most */

_Static_assert(WORDS <= 64, "the map has one bit for each word");

static size_t word_put(uint8_t *out, uint32_t value)
{
	size_t used = 0;

	for (; value >= 0x80; value >>= 7)
		out[used++] = (uint8_t)(value | 0x80);
	out[used++] = (uint8_t)value;
	return used;
}

static size_t word_get(const uint8_t *in, uint32_t *value)
{
	size_t used = 0;

	*value = 0;
	do
		*value |= (uint32_t)(in[used] & 0x7f) << (7 * used);
	while (in[used++] & 0x80);
	return used;
}

bool counters_keep(struct rltp_session *s)
{
	uint8_t packed[MAP + WORDS * WORD_MAX];
	uint32_t words[WORDS];
	uint64_t map = 0;
	size_t used = MAP;

	memcpy(words, &s->io->counters, sizeof(words));
	for (size_t i = 0; i < WORDS; i++) {
		if (words[i] == 0)
			continue;
		map |= 1ull << i;
		used += word_put(packed + used, words[i]);
	}
	s->kept = NULL;
	if (map == 0)
		return true;
	memcpy(packed, &map, sizeof(map));
	s->kept = malloc(used);
	if (s->kept)
		memcpy(s->kept, packed, used);
	return s->kept;
}

static void counters_unpack(const uint8_t *kept, struct rltp_counters *out)
{
	uint32_t words[WORDS] = {0};
	size_t used = MAP;
	uint64_t map = 0;

	if (kept)
		memcpy(&map, kept, sizeof(map));
	for (; map != 0; map &= map - 1)
		used += word_get(kept + used, &words[__builtin_ctzll(map)]);
	memcpy(out, words, sizeof(*out));
}

void counters_restore(struct rltp_session *s)
{
	counters_unpack(s->kept, &s->io->counters);
	free(s->kept);
	s->kept = NULL;
	s->counters = &s->io->counters;
}

void rltp_session_counters(const struct rltp_session *s, struct rltp_counters *out)
{
	if (s->io)
		*out = s->io->counters;
	else
		counters_unpack(s->kept, out);
}
