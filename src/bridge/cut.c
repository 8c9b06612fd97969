/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/cut.h"

#include <assert.h>

#include "base/util.h"
#include "bridge/limits.h"

#define PAGE 4096u

static uint64_t square_root(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	}
	return root;
}

/* Rounds up to whole pages, at most `most`. */
static uint32_t paged(uint64_t bytes, uint32_t most)
{
	uint64_t pages = (min_u64(bytes, most) + PAGE - 1) / PAGE * PAGE;

	return (uint32_t)min_u64(pages, most);
}

static uint32_t balanced(uint64_t bytes, uint64_t k, uint32_t most)
{
	uint64_t product = bytes > UINT64_MAX / k ? UINT64_MAX : bytes * k;

	return paged(max_u64(square_root(product), BRIDGE_PIECE_MIN), most);
}

static void cut_ramp(struct cut *c, uint64_t bytes, uint64_t k, uint32_t most)
{
	uint32_t piece = balanced(bytes, k, most);

	*c = (struct cut){.bytes = bytes, .piece = piece};
	c->ramp_from = paged(max_u64(piece / 8, BRIDGE_PIECE_MIN), piece);
}

void cut_chosen(struct cut *c, uint64_t bytes, uint32_t most)
{
	cut_ramp(c, bytes, BRIDGE_RAMP_BYTES, most);
}

void cut_coarse(struct cut *c, uint64_t bytes, uint32_t most)
{
	/* The length is a square root: 16 times the constant, 4 times the length. */
	cut_ramp(c, bytes, 16 * BRIDGE_RAMP_BYTES, most);
}

void cut_even(struct cut *c, uint64_t bytes, uint32_t piece, uint32_t most)
{
	assert(piece <= most);
	*c = (struct cut){.bytes = bytes, .piece = piece};
	/* Without ramps, filling and emptying the pipeline takes longer, so pieces are half as
	 * long: a quarter of the constant. */
	if (!piece)
		c->piece = balanced(bytes, BRIDGE_RAMP_BYTES / 4, most);
}

void cut_joined(struct cut *c, uint64_t bytes, uint64_t whole, uint32_t most)
{
	*c = (struct cut){.bytes = bytes, .piece = balanced(whole, BRIDGE_RAMP_BYTES, most)};
}

uint32_t cut_next(const struct cut *c, uint64_t at)
{
	uint64_t left = c->bytes - at, want = c->piece;

	assert(at < c->bytes);
	if (c->ramp_from) {
		/* Growing by a quarter, pieces before one of length L sum to 4 x (L - first) bytes.
		 * Shrinking by a fifth, it and those after it sum to about 5 x (L - last). */
		want = min_u64(want, c->ramp_from + at / 4);
		want = min_u64(want, c->ramp_from + left / 5);
		want = paged(want, c->piece);
	}
	return (uint32_t)min_u64(want, left);
}
