/* SPDX-License-Identifier: BSD-3-Clause */
/* How a transfer is cut into pieces. Pure.
 *
 * A pipeline costs what its slowest stage costs, and beside that one piece in each other stage
 * (while it fills and empties) and something for each piece (the latency that is not hidden). So of
 * N bytes in pieces of p the first cost grows with p and the second with N / p; both are least
 * where they are equal, and that is at p = sqrt(N x k). k, the bytes that a stage carries while a
 * piece costs it, is BRIDGE_RAMP_BYTES: a few microseconds at 10 GB/s.
 *
 * Then the first pieces are shorter and grow by a quarter, and the last ones shrink by one: the
 * stages start one short piece apart, and a stage that is only a little faster than the next still
 * has each piece there in time. */
#ifndef BRIDGE_CUT_H
#define BRIDGE_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct cut {
	uint64_t bytes;     /* of the transfer */
	uint32_t piece;     /* longest, and all but the last one where there is no ramp */
	uint32_t ramp_from; /* first and last piece of a ramp; 0: none */
};

/* `most`: longest piece that is possible, a multiple of 64. */
void cut_chosen(struct cut *c, uint64_t bytes, uint32_t most);
/* One of several at once, `whole` bytes together: they fill the pipeline as one long transfer does,
 * so its pieces are those of the middle of that, without ramps. */
void cut_joined(struct cut *c, uint64_t bytes, uint64_t whole, uint32_t most);
/* All of one length; `piece` 0: chosen. */
void cut_even(struct cut *c, uint64_t bytes, uint32_t piece, uint32_t most);

/* Bytes of the piece that begins at `at`, which is less than c->bytes. */
uint32_t cut_next(const struct cut *c, uint64_t at);

#endif
