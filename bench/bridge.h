/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench bridge`. A way moves bytes along a route; a case runs several in turn. The
 * speeds of single stages, network or DMA, limit the others. */
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
#define BRIDGE_SWEEP_BYTES (16u << 20) /* bytes; at least one piece of every size fits */

enum bridge_route { ROUTE_TO, ROUTE_FROM, ROUTE_THROUGH, ROUTE_ACROSS, ROUTES };

struct bridge_daemon {
	const char *name, *engine;
	/* bytes per buffer of the daemon's bridge; 0: the bridge chooses */
	uint32_t buffer_bytes;
	uint32_t reads; /* outstanding reads; 0: as many as buffers */
	pid_t pid;
	struct dxp_xpu *xpu;
	struct dxp_xpu_caps caps;
	uint64_t address; /* of device memory that holds the largest transfer */
};

struct bridge_setup {
	const struct bench_options *options;
	const char *lab; /* for the rows */
	uint64_t largest;
	uint8_t *from, *to; /* host memory, `largest` bytes each */
	struct dxp_dma *dma;
	/* memory bytes of a local device, whose DMA is measured as a stage of network routes; 0:
	 * none */
	uint64_t dma_bytes;
	struct dxp_fabric *fabric;
	struct bridge_daemon daemons[BRIDGE_DAEMONS_MAX];
	size_t daemon_count;
};

struct bridge_way {
	char name[32];
	uint8_t stage; /* enum bridge_stage */
	/* Returns a status when the bytes have arrived. */
	int (*move)(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
	/* enum bridge_route; a way of one stage may have another route than its case */
	uint8_t route;
	bool in_place;
	uint8_t mode;         /* enum dxp_bridge_mode */
	uint32_t piece_bytes; /* 0: chosen by the bridge */
	size_t daemon;        /* index in `daemons` of the route's first daemon */
};

struct bridge_case {
	uint8_t route;
	uint64_t bytes;
	const struct bridge_way *ways;
	size_t count;
	bool sweep; /* the ways differ only in buffer size; separate table */
};

/* No name, such as "host to device", is part of another, so --case can select each. */
const char *bridge_route_name(unsigned route);

/* Runs the wanted ways for each transfer size, and prints a row each. Ignores c->bytes. Returns 1
 * if a way failed, with the reason in its row, else 0. */
int bridge_cases_run(struct bridge_setup *p, const struct bridge_case *c);
/* Does the same with one way per buffer size. */
int bridge_sweep_run(struct bridge_setup *p, unsigned route,
		     int (*move)(struct bridge_setup *p, const struct bridge_way *way,
				 uint64_t bytes));

/* Returns the largest transfer for which this machine has memory; prints a note if reduced. */
uint64_t bridge_largest(const struct bench_options *o);

/* Returns false, logged, on failure. */
bool bridge_memory_open(struct bridge_setup *p);
void bridge_memory_close(struct bridge_setup *p);

/* Opens the engine of p->options here. Returns false, logged, on failure. */
bool bridge_dma_open(struct bridge_setup *p, uint64_t memory_bytes, uint32_t buffer_bytes);
int bridge_dma_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_local(const struct bench_options *o);
int bridge_registration(struct bridge_setup *p);

int bridge_remote(const struct bench_options *o);
/* Measures outstanding reads against latency, in labs of its own. */
int bridge_reads(const struct bench_options *o);
/* _pull: by dxp_bridge_move. _push: by dxp_mem_write, dxp_mem_read or dxp_send. _both: in both
 * directions at once. */
int bridge_pull_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_push_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
int bridge_both_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
/* Moves bytes by the source's naive round trip: reads all, passes them through this machine's
 * board, writes all back. */
int bridge_naive_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes);
/* Checks that the naive way's bytes pass through the board; logs the reason if not. */
bool bridge_naive_prove(struct bridge_setup *p, size_t daemon);
/* Checks that a route of daemons[daemon] delivers the bytes sent; logs the reason if not. */
bool bridge_prove(struct bridge_setup *p, unsigned route, size_t daemon);

/* Starts a manager and p->daemons, runs `body` in its own process with all xPUs open, then stops
 * them. Returns an exit status; 1, logged, if the fabric does not start. */
int bridge_fabric_run(struct bridge_setup *p, const struct raw_ends *ends,
		      int (*body)(struct bridge_setup *p));

/* Prints the memory that the largest transfers, in each direction, add to a daemon. */
int bridge_memory_row(struct bridge_setup *p, size_t daemon);

/* Prints the table from which an xPU chooses its buffer size (--sizes). */
int bridge_sizes_print(const struct bench_options *o);

#endif
