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
/* a short transfer is this part of the long one: 32 of 512 MiB */
#define RAMP_PART 16

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

/* Emits a rate's share of PCIe. */
static void share_emit(const struct model_parameters *p, const struct model_sink *sink,
		       const char *item, const char *quantity, double rate)
{
	emit(sink, item, quantity, "", "%",
	     rate * 100 / ((double)p->link_kbps * (double)BYTES_PER_KB), "");
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
		const char *quantity, *share; /* of PCIe; NULL: of the memory */
		enum stages_step step;
	} ways[] = {
		{"local DMA, host to device", "local DMA share of PCIe, host to device", STAGES_IN},
		{"local DMA, device to host", "local DMA share of PCIe, device to host",
		 STAGES_OUT},
		{"local DMA, round trip", "local DMA share of PCIe, round trip", STAGES_THROUGH},
		{"local DMA, device to device", NULL, STAGES_COPY},
	};
	struct stages_options stages = local_stages(p, 0);

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		double rate = bridge_rate(p, &stages, BRIDGE_DIRECT, ways[i].step,
					  (uint32_t)p->buffer_bytes);
		if (rate < 0)
			return (int)rate;
		emit(sink, "S-08", ways[i].quantity, "", "MB/s", rate / MB, "");
		if (ways[i].share)
			share_emit(p, sink, "S-08", ways[i].share, rate);
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

/* Emits S-09: shares of PCIe, and that the bridge needs longer transfers than local DMA to reach
 * its rate. */
static int ramp_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	static const struct {
		const char *share;
		enum bridge_path path;
	} ways[] = {
		{"bridge share of PCIe, host to device", BRIDGE_IN},
		{"bridge share of PCIe, device to host", BRIDGE_OUT},
		{"bridge share of PCIe, round trip", BRIDGE_THROUGH},
	};
	struct stages_options local = local_stages(p, (uint64_t)p->control_ns);
	struct model_parameters few = *p;
	double rate[2], alone[2]; /* of a short transfer, of a long one */
	const uint32_t buffer = (uint32_t)p->buffer_bytes;

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		double share = bridge_predict(p, ways[i].path, BRIDGE_LIMIT_CONTROLLERS, buffer);
		if (share < 0)
			return (int)share;
		share_emit(p, sink, "S-09", ways[i].share, share);
	}
	few.transfer_bytes = p->transfer_bytes / RAMP_PART;
	rate[0] = bridge_predict(&few, BRIDGE_IN, BRIDGE_LIMIT_CONTROL, buffer);
	rate[1] = bridge_predict(p, BRIDGE_IN, BRIDGE_LIMIT_CONTROL, buffer);
	alone[0] = bridge_rate(&few, &local, BRIDGE_DIRECT, STAGES_IN, buffer);
	alone[1] = bridge_rate(p, &local, BRIDGE_DIRECT, STAGES_IN, buffer);
	for (int i = 0; i < 2; i++)
		if (rate[i] < 0 || alone[i] < 0)
			return (int)(rate[i] < 0 ? rate[i] : alone[i]);
	shape_emit(sink, "S-09", "longer transfers are faster", rate[0] < rate[1], "control_ns");
	shape_emit(sink, "S-09", "the bridge rises more slowly than local DMA",
		   rate[0] / rate[1] < alone[0] / alone[1], "control_ns");
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
	status = local_rows(p, sink);
	return status == DXP_OK ? ramp_rows(p, sink) : status;
}
