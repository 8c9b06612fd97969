/* SPDX-License-Identifier: BSD-3-Clause */
/* The source is the publication about the bridge SBDT; S-01, S-02, ... are its statements
 * (docs/reference/seeds.md). This file has its machine (S-01, S-07) as simulated hardware, its two
 * methods (S-04, S-05), and its results (S-08, S-09). Rates of the naive method are converted from
 * MiB/s. All other units are powers of 10. */
#ifndef SIM_BRIDGE_SOURCE_H
#define SIM_BRIDGE_SOURCE_H

#include <stdint.h>

#include "bridge/bridge.h"
#include "sim/bridge_stages.h"

/* PCIe, memory and InfiniBand at their limits (S-07). The source states no latencies. The latencies
 * here approximate a ConnectX-5 and a DMA controller behind PCIe with its interrupt. */
extern const struct stages_options bridge_source_stages;

/* Rates that the source measured for the naive method: DMA through the API, and the method's copies
 * (S-04). */
extern const struct stages_options bridge_source_naive_stages;

#define BRIDGE_SOURCE_NAIVE_BYTES 320000000ull
/* ns, three parts: exchange of sizes and queue numbers 0.121 s, allocation and registration 0.023
 * s, notification 0.014 s */
#define BRIDGE_SOURCE_CONTROL_NS 158000000ull

/* Rates in bytes/s that the source reports: local DMA (S-08), over the network (S-09), both methods
 * (S-04). */
#define BRIDGE_SOURCE_LOCAL_IN      6745200000ull
#define BRIDGE_SOURCE_LOCAL_OUT     5872600000ull
#define BRIDGE_SOURCE_LOCAL_THROUGH 4521300000ull
#define BRIDGE_SOURCE_LOCAL_COPY    12172800000ull
#define BRIDGE_SOURCE_IN            6379100000ull
#define BRIDGE_SOURCE_OUT           5696100000ull
#define BRIDGE_SOURCE_THROUGH       4732000000ull
#define BRIDGE_SOURCE_NAIVE         839998874ull /* from 801.1 MiB/s */
/* as the source states it: 4732.0 MB/s divided by 801.1 MiB/s, although the units differ */
#define BRIDGE_SOURCE_GAIN 5.9

/* ns: control time of one piece, during which its DMA controller is occupied. The source does not
 * state this time. With this value, the model gives the source's rate from host to device
 * (S-09). */
#define BRIDGE_SOURCE_PIECE_NS 57000ull

/* Returns the source's machine with `control_ns` before each DMA, and without the assumed
 * latencies. Its controllers have the rates that they reached in local DMA (S-08), without the
 * limit of their link. */
struct stages_options bridge_source_controllers(uint64_t control_ns);

/* Returns the time of the naive method in ns: `control_ns`, then each step for the whole transfer,
 * one step after another, in buffers of the transfer's size. 0: a rate is out of range, or no
 * memory. */
uint64_t bridge_naive_ns(const struct stages_options *stages, uint64_t control_ns,
			 enum bridge_path path, uint64_t bytes);

/* Returns the lowest rate of a path in bytes/s; 0: all its rates are unlimited. `direct`: the step
 * of a BRIDGE_DIRECT transfer. */
uint64_t bridge_bottleneck(const struct stages_options *stages, enum bridge_path path,
			   enum stages_step direct);

#endif
