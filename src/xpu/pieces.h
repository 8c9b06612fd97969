/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of an allreduce by switches at one member. All members cut it into the same pieces,
 * computed one after another. Pure: allreduce.c moves the data. */
#ifndef XPU_PIECES_H
#define XPU_PIECES_H

#include <stdbool.h>
#include <stdint.h>

struct pieces {
	uint64_t bytes;       /* length of the operation */
	uint32_t piece_max;   /* bytes of all but the last */
	uint64_t done_bytes;  /* bytes of the output that are done */
	uint32_t piece_bytes; /* length of the running piece */
};

enum pieces_step {
	PIECES_NEXT,     /* another piece follows */
	PIECES_COMPLETE, /* all bytes are complete */
	PIECES_LOST,     /* the host can continue after done_bytes */
	PIECES_FAILED,   /* the operation fails with the status of the piece */
	PIECES_CANCELLED /* the host has left */
};

/* The host can continue without switches. */
bool pieces_continue(int status);
/* Sets piece_bytes for the next piece. */
void pieces_next(struct pieces *p);
/* `bytes` of the piece are complete. `left`: the host has left, or has left the group. */
enum pieces_step pieces_ended(struct pieces *p, int status, uint64_t bytes, bool left);

#endif
