/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped transport and protocols for comparison, on a lossy wire of 10 Gb/s. */
#include "sim/loss_predict.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "sim/goodput.h"
#include "wire/frame.h"

/* ns: InfiniBand's time-outs are 2^n times 4.096 us */
#define TIMEOUT_UNIT_NS 4096
#define TIMEOUT_FIRST   8 /* n of the time-outs that are tried */
#define TIMEOUT_LAST    16
/* more seeds, for the interval of selective repeat */
#define SEEDS_MORE 2
#define LIMIT_NS   (5 * S_NS) /* ns: 74 time-outs of n = 14 */
#define MESSAGES   20         /* of 1 MiB: 17 ms at full rate */
/* of the rate without loss: below it, "almost unusable" */
#define UNUSABLE 0.1
#define STABLE   0.8 /* above it, "stable" */
/* shortest frame with preamble and gap */
#define WIRE_BYTES 84
/* of a round trip: two each way, by one switch */
#define XPU_WIRES     4
#define FRAME_BYTES   66   /* headers: Ethernet 38, IP 20, UDP 8 */
#define PAYLOAD_BYTES 1408 /* of a packet at MTU 1500 */

static const struct {
	enum rltp_recovery recovery;
	const char *name;
} ways[] = {
	{RLTP_IRN, "selective repeat"},
	{RLTP_GBN_NAK, "go-back-N, NAK"},
	{RLTP_GBN_RTO, "go-back-N, time-out"},
};

static int rate_run(const struct model_parameters *p, uint64_t seed, size_t way, uint32_t loss_ppm,
		    int64_t n, double *gbps)
{
	bool waits = ways[way].recovery != RLTP_IRN;
	const struct goodput_options o = {
		.recovery = ways[way].recovery,
		.cc = CC_NONE,
		.outstanding = 1,
		.loss_ppm = loss_ppm,
		.messages = MESSAGES,
		.seed = seed,
		.message_bytes = (uint32_t)p->loss_bytes,
		.timeout_ns = waits ? (uint64_t)TIMEOUT_UNIT_NS << n : 0,
		.limit_ns = LIMIT_NS,
		.partial = true,
	};
	struct crowd_result r;
	int status = goodput_run(&o, &r, gbps);

	return status == DXP_OK ? status : error_set(status, "%s", dxp_status_text(status));
}

static void shape_emit(const struct model_sink *sink, const char *quantity, bool holds)
{
	struct model_row row = model_row_shape("X-15", quantity, holds);

	row.assumptions = "loss_timeout";
	model_emit(sink, &row);
}

/* Finds the interval over what the source does not state: the time-out of go-back-N. Selective
 * repeat does not wait for one, so seeds vary instead. */
static int interval_find(const struct model_parameters *p, uint64_t seed, size_t way,
			 uint32_t loss_ppm, struct model_row *row)
{
	bool waits = ways[way].recovery != RLTP_IRN;
	int64_t first = waits ? TIMEOUT_FIRST : 1, last = waits ? TIMEOUT_LAST : SEEDS_MORE;

	/* Without loss, neither the time-out nor the seed changes the rate. */
	for (int64_t i = first; loss_ppm && i <= last; i++) {
		double gbps;
		int status = rate_run(p, waits ? seed : seed + (uint64_t)i, way, loss_ppm,
				      waits ? i : p->loss_timeout, &gbps);
		if (status != DXP_OK)
			return status;
		row->low = fmin(row->low, gbps);
		row->high = fmax(row->high, gbps);
	}
	return DXP_OK;
}

static int recovery_rows(const struct model_parameters *p, uint64_t seed,
			 const struct model_sink *sink)
{
	const uint32_t losses[] = {0, 10000, 100000, (uint32_t)p->loss_ppm};
	size_t count = p->loss_ppm == 10000 ? 3 : 4;
	double gbps[ARRAY_COUNT(ways)][4];

	for (size_t way = 0; way < ARRAY_COUNT(ways); way++)
		for (size_t i = 0; i < count; i++) {
			char quantity[64] = "";
			int status =
				rate_run(p, seed, way, losses[i], p->loss_timeout, &gbps[way][i]);
			if (status != DXP_OK)
				return status;
			struct model_row row =
				model_row_plain("X-15", quantity, "Gb/s", gbps[way][i]);
			snprintf(quantity, sizeof(quantity), "loss %s", ways[way].name);
			snprintf(row.x, sizeof(row.x), "%g%%", losses[i] / 1e4);
			row.kind = MODEL_WITHHELD;
			row.assumptions = "loss_timeout";
			status = interval_find(p, seed, way, losses[i], &row);
			if (status != DXP_OK)
				return status;
			model_emit(sink, &row);
		}
	shape_emit(sink, "go-back-N almost unusable at 1 %", gbps[2][1] < UNUSABLE * gbps[2][0]);
	shape_emit(sink, "selective repeat stable at 1 %", gbps[0][1] > STABLE * gbps[0][0]);
	return DXP_OK;
}

static int timeout_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink)
{
	for (int64_t n = TIMEOUT_FIRST; n <= TIMEOUT_LAST; n++) {
		double gbps;
		int status = rate_run(p, seed, 2, (uint32_t)p->loss_ppm, n, &gbps);
		if (status != DXP_OK)
			return status;
		struct model_row row = model_row_plain("X-15", "loss by time-out n", "Gb/s", gbps);
		snprintf(row.x, sizeof(row.x), "%lld", (long long)n);
		model_emit(sink, &row);
	}
	return DXP_OK;
}

/* Splits stated round trips into their wires and one rest, in cycles of the xPU's clock. The rest
 * is no prediction, so no measurement is compared with it. Its interval covers both kinds of
 * switches: one that stores a frame before it forwards it, and one that forwards at once, so that
 * only half of the wires count. */
static void latency_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	static const struct {
		const char *cycles, *rest;
		double us; /* as stated */
	} trips[] = {
		{"xPU trip of a write, in cycles", "xPU trip of a write, beside its wires", 2.65},
		{"xPU trip of a read, in cycles", "xPU trip of a read, beside its wires", 2.72},
	};
	double wires_us = XPU_WIRES * WIRE_BYTES * 8.0 / (double)p->xpu_mbps;
	struct model_row row = model_row_plain("X-16", "xPU trip, wires", "us", wires_us);

	model_emit(sink, &row);
	for (size_t i = 0; i < ARRAY_COUNT(trips); i++) {
		row = model_row_plain("X-16", trips[i].cycles, "cycles",
				      trips[i].us * (double)p->xpu_mhz);
		model_emit(sink, &row);
		row = model_row_plain("X-16", trips[i].rest, "us", trips[i].us - wires_us);
		row.high = trips[i].us - wires_us / 2;
		model_emit(sink, &row);
	}
	row = model_row_plain("X-16", "round trip of 4 B, Direct xPU", "us",
			      (trips[0].us + trips[1].us) / 2);
	model_emit(sink, &row);
}

static void bandwidth_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	double share = (double)PAYLOAD_BYTES / (PAYLOAD_BYTES + WIRE_DATA_BYTES + FRAME_BYTES);
	struct model_row row = model_row_plain("X-18", "xPU bandwidth, payload of the wire", "Gb/s",
					       share * (double)p->xpu_mbps / 1000);

	model_emit(sink, &row);
	row = model_row_shape("X-18", "xPU bandwidth close to 10 Gb/s", share >= 0.9);
	model_emit(sink, &row);
}

int loss_predict_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	int status = recovery_rows(p, seed, sink);

	if (status == DXP_OK)
		status = timeout_rows(p, seed, sink);
	if (status != DXP_OK)
		return status;
	latency_rows(p, sink);
	bandwidth_rows(p, sink);
	return DXP_OK;
}
