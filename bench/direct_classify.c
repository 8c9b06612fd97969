/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line and classifier of `dxp bench direct`: two xPUs send activations directly or, with
 * --through-host, through the program. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/classify.h"
#include "bench/direct.h"
#include "bench/fabric.h"
#include "bench/report.h"

#define COMMAND_BYTES 2048
#define PHOTOS        20
#define PHOTOS_QUICK  3

enum way { DIRECT, HOST, WAYS };
static const char *const way_names[WAYS] = {"direct", "through the host"};

struct figures {
	/* per photo: time, rate, time on the link, bytes through the host, CPU time */
	double ms, per_s, link_ms, host_bytes, cpu_ms;
};

static void help(void)
{
	printf("usage: dxp bench direct [options]\n"
	       "\n"
	       "The same transfer and the same two-stage classifier, xPU to xPU directly and "
	       "through\n"
	       "the host.\n"
	       "\n"
	       "  --photo FILE  photo for the classifier (models/labrador.jpg, as `tools/model`\n"
	       "                fetches it)\n"
	       "  --model FILE  TFLite network (the classifier's own default)\n"
	       "  --case TEXT   only transfer, or only classifier\n"
	       "  --rounds N    times the ways alternate, 1 .. 99 (5)\n"
	       "  --quick       small transfers and few photos\n"
	       "  --json        one JSON object a line\n"
	       "  --help        this text\n");
}

int direct_options_parse(int argc, char **argv, struct direct_options *out)
{
	static const struct option options[] = {
		{"photo", required_argument, NULL, 'p'}, {"model", required_argument, NULL, 'm'},
		{"case", required_argument, NULL, 'c'},  {"rounds", required_argument, NULL, 'r'},
		{"quick", no_argument, NULL, 'q'},       {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
	};
	int c;

	*out = (struct direct_options){.photo = "models/labrador.jpg", .rounds = 5};
	optind = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'p': out->photo = optarg; break;
		case 'm': out->model = optarg; break;
		case 'c': out->only_case = optarg; break;
		case 'r':
			if (!bench_rounds_parse(optarg, &out->rounds))
				return 2;
			break;
		case 'q': out->quick = true; break;
		case 'j': out->json = true; break;
		case 'h': help(); return 0;
		default: return 2;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "dxp bench direct: '%s' is not an option; see --help\n", argv[optind]);
	return 2;
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static bool sample_run(const struct direct_options *o, enum way way, struct figures *out)
{
	const unsigned photos = o->quick ? PHOTOS_QUICK : PHOTOS;

	*out = (struct figures){0};
	for (int piped = 0; piped < 2; piped++) {
		char command[COMMAND_BYTES];
		snprintf(command, sizeof(command),
			 "'%s/classify' --xpus xpu1,xpu2 %s%s%s --json --repeat %u %s %s '%s'",
			 fabric_programs_folder(), o->model ? "--model '" : "",
			 o->model ? o->model : "", o->model ? "'" : "", photos,
			 piped ? "" : "--depth 1", way == HOST ? "--through-host" : "", o->photo);
		json_t *summary = classify_summary("direct", command);
		if (!summary)
			return false;
		if (piped) {
			out->per_s = number_of(summary, "photos_per_s");
		} else {
			const json_t *link = json_array_get(json_object_get(summary, "links"), 0);
			out->ms = number_of(summary, "median_ms");
			out->link_ms = number_of(link, "median_ms");
			out->host_bytes = number_of(summary, "run_nic_bytes") / photos;
			out->cpu_ms = number_of(summary, "run_cpu_ms") / photos;
		}
		json_decref(summary);
	}
	return true;
}

static double median_of(const struct figures *f, unsigned rounds, size_t offset)
{
	double values[BENCH_ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		memcpy(&values[i], (const char *)&f[i] + offset, sizeof(double));
	return report_median(values, rounds);
}
#define MEDIAN(way, field) median_of(figures[way], o->rounds, offsetof(struct figures, field))

static void rows_print(const struct direct_options *o,
		       struct figures figures[WAYS][BENCH_ROUNDS_MAX])
{
	for (int way = 0; way < WAYS; way++) {
		struct report_row row = {
			.bench = "direct",
			.lab = "loopback",
			.name = "classifier, 2 stages",
			.contender = way_names[way],
			.metric = "one photo",
			.unit = "ms",
			.value = MEDIAN(way, ms),
			.peer = way == HOST ? NULL : way_names[HOST],
			.peer_value = MEDIAN(HOST, ms),
			.samples = o->rounds,
			.more = {{"host_bytes", MEDIAN(way, host_bytes)},
				 {"host_cpu_ms", MEDIAN(way, cpu_ms)},
				 {"link_ms", MEDIAN(way, link_ms)}},
		};
		report_row(&row);
		row.metric = "pipelined";
		row.unit = "photos/s";
		row.value = MEDIAN(way, per_s);
		row.peer_value = MEDIAN(HOST, per_s);
		row.more[0].name = NULL;
		report_row(&row);
	}
}

int direct_classify_run(const struct direct_options *o)
{
	static struct figures figures[WAYS][BENCH_ROUNDS_MAX];
	const struct report_row absent = {
		.bench = "direct",
		.lab = "loopback",
		.name = "classifier, 2 stages",
		.contender = "direct",
		.metric = "one photo",
		.unit = "ms",
		.note = "skipped: no photo here; fetch one with tools/model or use --photo",
	};

	if (access(o->photo, R_OK) != 0) {
		report_row(&absent);
		return 0;
	}
	for (unsigned round = 0; round < o->rounds; round++)
		for (int way = 0; way < WAYS; way++)
			if (!sample_run(o, way, &figures[way][round]))
				return 1;
	rows_print(o, figures);
	return 0;
}
