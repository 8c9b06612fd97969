/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures allreduce of an unmodified MPI program in labs of one size: over computing switches, and
 * over TCP with every algorithm of Open MPI. Contenders alternate; one run measures all message
 * sizes. "TCP, best algorithm" has the least median per size. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "bench/inc.h"
#include "bench/report.h"

enum which_lab { LAB_PLAIN, LAB_KERNEL, LAB_USER, LABS };

#define TCP "--mca coll ^dxp "
#define FORCED(n) \
	TCP "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm " #n
/* Makes mpirun assume two sockets of one core each. */
#define SOCKETS_ENVIRONMENT "HWLOC_SYNTHETIC='numa:1 pack:2 l3:1 core:1 pu:1' HWLOC_THISSYSTEM=1"
#define SOCKETS             "--map-by ppr:1:socket --bind-to core:overload-allowed "

struct contender_inc {
	const char *name; /* NULL: TCP with a forced algorithm; all share the row BEST */
	enum which_lab lab;
	const char *mpirun;
	int algorithm;
	size_t from_bytes; /* shorter messages are not measured */
};

#define CONTENDERS_TCP(more)                                                                \
	{"TCP, default", LAB_PLAIN, more TCP, 0}, {NULL, LAB_PLAIN, more FORCED(1), 1},     \
		{NULL, LAB_PLAIN, more FORCED(2), 2}, {NULL, LAB_PLAIN, more FORCED(3), 3}, \
		{NULL, LAB_PLAIN, more FORCED(4), 4}, {NULL, LAB_PLAIN, more FORCED(5), 5}, \
	{                                                                                   \
		NULL, LAB_PLAIN, more FORCED(6), 6                                          \
	}

#define LONG_BYTES 65536
/* Uses switches even where TCP is faster. */
#define ALWAYS "--mca coll_dxp_max_bytes 1000000000 "

static const struct contender_inc one_a_host[] = {
	{"switches, XDP", LAB_KERNEL, ALWAYS, 0},
	{"switches, user space", LAB_USER, ALWAYS, 0},
	{"switches, as installed", LAB_KERNEL, "", 0, LONG_BYTES},
	CONTENDERS_TCP(""),
};

static const struct contender_inc two_a_host[] = {
	{"switches, XDP, Node", LAB_KERNEL, ALWAYS SOCKETS, 0},
	{"switches, XDP, Socket", LAB_KERNEL, ALWAYS SOCKETS "--mca coll_dxp_mode socket", 0},
	CONTENDERS_TCP(SOCKETS),
};

#define CONTENDERS ARRAY_COUNT(one_a_host)
_Static_assert(ARRAY_COUNT(two_a_host) <= CONTENDERS, "the table holds both");
#define BEST        "TCP, best algorithm"
#define SHORT_BYTES 256 /* one packet from each host */
/* packets per host and call; above it, the switches were not used */
#define SENT_CALL_MAX 1.5

struct samples {
	struct inc_figures of[BENCH_ROUNDS_MAX][INC_SIZES_MAX];
	char why[INC_WHY_BYTES]; /* the last failure */
	unsigned failed;
};

struct table {
	const struct inc_case *c;
	const struct contender_inc *contenders;
	size_t contender_count;
	struct inc_lab labs[LABS];
	struct samples samples[CONTENDERS];
};

static bool is_tcp(const struct contender_inc *k)
{
	return k->lab == LAB_PLAIN;
}

static bool wanted(const struct table *t, size_t i)
{
	const char *name = t->contenders[i].name;

	return bench_wanted(t->c->options->only, name ? name : BEST);
}

static void labs_up(struct table *t)
{
	static const char *const suffixes[LABS] = {"t", "x", "u"};
	static const char *const make[LABS] = {
		[LAB_PLAIN] = "--no-switches",
		[LAB_KERNEL] = "--plane kernel --chrt",
		[LAB_USER] = "--plane user --chrt",
	};

	for (size_t lab = 0; lab < LABS; lab++) {
		char options[64] = "";
		bool requested = false;

		for (size_t i = 0; i < t->contender_count; i++)
			requested |= wanted(t, i) && t->contenders[i].lab == lab;
		if (t->c->gbps > 0)
			snprintf(options, sizeof(options), "--rate %u", t->c->gbps * 1000);
		snprintf(options + strlen(options), sizeof(options) - strlen(options), " %s",
			 make[lab]);
		if (requested && !inc_lab_up(&t->labs[lab], suffixes[lab], t->c->hosts, options))
			report_note("%u hosts, %s: skipped: %s", t->c->hosts, options,
				    t->labs[lab].why);
	}
}

/* Sizes ascend. */
static size_t size_first(const struct table *t, const struct contender_inc *k)
{
	size_t first = 0;

	while (first < t->c->size_count && t->c->sizes[first] < k->from_bytes)
		first++;
	return first;
}

static void sample_measure(struct table *t, size_t i, unsigned round)
{
	const struct contender_inc *k = &t->contenders[i];
	size_t first = size_first(t, k);
	const struct inc_run run = {
		.lab = &t->labs[k->lab],
		.ranks_per_host = t->c->ranks_per_host,
		.environment = t->c->ranks_per_host > 1 ? SOCKETS_ENVIRONMENT : "",
		.mpirun = k->mpirun,
		.sizes = t->c->sizes + first,
		.size_count = t->c->size_count - first,
		.quick = t->c->options->quick,
	};

	if (run.size_count > 0 &&
	    !inc_mpi_run(&run, t->samples[i].of[round] + first, t->samples[i].why))
		t->samples[i].failed++;
}

/* Returns the number of rounds with a result for this size. */
static unsigned medians(const struct samples *s, unsigned rounds, size_t size,
			struct inc_figures *out)
{
	static const size_t fields[] = {
		offsetof(struct inc_figures, mean_us), offsetof(struct inc_figures, p50_us),
		offsetof(struct inc_figures, cpu_us),  offsetof(struct inc_figures, busy_us),
		offsetof(struct inc_figures, sent),    offsetof(struct inc_figures, crossed),
	};
	double values[BENCH_ROUNDS_MAX];
	unsigned count = 0;

	*out = (struct inc_figures){0};
	for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
		count = 0;
		for (unsigned r = 0; r < rounds; r++)
			if (s->of[r][size].mean_us > 0)
				memcpy(&values[count++], (const char *)&s->of[r][size] + fields[i],
				       sizeof(double));
		if (count > 0)
			*(double *)((char *)out + fields[i]) = report_median(values, count);
	}
	for (unsigned r = 0; r < rounds; r++)
		out->wrong += s->of[r][size].wrong;
	return count;
}

/* Returns -1 if none ran. */
static int best_of(const struct table *t, size_t size, struct inc_figures *out, unsigned *samples)
{
	int best = -1;

	for (size_t i = 0; i < t->contender_count; i++) {
		struct inc_figures f;
		unsigned count = is_tcp(&t->contenders[i])
					 ? medians(&t->samples[i], t->c->options->rounds, size, &f)
					 : 0;
		if (count > 0 && (best < 0 || f.mean_us < out->mean_us)) {
			best = t->contenders[i].algorithm;
			*samples = count;
			*out = f;
		}
	}
	return best;
}

static const char *note_of(const struct table *t, const struct inc_figures *f, bool dxp,
			   const struct samples *s, size_t bytes, char text[INC_WHY_BYTES])
{
	if (f->wrong > 0)
		snprintf(text, INC_WHY_BYTES, "%u results were wrong", f->wrong);
	else if (s && s->failed > 0)
		snprintf(text, INC_WHY_BYTES, "%u of %u runs failed: %.150s", s->failed,
			 t->c->options->rounds, s->why);
	else if (dxp && bytes <= SHORT_BYTES &&
		 f->sent > SENT_CALL_MAX * t->c->hosts * t->c->ranks_per_host)
		snprintf(text, INC_WHY_BYTES, "not all calls went through switches");
	else
		return NULL;
	return text;
}

static void row_print(const struct table *t, const char *contender, size_t size,
		      const struct inc_figures *f, unsigned samples, const char *note,
		      const struct inc_figures *best, int algorithm)
{
	char name[64], lab[32], bytes[32];
	size_t b = t->c->sizes[size];

	if (b < 1024)
		snprintf(bytes, sizeof(bytes), "%zu B", b);
	else
		snprintf(bytes, sizeof(bytes), "%zu %s", b >> (b < (1 << 20) ? 10 : 20),
			 b < (1 << 20) ? "KiB" : "MiB");
	snprintf(name, sizeof(name), "%s %s",
		 t->c->ranks_per_host > 1 ? "2 ranks a host," : "allreduce", bytes);
	if (t->c->gbps > 0)
		snprintf(lab, sizeof(lab), "%u hosts, %u Gb/s", t->c->hosts, t->c->gbps);
	else
		snprintf(lab, sizeof(lab), "%u hosts", t->c->hosts);
	report_row(&(struct report_row){
		.bench = "inc",
		.name = name,
		.metric = "allreduce mean",
		.unit = "us",
		.value = f->mean_us,
		.lab = lab,
		.contender = contender,
		.peer = best->mean_us > 0 ? BEST : NULL,
		.peer_value = best->mean_us,
		.x_name = "bytes",
		.x = (double)b,
		.p50_us = f->p50_us,
		.near_cpu = f->cpu_us,
		.far_cpu = f->busy_us,
		.cpu_unit = "us/op",
		.samples = samples,
		.note = note,
		.more =
			{
				{"packets", f->sent},
				{"crossings", f->crossed},
				{algorithm >= 0 ? "algorithm" : NULL, algorithm},
			},
	});
}

static int size_print(const struct table *t, size_t size)
{
	struct inc_figures best = {0}, f;
	unsigned samples = 0;
	int algorithm = best_of(t, size, &best, &samples), status = 0;
	char text[INC_WHY_BYTES];

	for (size_t i = 0; i < t->contender_count; i++) {
		const struct contender_inc *k = &t->contenders[i];
		if (!k->name || !wanted(t, i) || !t->labs[k->lab].up || size < size_first(t, k))
			continue;
		unsigned count = medians(&t->samples[i], t->c->options->rounds, size, &f);
		row_print(t, k->name, size, &f, count,
			  note_of(t, &f, !is_tcp(k), &t->samples[i], t->c->sizes[size], text),
			  &best, -1);
		status |= !is_tcp(k) && (count == 0 || f.wrong > 0);
	}
	if (algorithm >= 0)
		row_print(t, BEST, size, &best, samples, note_of(t, &best, false, NULL, 0, text),
			  &best, algorithm);
	return status;
}

int inc_table_run(const struct inc_case *c)
{
	static struct table t; /* static because it takes megabytes */
	int status = 0;

	memset(&t, 0, sizeof(t));
	t.c = c;
	t.contenders = c->ranks_per_host > 1 ? two_a_host : one_a_host;
	t.contender_count =
		c->ranks_per_host > 1 ? ARRAY_COUNT(two_a_host) : ARRAY_COUNT(one_a_host);
	labs_up(&t);
	for (unsigned r = 0; r < c->options->rounds; r++)
		for (size_t i = 0; i < t.contender_count; i++)
			if (wanted(&t, i) && t.labs[t.contenders[i].lab].up)
				sample_measure(&t, i, r);
	for (size_t size = 0; size < c->size_count; size++)
		status |= size_print(&t, size);
	return status;
}
