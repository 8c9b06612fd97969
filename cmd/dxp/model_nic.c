/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model nic`: its options, and the file of --trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/model.h"
#include "model/nic.h"
#include "model/sweep.h"

/* most bytes of a traced message: 8,192 packets of 128 B, about 6 slices each */
#define TRACE_BYTES_MOST (1u << 20)

static const char *op_text, *bytes_text, *trace_path;
static bool breakdown, peak;

static const struct option_row rows[] = {
	{"op", "OP", "nap-imm, nap-ind, put or get; all four otherwise", OPTION_TEXT, &op_text, 0,
	 0},
	{"bytes", "LIST", "sizes: 1,64,2K or 1..1M*2 (default: 1,64,256,1024,2048)", OPTION_TEXT,
	 &bytes_text, 0, 0},
	{"breakdown", NULL, "the parts of each latency, and what a faster clock shortens",
	 OPTION_FLAG, &breakdown, 0, 0},
	{"peak", NULL, "bandwidth of a PUT of 2 MB against the size of a read request", OPTION_FLAG,
	 &peak, 0, 0},
	{"trace", "FILE", "write one message as a timeline for Perfetto or chrome://tracing",
	 OPTION_TEXT, &trace_path, 0, 0},
};

static const struct model_parameter bytes_row = {
	.group = "nic",
	.name = "bytes",
	.unit = "B",
	.low = 1,
	.high = MODEL_NIC_BYTES_MOST,
	.offset = SIZE_MAX, /* the value is in no struct */
};

/* Writes slices as Chrome's trace events. */
struct trace_file {
	FILE *file;
	unsigned slices;
};

static unsigned row_of(const char *stage)
{
	for (unsigned i = 0; i < MODEL_NIC_STAGES; i++)
		if (strcmp(model_nic_stage_name(i), stage) == 0)
			return i + 1;
	return 0;
}

static void slice_write(void *context, const char *stage, uint32_t packet, uint64_t start_ps,
			uint64_t end_ps)
{
	struct trace_file *t = context;

	fprintf(t->file,
		"%s\n{\"name\":\"packet %u\",\"cat\":\"nic\",\"ph\":\"X\",\"pid\":1,\"tid\":%u,"
		"\"ts\":%.6f,\"dur\":%.6f}",
		t->slices++ ? "," : "", packet, row_of(stage), (double)start_ps / 1e6,
		(double)(end_ps - start_ps) / 1e6);
}

static int trace_write(const struct model_parameters *p, enum model_op op, uint64_t bytes)
{
	struct trace_file t = {.file = fopen(trace_path, "w")};
	struct model_nic_trace sink = {slice_write, &t};
	struct model_nic_job job = {
		.op = op, .bytes = bytes, .count = 1, .outstanding = 1, .trace = &sink};
	struct model_nic_result r;

	if (!t.file)
		return error_set(DXP_EIO, "%s cannot be written; check the folder", trace_path);
	fprintf(t.file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	int status = model_nic_run(p, &job, &r);
	for (unsigned i = 0; i < MODEL_NIC_STAGES; i++)
		fprintf(t.file,
			"%s\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,"
			"\"args\":{\"name\":\"%s\"}}",
			t.slices++ ? "," : "", i + 1, model_nic_stage_name(i));
	fprintf(t.file, "\n]}\n");
	bool bad = ferror(t.file) != 0;
	if (fclose(t.file) || bad)
		return error_set(DXP_EIO, "%s cannot be written; check the space left", trace_path);
	return status;
}

static int ops_parse(unsigned *first, unsigned *last)
{
	static const char *const names[] = {"nap-imm", "nap-ind", "put", "get"};

	*first = 0;
	*last = MODEL_OPS - 1;
	if (!op_text)
		return DXP_OK;
	for (unsigned i = 0; i < MODEL_OPS; i++) {
		if (strcmp(names[i], op_text) == 0) {
			*first = *last = i;
			return DXP_OK;
		}
	}
	return error_set(DXP_EINVAL, "--op is nap-imm, nap-ind, put or get, not '%s'", op_text);
}

static int run_one(const struct model_run *r, enum model_op op, uint64_t bytes)
{
	if (breakdown)
		return model_nic_breakdown(r->parameters, op, bytes, r->sink);
	return model_nic_rows(r->parameters, op, bytes, r->sink);
}

static int run_trace(const struct model_run *r, unsigned first, unsigned last,
		     const struct model_sweep *sizes)
{
	if (first != last || sizes->count != 1 || sizes->values[0] > TRACE_BYTES_MOST)
		return error_set(DXP_EINVAL,
				 "--trace needs one --op, and one size of --bytes up to %u",
				 TRACE_BYTES_MOST);
	return trace_write(r->parameters, first, (uint64_t)sizes->values[0]);
}

static int run(const struct model_run *r)
{
	static struct model_sweep sizes;
	unsigned first, last;
	int status = ops_parse(&first, &last);

	if (peak)
		return status ? status : model_nic_peak(r->parameters, r->sink);
	if (!status)
		status = model_sweep_parse(&sizes, &bytes_row, false,
					   bytes_text ? bytes_text : "1,64,256,1024,2048");
	if (!status && trace_path)
		status = run_trace(r, first, last, &sizes);
	for (unsigned op = first; !status && op <= last; op++) {
		bool nap = model_nic_is_nap((enum model_op)op);
		for (unsigned i = 0; !status && i < sizes.count; i++) {
			/* If a list of sizes is for all operations, sizes above the longest NAP are
			 * skipped for NAPs. */
			if (nap && !op_text && sizes.values[i] > r->parameters->nap_max_bytes)
				continue;
			status = run_one(r, op, (uint64_t)sizes.values[i]);
		}
	}
	return status;
}

#define PEAK_REASON "--peak is of PUTs of 2 MB at all request sizes"
static const struct model_exclusion exclusions[] = {
	{"peak", "op", PEAK_REASON},
	{"peak", "bytes", PEAK_REASON},
	{"peak", "breakdown", PEAK_REASON},
	{"peak", "trace", PEAK_REASON},
	{"trace", "sweep", "a file holds one timeline"},
	{0},
};

const struct model_part model_part_nic = {
	.name = "nic",
	.summary = "latency, bandwidth and timeline of NAP, PUT and GET",
	.text = "Sends one message through the pipeline doorbell .. event of two NICs, and prints "
		"its\n"
		"latency and bandwidth. low and high span all settings of what the source leaves "
		"open:\n"
		"base, nap_overlap, forward, completion_header, event_wait, "
		"immediate_offset_bytes, and\n"
		"host_overlap for the bandwidth. `dxp model parameters nic` explains them.",
	.rows = rows,
	.row_count = ARRAY_COUNT(rows),
	.exclusions = exclusions,
	.groups = "nic pcie fifo_depth",
	.run = run,
};
