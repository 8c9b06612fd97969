/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures raw UDP as fast as a small program can be, the reference for RLTP on the same machine in
 * the same minute. No reliability, headers or mixed batches; connected sockets. Also measures
 * core-to-core latency, with which every other number varies.
 *
 * The near end uses the caller's network namespace; the far end, a fork killed when the caller
 * exits, may use another under /run/netns that reaches the near address. The kernel chooses
 * ports. */
#ifndef BENCH_RAW_UDP_H
#define BENCH_RAW_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

#define RAW_PAYLOAD_BYTES_MAX 65507
#define RAW_SEGMENT_BYTES_MIN 64
/* bytes without credit; a quarter of the socket buffers */
#define RAW_WINDOW_BYTES (2u << 20)
#define RAW_BUFFER_BYTES (8u << 20) /* at each end; exceeds a level-2 cache */
#define RAW_SPIN_NS      50000      /* ns; about one wakeup of an idle core */
/* ns; largest one-way time between "near" cores. A shared level-3 cache needs 43 to 60, others 180
 * and more. */
#define RAW_NEAR_NS 120

struct raw_ends {
	struct udp_address near; /* caller's; port ignored */
	struct udp_address far;  /* far end's */
	const char *far_netns;   /* NULL: the caller's */
};

struct raw_ping_options {
	struct raw_ends ends;
	size_t payload_bytes; /* either way: 1 .. RAW_PAYLOAD_BYTES_MAX */
	size_t warmup;        /* round trips not measured */
	size_t count;         /* at least 1 */
};

/* Measures ping-pong between two processes that spin on MSG_DONTWAIT. Writes `count` round trips in
 * ns, in order; tables call half of one the latency. Returns DXP_EINVAL for an option out of range;
 * logged, DXP_ETIMEDOUT for a lost datagram or dead far end, DXP_EIO for a failed system call. */
int raw_ping(const struct raw_ping_options *options, uint64_t *round_trip_ns);

struct raw_stream_options {
	struct raw_ends ends;
	/* UDP payload per datagram, RAW_SEGMENT_BYTES_MIN .. RAW_PAYLOAD_BYTES_MAX; 0: 1472 */
	size_t segment_bytes;
	/* datagrams per system call, at most; 0: 64, accepted by every kernel with GSO; newer ones
	 * accept 128 */
	size_t batch_segments;
	uint64_t total_bytes; /* at least 1; rounded up to whole batches */
	/* limit of sent, uncredited bytes; at least 128 KiB; 0: RAW_WINDOW_BYTES */
	size_t window_bytes;
	bool spin; /* both ends poll for RAW_SPIN_NS before they sleep */
};

struct raw_stream_result {
	/* 1e9 payload bytes per second, from first send to last credit */
	double gb_per_s;
	double sender_ns_per_kb;   /* CPU time per 1000 payload bytes */
	double receiver_ns_per_kb; /* CPU time per 1000 payload bytes */
	uint64_t bytes;            /* bytes placed at the receiver */
};

/* Measures a stream to the far end in GSO batches, of at most 65507 bytes. The GRO receiver checks
 * each number, copies the payload, and returns credit every quarter window. Returns the errors of
 * raw_ping; *out is written only on success. */
int raw_stream(const struct raw_stream_options *options, struct raw_stream_result *out);

/* Two threads on the first two allowed CPUs answer each other's stores. Writes the median one-way
 * time. `rounds`: round trips, at least 1. Returns DXP_EUNSUPPORTED with only one CPU. */
int raw_c2c(unsigned rounds, double *one_way_ns);

/* Sorts `samples`; returns the percentile (0 .. 100) by nearest rank. `count` is at least 1. */
uint64_t raw_percentile(uint64_t *samples, size_t count, double percent);

#endif
