/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures a doorbell that a kernel rings, by `kernel_put --rings` on an xPU: the kernel repeatedly
 * PUTs 8 bytes to its own function and awaits completion. Reference: two cores that answer each
 * other through memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/contenders.h"
#include "bench/fabric.h"
#include "bench/nic.h"
#include "bench/report.h"
#include "bench/table.h"
#include "engine/ocl_library.h"

#define CASE          "doorbell of a kernel"
#define RINGS         200000
#define RINGS_FIRST   100
#define WARMUP        20000
#define BUDGET_NS     (2 * S_NS)
#define PLATFORMS_MAX 16
#define VERSION_TEXT  128
#define COMMAND_TEXT  1200

/* Writes a ring's mean time, measured from the kernel's start, to *ns. */
static int rings_run(uint64_t count, double *ns)
{
	char command[COMMAND_TEXT];

	snprintf(command, sizeof(command), "'%s/kernel_put' --rings %" PRIu64,
		 fabric_programs_folder(), count);
	FILE *f = popen(command, "r");
	if (!f)
		return DXP_EIO;
	int found =
		fscanf(f, "%*u doorbells of a kernel on %*s each with its completion: %lf ns", ns);
	return pclose(f) == 0 && found == 1 ? DXP_OK : DXP_EIO;
}

/* Returns the rings that fit into `budget_ns`, after a short run that also builds the kernel. On
 * one core, or beside other programs, a ring waits milliseconds for the scheduler. */
static uint64_t rings_choose(uint64_t most, uint64_t budget_ns)
{
	double ns;

	if (rings_run(RINGS_FIRST, &ns) != DXP_OK || ns <= 0)
		return most;
	return clamp_u64((uint64_t)((double)budget_ns / ns), RINGS_FIRST, most);
}

static int kernel_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
			struct tally *tally)
{
	double ns;
	int status = rings_run(work->count, &ns);

	(void)ends;
	(void)datagram_bytes;
	if (status != DXP_OK)
		return status;
	tally->end_ns = clock_now_ns();
	tally->begin_ns = tally->end_ns - (uint64_t)(ns * (double)work->count);
	tally->samples[0] = (uint64_t)ns;
	tally->sample_count = 1;
	tally->done = work->count;
	return DXP_OK;
}

/* Extracts "PoCL 3.1+debian" from "OpenCL 3.0 PoCL 3.1+debian Linux, ...", or else the first word.
 * Returns false without a platform. */
static bool version_read(char out[VERSION_TEXT])
{
	const struct ocl_library *cl;
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_uint count = 0;
	char text[1024] = "";

	if (ocl_library_get(&cl) != DXP_OK ||
	    cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS || count == 0)
		return false;
	for (cl_uint i = 0; i < min_u64(count, PLATFORMS_MAX) && !strstr(text, "PoCL "); i++)
		cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof(text) - 1, text,
				      NULL);
	const char *name = strstr(text, "PoCL ");
	snprintf(out, VERSION_TEXT, "%.*s", VERSION_TEXT - 1, name ? name : text);
	size_t words = name ? strlen("PoCL ") : 0;
	out[words + strcspn(out + words, " ,")] = '\0';
	return true;
}

struct kernel_bench {
	const struct bench_options *options;
	char contender[VERSION_TEXT + 16];
};

static int kernel_run(void *context)
{
	static const struct lab memory = {"shared memory", 0, 8960, false};
	const struct kernel_bench *k = context;
	const struct contender contenders[] = {{.name = k->contender, .alone = kernel_alone},
					       CONTENDER_STORE};
	const struct raw_ends ends = {0};
	struct table_case c = {
		.bench = "nic",
		.name = CASE,
		.lab = &memory,
		.metric = TABLE_ROUND_TRIP,
		.work = {.op = WORK_PING,
			 .bytes = 8,
			 .depth = 1,
			 .batch = 1000,
			 .warmup = WARMUP,
			 .count = rings_choose(k->options->quick ? RINGS / 10 : RINGS, BUDGET_NS),
			 .budget_ns = BUDGET_NS,
			 .spin = true},
		.contenders = contenders,
		.count = ARRAY_COUNT(contenders),
		.reference = 1,
		.options = k->options,
	};

	return table_case_run(&c, &ends);
}

/* Returns why this machine cannot run the case, or NULL. */
static const char *obstacle(char version[VERSION_TEXT])
{
	char path[COMMAND_TEXT];

	snprintf(path, sizeof(path), "%s/kernel_put", fabric_programs_folder());
	if (access(path, X_OK) != 0)
		return "skipped: the example kernel_put is not built beside this program";
	return version_read(version) ? NULL : "skipped: no OpenCL on this machine";
}

int nic_kernel_run(const struct bench_options *o)
{
	struct kernel_bench k = {.options = o, .contender = "kernel"};
	char version[VERSION_TEXT];

	if (!bench_wanted(o->only_case, CASE) || !bench_wanted(o->only, k.contender))
		return 0;
	const struct report_row row = {
		.bench = "nic",
		.name = CASE,
		.lab = "shared memory",
		.contender = k.contender,
		.metric = "round trip p50",
		.unit = "us",
		.note = obstacle(version),
	};
	if (row.note) {
		report_row(&row);
		return 0;
	}
	snprintf(k.contender, sizeof(k.contender), "kernel, %s", version);
	return fabric_run(1, "256M", kernel_run, &k);
}
