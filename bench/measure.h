/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one sample of one contender in its own processes, killed at a time limit: a peer that
 * hangs or crashes cannot stop the benchmark. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/peer.h"

struct outcome {
	/* DXP_OK even if time ran out before all completed; DXP_EUNSUPPORTED: not built */
	int status;
	uint64_t done;                  /* completed of the requested `count` */
	double seconds;                 /* duration of the completed operations */
	double near_cpu_ns, far_cpu_ns; /* CPU time during the operations */
	double mean_us, p50_us, p99_us; /* per operation; 0: not measured */
};

void measure_run(const struct contender *c, const struct raw_ends *ends, const struct work *work,
		 size_t datagram_bytes, struct outcome *out);

/* The same, and keeps single operations' times. `tally` is zeroed shared memory; its samples are
 * sorted in place. */
void measure_into(struct tally *tally, const struct contender *c, const struct raw_ends *ends,
		  const struct work *work, size_t datagram_bytes, struct outcome *out);
struct tally *measure_tally_map(size_t count); /* NULL: out of memory */
void measure_tally_unmap(struct tally *tallies, size_t count);

#endif
