/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one sample of one contender in processes of its own, which are killed at a time limit.
 * So a peer that hangs or crashes cannot hang or stop the benchmark. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/peer.h"

struct outcome {
	/* DXP_OK, even if the time ran out before all operations were completed; DXP_EUNSUPPORTED
	 * if the contender was not built */
	int status;
	uint64_t done;  /* operations that completed, out of the requested `count` */
	double seconds; /* duration of the completed operations */
	double near_cpu_ns, far_cpu_ns; /* CPU time of each process during the operations */
	double mean_us, p50_us, p99_us; /* time of one operation; 0: not measured */
};

void measure_run(const struct contender *c, const struct raw_ends *ends, const struct work *work,
		 size_t datagram_bytes, struct outcome *out);

/* Does what measure_run does, and also keeps the times of single operations. `tally` is zeroed
 * memory that the processes share; its samples are sorted in place. */
void measure_into(struct tally *tally, const struct contender *c, const struct raw_ends *ends,
		  const struct work *work, size_t datagram_bytes, struct outcome *out);
struct tally *
measure_tally_map(size_t count); /* returns `count` tallies, or NULL if out of memory */
void measure_tally_unmap(struct tally *tallies, size_t count);

#endif
