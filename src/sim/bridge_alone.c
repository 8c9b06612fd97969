/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about each component of the source's bridge (bridge_source.h), in the shipped bridge with
 * all others unlimited. */
#include "sim/bridge_alone.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/bridge_predict.h"
#include "sim/bridge_source.h"

#define MB              1e6
#define BYTES_PER_KB    1000ull
#define INFINIBAND_MBPS 100000 /* Mb/s of one InfiniBand port (S-01) */
/* MHz of the device memory, which is 64 bytes (512 bits) wide (S-07) */
#define MEMORY_MHZ   200
#define MEMORY_BYTES 64
#define READS_MOST   8
/* bytes: in buffers up to this size, local DMA is slower (S-08) */
#define LOCAL_FALLS_HERE (256u << 10)
/* a slower size has less than this share of the largest buffers' rate */
#define LOCAL_FALLS_TO 0.9

static void emit(const struct model_sink *sink, const char *item, const char *quantity,
		 const char *x, const char *unit, double value, const char *assumptions)
{
	struct model_row row = model_row_plain(item, quantity, unit, value);

	snprintf(row.x, sizeof(row.x), "%s", x);
	row.assumptions = assumptions;
	model_emit(sink, &row);
}

static void shape_emit(const struct model_sink *sink, const char *item, const char *quantity,
		       bool holds, const char *assumptions)
{
	struct model_row row = model_row_shape(item, quantity, holds);

	row.assumptions = assumptions;
	model_emit(sink, &row);
}

/* Emits S-05: the rate of a pipelined round trip divided by the naive rate. */
static int pipeline_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	uint64_t ns = bridge_naive_ns(&bridge_source_naive_stages, BRIDGE_SOURCE_CONTROL_NS,
				      BRIDGE_THROUGH, BRIDGE_SOURCE_NAIVE_BYTES);
	double naive = (double)BRIDGE_SOURCE_NAIVE_BYTES * 1e9 / (double)max_u64(ns, 1);
	double gain[BRIDGE_LIMITS];

	for (int limit = 0; limit < BRIDGE_LIMITS; limit++) {
		double rate = bridge_predict(p, BRIDGE_THROUGH, (enum bridge_limit)limit,
					     (uint32_t)p->buffer_bytes);
		if (rate < 0)
			return (int)rate;
		gain[limit] = rate / naive;
	}
	struct model_row row = model_row_plain("S-05", "bridge pipelined over naive", "",
					       gain[BRIDGE_LIMIT_CONTROLLERS]);
	row.low = gain[BRIDGE_LIMIT_CONTROL];
	row.high = gain[BRIDGE_LIMIT_LINK];
	model_emit(sink, &row);
	shape_emit(sink, "S-05", "the pipeline is faster than the naive method", row.low > 1, "");
	return DXP_OK;
}

/* Emits rates of several READs in flight, which S-06 names as future work without a figure. */
static int reads_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	struct model_parameters q = *p;
	double last = 0;
	bool slower = false;

	for (q.reads = 1; q.reads <= READS_MOST; q.reads *= 2) {
		double rate = bridge_predict(&q, BRIDGE_IN, BRIDGE_LIMIT_CONTROLLERS,
					     (uint32_t)q.buffer_bytes);
		char x[24];
		if (rate < 0)
			return (int)rate;
		snprintf(x, sizeof(x), "%lld", (long long)q.reads);
		emit(sink, "S-06", "bridge host to device by READs", x, "MB/s", rate / MB,
		     "read_latency_ns");
		slower |= rate < last;
		last = rate;
	}
	shape_emit(sink, "S-06", "more READs in flight are never slower", !slower,
		   "read_latency_ns");
	return DXP_OK;
}

/* Emits S-07: network steps alone, as rates and as shares of the port. */
static int network_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	const struct {
		const char *rate, *share;
		struct stages_options stages;
		enum bridge_path path;
	} alone[] = {
		{"InfiniBand READ alone",
		 "InfiniBand READ share of the port",
		 {.read = {.bytes_per_s = (uint64_t)p->read_kbps * BYTES_PER_KB}},
		 BRIDGE_IN},
		{"InfiniBand WRITE alone",
		 "InfiniBand WRITE share of the port",
		 {.write = {.bytes_per_s = (uint64_t)p->write_kbps * BYTES_PER_KB}},
		 BRIDGE_OUT},
	};

	for (size_t i = 0; i < ARRAY_COUNT(alone); i++) {
		double rate = bridge_rate(p, &alone[i].stages, alone[i].path, STAGES_READ,
					  (uint32_t)p->buffer_bytes);
		if (rate < 0)
			return (int)rate;
		emit(sink, "S-07", alone[i].rate, "", "MB/s", rate / MB, "");
		emit(sink, "S-07", alone[i].share, "", "%", rate * 8 * 100 / (INFINIBAND_MBPS * MB),
		     "");
	}
	return DXP_OK;
}

/* Emits S-07: PCIe from lanes and coding, as in the NIC's model; memory from clock and width. */
static void limit_rows(const struct model_sink *sink)
{
	struct model_parameters link;

	model_parameters_default(&link);
	link.pcie_generation = 3;
	link.pcie_lanes = 8;
	emit(sink, "S-07", "PCIe after coding", "3x8", "MB/s", (double)model_pcie_rate(&link), "");
	emit(sink, "S-07", "device memory by clock and width", "200x512", "MB/s",
	     MEMORY_MHZ * MEMORY_BYTES, "");
}

static struct stages_options local_stages(const struct model_parameters *p, uint64_t control_ns)
{
	return (struct stages_options){
		.memory_bytes_per_s = (uint64_t)p->memory_kbps * BYTES_PER_KB,
		.controller_bytes_per_s =
			{
				[STAGES_IN] = (uint64_t)p->dma_in_kbps * BYTES_PER_KB,
				[STAGES_OUT] = (uint64_t)p->dma_out_kbps * BYTES_PER_KB,
				[STAGES_THROUGH] = (uint64_t)p->dma_through_kbps * BYTES_PER_KB,
			},
		.control_ns = control_ns,
	};
}

/* Emits S-08. For copies, the source states only the rate of the device's memory. */
static int local_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	static const struct {
		const char *quantity;
		enum stages_step step;
	} ways[] = {
		{"local DMA, host to device", STAGES_IN},
		{"local DMA, device to host", STAGES_OUT},
		{"local DMA, round trip", STAGES_THROUGH},
		{"local DMA, device to device", STAGES_COPY},
	};
	struct stages_options stages = local_stages(p, 0);

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		double rate = bridge_rate(p, &stages, BRIDGE_DIRECT, ways[i].step,
					  (uint32_t)p->buffer_bytes);
		if (rate < 0)
			return (int)rate;
		emit(sink, "S-08", ways[i].quantity, "", "MB/s", rate / MB, "");
	}
	stages = local_stages(p, (uint64_t)p->control_ns);
	double large = bridge_rate(p, &stages, BRIDGE_DIRECT, STAGES_IN, (uint32_t)p->buffer_bytes);
	double small = bridge_rate(p, &stages, BRIDGE_DIRECT, STAGES_IN, LOCAL_FALLS_HERE);
	if (large < 0 || small < 0)
		return (int)(large < 0 ? large : small);
	shape_emit(sink, "S-08", "local DMA is slower in buffers of 256 KiB",
		   small < LOCAL_FALLS_TO * large, "control_ns");
	return DXP_OK;
}

int bridge_alone_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	int status = pipeline_rows(p, sink);

	if (status == DXP_OK)
		status = reads_rows(p, sink);
	if (status == DXP_OK)
		status = network_rows(p, sink);
	if (status != DXP_OK)
		return status;
	limit_rows(sink);
	return local_rows(p, sink);
}
