/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of C-43: cycles of each part of a latency, with intervals over open settings. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/nic.h"
#include "model/nic_internal.h"

/* Emits the share of a latency that depends on the clock. */
static int clock_row(const struct model_parameters *p, enum model_op op, uint64_t bytes,
		     uint64_t ps, const struct model_sink *sink, struct model_row *row)
{
	struct model_parameters fast = *p;
	uint64_t fast_ps;

	fast.clock_mhz *= 2;
	int status = model_nic_latency_ps(&fast, op, bytes, &fast_ps);
	snprintf(row->x, sizeof(row->x), "clocked");
	row->unit = "%";
	row->value = row->low = row->high = 200 * ((double)ps - (double)fast_ps) / (double)ps;
	if (!status)
		model_emit(sink, row);
	return status;
}

/* Shortest and longest time of each part. */
struct spans {
	uint64_t low_ps[MODEL_NIC_PARTS], high_ps[MODEL_NIC_PARTS];
};

/* Finds the extremes over all settings. */
static int spans_find(const struct model_parameters *p, const struct model_nic_job *job,
		      const struct model_nic_result *named, struct spans *out)
{
	struct model_parameters s = *p;
	struct model_nic_result r;

	for (unsigned k = 0; k < MODEL_NIC_PARTS; k++)
		out->low_ps[k] = out->high_ps[k] = named->parts_ps[k];
	for (unsigned i = 0; model_nic_setting(&s, job->op, i); i++) {
		int status = model_nic_run(&s, job, &r);
		if (status)
			return status;
		for (unsigned k = 0; k < MODEL_NIC_PARTS; k++) {
			out->low_ps[k] = min_u64(out->low_ps[k], r.parts_ps[k]);
			out->high_ps[k] = max_u64(out->high_ps[k], r.parts_ps[k]);
		}
		s = *p;
	}
	return DXP_OK;
}

int model_nic_breakdown(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			const struct model_sink *sink)
{
	struct model_nic_job job = {.op = op, .bytes = bytes, .count = 1, .outstanding = 1};
	double cycle_ps = (double)model_cycle_ps(p);
	char quantity[48], names[MODEL_NIC_NAMES];
	struct model_nic_result r;
	struct spans spans;
	int status = model_nic_run(p, &job, &r);
	/* Figure 18 of the source shows these two operations with 1 B. */
	bool shown = bytes == 1 && (op == MODEL_NAP_IMM || op == MODEL_PUT);
	struct model_row row = {
		.item = "C-43",
		.quantity = quantity,
		.unit = "cycles",
		.published = NAN,
		.kind = shown && model_nic_is_source(p) ? MODEL_WITHHELD : MODEL_PLAIN,
		.assumptions = model_nic_assumptions(p, op, names),
	};

	if (!status)
		status = spans_find(p, &job, &r, &spans);
	if (status)
		return status;
	snprintf(quantity, sizeof(quantity), "parts of %s %llu B", model_op_name(op),
		 (unsigned long long)bytes);
	for (unsigned i = 0; i < MODEL_NIC_PARTS; i++) {
		if (!spans.high_ps[i])
			continue;
		snprintf(row.x, sizeof(row.x), "%s", model_nic_part_name(i));
		row.value = (double)r.parts_ps[i] / cycle_ps;
		row.low = (double)spans.low_ps[i] / cycle_ps;
		row.high = (double)spans.high_ps[i] / cycle_ps;
		model_emit(sink, &row);
	}
	row.kind = MODEL_PLAIN;
	return clock_row(p, op, bytes, r.latency_ps, sink, &row);
}

/* Emits the engines' cycles without reads in host memory. */
static int engine_row(const struct model_parameters *p, enum model_op op,
		      const struct model_sink *sink)
{
	struct model_nic_job job = {.op = op, .bytes = 1, .count = 1, .outstanding = 1};
	int64_t reads = op == MODEL_NAP_IMM ? 1 : 2;
	char quantity[48], names[MODEL_NIC_NAMES];
	struct model_nic_result r;
	uint64_t ps = 0;
	int status = model_nic_run(p, &job, &r);

	if (status)
		return status;
	for (unsigned i = MODEL_PART_DESCRIPTOR_READ; i <= MODEL_PART_UPLOAD; i++)
		if (i != MODEL_PART_TURNAROUND && i != MODEL_PART_HOP)
			ps += r.parts_ps[i];
	snprintf(quantity, sizeof(quantity), "engines of %s without reads", model_op_name(op));
	struct model_row row = model_row_plain("C-43", quantity, "cycles",
					       (double)ps / (double)model_cycle_ps(p) -
						       (double)(reads * p->memory_read_cycles));
	snprintf(row.x, sizeof(row.x), "1");
	row.assumptions = model_nic_assumptions(p, op, names);
	model_emit(sink, &row);
	return DXP_OK;
}

int model_nic_stage_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	static const enum model_op shown[] = {MODEL_NAP_IMM, MODEL_PUT};
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(shown) && !status; i++) {
		status = model_nic_breakdown(p, shown[i], 1, sink);
		if (!status)
			status = engine_row(p, shown[i], sink);
	}
	return status;
}
