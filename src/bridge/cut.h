/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a transfer into pieces. Pure functions.
 *
 * A pipeline needs the time of its slowest stage plus two overheads. First, one piece in each other
 * stage fills and empties it. Second, each piece has a latency that is not hidden. For N bytes in
 * pieces of p, the first grows with p, the second with N / p. Their sum is least where they are
 * equal: p = sqrt(N x k). k is the number of bytes that a stage carries in the latency of a piece:
 * BRIDGE_RAMP_BYTES, a few microseconds at 10 GB/s.
 *
 * The first pieces are shorter and grow by a quarter each; the last pieces shrink by a quarter
 * each. So a stage starts only the time of a short piece after the previous one. A stage that is
 * slightly faster than the next one delivers in time. */
#ifndef BRIDGE_CUT_H
#define BRIDGE_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct cut {
	uint64_t bytes;
	/* bytes of the longest piece; without a ramp, of all pieces but the last */
	uint32_t piece;
	uint32_t ramp_from; /* bytes of the first and last piece of a ramp; 0: no ramp */
};

/* Chooses pieces for one transfer. `most`: longest possible piece, a multiple of 64. */
void cut_chosen(struct cut *c, uint64_t bytes, uint32_t most);
/* Chooses pieces four times as long, for paths where each piece costs more. */
void cut_coarse(struct cut *c, uint64_t bytes, uint32_t most);
/* Chooses pieces for one of several concurrent transfers of `whole` bytes in total. Together they
 * keep the pipeline filled. So all pieces have the length of the middle pieces of one transfer of
 * `whole` bytes, and no piece is shortened at the ends. */
void cut_joined(struct cut *c, uint64_t bytes, uint64_t whole, uint32_t most);
/* Cuts pieces of equal length. `piece` 0: this function chooses it. */
void cut_even(struct cut *c, uint64_t bytes, uint32_t piece, uint32_t most);

/* Returns the length of the piece at `at` < c->bytes. */
uint32_t cut_next(const struct cut *c, uint64_t at);

#endif
