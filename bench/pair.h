/* SPDX-License-Identifier: BSD-3-Clause */
/* Two NICs in two processes, the far one forked: it answers each NAP with the same NAP and serves
 * PUT and GET on its memory. No manager: the two are introduced through a socket pair. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <sys/types.h>

#include "bench/raw_udp.h"
#include "node/node.h"

struct pair {
	struct node *node; /* ours */
	struct nic_window *window;
	struct nic_target far; /* queue pair 0 of the other */
	uint8_t *memory;       /* ours, registered */
	uint64_t memory_bytes; /* of either end */
	uint32_t key, far_key;
	bool spin;
	pid_t child;
	int control;
};

struct pair_options {
	struct raw_ends ends;
	uint64_t memory_bytes;
	bool no_payload_crc;
	bool spin; /* both ends poll without ever sleeping, as the raw ping-pong does */
};

/* DXP_EIO, DXP_ENOMEM: logged. On success pair_close ends the far process. */
int pair_open(const struct pair_options *options, struct pair *p);
void pair_close(struct pair *p);

/* Posts and turns the node until the completion is there. Returns its status, or DXP_ETIMEDOUT
 * after 10 s. */
int pair_put(struct pair *p, uint64_t offset, uint32_t bytes);
int pair_get(struct pair *p, uint64_t offset, uint32_t bytes);

/* Sends a NAP and turns until its echo is there. */
int pair_ping(struct pair *p, uint32_t bytes);

/* PUTs or GETs `bytes` in all, `chunk` at a time, with up to `depth` outstanding. */
int pair_stream(struct pair *p, bool get, uint64_t bytes, uint32_t chunk, uint32_t depth);

/* CPU time the far process has used, in ns. */
uint64_t pair_far_cpu_ns(const struct pair *p);

#endif
