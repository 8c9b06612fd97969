/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model allreduce`: the source's cases or others, calibration, and schedules of any
 * collective as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/model.h"
#include "cmd/dxp/model_calibrate.h"
#include "model/collective.h"
#include "model/net_rows.h"
#include "model/sweep.h"

#define SCHEDULE_BYTES_MOST (256u << 20)
/* ranks that --write accepts, because each line of the output has 40 bytes */
#define WRITE_RANKS_MOST 4096

static const char *hosts_text, *ranks_text, *bytes_text, *way_text, *calibrate_path;
static const char *schedule_path, *collective_text, *write_path;

static const struct option_row options[] = {
	{"hosts", "LIST", "hosts, such as 4,9,16 or 64..4096*4", OPTION_TEXT, &hosts_text, 0, 0},
	{"ranks", "LIST", "ranks of each host, such as 8,32,64", OPTION_TEXT, &ranks_text, 0, 0},
	{"bytes", "LIST", "bytes of the vector, such as 4..256*2", OPTION_TEXT, &bytes_text, 0, 0},
	{"way", "NAME", "only host, node or socket", OPTION_TEXT, &way_text, 0, 0},
	{"calibrate", "FILE", "move the free parameters to lines `allreduce WAY HxRxB us`",
	 OPTION_TEXT, &calibrate_path, 0, 0},
	{"schedule", "FILE", "run this schedule; one rank per host unless --ranks is given",
	 OPTION_TEXT, &schedule_path, 0, 0},
	{"collective", "NAME", "run doubling, ring, tree or all-to-all", OPTION_TEXT,
	 &collective_text, 0, 0},
	{"write", "FILE", "write the schedule of --collective as text", OPTION_TEXT, &write_path, 0,
	 0},
};

/* Row of an option that takes a list, with its default. The parsed value is not in struct
 * model_parameters. */
#define LIST(n, u, v, h)                                                                \
	{                                                                               \
		.group = "allreduce", .name = (n), .unit = (u), .value = (v), .low = 1, \
		.high = (h), .offset = SIZE_MAX                                         \
	}

static const struct {
	struct model_parameter row;
	const char **text;
} lists[] = {
	{LIST("hosts", "", 9, MODEL_HOSTS_MAX), &hosts_text},
	{LIST("ranks", "", 32, MODEL_HOST_RANKS_MAX), &ranks_text},
	{LIST("bytes", "B", 8, 1 << 20), &bytes_text},
};

/* The lists of --hosts, --ranks and --bytes, in this order. */
struct sizes {
	struct model_sweep hosts, ranks, bytes;
};

/* Parses the lists, or sets their defaults. */
static int sizes_parse(struct sizes *out)
{
	struct model_sweep *sweeps[] = {&out->hosts, &out->ranks, &out->bytes};
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(lists) && status == DXP_OK; i++) {
		*sweeps[i] = (struct model_sweep){.row = &lists[i].row, .count = 1};
		sweeps[i]->values[0] = lists[i].row.value;
		if (*lists[i].text)
			status = model_sweep_parse(sweeps[i], &lists[i].row, false, *lists[i].text);
	}
	return status;
}

/* Returns whether --way names this way, or is absent. */
static bool wanted(int way)
{
	return !way_text || strcmp(way_text, model_way_name((enum model_way)way)) == 0;
}

static int cases_run(const struct model_parameters *p, const struct model_sink *sink)
{
	static struct sizes s;
	int status = sizes_parse(&s);
	unsigned count = s.hosts.count * s.ranks.count * s.bytes.count * MODEL_WAYS;

	for (unsigned i = 0; i < count && !status; i++) {
		unsigned at = i / MODEL_WAYS;
		const struct model_allreduce of = {
			.way = (enum model_way)(i % MODEL_WAYS),
			.hosts = (uint32_t)s.hosts.values[at / s.bytes.count / s.ranks.count],
			.ranks = (uint32_t)s.ranks.values[at / s.bytes.count % s.ranks.count],
			.bytes = (uint32_t)s.bytes.values[at % s.bytes.count],
		};
		/* If the sockets cannot share the ranks equally, a leader per socket is
		 * impossible. */
		if (!way_text && of.way == MODEL_WAY_SOCKET && of.ranks % p->sockets)
			continue;
		if (wanted((int)of.way))
			status = model_allreduce_row(p, &of, sink);
	}
	return status;
}

/* ---- schedules ---- */

static bool file_write(void *context, const char *text, size_t bytes)
{
	return fwrite(text, 1, bytes, context) == bytes;
}

static int schedule_write(const struct model_schedule *s)
{
	if (s->ranks > WRITE_RANKS_MOST)
		return error_set(DXP_EINVAL,
				 "--write is for at most %d ranks, not %u; choose fewer --hosts",
				 WRITE_RANKS_MOST, s->ranks);
	FILE *f = strcmp(write_path, "-") == 0 ? stdout : fopen(write_path, "w");
	if (!f)
		return error_set(DXP_EIO, "%s cannot be written; check the folder", write_path);
	int status = model_schedule_write(s, file_write, f);
	if ((f == stdout ? fflush(f) : fclose(f)) != 0 || status != DXP_OK)
		return error_set(DXP_EIO, "%s cannot be written; check the space there",
				 write_path);
	return DXP_OK;
}

static void result_emit(const struct model_ranks_result *r, const char *x,
			const struct model_sink *sink)
{
	const struct {
		const char *quantity, *unit;
		double value;
	} rows[] = {
		{"last rank completes", "us", (double)r->last_ps / 1e6},
		{"first rank completes", "us", (double)r->first_ps / 1e6},
		{"mean rank completes", "us", r->mean_ps / 1e6},
		{"messages", "", (double)r->messages},
		{"messages between hosts", "", (double)r->remote},
		{"busiest NIC", "us", (double)r->busy_ps / 1e6},
	};
	char names[512];

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct model_row row =
			model_row_plain("", rows[i].quantity, rows[i].unit, rows[i].value);
		row.assumptions = model_assumptions("allreduce", names, sizeof(names));
		snprintf(row.x, sizeof(row.x), "%s", x);
		model_emit(sink, &row);
	}
}

/* Runs a schedule on the network of the allreduce model. Its switches only forward packets. */
static int schedule_run(const struct model_parameters *p, const struct model_schedule *s,
			uint32_t host_ranks, uint32_t bytes, const char *x,
			const struct model_sink *sink)
{
	const struct model_allreduce of = {MODEL_WAY_HOST, (s->ranks + host_ranks - 1) / host_ranks,
					   host_ranks, bytes};
	struct model_allreduce_job job;
	struct model_ranks_result r;
	int status = model_allreduce_open(&job, &of, p);

	if (status == DXP_OK)
		status = model_ranks_run(s, &job.network, 0, NULL, &r);
	if (status == DXP_OK)
		result_emit(&r, x, sink);
	return status;
}

static int text_run(const struct model_parameters *p, uint32_t host_ranks,
		    const struct model_sink *sink)
{
	struct model_text_schedule *s;
	char *text = model_text_load(schedule_path, SCHEDULE_BYTES_MOST);

	if (!text)
		return DXP_ENOENT;
	int status = model_schedule_read(text, strlen(text), &s);
	free(text);
	if (status != DXP_OK)
		return model_file_error(status, schedule_path);
	status = schedule_run(p, &s->schedule, host_ranks, 0, "schedule", sink);
	model_schedule_destroy(s);
	return status;
}

static int collective_run(const struct model_parameters *p, uint32_t hosts, uint32_t host_ranks,
			  uint32_t bytes, const struct model_sink *sink)
{
	enum model_collective_kind kind;
	struct model_collective c;

	if (!model_collective_parse(collective_text, &kind))
		return error_set(DXP_EINVAL,
				 "there is no collective '%s'; there are doubling, ring, tree, "
				 "all-to-all",
				 collective_text);
	int status = model_collective_make(kind, hosts * host_ranks, bytes, &c);
	if (status == DXP_OK && write_path)
		return schedule_write(&c.schedule);
	if (status != DXP_OK)
		return status;
	return schedule_run(p, &c.schedule, host_ranks, bytes, collective_text, sink);
}

static int other_run(const struct model_parameters *p, const struct model_sink *sink)
{
	static struct sizes s;
	int status = sizes_parse(&s);

	if (status)
		return status;
	if (s.hosts.count * s.ranks.count * s.bytes.count > 1)
		return error_set(DXP_EINVAL,
				 "--schedule and --collective take one value of --hosts, --ranks "
				 "and --bytes; run once for each");
	uint32_t host_ranks = ranks_text ? (uint32_t)s.ranks.values[0] : 1;
	if (schedule_path)
		return text_run(p, host_ranks, sink);
	return collective_run(p, (uint32_t)s.hosts.values[0], host_ranks,
			      (uint32_t)s.bytes.values[0], sink);
}

static int run_all(const struct model_run *run)
{
	struct model_parameters p = *run->parameters;
	int status = DXP_OK;

	if (way_text && !wanted(MODEL_WAY_HOST) && !wanted(MODEL_WAY_NODE) &&
	    !wanted(MODEL_WAY_SOCKET))
		return error_set(DXP_EINVAL, "there is no way '%s'; there are host, node, socket",
				 way_text);
	if (write_path && !collective_text)
		return error_set(DXP_EINVAL, "--write needs --collective; add it");
	if (calibrate_path)
		status = model_calibrate_file(calibrate_path, &p, run->sink);
	if (status)
		return status;
	if (schedule_path || collective_text)
		return other_run(&p, run->sink);
	if (!hosts_text && !ranks_text && !bytes_text && !way_text)
		return model_allreduce_rows(&p, run->sink);
	return cases_run(&p, run->sink);
}

#define SCHEDULE_REASON "a schedule file names its ranks and bytes"
#define WAY_REASON      "a collective or a schedule runs on hosts only"
#define WRITE_REASON    "--write writes a schedule and runs nothing"
static const struct model_exclusion exclusions[] = {
	{"schedule", "collective", "each is a schedule"},
	{"schedule", "hosts", SCHEDULE_REASON},
	{"schedule", "bytes", SCHEDULE_REASON},
	{"schedule", "way", WAY_REASON},
	{"collective", "way", WAY_REASON},
	{"write", "calibrate", WRITE_REASON},
	{"write", "sweep", WRITE_REASON},
	{"write", "set", WRITE_REASON},
	{"write", "config", WRITE_REASON},
	{"write", "json", WRITE_REASON},
	{"write", "tsv", WRITE_REASON},
	{0},
};

const struct model_part model_part_allreduce = {
	.name = "allreduce",
	.summary = "MPI_Allreduce by hosts and by switches; schedules of any collective",
	.text = "Moves the messages of every rank through processors, NICs and switches. Without "
		"options, the source's cases. Without --calibrate, times are a prior: trust "
		"ratios, growth and winners. Winners: 0 host, 1 node, 2 socket.",
	.rows = options,
	.row_count = ARRAY_COUNT(options),
	.exclusions = exclusions,
	.groups = "allreduce",
	.run = run_all,
};
