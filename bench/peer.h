/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the interface of contenders: two ends in two processes. The near end requests
 * operations, and the far end serves them. Modules (build/lib/dxp-bench-*.so) include only this
 * header of the project, and link to the library that they measure. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/raw_udp.h"

#define WORK_DEPTH_MAX 128
/* operations of a sample whose times are kept; later operations are only counted */
#define TALLY_SAMPLES 20000

/* Operations. Each completes at the same point for all contenders. PUT: the bytes are in the far
 * program's memory and the near end knows it. GET: the bytes are in the near program's memory.
 * PING: the same bytes have returned. MESSAGE: the far program has received the message and counted
 * it. */
enum work_op { WORK_PUT, WORK_GET, WORK_PING, WORK_MESSAGE };

struct work {
	enum work_op op;
	uint32_t bytes;  /* bytes of one operation, 1 .. 2^31 - 1 */
	uint32_t depth;  /* outstanding operations, 1 .. WORK_DEPTH_MAX */
	uint32_t warmup; /* operations before the measurement */
	uint64_t count;  /* operations to measure, at least 1 */
	/* ns after which the sample stops, even if operations are missing. The same limit applies
	 * to the warm-up. */
	uint64_t budget_ns;
	/* number of round trips between two reads of the clock, for depth 1. It is above 1 if
	 * reading the clock costs as much as a round trip; 0 means 1. */
	uint32_t batch;
	bool spin; /* both ends poll without sleeping */
	bool no_payload_crc;
};

/* Returns the size in bytes of the memory of either end. Operations use it from start to end, again
 * and again. It exceeds the level-2 cache, as real data does, except in measurements of latency
 * (spin). */
static inline uint64_t work_region_bytes(const struct work *w)
{
	uint64_t least = w->spin ? w->bytes : RAW_BUFFER_BYTES;

	return w->bytes > least ? w->bytes : least;
}

/* Returns the offset of operation `index` in the memory of an end. */
static inline uint64_t work_offset(const struct work *w, uint64_t index)
{
	return index % (work_region_bytes(w) / w->bytes) * w->bytes;
}

/* Results that the processes of one sample share; they survive a killed process. */
struct tally {
	/* written by the near end: completed operations of the measurement */
	_Atomic uint64_t done;
	/* written by the far end: messages received, with those of the warm-up */
	_Atomic uint64_t counted;
	_Atomic uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t near_cpu_ns, far_cpu_ns;
	_Atomic uint32_t sample_count;
	int status;
	uint64_t samples[TALLY_SAMPLES]; /* ns of each operation, in the order of completion */
};

struct peer_end {
	const struct raw_ends *ends;
	const struct work *work;
	const char *variant; /* variant of the contender: provider, congestion control, ... */
	bool far;
	int control; /* a stream socket to the process of the other end */
	struct tally *tally;
	void *state;
};

struct peer_ops {
	/* Prepares and connects. Both ends call it at the same time. Returns any status. There is
	 * no close, because the processes exit. */
	int (*open)(struct peer_end *e);
	/* Near end: starts one operation. Returns DXP_EAGAIN if the caller must poll first. */
	int (*post)(struct peer_end *e);
	/* Near end: polls. Returns the number of operations that completed since the last call, in
	 * order of posting, or a status. */
	int (*poll)(struct peer_end *e);
	/* Far end: polls. May sleep, but for at most a second. */
	void (*serve)(struct peer_end *e);
};

/* The symbol that a module exports. */
extern const struct peer_ops peer_ops_exported;

/* A competitor in a table. */
struct contender {
	const char *name;
	const struct peer_ops *ops; /* NULL: use `module` */
	/* file name of the module, in the folder ../lib relative to the program */
	const char *module;
	const char *variant;
	/* Measures by itself, and writes to the tally. If set, `ops`, `module` and `variant` are
	 * unused. `datagram_bytes` is the size that the lab defines. */
	int (*alone)(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally);
};

/* Contenders in C: RLTP, kernel TCP, and bare memory. */
extern const struct peer_ops peer_rltp, peer_tcp, peer_store;

/* Write or read all bytes of a message. Return false if the other process has exited. */
bool control_write(int control, const void *data, size_t bytes);
bool control_read(int control, void *data, size_t bytes);

#endif
