/* SPDX-License-Identifier: BSD-3-Clause */
/* The publication about the bridge SBDT; S-01, ... are its statements (docs/reference/seeds.md).
 * Here are its machine (S-01, S-07), both methods (S-04, S-05) and results (S-08, S-09). Naive
 * rates are converted from MiB/s; other units are powers of 10. */
#ifndef SIM_BRIDGE_SOURCE_H
#define SIM_BRIDGE_SOURCE_H

#include <stdint.h>

#include "bridge/bridge.h"
#include "sim/bridge_stages.h"

/* All at their limits (S-07). The source states no latencies; these approximate a ConnectX-5, and a
 * DMA controller behind PCIe with its interrupt. */
extern const struct stages_options bridge_source_stages;

/* Rates that the source measured for the naive method: DMA through the API, and the method's copies
 * (S-04). */
extern const struct stages_options bridge_source_naive_stages;

#define BRIDGE_SOURCE_NAIVE_BYTES 320000000ull
/* ns: exchange of sizes and queue numbers 0.121 s, allocation and registration 0.023 s,
 * notification 0.014 s */
#define BRIDGE_SOURCE_CONTROL_NS 158000000ull

/* Reported bytes/s: local DMA (S-08), network (S-09), both methods (S-04). */
#define BRIDGE_SOURCE_LOCAL_IN      6745200000ull
#define BRIDGE_SOURCE_LOCAL_OUT     5872600000ull
#define BRIDGE_SOURCE_LOCAL_THROUGH 4521300000ull
#define BRIDGE_SOURCE_LOCAL_COPY    12172800000ull
#define BRIDGE_SOURCE_IN            6379100000ull
#define BRIDGE_SOURCE_OUT           5696100000ull
#define BRIDGE_SOURCE_THROUGH       4732000000ull
#define BRIDGE_SOURCE_NAIVE         839998874ull /* from 801.1 MiB/s */
/* stated: 4732.0 MB/s by 801.1 MiB/s, although the units differ */
#define BRIDGE_SOURCE_GAIN 5.9

/* ns that one piece occupies its DMA controller. Not stated: fitted to the source's rate from host
 * to device (S-09). */
#define BRIDGE_SOURCE_PIECE_NS 57000ull

/* Returns the source's machine with `control_ns` before each DMA, no latencies, and controllers at
 * their local rates (S-08), without their link's limit. */
struct stages_options bridge_source_controllers(uint64_t control_ns);

/* Returns ns of the naive method: `control_ns`, then each step for the whole transfer, in buffers
 * of its size. 0: a rate is out of range, or no memory. */
uint64_t bridge_naive_ns(const struct stages_options *stages, uint64_t control_ns,
			 enum bridge_path path, uint64_t bytes);

/* Returns ns of one step of the naive method. 0: a rate is out of range, or no memory. */
uint64_t bridge_naive_step_ns(const struct stages_options *stages, enum stages_step step,
			      uint64_t bytes);

/* Returns bytes/s; 0: all are unlimited. `direct`: step of a BRIDGE_DIRECT transfer. */
uint64_t bridge_bottleneck(const struct stages_options *stages, enum bridge_path path,
			   enum stages_step direct);

#endif
