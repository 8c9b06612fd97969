/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a transfer into pieces. Pure functions.
 *
 * While a pipeline fills and empties, one piece passes each stage but the slowest alone, which
 * grows with the piece length p. Each piece has a latency that is not hidden, which for N bytes
 * grows with N / p. The sum is smallest where they are equal: p = sqrt(N x k). k is the bytes that
 * a stage carries in a piece's latency: BRIDGE_RAMP_BYTES, a few microseconds at 10 GB/s.
 *
 * The first pieces are short and grow by a quarter each; the last shrink by a fifth each. So each
 * stage starts soon after the previous one, and a slightly faster one delivers in time. */
#ifndef BRIDGE_CUT_H
#define BRIDGE_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct cut {
	uint64_t bytes;
	/* longest piece; without a ramp, all but the last */
	uint32_t piece;
	/* first and last piece of a ramp; 0: no ramp */
	uint32_t ramp_from;
};

/* `most`: longest possible piece, a multiple of 64. */
void cut_chosen(struct cut *c, uint64_t bytes, uint32_t most);
/* Cuts pieces four times as long as cut_chosen() does, for paths where each piece costs more. */
void cut_coarse(struct cut *c, uint64_t bytes, uint32_t most);
/* Chooses the pieces of one of several concurrent transfers, which have `whole` bytes in total.
 * Together the transfers keep the pipeline filled. So all pieces get the length of the middle
 * pieces of one transfer of `whole` bytes, and no piece at the ends is shorter. */
void cut_joined(struct cut *c, uint64_t bytes, uint64_t whole, uint32_t most);
/* 0: chooses the length. */
void cut_even(struct cut *c, uint64_t bytes, uint32_t piece, uint32_t most);

/* `at` is less than c->bytes. */
uint32_t cut_next(const struct cut *c, uint64_t at);

#endif
