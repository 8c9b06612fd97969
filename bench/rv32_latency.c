/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures an empty kernel over the network, on rv32 and PoCL xPUs. Rounds alternate between two
 * running fabrics. */
#include <stdio.h>

#include "base/log.h"
#include "bench/fabric.h"
#include "bench/opencl_end.h"
#include "bench/report.h"
#include "bench/rv32.h"

#define MEMORY   "64M"
#define XPUS     2 /* needed by the measuring program */
#define LAUNCHES 2000u

struct latency {
	const struct bench_options *options;
	struct opencl_end rv32, pocl;
	double rv32_us[BENCH_ROUNDS_MAX], pocl_us[BENCH_ROUNDS_MAX];
};

static bool end_run(struct opencl_end *end, const struct bench_options *o, double *out)
{
	struct opencl_figures got;

	if (!opencl_end_run(end, "empty", 0, o->quick ? LAUNCHES / 10 : LAUNCHES, &got)) {
		log_error("empty kernel: %s", end->why);
		return false;
	}
	*out = got.p50_us;
	return true;
}

static int rounds_run(struct latency *l)
{
	const unsigned rounds = l->options->rounds;

	for (unsigned i = 0; i < rounds; i++)
		if (!end_run(&l->rv32, l->options, &l->rv32_us[i]) ||
		    !end_run(&l->pocl, l->options, &l->pocl_us[i]))
			return 1;
	report_row(&(struct report_row){.bench = "rv32",
					.name = "empty kernel, finished",
					.lab = "loopback",
					.contender = "engine rv32",
					.metric = "time",
					.unit = "us",
					.value = report_median(l->rv32_us, rounds),
					.peer = "engine ocl, PoCL",
					.peer_value = report_median(l->pocl_us, rounds),
					.samples = rounds});
	return 0;
}

static int inner_run(void *context)
{
	struct latency *l = context;
	int status = 1;

	if (opencl_end_start(&l->pocl, OPENCL_DXP))
		status = rounds_run(l);
	else
		log_error("empty kernel on PoCL: %s", l->pocl.why);
	opencl_end_stop(&l->pocl);
	return status;
}

static int outer_run(void *context)
{
	struct latency *l = context;
	int status = 1;

	if (opencl_end_start(&l->rv32, OPENCL_DXP))
		status = fabric_engine_run(XPUS, MEMORY, "ocl", inner_run, l);
	else
		log_error("empty kernel on rv32: %s", l->rv32.why);
	opencl_end_stop(&l->rv32);
	return status;
}

int rv32_bench_latency(const struct bench_options *o)
{
	struct latency l = {.options = o};

	if (!bench_wanted(o->only_case, "empty kernel, finished"))
		return 0;
	return fabric_engine_run(XPUS, MEMORY, "rv32", outer_run, &l);
}
