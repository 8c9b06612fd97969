/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs every part of the model at the points for which the sources state values. Also checks the
 * shapes: sentences of the sources, each written as an inequality. */
#include "cmd/dxp/model_check.h"

#include <math.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/crossbar.h"
#include "model/net_rows.h"
#include "model/nic.h"
#include "model/roles.h"
#include "model/share.h"
#include "sim/bridge_alone.h"
#include "sim/bridge_predict.h"
#include "sim/loss_predict.h"

#define CONVERGED 0.05 /* share by which curves that converge differ at the largest NAP */
#define FLAT      0.01 /* share by which a curve may change and still counts as flat */
#define GETS      64   /* GETs of each NIC: more than its queues hold */

static void shape_emit(const struct model_sink *sink, const char *item, const char *quantity,
		       bool holds)
{
	const struct model_row row = model_row_shape(item, quantity, holds);

	model_emit(sink, &row);
}

/* Checks the order of the curves in C-41. */
static int nic_shapes(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	bool get_below = true, immediate_best = true, converges = true;

	for (uint64_t bytes = 1; bytes <= 1u << 20; bytes *= 2) {
		uint64_t kbps[MODEL_OPS] = {0};
		for (int op = 0; op < MODEL_OPS; op++) {
			bool nap = model_nic_is_nap((enum model_op)op);
			if (nap && bytes > (uint64_t)p->nap_max_bytes)
				continue;
			int status = model_nic_bandwidth(p, (enum model_op)op, bytes, &kbps[op]);
			if (status)
				return status;
		}
		if (bytes == (uint64_t)p->nap_max_bytes)
			converges = fabs((double)kbps[MODEL_NAP_IMM] / (double)kbps[MODEL_NAP_IND] -
					 1) < CONVERGED;
		get_below &= kbps[MODEL_GET] < kbps[MODEL_PUT];
		if (bytes <= 64)
			immediate_best &= kbps[MODEL_NAP_IMM] > kbps[MODEL_PUT] &&
					  kbps[MODEL_NAP_IMM] > kbps[MODEL_NAP_IND];
	}
	shape_emit(sink, "C-41", "GET below PUT", get_below);
	shape_emit(sink, "C-41", "NAP-imm best to 64 B", immediate_best);
	shape_emit(sink, "C-41", "NAP-imm converges with NAP-ind", converges);
	return DXP_OK;
}

/* Checks C-40: the peak rate of a PUT of 2 MB rises with the request size up to 128 B, and is flat
 * above. */
static int peak_shapes(const struct model_parameters *p, const struct model_sink *sink)
{
	uint64_t at_128 = 0, last = 0;
	bool rises = true, flat = true;

	for (int64_t request = 16; request <= 1024; request *= 2) {
		struct model_parameters s = *p;
		uint64_t kbps;
		s.request_bytes = s.mtu_bytes = request;
		if (s.mtu_bytes < s.datapath_bytes)
			continue;
		int status = model_nic_bandwidth(&s, MODEL_PUT, MODEL_NIC_PEAK_BYTES, &kbps);
		if (status)
			return status;
		rises &= request > 128 || (double)kbps > (1 + FLAT) * (double)last;
		at_128 = request == 128 ? kbps : at_128;
		flat &= request <= 128 || fabs((double)kbps / (double)at_128 - 1) < FLAT;
		last = kbps;
	}
	shape_emit(sink, "C-40", "peak rises with requests to 128 B", rises);
	shape_emit(sink, "C-40", "peak is flat above 128 B", flat);
	return DXP_OK;
}

static int nic_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	static const uint64_t latency[] = {1, 64, 256, 1024, 2048};
	int status = DXP_OK;

	for (int op = 0; op < MODEL_OPS && !status; op++) {
		for (size_t i = 0; i < ARRAY_COUNT(latency) && !status; i++)
			status = model_nic_rows(p, (enum model_op)op, latency[i], sink);
		bool nap = model_nic_is_nap((enum model_op)op);
		for (uint64_t bytes = 2; bytes <= (nap ? 2048u : 1u << 20) && !status; bytes *= 2)
			if (bytes != 64 && bytes != 256 && bytes != 1024 && bytes != 2048)
				status = model_nic_rows(p, (enum model_op)op, bytes, sink);
	}
	model_nic_link_row(p, sink);
	return status;
}

static int peak_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	int status = model_nic_peak(p, sink);

	return status ? status : peak_shapes(p, sink);
}

static int immediate_rows(const struct model_parameters *p, uint64_t seed,
			  const struct model_sink *sink)
{
	return model_nic_immediate_rows(p, sink);
}

static int stage_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	return model_nic_stage_rows(p, sink);
}

/* Checks C-22: GETs in both directions deadlock without a channel of their own, and never deadlock
 * with one. */
static int get_shapes(const struct model_parameters *p, const struct model_sink *sink)
{
	static const char *const names[] = {"GETs complete with a channel of their own",
					    "GETs wait in a circle without it"};

	for (int64_t shared = 0; shared < 2; shared++) {
		struct model_parameters q = *p;
		char cycle[256];
		q.get_channel = shared;
		int deadlock = model_crossbar_deadlock(&q, GETS, cycle, sizeof(cycle));
		if (deadlock < 0)
			return deadlock;
		shape_emit(sink, "C-22", names[shared], deadlock == (int)shared);
	}
	return DXP_OK;
}

/* Runs the five cases of C-44. Checks that the results satisfy the inequalities that C-44 states in
 * words. */
static int crossbar_rows(const struct model_parameters *p, uint64_t seed,
			 const struct model_sink *sink)
{
	static const int64_t cases[][2] = {{4, 2}, {4, 4}, {8, 2}, {8, 4}, {16, 4}};
	uint64_t most[ARRAY_COUNT(cases)];
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(cases) && !status; i++) {
		struct model_parameters q = *p;
		q.ports = cases[i][0];
		q.channels = cases[i][1];
		status = model_crossbar_knee_rows(&q, seed, true, sink);
		if (!status)
			status = model_crossbar_saturation(&q, seed, &most[i]);
	}
	if (status)
		return status;
	shape_emit(sink, "C-44", "throughput rises with channels",
		   most[1] >= most[0] && most[3] >= most[2]);
	shape_emit(sink, "C-44", "throughput falls with ports",
		   most[2] <= most[0] && most[3] <= most[1] && most[4] <= most[3]);
	return get_shapes(p, sink);
}

static int loggp_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	return model_loggp_rows(p, sink);
}

static int topology_rows(const struct model_parameters *p, uint64_t seed,
			 const struct model_sink *sink)
{
	int status = DXP_OK;

	for (int kind = 0; kind < MODEL_TOPOLOGIES && !status; kind++)
		status = model_topology_rows(p, (enum model_topology)kind, sink);
	return status;
}

static int tags_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	return model_tags_rows(p, sink);
}

static int allreduce_rows(const struct model_parameters *p, uint64_t seed,
			  const struct model_sink *sink)
{
	return model_allreduce_rows(p, sink);
}

static int roles_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	return model_roles_rows(p, sink);
}

static int bridge_rows(const struct model_parameters *p, uint64_t seed,
		       const struct model_sink *sink)
{
	int status = bridge_predict_rows(p, sink);

	return status == DXP_OK ? bridge_alone_rows(p, sink) : status;
}

const struct model_check_part model_check_parts[] = {
	{"C-39 C-41 C-42", nic_rows},
	{"C-40", peak_rows},
	{"C-41", nic_shapes},
	{"C-25", immediate_rows},
	{"C-43", stage_rows},
	{"C-44 C-22", crossbar_rows, true},
	{"C-37", model_share_rows, true},
	{"C-05 C-06 C-07", loggp_rows},
	{"C-07", topology_rows},
	{"C-35", tags_rows},
	{"N-05 N-09", roles_rows},
	{"N-11", allreduce_rows},
	{"S-04 S-05 S-06 S-07 S-08 S-09", bridge_rows},
	{"X-14", model_xpu_rows},
	{"X-15 X-16 X-18", loss_predict_rows, true},
};
const unsigned model_check_part_count = ARRAY_COUNT(model_check_parts);
