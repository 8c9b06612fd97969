/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of collectives. */
#ifndef COLLECTIVE_LIMITS_H
#define COLLECTIVE_LIMITS_H

#include <dxp/collective.h>

/* bytes of scratch memory of a member by default: two halves for segments of a ring */
#define COLLECTIVE_SCRATCH     (8ull << 20)
#define COLLECTIVE_SCRATCH_MIN (64ull << 10)
/* bytes: scratch memory is a multiple of it, so that similar lengths need one allocation */
#define COLLECTIVE_SCRATCH_ROUND (64ull << 10)
/* bytes: alignment of inputs in scratch memory; the largest element has 8 */
#define COLLECTIVE_ALIGN 64
/* children of a member of a tree: one kernel combines all of them; 64 members need 2 levels */
#define COLLECTIVE_BRANCHES 8
/* bytes of one PUT of a broadcast along a chain: long against its start, short against the chain */
#define COLLECTIVE_PIECE (1ull << 20)
/* pieces of a chain at most, so that any length has a bounded number of commands */
#define COLLECTIVE_PIECES 256
/* bytes of a chunk in one segment of a ring: one is combined while the next arrives */
#define COLLECTIVE_SLICE (1ull << 20)
/* steps of one operation, and their waits; 100 bytes each */
#define COLLECTIVE_STEPS (1u << 22)
/* bytes: longest operation that uses a tree, or sends to all members directly */
#define COLLECTIVE_SHORT (64ull << 10)

#endif
