/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of contenders: a near process requests operations, a far one serves them. Modules
 * (build/lib/dxp-bench-*.so) include only this header and peer_stream.h of the project, and link
 * the measured library. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/raw_udp.h"

#define WORK_DEPTH_MAX 128
/* times kept per sample; later operations are only counted */
#define TALLY_SAMPLES 20000

/* All contenders complete at the same point. PUT: the near end knows that the bytes are in the far
 * program's memory. GET: they are in the near program's memory. PING: they have returned. MESSAGE:
 * the far program has received and counted it. */
enum work_op { WORK_PUT, WORK_GET, WORK_PING, WORK_MESSAGE };

struct work {
	enum work_op op;
	uint32_t bytes;  /* per operation, 1 .. 2^31 - 1 */
	uint32_t depth;  /* outstanding operations, 1 .. WORK_DEPTH_MAX */
	uint32_t warmup; /* operations before the measurement */
	uint64_t count;  /* operations to measure, at least 1 */
	/* time limit of the sample, and of the warm-up */
	uint64_t budget_ns;
	/* round trips per clock read, for depth 1; above 1 where a read costs as much as a round
	 * trip; 0 means 1 */
	uint32_t batch;
	bool spin;               /* both ends poll without sleeping */
	const char *payload_crc; /* of RLTP: auto, always or never; NULL: auto */
};

/* Returns the bytes of either end's memory, which operations use in rotation. Except for latency
 * (spin) it exceeds the level-2 cache, as real data does. */
static inline uint64_t work_region_bytes(const struct work *w)
{
	uint64_t least = w->spin ? w->bytes : RAW_BUFFER_BYTES;

	return w->bytes > least ? w->bytes : least;
}

static inline uint64_t work_offset(const struct work *w, uint64_t index)
{
	return index % (work_region_bytes(w) / w->bytes) * w->bytes;
}

/* Results shared by a sample's processes; they survive a killed process. */
struct tally {
	/* near end: completed operations, without warm-up */
	_Atomic uint64_t done;
	/* far end: received messages, with warm-up */
	_Atomic uint64_t counted;
	_Atomic uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t near_cpu_ns, far_cpu_ns;
	_Atomic uint32_t sample_count;
	int status;
	uint64_t samples[TALLY_SAMPLES]; /* ns, in completion order */
};

struct peer_end {
	const struct raw_ends *ends;
	const struct work *work;
	const char *variant; /* provider, congestion control, ... */
	bool far;
	int control; /* stream socket to the other end's process */
	struct tally *tally;
	void *state;
};

struct peer_ops {
	/* Prepares and connects. Both ends call it at the same time. Returns any status. There is
	 * no close, because the processes exit. */
	int (*open)(struct peer_end *e);
	/* Near end: starts an operation. DXP_EAGAIN: poll first. */
	int (*post)(struct peer_end *e);
	/* Near end: returns the operations completed since the last call, in posting order, or a
	 * status. */
	int (*poll)(struct peer_end *e);
	/* Far end: polls; sleeps at most a second. */
	void (*serve)(struct peer_end *e);
};

/* Exported by each module. */
extern const struct peer_ops peer_ops_exported;

struct contender {
	const char *name;
	const struct peer_ops *ops; /* NULL: use `module` */
	/* file in ../lib relative to the program */
	const char *module;
	const char *variant;
	/* Measures by itself into the tally; `ops`, `module` and `variant` are then unused.
	 * `datagram_bytes` is the lab's. */
	int (*alone)(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally);
};

/* RLTP, kernel TCP, and bare memory. */
extern const struct peer_ops peer_rltp, peer_tcp, peer_store;

/* Transfer the whole message. Return false if the other process exited. */
bool control_write(int control, const void *data, size_t bytes);
bool control_read(int control, void *data, size_t bytes);

#endif
