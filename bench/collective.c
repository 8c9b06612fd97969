/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench collective`: in-place allreduce of floats among 2, 4 and 8 local xPUs: time, bytes
 * through the host, and the host's CPU time. All ways alternate.
 *
 *   ring, tree         the xPUs send to each other and add
 *   switch             a switch on this machine adds
 *   kernels            the same, but kernels start all operations of a sample
 *   through the host   the host reads all inputs, adds them, and writes the sum to each xPU */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/async.h>
#include <dxp/collective.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/collective_kernel.h"
#include "bench/fabric.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define MEMBERS_MAX COLLECTIVE_MEMBERS
#define BYTES_MAX   (64u << 20)
#define QUICK_BYTES (1u << 20)    /* largest operation with --quick */
#define SAMPLE_WORK (64ull << 20) /* bytes moved by all operations of a sample */
#define RUNS_MAX    50            /* most operations in one sample */
#define WAIT_NS     (120 * S_NS)

static const uint32_t groups[] = {2, 4, 8};
static const uint64_t sizes[] = {1u << 10, 4u << 10, 16u << 10, 64u << 10, 256u << 10,
				 1u << 20, 4u << 20, 16u << 20, 64u << 20};

enum way { RING, TREE, SWITCH, HOST, KERNELS, WAYS };
static const char *const way_names[WAYS] = {"ring", "tree", "switch", "through the host",
					    "kernels"};

struct sample {
	double us, host_bytes, cpu_us; /* figures of one operation */
};

struct collective {
	const struct bench_options *options;
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[MEMBERS_MAX];
	uint16_t nodes[MEMBERS_MAX];
	uint64_t at[MEMBERS_MAX]; /* device addresses of the members' data */
	float *memory;            /* one block per member, as large as the operation */
	uint32_t members;
	struct dxp_group *ways[HOST];
	struct collective_kernels kernels;
	int ways_used; /* WAYS, or KERNELS if kernels have no NIC */
	struct dxp_part parts[MEMBERS_MAX];
	struct sample samples[WAYS][BENCH_ROUNDS_MAX];
};

static int group_run(struct collective *b, enum way way, uint64_t bytes)
{
	const struct dxp_collective c = {
		.parts = b->parts, .count = bytes / sizeof(float), .type = DXP_FLOAT};
	int status = dxp_allreduce(b->ways[way], &c);

	return status == DXP_OK ? dxp_group_wait(b->ways[way], WAIT_NS) : status;
}

static int all_move(struct collective *b, uint64_t bytes, bool in)
{
	dxp_event events[MEMBERS_MAX];
	uint32_t posted = 0;
	int status = DXP_OK;

	for (uint32_t m = 0; m < b->members && status == DXP_OK; m++) {
		void *block = (char *)b->memory + (in ? m * bytes : 0);
		status = in ? dxp_read(b->xpus[m], block, b->at[m], bytes, NULL, &events[m])
			    : dxp_write(b->xpus[m], b->at[m], block, bytes, NULL, &events[m]);
		posted += status == DXP_OK;
	}
	for (uint32_t m = 0; m < posted; m++) {
		int one = dxp_event_wait(b->fabric, events[m], WAIT_NS, NULL);
		status = status == DXP_OK ? one : status;
	}
	return status;
}

static int host_run(struct collective *b, uint64_t bytes)
{
	const uint64_t count = bytes / sizeof(float);
	int status = all_move(b, bytes, true);

	for (uint32_t m = 1; m < b->members; m++)
		for (uint64_t i = 0; i < count; i++)
			b->memory[i] += b->memory[m * count + i];
	return status == DXP_OK ? all_move(b, bytes, false) : status;
}

/* Runs several operations. Only kernels start them without the host. */
static int way_run(struct collective *b, enum way way, uint64_t bytes, uint32_t runs)
{
	int status = DXP_OK;

	if (way == KERNELS)
		return collective_kernels_run(&b->kernels, b->at, bytes, runs);
	for (uint32_t i = 0; i < runs && status == DXP_OK; i++)
		status = way == HOST ? host_run(b, bytes) : group_run(b, way, bytes);
	return status;
}

static void failed(const struct collective *b, enum way way, uint64_t bytes, const char *why)
{
	log_error("bench collective: %s, %u members, %llu bytes: %s", way_names[way], b->members,
		  (unsigned long long)bytes, why);
}

/* Fails unless the group's last operation used its switch. */
static int switch_check(const struct collective *b, uint64_t bytes)
{
	struct dxp_group_ways ways;

	dxp_group_ways(b->ways[SWITCH], &ways);
	if (!ways.why[0])
		return DXP_OK;
	failed(b, SWITCH, bytes, ways.why);
	return DXP_EUNSUPPORTED;
}

/* Member m's elements are all m + 1. Also builds the way's kernels. */
static bool proves(struct collective *b, enum way way, uint64_t bytes)
{
	const uint64_t count = bytes / sizeof(float);
	int status = DXP_OK;
	bool same = true;

	for (uint32_t m = 0; m < b->members && status == DXP_OK; m++) {
		for (uint64_t i = 0; i < count; i++)
			b->memory[i] = (float)(m + 1);
		status = dxp_mem_write(b->xpus[m], b->at[m], b->memory, bytes);
	}
	if (status == DXP_OK)
		status = way_run(b, way, bytes, 1);
	for (uint32_t m = 0; m < b->members && status == DXP_OK; m++) {
		status = dxp_mem_read(b->xpus[m], b->memory, b->at[m], bytes);
		for (uint64_t i = 0; i < count; i++)
			same = same && b->memory[i] == (float)(b->members * (b->members + 1) / 2);
	}
	if (status == DXP_OK && way == SWITCH)
		status = switch_check(b, bytes);
	if (status != DXP_OK || !same)
		failed(b, way, bytes, status == DXP_OK ? "a sum is wrong" : dxp_fabric_error(NULL));
	return status == DXP_OK && same;
}

static uint64_t host_bytes(const struct collective *b)
{
	struct dxp_link_bytes one;
	uint64_t sum = 0;

	for (uint32_t m = 0; m < b->members; m++)
		if (dxp_fabric_traffic(b->fabric, b->nodes[m], &one) == DXP_OK)
			sum += one.sent_bytes + one.received_bytes;
	return sum;
}

static bool sample_run(struct collective *b, enum way way, uint64_t bytes, struct sample *out)
{
	const uint64_t work = b->options->quick ? SAMPLE_WORK / 10 : SAMPLE_WORK;
	const uint64_t runs = clamp_u64(work / bytes, 1, RUNS_MAX), sent = host_bytes(b);
	const uint64_t cpu_ns = child_cpu_ns(0), begin_ns = clock_now_ns();
	int status = way_run(b, way, bytes, (uint32_t)runs);

	*out = (struct sample){
		.us = (double)(clock_now_ns() - begin_ns) / 1e3 / (double)runs,
		.host_bytes = (double)(host_bytes(b) - sent) / (double)runs,
		.cpu_us = (double)(child_cpu_ns(0) - cpu_ns) / 1e3 / (double)runs,
	};
	if (status != DXP_OK)
		failed(b, way, bytes, dxp_fabric_error(NULL));
	return status == DXP_OK;
}

/* ---- rows ---- */

static double median_of(const struct sample *samples, unsigned rounds, size_t offset)
{
	double values[BENCH_ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		memcpy(&values[i], (const char *)&samples[i] + offset, sizeof(double));
	return report_median(values, rounds);
}
#define MEDIAN(way, field) \
	median_of(b->samples[way], b->options->rounds, offsetof(struct sample, field))

static void row_print(const struct collective *b, enum way way, uint64_t bytes)
{
	char name[64], size[TABLE_BYTES_TEXT];
	const double n = b->members;

	snprintf(name, sizeof(name), "%u xPUs, %s", b->members, table_bytes(bytes, size));
	report_row(&(struct report_row){
		.bench = "collective",
		.lab = "loopback",
		.name = name,
		.contender = way_names[way],
		.metric = "time",
		.unit = "us",
		.value = MEDIAN(way, us),
		.peer = way == HOST ? NULL : way_names[HOST],
		.peer_value = MEDIAN(HOST, us),
		.x_name = "bytes",
		.x = (double)bytes,
		.samples = b->options->rounds,
		.more = {{"host_bytes", MEDIAN(way, host_bytes)},
			 {"host_cpu_us", MEDIAN(way, cpu_us)},
			 /* over each link of a ring */
			 {"link_gb_per_s",
			  2 * (n - 1) / n * (double)bytes / 1e3 / MEDIAN(way, us)}},
	});
}

static bool size_run(struct collective *b, uint64_t bytes)
{
	for (int way = 0; way < b->ways_used; way++)
		if (!proves(b, (enum way)way, bytes))
			return false;
	for (unsigned round = 0; round < b->options->rounds; round++)
		for (int way = 0; way < b->ways_used; way++)
			if (!sample_run(b, (enum way)way, bytes, &b->samples[way][round]))
				return false;
	for (int way = 0; way < b->ways_used; way++)
		row_print(b, (enum way)way, bytes);
	return true;
}

static bool group_sizes_run(struct collective *b, uint32_t members)
{
	const uint64_t most = b->options->quick ? QUICK_BYTES : BYTES_MAX;
	bool good = true;

	b->members = members;
	for (int way = 0; way < HOST && good; way++) {
		static const enum dxp_way ways[HOST] = {DXP_WAY_RING, DXP_WAY_TREE, DXP_WAY_SWITCH};
		const struct dxp_group_options o = {.way = ways[way]};
		good = dxp_group_create(b->fabric, b->xpus, members, &o, &b->ways[way]) == DXP_OK;
	}
	if (good && b->ways_used == WAYS)
		good = collective_kernels_group(&b->kernels, members) == DXP_OK;
	if (!good)
		log_error("bench collective: %s", dxp_fabric_error(NULL));
	for (size_t i = 0; i < ARRAY_COUNT(sizes) && sizes[i] <= most && good; i++)
		good = size_run(b, sizes[i]);
	collective_kernels_group(&b->kernels, 0);
	for (int way = 0; way < HOST; way++) {
		dxp_group_destroy(b->ways[way]);
		b->ways[way] = NULL;
	}
	return good;
}

static int xpus_open(struct collective *b)
{
	int status = dxp_fabric_open(NULL, &b->fabric);
	struct dxp_xpu_caps caps;

	for (uint32_t m = 0; m < MEMBERS_MAX && status == DXP_OK; m++) {
		char name[16];
		snprintf(name, sizeof(name), "xpu%u", m + 1);
		status = dxp_xpu_open(b->fabric, name, &b->xpus[m]);
		if (status == DXP_OK)
			status = dxp_xpu_caps(b->xpus[m], &caps);
		if (status == DXP_OK)
			status = dxp_mem_alloc(b->xpus[m], BYTES_MAX, &b->at[m]);
		b->nodes[m] = caps.node;
		b->parts[m] = (struct dxp_part){.from = b->at[m],
						.from_bytes = BYTES_MAX,
						.to = b->at[m],
						.to_bytes = BYTES_MAX};
	}
	return status;
}

/* Decides whether kernels take part. */
static int kernels_open(struct collective *b)
{
	int status = collective_kernels_open(&b->kernels, b->fabric, b->xpus, MEMBERS_MAX);

	b->ways_used = status == DXP_OK ? WAYS : KERNELS;
	return status == DXP_EUNSUPPORTED ? DXP_OK : status;
}

static int inside_run(void *context)
{
	struct collective *b = context;
	bool good = true;
	char name[16];

	b->memory = malloc((size_t)MEMBERS_MAX * BYTES_MAX);
	if (!b->memory || xpus_open(b) != DXP_OK || kernels_open(b) != DXP_OK) {
		log_error("bench collective: %s",
			  b->memory ? dxp_fabric_error(NULL) : "out of memory");
		good = false;
	}
	for (size_t i = 0; i < ARRAY_COUNT(groups) && good; i++) {
		snprintf(name, sizeof(name), "%u xPUs", groups[i]);
		if (bench_wanted(b->options->only_case, name))
			good = group_sizes_run(b, groups[i]);
	}
	collective_kernels_close(&b->kernels);
	for (uint32_t m = 0; m < MEMBERS_MAX; m++)
		dxp_xpu_close(b->xpus[m]);
	dxp_fabric_close(b->fabric);
	free(b->memory);
	return good ? 0 : 1;
}

int bench_collective(int argc, char **argv)
{
	struct collective b = {0};
	struct bench_options o;
	int status = bench_options_parse(argc, argv,
					 "Allreduce among 2, 4 and 8 xPUs: by ring, tree, switch, "
					 "kernels, through the host.",
					 "ce", &o);

	if (status >= 0)
		return status;
	b.options = &o;
	report_begin(o.json, "allreduce among xPUs");
	return fabric_switched_run(MEMBERS_MAX, "96M", o.engine ? o.engine : "ocl", inside_run, &b);
}
