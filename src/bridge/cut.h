/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a transfer into pieces. Pure functions.
 *
 * The time of a pipeline is the time of its slowest stage plus two overheads. First, while the
 * pipeline fills and empties, one piece passes through each other stage alone. Second, each piece
 * has a latency that is not hidden. For N bytes in pieces of p bytes, the first overhead grows with
 * p, the second one with N / p. Their sum is smallest where they are equal: p = sqrt(N x k). k is
 * the number of bytes that a stage carries in the latency of a piece: BRIDGE_RAMP_BYTES, a few
 * microseconds at 10 GB/s.
 *
 * The first pieces are short, and each is longer than the previous one by a quarter; the last
 * pieces shrink by a fifth each. So each stage starts soon after the previous one, after the time
 * of a short piece. A stage that is slightly faster than the next one delivers in time. */
#ifndef BRIDGE_CUT_H
#define BRIDGE_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct cut {
	uint64_t bytes;
	/* bytes of the longest piece; without a ramp, of all pieces except the last */
	uint32_t piece;
	/* bytes of the first piece and of the last piece of a ramp; 0: no ramp */
	uint32_t ramp_from;
};

/* Chooses the piece lengths of one transfer. `most`: the longest possible piece in bytes, a
 * multiple of 64. */
void cut_chosen(struct cut *c, uint64_t bytes, uint32_t most);
/* Chooses pieces four times as long as cut_chosen, for paths where each piece costs more. */
void cut_coarse(struct cut *c, uint64_t bytes, uint32_t most);
/* Chooses the pieces of one of several concurrent transfers, which have `whole` bytes in total.
 * Together the transfers keep the pipeline filled. So all pieces get the length of the middle
 * pieces of one transfer of `whole` bytes, and no piece at the ends is shorter. */
void cut_joined(struct cut *c, uint64_t bytes, uint64_t whole, uint32_t most);
/* Cuts pieces of `piece` bytes. If `piece` is 0, this function chooses the length. */
void cut_even(struct cut *c, uint64_t bytes, uint32_t piece, uint32_t most);

/* Returns the length in bytes of the piece at offset `at`, which is less than c->bytes. */
uint32_t cut_next(const struct cut *c, uint64_t at);

#endif
