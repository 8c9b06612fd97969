/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench inc`: MPI_Allreduce of unmodified programs over switches that compute, against TCP, in
 * labs of 4, 9 and 16 hosts (tools/lab). Adds one hop alone, and up to 4096 simulated hosts. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/inc.h"
#include "bench/inc_hop.h"
#include "bench/inc_sim.h"
#include "bench/lab.h"
#include "bench/report.h"

static const size_t sizes[] = {4, 8, 16, 32, 64, 128, 256, 1024, 4096, 16384, 65536, 1 << 20};
static const size_t sizes_quick[] = {8, 256, 65536};
static const size_t sizes_slow[] = {65536, 1 << 20};
static const size_t sizes_two[] = {8, 256, 4096};
static const unsigned host_counts[] = {4, 9, 16}, host_counts_slow[] = {4, 9};

struct job {
	const struct bench_options *options;
	unsigned hosts, ranks_per_host, gbps;
};

static int job_run(void *context)
{
	const struct job *job = context;
	struct inc_case c = {
		.hosts = job->hosts,
		.ranks_per_host = job->ranks_per_host,
		.gbps = job->gbps,
		.sizes = sizes,
		.size_count = ARRAY_COUNT(sizes),
		.options = job->options,
	};

	if (job->gbps > 0) {
		c.sizes = sizes_slow;
		c.size_count = ARRAY_COUNT(sizes_slow);
	} else if (job->ranks_per_host > 1) {
		c.sizes = sizes_two;
		c.size_count = ARRAY_COUNT(sizes_two);
	} else if (job->options->quick) {
		c.sizes = sizes_quick;
		c.size_count = ARRAY_COUNT(sizes_quick);
	}
	return inc_table_run(&c);
}

static int lab_job_run(struct job *job)
{
	char remove[1024];
	const struct lab_scripts scripts = {.name = "inc", .remove = remove, .anyone = true};

	snprintf(remove, sizeof(remove), "for lab in t x u; do '%s' down $LAB-$lab; done",
		 inc_lab_tool());
	return lab_scripts_run(&scripts, job_run, job);
}

/* Uses 1 Gb/s links, so they are the bottleneck; with faster links it would be the shared
 * processors. */
static int labs_slow_run(const struct bench_options *o)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(host_counts_slow); i++) {
		struct job job = {o, host_counts_slow[i], 1, 1};
		char name[32];

		snprintf(name, sizeof(name), "%u hosts, 1 Gb/s", job.hosts);
		if (bench_wanted(o->only_case, name) && !o->quick)
			status |= lab_job_run(&job);
	}
	return status;
}

static int labs_run(const struct bench_options *o)
{
	const char *obstacle = inc_lab_obstacle();
	int status = 0;

	if (obstacle) {
		report_note("MPI over switches: skipped: %s", obstacle);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_COUNT(host_counts); i++) {
		struct job job = {o, host_counts[i], 1, 0};
		char name[32];

		snprintf(name, sizeof(name), "%u hosts", host_counts[i]);
		if (!bench_wanted(o->only_case, name) || (o->quick && i > 0))
			continue;
		status |= lab_job_run(&job);
		job.ranks_per_host = 2;
		if (!o->quick && i == 0)
			status |= lab_job_run(&job);
	}
	return status | labs_slow_run(o);
}

int bench_inc(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"MPI_Allreduce over switches that compute, beside Open MPI's own over TCP. Labs\n"
		"of 4, 9 and 16 hosts, of 4 and 9 also with links of 1 Gb/s; needs root and Open "
		"MPI. CPU near: of all ranks; far: of\n"
		"the whole machine. Then one hop alone, and the simulator. --case is one of\n"
		"\"9 hosts\", \"hop\", \"simulated\".",
		"oc", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "In-network allreduce");
	status = labs_run(&o);
	if (bench_wanted(o.only_case, "hop"))
		status |= inc_hop_run(&o);
	if (bench_wanted(o.only_case, "simulated"))
		status |= bench_inc_sim(&o);
	return status;
}
