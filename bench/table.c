/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a case's rounds, labels samples by core distance, and computes medians. */
#include "bench/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/measure.h"
#include "bench/report.h"

#define PROBE_ROUNDS 20000 /* 2 ms between near cores, 6 ms between far ones */

struct sample {
	struct outcome outcome;
	bool near;
};

struct samples {
	struct sample of[CONTENDERS_MAX][ROUNDS_MAX];
};

typedef double (*figure_fn)(const struct table_case *c, const struct outcome *o);

static double bytes_of(const struct table_case *c, const struct outcome *o)
{
	return (double)o->done * c->work.bytes;
}

static double goodput(const struct table_case *c, const struct outcome *o)
{
	return o->seconds > 0 ? bytes_of(c, o) / o->seconds / 1e9 : 0;
}

static double rate(const struct table_case *c, const struct outcome *o)
{
	(void)c;
	return o->seconds > 0 ? (double)o->done / o->seconds / 1e6 : 0;
}

static double mean_us(const struct table_case *c, const struct outcome *o)
{
	(void)c;
	return o->mean_us;
}

static double p50_us(const struct table_case *c, const struct outcome *o)
{
	(void)c;
	return o->p50_us;
}

static double p99_us(const struct table_case *c, const struct outcome *o)
{
	(void)c;
	return o->p99_us;
}

/* Returns kilobytes for goodput, otherwise operations; INFINITY if the ends spin, because CPU time
 * is then elapsed time. */
static double units_of(const struct table_case *c, const struct outcome *o)
{
	if (c->work.spin || o->done == 0)
		return INFINITY;
	return c->metric == TABLE_GOODPUT ? bytes_of(c, o) / 1000 : (double)o->done;
}

static double near_cpu(const struct table_case *c, const struct outcome *o)
{
	return o->near_cpu_ns / units_of(c, o);
}

static double far_cpu(const struct table_case *c, const struct outcome *o)
{
	return o->far_cpu_ns / units_of(c, o);
}

static const struct {
	const char *name, *unit;
	figure_fn value;
} metrics[] = {
	[TABLE_GOODPUT] = {"goodput", "GB/s", goodput},
	[TABLE_ROUND_TRIP] = {"round trip p50", "us", p50_us},
	[TABLE_MEAN] = {"round trip mean", "us", mean_us},
	[TABLE_RATE] = {"rate", "M/s", rate},
};

static bool counts(const struct sample *s, bool near)
{
	return s->near == near && s->outcome.status == DXP_OK;
}

/* Takes samples at this core distance; 0: none. */
static double median_of(const struct table_case *c, const struct sample *of, bool near,
			figure_fn figure, unsigned *count)
{
	double values[ROUNDS_MAX];
	unsigned n = 0;

	for (unsigned r = 0; r < c->options->rounds; r++)
		if (counts(&of[r], near))
			values[n++] = figure(c, &of[r].outcome);
	if (count)
		*count = n;
	return n > 0 ? report_median(values, n) : 0;
}

static bool mostly_near(const struct table_case *c, const struct samples *s)
{
	size_t near = 0;

	for (size_t i = 0; i < c->count; i++)
		for (unsigned r = 0; r < c->options->rounds; r++)
			near += s->of[i][r].near;
	return 2 * near >= c->count * c->options->rounds;
}

static const char *note_of(const struct table_case *c, const struct sample *of, char *out,
			   size_t bytes)
{
	unsigned failed = 0, slow = 0;
	uint64_t done = 0;
	int status = DXP_OK;

	for (unsigned r = 0; r < c->options->rounds; r++) {
		const struct outcome *o = &of[r].outcome;
		if (o->status != DXP_OK) {
			failed++;
			status = o->status;
		} else if (o->done < c->work.count) {
			slow++;
			done += o->done;
		}
	}
	if (status == DXP_EUNSUPPORTED && failed == c->options->rounds)
		return "not built or not on this machine";
	if (failed == 0 && slow == 0)
		return NULL;
	int n = 0;
	out[0] = '\0';
	if (failed > 0)
		n = snprintf(out, bytes, "%u of %u runs failed (%s)%s", failed, c->options->rounds,
			     dxp_status_text(status), slow > 0 ? "; " : "");
	if (slow > 0)
		snprintf(out + n, bytes - (size_t)n,
			 "%u of %u runs reached the time limit, after %" PRIu64 " of %" PRIu64
			 " operations",
			 slow, c->options->rounds, done / slow, c->work.count);
	return out;
}

/* Prints a contender's samples with cores at the distance `near`, compared with the reference. If
 * the contender has no such sample, prints its other samples without a reference, because samples
 * of different distances are not comparable. */
static void row_print(const struct table_case *c, const struct samples *s, size_t i, bool near,
		      double reference)
{
	const struct sample *of = s->of[i];
	unsigned same, others;
	median_of(c, of, near, mean_us, &same);
	median_of(c, of, !near, mean_us, &others);
	bool compared = same > 0 || others == 0;
	if (!compared)
		near = !near;
	char note[200];
	struct report_row row = {
		.bench = c->bench,
		.name = c->name,
		.lab = c->lab->name,
		.contender = c->contenders[i].name,
		.metric = metrics[c->metric].name,
		.unit = metrics[c->metric].unit,
		.value = median_of(c, of, near, metrics[c->metric].value, NULL),
		.x_name = c->x_name,
		.x = c->x,
		.mean_us = median_of(c, of, near, mean_us, NULL),
		.p50_us = median_of(c, of, near, p50_us, NULL),
		.p99_us = median_of(c, of, near, p99_us, NULL),
		.near_cpu = median_of(c, of, near, near_cpu, NULL),
		.far_cpu = median_of(c, of, near, far_cpu, NULL),
		.cpu_unit = c->work.spin                 ? NULL
			    : c->metric == TABLE_GOODPUT ? "ns/KB"
							 : "ns/op",
		.label = near ? "near" : "far",
		.note = note_of(c, of, note, sizeof(note)),
	};
	median_of(c, of, near, mean_us, &row.samples);
	if (compared && c->reference < c->count && c->reference != i) {
		row.peer = c->contenders[c->reference].name;
		row.peer_value = reference;
	}
	report_row(&row);
}

static bool cores_near(void)
{
	double ns;

	return raw_c2c(PROBE_ROUNDS, &ns) != DXP_OK || ns < RAW_NEAR_NS;
}

static void rounds_run(const struct table_case *c, const struct raw_ends *ends, struct samples *s)
{
	for (unsigned r = 0; r < c->options->rounds; r++) {
		for (size_t i = 0; i < c->count; i++) {
			struct sample *one = &s->of[i][r];
			one->near = cores_near();
			measure_run(&c->contenders[i], ends, &c->work, c->lab->datagram_bytes,
				    &one->outcome);
		}
	}
}

static size_t contenders_choose(const struct table_case *c, struct table_case *chosen,
				struct contender list[CONTENDERS_MAX])
{
	*chosen = *c;
	chosen->contenders = list;
	chosen->count = 0;
	chosen->reference = CONTENDERS_MAX;
	for (size_t i = 0; i < c->count; i++) {
		if (!bench_wanted(c->options->only, c->contenders[i].name))
			continue;
		if (i == c->reference)
			chosen->reference = chosen->count;
		list[chosen->count++] = c->contenders[i];
	}
	return chosen->count;
}

int table_case_run(const struct table_case *all, const struct raw_ends *ends)
{
	struct contender list[CONTENDERS_MAX];
	struct table_case c;
	unsigned good = 0;
	double reference = 0;

	if (!bench_wanted(all->options->only_case, all->name) ||
	    contenders_choose(all, &c, list) == 0)
		return 0;
	struct samples *s = calloc(1, sizeof(*s));
	if (!s)
		return 1;
	rounds_run(&c, ends, s);
	for (unsigned r = 0; r < c.options->rounds; r++)
		good += s->of[0][r].outcome.status == DXP_OK;
	bool near = mostly_near(&c, s);
	if (c.reference < c.count)
		reference = median_of(&c, s->of[c.reference], near, metrics[c.metric].value, NULL);
	for (size_t i = 0; i < c.count; i++)
		row_print(&c, s, i, near, reference);
	free(s);
	return good > 0 ? 0 : 1;
}

const char *table_bytes(uint64_t bytes, char out[TABLE_BYTES_TEXT])
{
	if (bytes >= 1 << 20)
		snprintf(out, TABLE_BYTES_TEXT, "%" PRIu64 " MiB", bytes >> 20);
	else if (bytes >= 10240)
		snprintf(out, TABLE_BYTES_TEXT, "%" PRIu64 " KiB", bytes >> 10);
	else
		snprintf(out, TABLE_BYTES_TEXT, "%" PRIu64 " B", bytes);
	return out;
}
