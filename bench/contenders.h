/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares contenders that several benchmarks share. */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include "bench/peer.h"

/* clang-format off */
#define CONTENDER_RLTP {.name = "RLTP", .ops = &peer_rltp}
#define CONTENDER_RLTP_AS(name_, variant_) \
	{.name = "RLTP " name_, .ops = &peer_rltp, .variant = variant_}
#define CONTENDER_TCP_CUBIC {.name = "TCP cubic", .ops = &peer_tcp, .variant = "cubic"}
#define CONTENDER_TCP_BBR {.name = "TCP bbr", .ops = &peer_tcp, .variant = "bbr"}
#define CONTENDER_TLS {.name = "TLS 1.3", .module = "dxp-bench-tls.so", .variant = ""}
#define CONTENDER_KTLS {.name = "TLS 1.3, kernel", .module = "dxp-bench-tls.so", .variant = "ktls"}
#define CONTENDER_FABRIC(provider) \
	{.name = "libfabric " provider, .module = "dxp-bench-libfabric.so", .variant = provider}
#define CONTENDER_UCX_TCP {.name = "UCX tcp", .module = "dxp-bench-ucx.so", .variant = "tcp"}
#define CONTENDER_UCX_SHM {.name = "UCX shm", .module = "dxp-bench-ucx.so", .variant = "shm"}
#define CONTENDER_UCX_PUT \
	{.name = "UCX shm put", .module = "dxp-bench-ucx_put.so", .variant = "shm"}
#define CONTENDER_FABRIC_PUT(provider) \
	{.name = "libfabric " provider " write", \
	 .module = "dxp-bench-libfabric_put.so", \
	 .variant = provider}
#define CONTENDER_COPY {.name = "memcpy", .alone = copy_alone}
#define CONTENDER_STORE {.name = "store, poll, store", .ops = &peer_store}
#define CONTENDER_RAW_PING {.name = "raw UDP, spinning", .alone = raw_ping_alone}
#define CONTENDER_RAW_STREAM {.name = "raw UDP GSO+GRO", .alone = raw_stream_alone}
/* clang-format on */

/* Raw measurements (raw_alone.c). A ping above the path's datagram is cut to one full datagram. A
 * stream is one-way. */
int raw_ping_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		   struct tally *tally);
int raw_stream_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally);

/* copy_alone.c: measures memcpy. */
int copy_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
	       struct tally *tally);

/* One datagram per message, in batches of 64 or 128 (raw_alone.c). */
int raw_messages_64_alone(const struct raw_ends *ends, const struct work *work,
			  size_t datagram_bytes, struct tally *tally);
int raw_messages_128_alone(const struct raw_ends *ends, const struct work *work,
			   size_t datagram_bytes, struct tally *tally);

#endif
