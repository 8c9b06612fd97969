/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures crowds with each congestion control: many senders at one bottleneck, flows hashed onto
 * few wires, and all to all. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/report.h"
#include "bench/sim.h"

#define GBPS       1000000000ull
#define DATAGRAM   1538
#define QUEUE      256 /* full datagrams per switch port */
#define MARK       65  /* full datagrams: DCTCP's threshold K for 10 Gb/s */
#define LEAF_HOSTS 32
/* as many as hosts at a leaf: only the hash causes bottlenecks */
#define SPINES 32

static const struct {
	enum crowd_pattern topology;
	uint32_t nodes; /* for incast: number of senders */
} cases[] = {
	{CROWD_INCAST, 8},      {CROWD_INCAST, 32},        {CROWD_INCAST, 128},
	{CROWD_INCAST, 1024},   {CROWD_PERMUTATION, 1024}, {CROWD_PERMUTATION, 4096},
	{CROWD_ALL_TO_ALL, 64}, {CROWD_ALL_TO_ALL, 256},
};

/* Returns at least 25 round trips; the whole table takes a minute of CPU time. */
static uint64_t duration_ns(enum crowd_pattern topology, uint32_t nodes)
{
	switch (topology) {
	case CROWD_PERMUTATION: return nodes > 1024 ? MS_NS / 2 : 2 * MS_NS;
	case CROWD_ALL_TO_ALL: return nodes > 64 ? MS_NS : 5 * MS_NS;
	default: return nodes > 128 ? 40 * MS_NS : 30 * MS_NS;
	}
}

struct crowd_options sim_case(enum crowd_pattern topology, uint32_t nodes, enum cc_kind cc,
			      uint64_t seed)
{
	bool spread = topology == CROWD_PERMUTATION;

	return (struct crowd_options){
		.net = {.seed = seed,
			.hosts = topology == CROWD_INCAST ? nodes + 1 : nodes,
			.topology = spread ? NET_LEAF_SPINE : NET_STAR,
			.leaf_hosts = LEAF_HOSTS,
			.spines = SPINES,
			/* 10 us one way: 4 links of 2.5 us, or 2 links of 5 us */
			.delay_ns = spread ? 2500 : 5000,
			.rate_bps = 10 * GBPS,
			.host_rate_bps = topology == CROWD_INCAST ? 40 * GBPS : 0,
			.queue_bytes = QUEUE * DATAGRAM,
			.mark_bytes = MARK * DATAGRAM,
			.backlog_bytes = 16384,
			.poll_ns = US_NS},
		.pattern = topology,
		.tuning = {.cc = cc},
		.message_bytes = topology == CROWD_ALL_TO_ALL ? 16384 : 65536,
		.mixed = true,
		.outstanding = 2,
		.limit_ns = duration_ns(topology, nodes),
	};
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void row_json(const char *topology, uint32_t nodes, enum cc_kind cc,
		     const struct crowd_result *r)
{
	char name[64];
	const struct report_row row = {
		.bench = "sim",
		.name = name,
		.metric = "goodput share",
		.unit = "%",
		.value = 100 * r->share,
		.lab = "simulated",
		.contender = cc_name(cc),
		.p50_us = r->p50_us,
		.p99_us = r->p99_us,
		.samples = 1,
		.more = {{"drops_percent", percent(r->dropped, r->datagrams)},
			 {"jain", r->jain},
			 {"repeats_percent", percent(r->repeats, r->packets)},
			 {"p999_us", r->p999_us},
			 {"queue_mean_kb", r->queue_mean_bytes / 1e3},
			 {"queue_max_kb", r->queue_max_bytes / 1e3}},
	};

	snprintf(name, sizeof(name), "%s %u", topology, nodes);
	report_row(&row);
}

static void row_text(const char *topology, uint32_t nodes, enum cc_kind cc,
		     const struct crowd_result *r)
{
	printf("%-12s %5u %-6s %7.1f %6.2f %7.2f %6.3f %8.0f %9.0f %9.0f %6.0f %6.0f", topology,
	       nodes, cc_name(cc), 100 * r->share, percent(r->dropped, r->datagrams),
	       percent(r->repeats, r->packets), r->jain, r->p50_us, r->p99_us, r->p999_us,
	       r->queue_mean_bytes / 1e3, r->queue_max_bytes / 1e3);
	if (r->failed > 0)
		printf("  %llu messages failed", (unsigned long long)r->failed);
	putchar('\n');
	fflush(stdout);
}

static int case_run(const struct sim_bench_options *o, enum crowd_pattern topology, uint32_t nodes,
		    enum cc_kind cc)
{
	struct crowd_options options = sim_case(topology, nodes, cc, o->seed);
	struct crowd_result r;
	options.limit_ns /= o->quick ? 10 : 1;
	int status = crowd_run(&options, &r);

	if (status != DXP_OK) {
		fprintf(stderr, "dxp bench sim: %s of %u nodes: %s\n", crowd_pattern_name(topology),
			nodes, dxp_status_text(status));
		return 1;
	}
	if (o->json)
		row_json(crowd_pattern_name(topology), nodes, cc, &r);
	else
		row_text(crowd_pattern_name(topology), nodes, cc, &r);
	return 0;
}

static int modules_run(const struct sim_bench_options *o, enum crowd_pattern topology,
		       uint32_t nodes)
{
	for (int cc = 0; cc < CC_KINDS; cc++)
		if ((!o->one_cc || o->cc == (enum cc_kind)cc) &&
		    case_run(o, topology, nodes, (enum cc_kind)cc) != 0)
			return 1;
	return 0;
}

int sim_topologies(const struct sim_bench_options *o)
{
	if (o->json)
		report_begin(true, NULL);
	else
		printf("10 Gb/s, 20 us round trip, queues of %d datagrams; messages of 0.6 to 640 "
		       "KiB (all-to-all: a quarter)\n"
		       "%-12s %5s %-6s %7s %6s %7s %6s %8s %9s %9s %6s %6s\n",
		       QUEUE, "topology", "nodes", "cc", "goodput", "drops", "repeats", "Jain",
		       "p50 us", "p99 us", "p99.9 us", "queue", "max KB");
	if (o->nodes > 0)
		return modules_run(o, o->topology, o->nodes);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		if ((!o->one_topology || o->topology == cases[i].topology) &&
		    modules_run(o, cases[i].topology, cases[i].nodes) != 0)
			return 1;
	return o->one_topology && o->topology == CROWD_PAIR ? modules_run(o, CROWD_PAIR, 2) : 0;
}
