/* SPDX-License-Identifier: BSD-3-Clause */
/* One sample of one contender: in processes of its own that are killed when their time is over, so
 * that nothing that a peer does or fails to do can hang or end a benchmark. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/peer.h"

struct outcome {
	int status;     /* DXP_OK also when time was over first; DXP_EUNSUPPORTED: not built */
	uint64_t done;  /* operations, of `count` */
	double seconds; /* that they took */
	double near_cpu_ns, far_cpu_ns; /* in that time */
	double mean_us, p50_us, p99_us; /* of one operation; 0: not measured */
};

void measure(const struct contender *c, const struct raw_ends *ends, const struct work *work,
	     size_t datagram_bytes, struct outcome *out);

/* The same for who wants the times of the single operations: `tally` is zeroed memory that the
 * processes share. It is read, and its samples sorted, for *out. */
void measure_into(struct tally *tally, const struct contender *c, const struct raw_ends *ends,
		  const struct work *work, size_t datagram_bytes, struct outcome *out);
struct tally *tally_map(size_t count); /* so many; NULL: no memory */
void tally_unmap(struct tally *tallies, size_t count);

#endif
