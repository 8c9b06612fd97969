/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench opencl`: the cost of commands, bytes and builds for an OpenCL program on two xPUs of
 * a local fabric, against local PoCL and the network's limits: a raw round trip and an RLTP
 * stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/fabric.h"
#include "bench/measure.h"
#include "bench/opencl_end.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define DATAGRAM_BYTES 1472
#define STREAM_BYTES   (1u << 20)
#define XPU_MEMORY     "1G"

enum shape { SHAPE_TIME, SHAPE_BYTES };

static const struct opencl_case {
	const char *name, *what; /* name in the measuring program; printed text */
	uint32_t count;
	enum shape shape;
	bool sizes;
	uint32_t bytes; /* unless `sizes` */
	bool mean;      /* reports the mean: one sample holds many operations */
} cases[] = {
	{"empty", "empty kernel, finished", 2000, SHAPE_TIME, false, 0, false},
	{"enqueue", "1,000 kernels: an enqueue", 1000, SHAPE_TIME, false, 0, true},
	{"stream", "1,000 kernels: to completion, each", 1000, SHAPE_TIME, false, 0, true},
	{"chain", "1,000 kernels, each after the one before", 1000, SHAPE_TIME, false, 0, true},
	{"writes", "1,000 independent writes of 4 B, each", 1000, SHAPE_TIME, false, 4, true},
	{"step", "kernels on two nodes alternately, 4 KiB, a step", 200, SHAPE_TIME, false, 4096,
	 true},
	{"build-cold", "build of a new program", 1, SHAPE_TIME, false, 0, false},
	{"build-cached", "build of a known program", 10, SHAPE_TIME, false, 0, false},
	{"write", "write", 0, SHAPE_BYTES, true, 0, false},
	{"read", "read", 0, SHAPE_BYTES, true, 0, false},
	{"copy", "device to device", 0, SHAPE_BYTES, true, 0, false},
};

static const uint64_t sizes[] = {4, 4096, 65536, 1u << 20, 8u << 20, 64u << 20, 256u << 20};

struct bench_run {
	const struct bench_options *options;
	struct opencl_end dxp, local;
	double raw_us[ROUNDS_MAX], stream_gb[ROUNDS_MAX];
	unsigned limits;
	struct tally *tally;
};

/* ---- limits of the network ---- */

static void limits_measure(struct bench_run *b)
{
	static const struct contender ping = CONTENDER_RAW_PING, stream = CONTENDER_RLTP;
	const struct raw_ends *ends = opencl_loopback();
	const struct work ping_work = {.op = WORK_PING,
				       .bytes = 64,
				       .depth = 1,
				       .warmup = 1000,
				       .count = 1000,
				       .budget_ns = S_NS,
				       .spin = true};
	const struct work stream_work = {.op = WORK_PUT,
					 .bytes = STREAM_BYTES,
					 .depth = 8,
					 .warmup = 64,
					 .count = b->options->quick ? 100 : 500,
					 .budget_ns = 2 * S_NS};
	struct outcome p, s;

	if (b->limits == ROUNDS_MAX)
		return;
	measure_into(b->tally, &ping, ends, &ping_work, DATAGRAM_BYTES, &p);
	measure_into(b->tally, &stream, ends, &stream_work, DATAGRAM_BYTES, &s);
	if (p.status != DXP_OK || s.status != DXP_OK || s.seconds <= 0)
		return;
	b->raw_us[b->limits] = p.p50_us;
	b->stream_gb[b->limits++] = (double)s.done * STREAM_BYTES / s.seconds * 1e-9;
}

static void limits_report(struct bench_run *b)
{
	struct report_row row = {.bench = "opencl", .name = "the network", .lab = "loopback"};

	if (b->limits == 0)
		return;
	row.contender = "raw UDP, a round trip";
	row.metric = "time";
	row.unit = "us";
	row.value = report_median(b->raw_us, b->limits);
	row.samples = b->limits;
	report_row(&row);
	row.contender = "RLTP, PUTs of 1 MiB";
	row.metric = "goodput";
	row.unit = "GB/s";
	row.value = report_median(b->stream_gb, b->limits);
	report_row(&row);
}

/* ---- one case ---- */

struct figures {
	double value[ROUNDS_MAX], p50[ROUNDS_MAX], p99[ROUNDS_MAX];
	unsigned count;
	char why[160];
};

static void figures_read(struct figures *f, struct opencl_end *end, const struct opencl_case *c,
			 uint64_t bytes, uint32_t count)
{
	struct opencl_figures got;

	if (!opencl_end_run(end, c->name, bytes, count, &got)) {
		snprintf(f->why, sizeof(f->why), "%s", end->why);
		return;
	}
	double us = c->mean ? got.mean_us : got.p50_us;
	f->value[f->count] = c->shape == SHAPE_BYTES ? (double)bytes / us * 1e-3 : us;
	f->p50[f->count] = got.p50_us;
	f->p99[f->count++] = got.p99_us;
}

/* Makes every size move about the same bytes in total. */
static uint32_t count_for(const struct bench_run *b, const struct opencl_case *c, uint64_t bytes)
{
	uint64_t all = b->options->quick ? 64u << 20 : 512u << 20;
	uint64_t most = b->options->quick ? 100 : 1000;

	if (c->count)
		return b->options->quick && c->count > 100 && !c->mean ? c->count / 10 : c->count;
	return (uint32_t)max_u64(2, min_u64(most, all / bytes));
}

static int case_report(const struct opencl_case *c, const char *name, uint64_t bytes,
		       struct figures *dxp, struct figures *local)
{
	struct report_row row = {
		.bench = "opencl",
		.name = name,
		.lab = "loopback",
		.contender = "Direct xPU",
		.metric = c->shape == SHAPE_BYTES ? "goodput" : "time",
		.unit = c->shape == SHAPE_BYTES ? "GB/s" : "us",
		.samples = dxp->count,
		.x_name = c->sizes ? "bytes" : NULL,
		.x = (double)bytes,
	};

	if (dxp->count == 0) {
		row.note = dxp->why;
		report_row(&row);
		return 1;
	}
	row.value = report_median(dxp->value, dxp->count);
	row.p50_us = report_median(dxp->p50, dxp->count);
	row.p99_us = c->mean ? 0 : report_median(dxp->p99, dxp->count);
	if (local->count) {
		row.peer = "PoCL, local";
		row.peer_value = report_median(local->value, local->count);
	}
	report_row(&row);
	if (c->sizes && local->count) { /* rows of the local driver for plots */
		row.contender = row.peer;
		row.value = row.peer_value;
		row.peer = NULL;
		row.p50_us = report_median(local->p50, local->count);
		row.p99_us = report_median(local->p99, local->count);
		row.samples = local->count;
		report_row(&row);
	}
	return 0;
}

static int case_run(struct bench_run *b, const struct opencl_case *c, uint64_t bytes)
{
	char name[96], size[TABLE_BYTES_TEXT];
	struct figures dxp = {.why = "not selected"}, local = {.why = "not selected"};
	uint32_t count = count_for(b, c, bytes);

	snprintf(name, sizeof(name), c->sizes ? "%s %s" : "%s", c->what, table_bytes(bytes, size));
	if (!bench_wanted(b->options->only_case, name))
		return 0;
	for (unsigned round = 0; round < b->options->rounds; round++) {
		if (round % 2 == 0)
			limits_measure(b);
		figures_read(&dxp, &b->dxp, c, bytes, count);
		figures_read(&local, &b->local, c, bytes, count);
	}
	return case_report(c, name, bytes, &dxp, &local);
}

static int cases_run(struct bench_run *b)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct opencl_case *c = &cases[i];
		for (size_t s = 0; c->sizes && s < ARRAY_COUNT(sizes); s++)
			if (!b->options->quick || sizes[s] <= 8u << 20)
				status |= case_run(b, c, sizes[s]);
		if (!c->sizes)
			status |= case_run(b, c, c->bytes);
	}
	limits_report(b);
	return status;
}

static int inside_run(void *context)
{
	struct bench_run *b = context;

	b->tally = measure_tally_map(1);
	if (!b->tally)
		return 1;
	int status = 1;
	if (opencl_end_start(&b->dxp, OPENCL_DXP)) {
		if (!opencl_end_start(&b->local, OPENCL_LOCAL))
			report_note("without local PoCL beside it: %s", b->local.why);
		status = cases_run(b);
	} else {
		log_error("the measuring program fails on the devices of this project: %s",
			  b->dxp.why);
	}
	opencl_end_stop(&b->dxp);
	opencl_end_stop(&b->local);
	measure_tally_unmap(b->tally, 1);
	return status;
}

int bench_opencl(int argc, char **argv)
{
	struct bench_options o;
	struct bench_run b = {.options = &o};
	int status = bench_options_parse(
		argc, argv, "OpenCL commands on two xPUs of this machine, beside local PoCL.", "c",
		&o);

	if (status >= 0)
		return status;
	report_begin(o.json, "OpenCL over the network");
	return fabric_run(2, XPU_MEMORY, inside_run, &b);
}
