/* SPDX-License-Identifier: BSD-3-Clause */
/* One shape for everything that is measured, ours and others': two ends in two processes, the near
 * one asks for operations and the far one serves them. Modules (build/lib/dxp-bench-*.so) are
 * compiled against this header alone and link to what they measure. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/raw_udp.h"

#define WORK_DEPTH_MAX 128
#define TALLY_SAMPLES  20000 /* times kept of one sample; the rest is counted only */

/* What ends an operation is the same for all: PUT, when the bytes are in the far program's memory
 * and the near one knows; GET, when they are here; PING, when the same bytes are back; MESSAGE,
 * when the far program has taken it (which is counted there). */
enum work_op { WORK_PUT, WORK_GET, WORK_PING, WORK_MESSAGE };

struct work {
	enum work_op op;
	uint32_t bytes;     /* of one operation, 1 .. 2^31 - 1 */
	uint32_t depth;     /* outstanding at once, 1 .. WORK_DEPTH_MAX */
	uint32_t warmup;    /* operations before the first that is measured */
	uint64_t count;     /* operations to measure, at least 1 */
	uint64_t budget_ns; /* then it ends with what is done; warm-up has as long again */
	uint32_t batch; /* depth 1: trips timed as one, where a clock would cost as much as they do;
			   0: 1 */
	bool spin;      /* both ends poll without ever sleeping */
	bool no_payload_crc;
};

/* Memory of either end that operations go through one after the other: beyond the level-2 cache, as
 * real data is, unless it is their latency that is measured. */
static inline uint64_t work_place_bytes(const struct work *w)
{
	uint64_t least = w->spin ? w->bytes : RAW_PLACE_BYTES;

	return w->bytes > least ? w->bytes : least;
}

/* Where in it operation `turn` has its bytes. */
static inline uint64_t work_place(const struct work *w, uint64_t turn)
{
	return turn % (work_place_bytes(w) / w->bytes) * w->bytes;
}

/* Shared by the processes of one sample; what is here survives whoever is killed. */
struct tally {
	_Atomic uint64_t done;             /* near end: operations measured and complete */
	_Atomic uint64_t taken;            /* far end: messages received, warm-up included */
	_Atomic uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t near_cpu_ns, far_cpu_ns;
	_Atomic uint32_t sample_count;
	int status;
	uint64_t samples[TALLY_SAMPLES]; /* ns of each operation, in order */
};

struct peer_end {
	const struct raw_ends *ends;
	const struct work *work;
	const char *variant; /* provider, congestion control, ...: of the contender */
	bool far;
	int control; /* a stream socket to the other end */
	struct tally *tally;
	void *state;
};

struct peer_ops {
	/* Both ends, at the same time: makes ready and connects. Any status; the ends' processes
	 * end instead of closing. */
	int (*open)(struct peer_end *e);
	/* Near: starts one operation. DXP_EAGAIN: not now, poll first. */
	int (*post)(struct peer_end *e);
	/* Near: moves on. Returns how many operations have ended since, oldest first, or a status.
	 */
	int (*poll)(struct peer_end *e);
	/* Far: moves on. Sleeps for at most a second. */
	void (*serve)(struct peer_end *e);
};

/* What a module exports, as `peer_ops_exported`. */
extern const struct peer_ops peer_ops_exported;

/* A competitor in a table. */
struct contender {
	const char *name;
	const struct peer_ops *ops; /* NULL: from `module` */
	const char *module;         /* file name in the library folder beside the programs' */
	const char *variant;
	/* In place of all that: measures by itself, into the tally. `datagram_bytes` as the lab's.
	 */
	int (*alone)(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally);
};

/* In C: ours, kernel TCP, bare memory. */
extern const struct peer_ops peer_rltp, peer_tcp, peer_store;

/* Reads or writes all of it; false when the other end is gone. */
bool control_write(int control, const void *data, size_t bytes);
bool control_read(int control, void *data, size_t bytes);

#endif
