/* SPDX-License-Identifier: BSD-3-Clause */
/* Outstanding reads (S-06): a board pulls from this machine through a network with latency, with 1
 * to 8 reads of one buffer each. Each further read adds as much as the first, until the network is
 * busy. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/bridge.h"
#include "bench/delay.h"
#include "bench/report.h"

#define PIECE_BYTES (64u << 10)
#define BYTES       (16u << 20)
#define BYTES_QUICK (4u << 20)

static const struct latency {
	const char *name;
	uint64_t one_way_ns;
	bool quick; /* part of a quick run */
} latencies[] = {
	{"reads, round trip 0 ms", 0, false},
	{"reads, round trip 0.2 ms", 100 * US_NS, false},
	{"reads, round trip 1 ms", 500 * US_NS, false},
	{"reads, round trip 5 ms", 2500 * US_NS, false},
	{"reads, round trip 20 ms", 10 * MS_NS, true},
};

static const struct latency *running;

static const struct number {
	const char *contender, *daemon;
	uint32_t reads;
} numbers[] = {
	{"1 read", "reads1", 1},
	{"2 reads", "reads2", 2},
	{"4 reads", "reads4", 4},
	{"8 reads", "reads8", 8},
};
_Static_assert(ARRAY_COUNT(numbers) <= BRIDGE_DAEMONS_MAX, "a daemon for each number of reads");

static bool sample(struct bridge_setup *p, size_t daemon, double *gb_per_s)
{
	const struct bridge_way way = {
		.route = ROUTE_TO, .daemon = daemon, .piece_bytes = PIECE_BYTES};
	const uint64_t begin_ns = clock_now_ns();
	const int status = bridge_pull_move(p, &way, p->largest);

	*gb_per_s = (double)p->largest / (double)(clock_now_ns() - begin_ns);
	if (status != DXP_OK)
		report_note("%s: %s", running->name, dxp_fabric_error(NULL));
	return status == DXP_OK;
}

static void row_print(const struct bridge_setup *p, uint32_t reads, double gb_per_s)
{
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		if (numbers[i].reads == reads)
			report_row(&(struct report_row){
				.bench = "bridge",
				.lab = p->lab,
				.name = running->name,
				.contender = numbers[i].contender,
				.metric = "goodput",
				.unit = "GB/s",
				.x_name = "reads",
				.x = reads,
				.value = gb_per_s,
				.samples = p->options->rounds,
			});
}

static int reads_run(struct bridge_setup *p)
{
	double gb_per_s[ARRAY_COUNT(numbers)][BENCH_ROUNDS_MAX], warm;
	const unsigned rounds = p->options->rounds;

	if (!bridge_prove(p, ROUTE_TO, 0))
		return 1;
	for (size_t i = 0; i < p->daemon_count; i++)
		if (!sample(p, i, &warm))
			return 1;
	for (unsigned r = 0; r < rounds; r++)
		for (size_t i = 0; i < p->daemon_count; i++)
			if (!sample(p, i, &gb_per_s[i][r]))
				return 1;
	for (size_t i = 0; i < p->daemon_count; i++)
		row_print(p, p->daemons[i].reads, report_median(gb_per_s[i], rounds));
	return 0;
}

static int lab_body_run(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	struct bridge_setup *p = context;

	p->lab = lab->name;
	return bridge_fabric_run(p, ends, reads_run);
}

int bridge_reads(const struct bench_options *o)
{
	struct bridge_setup p = {.options = o, .largest = o->quick ? BYTES_QUICK : BYTES};
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		if (bench_wanted(o->only, numbers[i].contender))
			p.daemons[p.daemon_count++] =
				(struct bridge_daemon){.name = numbers[i].daemon,
						       .engine = o->engine,
						       .buffer_bytes = PIECE_BYTES,
						       .reads = numbers[i].reads};
	if (p.daemon_count == 0)
		return 0;
	if (!bridge_memory_open(&p))
		return 1;
	for (size_t i = 0; i < ARRAY_COUNT(latencies); i++) {
		if ((o->quick && !latencies[i].quick) ||
		    !bench_wanted(o->only_case, latencies[i].name))
			continue;
		running = &latencies[i];
		status |= delay_run(latencies[i].one_way_ns, lab_body_run, &p);
	}
	bridge_memory_close(&p);
	return status;
}
