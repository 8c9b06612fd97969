/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the rates of the source's bridge, by one transfer each. */
#include "sim/bridge_predict.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "sim/bridge_lab.h"
#include "sim/bridge_source.h"

#define MB       1e6
#define LIMIT_NS (100000 * S_NS)
/* bytes; shorter buffers fail in the source (S-09) */
#define BUFFER_LEAST (64u << 10)
#define BUFFER_MOST  (16u << 20)
#define STALL_NS     LIMIT_NS
#define ASSUMPTIONS  "control_ns"

static const struct {
	const char *name;
	enum bridge_path path;
} paths[] = {
	{"host to device", BRIDGE_IN},
	{"device to host", BRIDGE_OUT},
	{"round trip", BRIDGE_THROUGH},
};

static struct stages_options stages_of(const struct model_parameters *p, enum bridge_limit limit)
{
	struct stages_options o = {
		.read = {.bytes_per_s = (uint64_t)p->read_kbps * 1000,
			 .latency_ns = (uint64_t)p->read_latency_ns},
		.write = {.bytes_per_s = (uint64_t)p->write_kbps * 1000},
		.to_device = {.bytes_per_s = (uint64_t)p->link_kbps * 1000},
		.from_device = {.bytes_per_s = (uint64_t)p->link_kbps * 1000},
		.memory_bytes_per_s = (uint64_t)p->memory_kbps * 1000,
	};

	if (limit >= BRIDGE_LIMIT_CONTROLLERS) {
		o.controller_bytes_per_s[STAGES_IN] = (uint64_t)p->dma_in_kbps * 1000;
		o.controller_bytes_per_s[STAGES_OUT] = (uint64_t)p->dma_out_kbps * 1000;
		o.controller_bytes_per_s[STAGES_THROUGH] = (uint64_t)p->dma_through_kbps * 1000;
	}
	if (limit >= BRIDGE_LIMIT_CONTROL)
		o.control_ns = (uint64_t)p->control_ns;
	return o;
}

double bridge_rate(const struct model_parameters *p, const struct stages_options *stages,
		   enum bridge_path path, enum stages_step direct, uint32_t buffer_bytes)
{
	const struct bridge_lab_options o = {
		.stages = *stages,
		.buffers = (uint32_t)p->ring_buffers,
		.buffer_bytes = buffer_bytes,
		.fills = (uint32_t)min_u64((uint64_t)p->reads, (uint64_t)p->ring_buffers),
		.dmas = 1,
		.stall_ns = STALL_NS,
	};
	struct bridge_lab_transfer t = {.order = {.path = (uint8_t)path,
						  .bytes = (uint64_t)p->transfer_bytes,
						  .piece_bytes = buffer_bytes},
					.direct = direct};
	struct bridge_lab *l;
	int status = bridge_lab_create(&o, &l);

	if (status != DXP_OK)
		return error_set(status, "no bridge of %u entries of %u bytes: %s", o.buffers,
				 buffer_bytes, dxp_status_text(status));
	status = bridge_lab_begin(l, &t);
	if (status == DXP_OK && !bridge_lab_run(l, LIMIT_NS))
		status = DXP_ETIMEDOUT;
	if (status == DXP_OK)
		status = t.end.status;
	double seconds = (double)max_u64(t.end_ps - t.begin_ps, 1) / 1e12;
	bridge_lab_destroy(l);
	if (status != DXP_OK)
		return error_set(status, "the transfer does not complete: %s",
				 dxp_status_text(status));
	return (double)p->transfer_bytes / seconds;
}

double bridge_predict(const struct model_parameters *p, enum bridge_path path,
		      enum bridge_limit limit, uint32_t buffer_bytes)
{
	const struct stages_options stages = stages_of(p, limit);

	return bridge_rate(p, &stages, path, STAGES_READ, buffer_bytes);
}

static struct model_row row_of(const char *item, const char *quantity, const char *x,
			       const char *unit, double value)
{
	struct model_row row = model_row_plain(item, quantity, unit, value);

	snprintf(row.x, sizeof(row.x), "%s", x);
	return row;
}

/* Emits one rate for each limit. The named prediction is limited by the controllers, because none
 * of their parameters comes from S-09, which it predicts. */
static int path_rows(const struct model_parameters *p, size_t path, const struct model_sink *sink)
{
	static const char *const columns[BRIDGE_LIMITS] = {"link limit", "controllers", "control"};
	double rate[BRIDGE_LIMITS];
	char quantity[64] = "", x[24];

	snprintf(x, sizeof(x), "%lld", (long long)p->buffer_bytes);
	for (int limit = 0; limit < BRIDGE_LIMITS; limit++) {
		rate[limit] = bridge_predict(p, paths[path].path, (enum bridge_limit)limit,
					     (uint32_t)p->buffer_bytes);
		if (rate[limit] < 0)
			return (int)rate[limit];
	}
	struct model_row row =
		row_of("S-09", quantity, x, "MB/s", rate[BRIDGE_LIMIT_CONTROLLERS] / MB);
	snprintf(quantity, sizeof(quantity), "bridge %s", paths[path].name);
	row.low = rate[BRIDGE_LIMIT_CONTROL] / MB;
	row.high = rate[BRIDGE_LIMIT_LINK] / MB;
	model_emit(sink, &row);
	for (int limit = 0; limit < BRIDGE_LIMITS; limit++) {
		snprintf(quantity, sizeof(quantity), "bridge %s, %s", paths[path].name,
			 columns[limit]);
		row = row_of("S-09", quantity, x, "MB/s", rate[limit] / MB);
		row.assumptions = limit == BRIDGE_LIMIT_CONTROL ? ASSUMPTIONS : "";
		model_emit(sink, &row);
	}
	return DXP_OK;
}

/* Emits shares from host to device, for each size of a ring buffer. */
static int size_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	double share[2] = {0}; /* 1 and 2 MiB */

	for (uint32_t bytes = BUFFER_LEAST; bytes <= BUFFER_MOST; bytes *= 2) {
		double rate = bridge_predict(p, BRIDGE_IN, BRIDGE_LIMIT_CONTROL, bytes);
		char x[24] = "";
		if (rate < 0)
			return (int)rate;
		snprintf(x, sizeof(x), "%u", bytes);
		struct model_row row = row_of("S-09", "bridge share of PCIe by entry", x, "%",
					      rate / ((double)p->link_kbps * 10));
		row.assumptions = ASSUMPTIONS;
		model_emit(sink, &row);
		if (bytes == 1u << 20)
			share[0] = row.value;
		if (bytes == 2u << 20)
			share[1] = row.value;
	}
	struct model_row row =
		model_row_shape("S-09", "entries of 1 MiB are below 70 %", share[0] < 70);
	row.assumptions = ASSUMPTIONS;
	model_emit(sink, &row);
	row.quantity = "entries of 2 MiB are at 70 to 80 %";
	row.value = row.low = row.high = share[1] >= 70 && share[1] <= 80;
	model_emit(sink, &row);
	return DXP_OK;
}

/* Emits the time of 320 MB step by step, with the source's control time. */
static void naive_rows(const struct model_sink *sink)
{
	static const struct {
		const char *quantity;
		enum stages_step step;
	} steps[] = {
		{"bridge naive step, READ", STAGES_READ},
		{"bridge naive step, DMA", STAGES_THROUGH},
		{"bridge naive step, WRITE", STAGES_WRITE},
	};

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		uint64_t step_ns = bridge_naive_step_ns(&bridge_source_naive_stages, steps[i].step,
							BRIDGE_SOURCE_NAIVE_BYTES);
		struct model_row step =
			row_of("S-04", steps[i].quantity, "320000000", "s", (double)step_ns / 1e9);
		model_emit(sink, &step);
	}
	uint64_t ns = bridge_naive_ns(&bridge_source_naive_stages, BRIDGE_SOURCE_CONTROL_NS,
				      BRIDGE_THROUGH, BRIDGE_SOURCE_NAIVE_BYTES);
	struct model_row row =
		row_of("S-04", "bridge naive round trip", "320000000", "s", (double)ns / 1e9);

	model_emit(sink, &row);
	row = row_of("S-04", "bridge naive round trip rate", "320000000", "MiB/s",
		     (double)BRIDGE_SOURCE_NAIVE_BYTES * 1e9 / (double)ns / 1048576);
	model_emit(sink, &row);
}

/* Besides its payload, a PCIe completion has 12 B of header, 6 B of sequence number and check, 2 B
 * of framing. */
static void packet_rows(const struct model_sink *sink)
{
	for (uint32_t payload = 128; payload <= 256; payload *= 2) {
		char x[24] = "";
		snprintf(x, sizeof(x), "%u", payload);
		struct model_row row = row_of("S-08", "PCIe payload by completion", x, "%",
					      100.0 * payload / (payload + 20));
		model_emit(sink, &row);
	}
}

int bridge_predict_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	int status = DXP_OK;

	for (size_t path = 0; path < ARRAY_COUNT(paths) && status == DXP_OK; path++)
		status = path_rows(p, path, sink);
	if (status == DXP_OK)
		status = size_rows(p, sink);
	if (status != DXP_OK)
		return status;
	naive_rows(sink);
	packet_rows(sink);
	return DXP_OK;
}
