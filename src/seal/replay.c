/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/replay.h"

#include <string.h>

void replay_init(struct replay *r, uint64_t next)
{
	r->next = next;
	memset(r->seen, 0xff, sizeof(r->seen));
}

uint64_t replay_counter(uint64_t next, uint32_t low)
{
	int64_t difference = (int32_t)(low - (uint32_t)next);

	/* Counters begin at 0, so the frame has a higher one. */
	if (difference < 0 && (uint64_t)-difference > next)
		difference += (int64_t)1 << 32;
	return next + (uint64_t)difference;
}

static uint64_t *word_of(struct replay *r, uint64_t counter)
{
	return &r->seen[counter % REPLAY_WINDOW / 64];
}

bool replay_seen(const struct replay *r, uint64_t counter)
{
	if (counter >= r->next)
		return false;
	if (r->next - counter > REPLAY_WINDOW)
		return true;
	return r->seen[counter % REPLAY_WINDOW / 64] >> counter % 64 & 1;
}

void replay_mark(struct replay *r, uint64_t counter)
{
	if (counter >= r->next + REPLAY_WINDOW)
		memset(r->seen, 0, sizeof(r->seen));
	else
		for (uint64_t i = r->next; i < counter; i++)
			*word_of(r, i) &= ~(1ull << i % 64);
	*word_of(r, counter) |= 1ull << counter % 64;
	if (counter >= r->next)
		r->next = counter + 1;
}
