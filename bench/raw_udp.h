/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures raw UDP at the highest speed that a small program can reach. It is the reference for
 * RLTP on the same machine in the same minute. It has no reliability, no headers and no batching of
 * different data. It uses connected sockets, and each measurement forks the far end. Also measures
 * the latency between two cores, because every other number varies with it.
 *
 * The near end runs in the network namespace of the caller. The far end may run in another
 * namespace, if it exists under /run/netns and can reach the address of the near end. The kernel
 * chooses the ports. The far end is killed when the caller exits. */
#ifndef BENCH_RAW_UDP_H
#define BENCH_RAW_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

#define RAW_PAYLOAD_BYTES_MAX 65507
#define RAW_SEGMENT_BYTES_MIN 64
/* bytes that a stream may send without credit; a quarter of the socket buffers */
#define RAW_WINDOW_BYTES (2u << 20)
#define RAW_BUFFER_BYTES (8u << 20) /* bytes of memory at each end; exceeds a level-2 cache */
#define RAW_SPIN_NS      50000      /* ns: about one wakeup of an idle core */
/* ns; largest one-way time between "near" cores. Cores that share a level-3 cache need 43 to 60,
 * others 180 and more. */
#define RAW_NEAR_NS 120

struct raw_ends {
	struct udp_address near; /* IP address of the caller's end; its port is ignored */
	struct udp_address far;  /* IP address of the far end */
	const char *far_netns;   /* network namespace of the far end; NULL: the caller's */
};

struct raw_ping_options {
	struct raw_ends ends;
	size_t payload_bytes; /* payload of ping and of pong: 1 .. RAW_PAYLOAD_BYTES_MAX */
	size_t warmup;        /* round trips before the first that is measured */
	size_t count;         /* round trips to measure, at least 1 */
};

/* Measures ping-pong between two processes that both spin on MSG_DONTWAIT. Writes `count` round
 * trip times in ns, in the order of measurement; tables call half of a round trip the latency.
 * Returns DXP_EINVAL if an option is out of range. Returns DXP_ETIMEDOUT if a datagram was lost or
 * the far end died, or DXP_EIO if a system call failed; both are logged. */
int raw_ping(const struct raw_ping_options *options, uint64_t *round_trip_ns);

struct raw_stream_options {
	struct raw_ends ends;
	/* UDP payload of one datagram, RAW_SEGMENT_BYTES_MIN .. RAW_PAYLOAD_BYTES_MAX; 0: 1472 */
	size_t segment_bytes;
	/* datagrams in one system call, at most; 0: 64, which every kernel with GSO accepts; newer
	 * kernels accept 128 */
	size_t batch_segments;
	uint64_t total_bytes; /* bytes to send, rounded up to whole batches; at least 1 */
	/* limit of bytes that are sent but not yet credited; at least 128 KiB; 0:
	 * RAW_WINDOW_BYTES */
	size_t window_bytes;
	bool spin; /* both ends poll for RAW_SPIN_NS before they sleep in the kernel */
};

struct raw_stream_result {
	/* 1e9 payload bytes placed per second, from the first send to the last credit */
	double gb_per_s;
	double sender_ns_per_kb;   /* CPU time of the sending thread per 1000 payload bytes */
	double receiver_ns_per_kb; /* CPU time of the receiving thread per 1000 payload bytes */
	uint64_t bytes;            /* bytes placed at the receiver */
};

/* Measures a one-way stream from the caller to the far end. Sends GSO batches; their length is
 * limited to 65507 bytes and by the kernel. The receiver uses GRO, checks the number of each
 * datagram, copies its payload to its destination, and returns credit every quarter of the window.
 * Returns the errors of raw_ping. *out is written only on success. */
int raw_stream(const struct raw_stream_options *options, struct raw_stream_result *out);

/* Measures the latency from core to core. Two threads run on the first two allowed CPUs; each
 * stores when it sees the other's store. Writes the median one-way time in ns. `rounds` is the
 * number of round trips, at least 1. Returns DXP_EUNSUPPORTED if there is only one CPU. */
int raw_c2c(unsigned rounds, double *one_way_ns);

/* Sorts `samples` and returns the value below which `percent` (0 .. 100) percent of the samples
 * lie, by nearest rank. `count` is at least 1. */
uint64_t raw_percentile(uint64_t *samples, size_t count, double percent);

#endif
