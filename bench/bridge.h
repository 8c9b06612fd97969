/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench bridge`. A way moves some bytes along a path once; a case puts several ways
 * beside each other, in turn, and prints a row for each. Ways that are a stage of the pipeline
 * alone, network or DMA, say what the others could reach at best. */
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
#define BRIDGE_BOXES_MAX   4
#define BRIDGE_SIZES_MAX   16
#define BRIDGE_SWEEP_BYTES (16u << 20) /* buffers that hold pieces of every size */

enum bridge_route { ROUTE_TO, ROUTE_FROM, ROUTE_THROUGH, ROUTE_ACROSS, ROUTES };

/* An xPU of the benchmark's own, in a process of its own. */
struct bridge_box {
	const char *name, *engine;
	uint32_t buffer_bytes; /* of its rings; 0: its own choice */
	pid_t pid;
	struct dxp_xpu *xpu;
	struct dxp_xpu_caps caps;
	uint64_t address; /* of device memory for the largest transfer */
};

/* What the ways work on. */
struct bridge_place {
	const struct bench_options *options;
	const char *lab; /* in rows */
	uint64_t largest;
	uint8_t *from, *to; /* host memory, `largest` bytes each */
	struct dxp_dma *dma;
	uint64_t dma_bytes; /* over the network: memory of a local device beside it, whose DMA is a
			       stage; 0: none */
	struct dxp_fabric *fabric;
	struct bridge_box boxes[BRIDGE_BOXES_MAX];
	size_t box_count;
};

struct bridge_way {
	char name[32];
	uint8_t stage; /* enum bridge_stage */
	/* Moves so many bytes along the route; returns when they are there. A status. */
	int (*move)(struct bridge_place *p, const struct bridge_way *way, uint64_t bytes);
	uint8_t route; /* enum bridge_route, of this way: a stage's may be another than the case's
			*/
	bool in_place;
	uint8_t mode;         /* enum dxp_bridge_mode */
	uint32_t piece_bytes; /* 0: chosen */
	size_t box;           /* of bridge_place.boxes: the first of those that take part */
};

struct bridge_case {
	uint8_t route;
	uint64_t bytes;
	const struct bridge_way *ways;
	size_t count;
	bool sweep; /* the ways differ in their buffers alone: rows of a table of their own */
};

/* "host to device" ...; no name is part of another. */
const char *bridge_route_name(unsigned route);

/* For each size of transfer (c->bytes is not looked at): runs the ways in turn and prints a row for
 * each; those that the options do not want are left out. Returns an exit status: 1 when a way
 * failed, which its row says. */
int bridge_cases_run(struct bridge_place *p, const struct bridge_case *c);
/* The same for buffers of each size. */
int bridge_sweep_run(struct bridge_place *p, unsigned route,
		     int (*move)(struct bridge_place *p, const struct bridge_way *way,
				 uint64_t bytes));

/* The largest transfer that this machine has memory for, with a note when that is less than it
 * should be. */
uint64_t bridge_largest(const struct bench_options *o);

/* Host memory of the place, touched; false: told. */
bool bridge_memory_open(struct bridge_place *p);
void bridge_memory_close(struct bridge_place *p);

/* The device that `engine` names, on this machine; false: told. */
bool bridge_dma_open(struct bridge_place *p, uint64_t memory_bytes, uint32_t buffer_bytes);
/* Local DMA, of a route or as its stage. */
int bridge_dma_move(struct bridge_place *p, const struct bridge_way *way, uint64_t bytes);
int bridge_local(const struct bench_options *o);

/* Over the network. */
int bridge_remote(const struct bench_options *o);
/* dxp_bridge_move, dxp_mem_write or dxp_mem_read, dxp_send; both ways at once. */
int bridge_pull_move(struct bridge_place *p, const struct bridge_way *way, uint64_t bytes);
int bridge_push_move(struct bridge_place *p, const struct bridge_way *way, uint64_t bytes);
int bridge_both_move(struct bridge_place *p, const struct bridge_way *way, uint64_t bytes);
/* Other bytes than sent come back on a route of boxes[box]: told, and false. */
bool bridge_prove(struct bridge_place *p, unsigned route, size_t box);

/* A manager and the place's boxes, in a process of its own around `body`, which finds them open. An
 * exit status; 1 also when there is no fabric, told. */
int bridge_fabric_run(struct bridge_place *p, const struct raw_ends *ends,
		      int (*body)(struct bridge_place *p));

/* What the largest transfers, each way, add to the memory of a box. */
int bridge_memory_row(struct bridge_place *p, size_t box);

/* --sizes: the table by which a board's buffers are chosen. */
int bridge_sizes_print(const struct bench_options *o);

#endif
