/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of C-25: immediate data pass the path for descriptors, half as wide as the datapath. */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/nic.h"
#include "model/nic_internal.h"
#include "model/pcie.h"

/* a beat of the sources' datapath: 128 bits (C-25) */
#define BEAT_BYTES 16

/* Adds a packet's time on the path for descriptors. */
static void stay_add(void *context, const char *stage, uint32_t packet, uint64_t start_ps,
		     uint64_t end_ps)
{
	uint64_t *sum_ps = context;

	if (strcmp(stage, model_nic_stage_name(MODEL_AT_DESCRIPTOR)) == 0)
		*sum_ps += end_ps - start_ps;
}

static int descriptor_ps(const struct model_parameters *p, uint64_t bytes, uint64_t *sum_ps)
{
	const struct model_nic_trace trace = {stay_add, sum_ps};
	const struct model_nic_job job = {
		.op = MODEL_NAP_IMM, .bytes = bytes, .count = 1, .outstanding = 1, .trace = &trace};
	struct model_nic_result r;

	*sum_ps = 0;
	return model_nic_run(p, &job, &r);
}

/* Cycles of one more beat of immediate data on the path for descriptors, from descriptors that fill
 * half and all of a completion. */
static int beat_cycles(const struct model_parameters *p, double *cycles)
{
	uint64_t offset = (uint64_t)p->immediate_offset_bytes;
	uint64_t whole = model_pcie_payload(p), half_ps, whole_ps;
	int status = descriptor_ps(p, whole / 2 - offset, &half_ps);

	if (!status)
		status = descriptor_ps(p, whole - offset, &whole_ps);
	if (!status)
		*cycles = (double)(whole_ps - half_ps) * BEAT_BYTES /
			  ((double)model_cycle_ps(p) * (double)(whole - whole / 2));
	return status;
}

static int beat_row(const struct model_parameters *p, const struct model_sink *sink)
{
	struct model_parameters s = *p;
	char names[MODEL_NIC_NAMES];
	struct model_row row =
		model_row_plain("C-25", "descriptor path, cycles a beat", "cycles", 0);
	int status;

	/* Half of a completion must hold the descriptor and some data. */
	if ((uint64_t)p->descriptor_bytes > model_pcie_payload(p) / 2)
		return DXP_OK;
	status = beat_cycles(p, &row.value);
	row.low = row.high = row.value;
	for (unsigned i = 0; !status && model_nic_setting(&s, MODEL_NAP_IMM, i); i++) {
		double cycles = 0;
		status = beat_cycles(&s, &cycles);
		row.low = fmin(row.low, cycles);
		row.high = fmax(row.high, cycles);
		s = *p;
	}
	snprintf(row.x, sizeof(row.x), "%d", BEAT_BYTES);
	row.assumptions = model_nic_assumptions(p, MODEL_NAP_IMM, names);
	if (!status)
		model_emit(sink, &row);
	return status;
}

/* Tests C-25: the advantage over an indirect NAP shrinks with size, to less than half at the
 * largest NAP. */
static int advantage_row(const struct model_parameters *p, const struct model_sink *sink)
{
	static const uint64_t sizes[] = {64, 256, 1024, 2048};
	char names[MODEL_NIC_NAMES];
	int64_t first = 0, last = INT64_MAX;
	bool shrinks = true;

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint64_t bytes = min_u64(sizes[i], (uint64_t)p->nap_max_bytes);
		uint64_t immediate, indirect;
		int status = model_nic_latency_ps(p, MODEL_NAP_IMM, bytes, &immediate);
		if (!status)
			status = model_nic_latency_ps(p, MODEL_NAP_IND, bytes, &indirect);
		if (status)
			return status;
		int64_t advantage = (int64_t)indirect - (int64_t)immediate;
		shrinks &= advantage < last;
		first = i ? first : advantage;
		last = advantage;
	}
	struct model_row row = model_row_shape(
		"C-25", "NAP-imm loses its advantage at larger sizes", shrinks && 2 * last < first);
	row.assumptions = model_nic_assumptions(p, MODEL_NAP_IND, names);
	model_emit(sink, &row);
	return DXP_OK;
}

int model_nic_immediate_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	int status = beat_row(p, sink);

	return status ? status : advantage_row(p, sink);
}
