/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures raw UDP at the highest speed that a small program can reach. It is the reference for
 * RLTP on the same machine in the same minute. It has no reliability, no headers and no batching of
 * different data. It uses connected sockets, and each measurement forks the far end. Also measures
 * the latency between two cores, because every other number varies with it.
 *
 * The far end may run in another network namespace, one that exists under /run/netns and can reach
 * the near end's address; the near end runs in the caller's. The kernel chooses the ports. The far
 * end is killed when the caller exits. */
#ifndef BENCH_RAW_UDP_H
#define BENCH_RAW_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

#define RAW_PAYLOAD_BYTES_MAX 65507
#define RAW_SEGMENT_BYTES_MIN 64
#define RAW_WINDOW_BYTES      (2u << 20) /* bytes: credit of a stream, a quarter of its buffers */
#define RAW_BUFFER_BYTES      (8u << 20) /* bytes: buffer at each end, beyond a level-2 cache */
#define RAW_SPIN_NS           50000      /* ns: about one wakeup of an idle core */
/* ns: cores that share a level-3 cache need 43 to 60, others 180 and more */
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
 * trip times in ns, in the order of measurement; tables call half of one the latency. Returns
 * DXP_EINVAL if an option is out of range; DXP_ETIMEDOUT if a datagram was lost or the far end
 * died; DXP_EIO if a system call failed (both logged). */
int raw_ping(const struct raw_ping_options *options, uint64_t *round_trip_ns);

struct raw_stream_options {
	struct raw_ends ends;
	/* UDP payload of one datagram, RAW_SEGMENT_BYTES_MIN .. RAW_PAYLOAD_BYTES_MAX; 0: 1472 */
	size_t segment_bytes;
	/* datagrams in one system call, at most; 0: 64, which every kernel with GSO accepts; newer
	 * kernels accept 128 */
	size_t batch_segments;
	uint64_t total_bytes; /* bytes to send, rounded up to whole batches; at least 1 */
	/* bound of bytes sent and not yet credited; at least 128 KiB; 0: RAW_WINDOW_BYTES */
	size_t window_bytes;
	bool spin; /* both ends poll for RAW_SPIN_NS before they sleep in the kernel */
};

struct raw_stream_result {
	double gb_per_s; /* 1e9 payload bytes placed per second, first send to last credit */
	double sender_ns_per_kb;   /* CPU time of the sending thread per 1000 payload bytes */
	double receiver_ns_per_kb; /* CPU time of the receiving thread per 1000 payload bytes */
	uint64_t bytes;            /* bytes placed at the receiver */
};

/* Measures a one-way stream from the caller to the far end. Sends GSO batches as long as 65507
 * bytes and the kernel allow. The receiver uses GRO, checks each datagram's number, copies its
 * payload to its destination and returns credit every quarter of the window. Returns the errors of
 * raw_ping. *out is written only on success. */
int raw_stream(const struct raw_stream_options *options, struct raw_stream_result *out);

/* Measures core to core: two threads on the first two allowed CPUs; each stores when it sees the
 * other's store. Writes the median one-way time in ns. `rounds`: round trips, at least 1. Returns
 * DXP_EUNSUPPORTED if there is only one CPU. */
int raw_c2c(unsigned rounds, double *one_way_ns);

/* Sorts `samples` and returns the value below which `percent` (0 .. 100) of them lie; nearest rank.
 * `count` >= 1. */
uint64_t raw_percentile(uint64_t *samples, size_t count, double percent);

#endif
