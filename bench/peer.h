/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the interface of contenders: two ends in two processes. The near end requests
 * operations, the far end serves them. Modules (build/lib/dxp-bench-*.so) compile against this
 * header alone and link to the library that they measure. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/raw_udp.h"

#define WORK_DEPTH_MAX 128
#define TALLY_SAMPLES  20000 /* times kept of one sample; later ones are only counted */

/* An operation completes at the same point for all contenders. PUT: the bytes are in the far
 * program's memory and the near end is notified. GET: the bytes are in the near program's memory.
 * PING: the same bytes are back. MESSAGE: the far program has received it, and counts it there. */
enum work_op { WORK_PUT, WORK_GET, WORK_PING, WORK_MESSAGE };

struct work {
	enum work_op op;
	uint32_t bytes;  /* bytes of one operation, 1 .. 2^31 - 1 */
	uint32_t depth;  /* outstanding operations, 1 .. WORK_DEPTH_MAX */
	uint32_t warmup; /* operations before the first that is measured */
	uint64_t count;  /* operations to measure, at least 1 */
	/* ns after which the sample stops with the completed operations; the warm-up has the same
	 * limit */
	uint64_t budget_ns;
	/* depth 1: round trips timed as one, if reading the clock costs as much as a round trip; 0:
	 * 1 */
	uint32_t batch;
	bool spin; /* both ends poll without sleeping */
	bool no_payload_crc;
};

/* Returns the size of either end's memory, which operations use in rotation. It exceeds the level-2
 * cache, as real data does, unless latency is measured (spin). */
static inline uint64_t work_region_bytes(const struct work *w)
{
	uint64_t least = w->spin ? w->bytes : RAW_BUFFER_BYTES;

	return w->bytes > least ? w->bytes : least;
}

/* Returns the offset of operation `index` in that memory. */
static inline uint64_t work_offset(const struct work *w, uint64_t index)
{
	return index % (work_region_bytes(w) / w->bytes) * w->bytes;
}

/* Shared by the processes of one sample; its contents survive a killed process. */
struct tally {
	_Atomic uint64_t done;             /* near end: completed operations of the measurement */
	_Atomic uint64_t counted;          /* far end: messages received, warm-up included */
	_Atomic uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t near_cpu_ns, far_cpu_ns;
	_Atomic uint32_t sample_count;
	int status;
	uint64_t samples[TALLY_SAMPLES]; /* ns of each operation, in order */
};

struct peer_end {
	const struct raw_ends *ends;
	const struct work *work;
	const char *variant; /* variant of the contender: provider, congestion control, ... */
	bool far;
	int control; /* a stream socket to the other end */
	struct tally *tally;
	void *state;
};

struct peer_ops {
	/* Prepares and connects; called at both ends at the same time. Returns any status; the
	 * processes exit without a close. */
	int (*open)(struct peer_end *e);
	/* Near end: starts one operation. Returns DXP_EAGAIN if the caller must poll first. */
	int (*post)(struct peer_end *e);
	/* Near end: polls. Returns the number of operations completed since the last call, in
	 * order, or a status. */
	int (*poll)(struct peer_end *e);
	/* Far end: polls. Sleeps at most a second. */
	void (*serve)(struct peer_end *e);
};

/* The symbol that a module exports. */
extern const struct peer_ops peer_ops_exported;

/* A competitor in a table. */
struct contender {
	const char *name;
	const struct peer_ops *ops; /* NULL: use `module` */
	/* file name of the module, in the library folder beside the folder of programs */
	const char *module;
	const char *variant;
	/* Measures by itself, into the tally; replaces all other fields. `datagram_bytes` is that
	 * of the lab. */
	int (*alone)(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally);
};

/* Contenders in C: RLTP, kernel TCP, bare memory. */
extern const struct peer_ops peer_rltp, peer_tcp, peer_store;

/* Write or read all bytes. Return false if the other end is gone. */
bool control_write(int control, const void *data, size_t bytes);
bool control_read(int control, void *data, size_t bytes);

#endif
