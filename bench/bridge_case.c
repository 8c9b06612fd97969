/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs ways in turn and prints their medians and limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/bridge.h"
#include "bench/child.h"
#include "bench/report.h"
#include "bench/table.h"

#define SAMPLE_NS       (60 * MS_NS) /* a sample repeats transfers this long, at least once */
#define SAMPLE_QUICK_NS (10 * MS_NS)
#define SAMPLE_TIMES    1024          /* transfers whose times are kept for the median */
#define WARM_BYTES      (64ull << 20) /* above it, only the first round warms up */

static const uint64_t transfer_sizes[] = {2,        16,       128,       1024,      8192,
					  65536,    1 << 18,  1 << 20,   4 << 20,   16 << 20,
					  32 << 20, 64 << 20, 256 << 20, 512 << 20, 1 << 30};
static const uint64_t quick_sizes[] = {2, 65536, 1 << 20, 16 << 20};
static const uint32_t piece_sizes[] = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};
static const uint32_t quick_pieces[] = {64 << 10, 1 << 20};

struct sample {
	int status;
	double gb_per_s, p50_us;
	double near_ns_per_kb, far_ns_per_kb;
};

struct way_samples {
	struct sample of[ROUNDS_MAX];
};

static uint64_t daemons_cpu_ns(const struct bridge_setup *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->daemon_count; i++)
		if (p->daemons[i].pid > 0)
			sum += child_cpu_ns(p->daemons[i].pid);
	return sum;
}

static void sample_measure(struct bridge_setup *p, const struct bridge_way *w, uint64_t bytes,
			   bool warm, struct sample *out)
{
	uint64_t times[SAMPLE_TIMES], now_ns;
	size_t time_count = 0;
	uint64_t enough_ns = p->options->quick ? SAMPLE_QUICK_NS : SAMPLE_NS, moves = 0, elapsed_ns;
	int status = warm ? w->move(p, w, bytes) : DXP_OK;
	uint64_t near_ns = child_cpu_ns(0), far_ns = daemons_cpu_ns(p), begin_ns = clock_now_ns();

	now_ns = begin_ns;
	do {
		uint64_t started_ns = now_ns;
		if (status == DXP_OK)
			status = w->move(p, w, bytes);
		moves++;
		now_ns = clock_now_ns();
		elapsed_ns = max_u64(now_ns - begin_ns, 1);
		if (time_count < SAMPLE_TIMES)
			times[time_count++] = now_ns - started_ns;
	} while (status == DXP_OK && elapsed_ns < enough_ns);
	double kilobytes = (double)(moves * bytes) / 1000;
	*out = (struct sample){
		.status = status,
		.gb_per_s = (double)(moves * bytes) / (double)elapsed_ns,
		.p50_us = (double)raw_percentile(times, time_count, 50) / 1000,
		.near_ns_per_kb = (double)(child_cpu_ns(0) - near_ns) / kilobytes,
		.far_ns_per_kb = (double)(daemons_cpu_ns(p) - far_ns) / kilobytes,
	};
}

static double median_of(const struct way_samples *s, unsigned rounds, size_t offset, unsigned *good)
{
	double values[ROUNDS_MAX];
	unsigned n = 0;

	for (unsigned r = 0; r < rounds; r++)
		if (s->of[r].status == DXP_OK)
			memcpy(&values[n++], (const char *)&s->of[r] + offset, sizeof(double));
	if (good)
		*good = n;
	return n > 0 ? report_median(values, n) : 0;
}

#define MEDIAN(s, rounds, field) median_of(s, rounds, offsetof(struct sample, field), NULL)

static struct bridge_limit limit_of(const struct bridge_case *c, const struct way_samples *s,
				    unsigned rounds)
{
	struct bridge_alone alone[BRIDGE_WAYS_MAX];

	for (size_t i = 0; i < c->count; i++)
		alone[i] = (struct bridge_alone){
			.stage = c->ways[i].stage,
			.name = c->ways[i].name,
			.gb_per_s = MEDIAN(&s[i], rounds, gb_per_s),
			.cpu_ns_per_kb = MEDIAN(&s[i], rounds, near_ns_per_kb) +
					 MEDIAN(&s[i], rounds, far_ns_per_kb),
		};
	return bridge_limit_of(alone, c->count, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
}

static const char *note_of(const struct way_samples *s, unsigned rounds, char *out, size_t bytes)
{
	unsigned failed = 0;
	int status = DXP_OK;

	for (unsigned r = 0; r < rounds; r++) {
		failed += s->of[r].status != DXP_OK;
		status = s->of[r].status != DXP_OK ? s->of[r].status : status;
	}
	if (failed == 0)
		return NULL;
	snprintf(out, bytes, "%u of %u runs failed (%s)", failed, rounds, dxp_status_text(status));
	return out;
}

static void row_print(const struct bridge_setup *p, const struct bridge_case *c,
		      const struct bridge_way *w, const struct way_samples *s,
		      const struct bridge_limit *limit)
{
	unsigned rounds = p->options->rounds;
	char name[64], size[TABLE_BYTES_TEXT], note[128];
	struct report_row row = {
		.bench = "bridge",
		.lab = p->lab,
		.name = name,
		.contender = w->name,
		.metric = c->sweep ? "bandwidth" : "goodput",
		.unit = "GB/s",
		.x_name = "bytes",
		.x = (double)c->bytes,
		.value = MEDIAN(s, rounds, gb_per_s),
		.p50_us = MEDIAN(s, rounds, p50_us),
		.near_cpu = MEDIAN(s, rounds, near_ns_per_kb),
		.far_cpu = MEDIAN(s, rounds, far_ns_per_kb),
		.cpu_unit = "ns/KB",
		.note = note_of(s, rounds, note, sizeof(note)),
	};

	snprintf(name, sizeof(name), "%s %s", bridge_route_name(c->route),
		 table_bytes(c->bytes, size));
	median_of(s, rounds, offsetof(struct sample, p50_us), &row.samples);
	if (limit->name && w->stage == STAGE_NONE) {
		row.peer = limit->name;
		row.peer_value = limit->gb_per_s;
		if (limit->processors_gb_per_s > 0) {
			row.more[0].name = "processors_gb_per_s";
			row.more[0].value = limit->processors_gb_per_s;
		}
	}
	report_row(&row);
}

static size_t ways_choose(const struct bridge_setup *p, const struct bridge_case *c,
			  struct bridge_way out[BRIDGE_WAYS_MAX])
{
	char name[64], size[TABLE_BYTES_TEXT];
	size_t n = 0;

	snprintf(name, sizeof(name), "%s %s", bridge_route_name(c->route),
		 table_bytes(c->bytes, size));
	if (!bench_wanted(p->options->only_case, name))
		return 0;
	for (size_t i = 0; i < c->count && n < BRIDGE_WAYS_MAX; i++)
		if (bench_wanted(p->options->only, c->ways[i].name))
			out[n++] = c->ways[i];
	return n;
}

static int case_run(struct bridge_setup *p, const struct bridge_case *all)
{
	struct bridge_way chosen[BRIDGE_WAYS_MAX];
	struct way_samples *s = calloc(BRIDGE_WAYS_MAX, sizeof(*s));
	struct bridge_case c = *all;
	unsigned rounds = p->options->rounds;
	int status = 0;

	if (!s)
		return 1;
	c.ways = chosen;
	c.count = ways_choose(p, all, chosen);
	for (unsigned r = 0; r < rounds; r++)
		for (size_t i = 0; i < c.count; i++)
			sample_measure(p, &c.ways[i], c.bytes, r == 0 || c.bytes <= WARM_BYTES,
				       &s[i].of[r]);
	const struct bridge_limit limit = limit_of(&c, s, rounds);
	for (size_t i = 0; i < c.count; i++) {
		row_print(p, &c, &c.ways[i], &s[i], &limit);
		for (unsigned r = 0; r < rounds; r++)
			status |= s[i].of[r].status != DXP_OK;
	}
	free(s);
	return status;
}

static size_t transfers_choose(const struct bench_options *o, uint64_t largest, uint64_t *out,
			       size_t count)
{
	const uint64_t *all = o->quick ? quick_sizes : transfer_sizes;
	size_t have = o->quick ? ARRAY_COUNT(quick_sizes) : ARRAY_COUNT(transfer_sizes), n = 0;

	for (size_t i = 0; i < have && n < count; i++)
		if (all[i] <= largest)
			out[n++] = all[i];
	return n;
}

static size_t pieces_choose(const struct bench_options *o, uint32_t *out, size_t count)
{
	const uint32_t *all = o->quick ? quick_pieces : piece_sizes;
	size_t n = min_u64(o->quick ? ARRAY_COUNT(quick_pieces) : ARRAY_COUNT(piece_sizes), count);

	memcpy(out, all, n * sizeof(*out));
	return n;
}

int bridge_cases_run(struct bridge_setup *p, const struct bridge_case *all)
{
	uint64_t sizes[BRIDGE_SIZES_MAX];
	size_t count = transfers_choose(p->options, p->largest, sizes, BRIDGE_SIZES_MAX);
	struct bridge_case c = *all;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		c.bytes = sizes[i];
		status |= case_run(p, &c);
	}
	return status;
}

int bridge_sweep_run(struct bridge_setup *p, unsigned route,
		     int (*move)(struct bridge_setup *p, const struct bridge_way *way,
				 uint64_t bytes))
{
	uint32_t sizes[BRIDGE_SIZES_MAX];
	struct bridge_way ways[BRIDGE_SIZES_MAX];
	size_t count = pieces_choose(p->options, sizes, BRIDGE_SIZES_MAX);
	char text[TABLE_BYTES_TEXT];

	for (size_t i = 0; i < count; i++) {
		ways[i] = (struct bridge_way){
			.move = move, .route = (uint8_t)route, .piece_bytes = sizes[i]};
		snprintf(ways[i].name, sizeof(ways[i].name), "buffers of %s",
			 table_bytes(sizes[i], text));
	}
	const struct bridge_case c = {
		.route = (uint8_t)route, .ways = ways, .count = count, .sweep = true};
	return bridge_cases_run(p, &c);
}
