/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench bridge`. A way moves bytes along a route once; a case runs several ways in
 * turn and prints a row for each. Ways that run one stage of the pipeline alone, network or DMA,
 * bound the other ways. */
#ifndef BENCH_BRIDGE_H
#define BENCH_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <dxp/dma.h>

#include "bench/bridge_limit.h"
#include "bench/lab.h"
#include "bench/options.h"

#define BRIDGE_WAYS_MAX    24
#define BRIDGE_DAEMONS_MAX 4
#define BRIDGE_SIZES_MAX   16
#define BRIDGE_SWEEP_BYTES (16u << 20) /* bytes: holds pieces of every size */

enum bridge_route { ROUTE_TO, ROUTE_FROM, ROUTE_THROUGH, ROUTE_ACROSS, ROUTES };

/* An xPU of the benchmark, in a daemon of its own. */
struct bridge_daemon {
	const char *name, *engine;
	uint32_t buffer_bytes; /* buffer size of its bridge's rings; 0: the bridge chooses */
	uint32_t reads;        /* reads that it has outstanding; 0: as many as buffers */
	pid_t pid;
	struct dxp_xpu *xpu;
	struct dxp_xpu_caps caps;
	uint64_t address; /* address of device memory that holds the largest transfer */
};

/* State shared by all ways. */
struct bridge_setup {
	const struct bench_options *options;
	const char *lab; /* printed in rows */
	uint64_t largest;
	uint8_t *from, *to; /* host memory, `largest` bytes each */
	struct dxp_dma *dma;
	/* memory of a local device whose DMA is measured as a stage of network routes; 0: none */
	uint64_t dma_bytes;
	struct dxp_fabric *fabric;
	struct bridge_daemon daemons[BRIDGE_DAEMONS_MAX];
	size_t daemon_count;
};

struct bridge_way {
	char name[32];
	uint8_t stage; /* enum bridge_stage */
	/* Moves `bytes` along the route; returns a status when they have arrived. */
	int (*move)(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
	uint8_t route; /* enum bridge_route; that of a stage may differ from that of the case */
	bool in_place;
	uint8_t mode;         /* enum dxp_bridge_mode */
	uint32_t piece_bytes; /* 0: chosen by the bridge */
	size_t daemon;        /* index in `daemons` of the first daemon on the route */
};

struct bridge_case {
	uint8_t route;
	uint64_t bytes;
	const struct bridge_way *ways;
	size_t count;
	bool sweep; /* ways differ only in buffer size: a separate table */
};

/* Returns "host to device" ...; no name is part of another. */
const char *bridge_route_name(unsigned route);

/* For each transfer size: runs the wanted ways in turn and prints a row for each. Ignores c->bytes.
 * Returns 1 if a way failed, with the reason in its row, else 0. */
int bridge_cases_run(struct bridge_setup *p, const struct bridge_case *c);
/* Does what bridge_case_run does, for each buffer size. */
int bridge_sweep_run(struct bridge_setup *p, unsigned route,
		     int (*move)(struct bridge_setup *p, const struct bridge_way *way,
				 uint64_t bytes));

/* Returns the largest transfer for which this machine has memory. Prints a note if it is
 * reduced. */
uint64_t bridge_largest(const struct bench_options *o);

/* Allocates and touches the host memory. Returns false, logged, on failure. */
bool bridge_memory_open(struct bridge_setup *p);
void bridge_memory_close(struct bridge_setup *p);

/* Opens the engine of p->options on this machine. Returns false, logged, on failure. */
bool bridge_dma_open(struct bridge_setup *p, uint64_t memory_bytes, uint32_t buffer_bytes);
/* Local DMA, as a route or as a stage of it. */
int bridge_dma_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_local(const struct bench_options *o);
/* Prints what registering memory with p->dma costs, against its size. */
int bridge_registration(struct bridge_setup *p);

/* Over the network. */
int bridge_remote(const struct bench_options *o);
/* Outstanding reads against latency, in labs of their own. */
int bridge_reads(const struct bench_options *o);
/* Move by dxp_bridge_move; by dxp_mem_write, dxp_mem_read or dxp_send; in both directions at
 * once. */
int bridge_pull_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_push_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_both_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
/* The naive round trip of the source: all bytes in, through the board of this machine, all back. */
int bridge_naive_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
/* Returns whether the bytes of the naive way pass the board; false is logged. */
bool bridge_naive_prove(struct bridge_setup *p, size_t daemon);
/* Returns whether a route of daemons[daemon] delivers the bytes that were sent; false is logged. */
bool bridge_prove(struct bridge_setup *p, unsigned route, size_t daemon);

/* Starts a manager and the daemons of p->daemons, runs `body` in a process of its own with all xPUs
 * open, then stops them. Returns an exit status; 1, logged, if the fabric does not start. */
int bridge_fabric_run(struct bridge_setup *p, const struct raw_ends *ends,
		      int (*body)(struct bridge_setup *p));

/* Prints how much memory the largest transfers, in each direction, add to a daemon. */
int bridge_memory_row(struct bridge_setup *p, size_t daemon);

/* --sizes: prints the table from which an xPU chooses its buffer size. */
int bridge_sizes_print(const struct bench_options *o);

#endif
