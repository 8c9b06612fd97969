/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench classify`: a neural network split over two xPUs, against the same split on one local
 * OpenCL device: ms per photo, and photos per second when pipelined. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/classify.h"
#include "bench/fabric.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define ROUNDS        5
#define PHOTOS        20
#define COMMAND_BYTES 2048

struct classify_options {
	bool json;
	unsigned rounds, photos;
	const char *photo, *model;
};

struct figures {
	double median_ms[ROUNDS_MAX], photos_per_s[ROUNDS_MAX];
};

static void help(void)
{
	printf("usage: dxp bench classify [options]\n"
	       "\n"
	       "One photo classified on two xPUs, beside the same on local OpenCL.\n"
	       "\n"
	       "  --photo FILE  JPEG or PNG (models/labrador.jpg, as `tools/model` fetches it)\n"
	       "  --model FILE  TFLite network (the classifier's own default)\n"
	       "  --rounds N    times the two alternate, 1 .. 99 (5)\n"
	       "  --quick       a quarter of the photos\n"
	       "  --json        one JSON object a line\n"
	       "  --help        this text\n");
}

static int options_parse(int argc, char **argv, struct classify_options *out)
{
	static const struct option options[] = {
		{"photo", required_argument, NULL, 'p'},
		{"model", required_argument, NULL, 'm'},
		{"rounds", required_argument, NULL, 'r'},
		{"quick", no_argument, NULL, 'q'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	*out = (struct classify_options){
		.photo = "models/labrador.jpg", .rounds = ROUNDS, .photos = PHOTOS};
	optind = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'p': out->photo = optarg; break;
		case 'm': out->model = optarg; break;
		case 'r':
			if (!bench_rounds_parse(optarg, &out->rounds))
				return 2;
			break;
		case 'q': out->photos = PHOTOS / 4; break;
		case 'j': out->json = true; break;
		case 'h': help(); return 0;
		default: return 2;
		}
	}
	if (access(out->photo, R_OK) == 0)
		return -1;
	fprintf(stderr,
		"dxp bench classify: no photo '%s'; fetch one with tools/model, or name one with "
		"--photo\n",
		out->photo);
	return 2;
}

json_t *classify_summary(const char *bench, const char *command)
{
	static char line[16384];
	FILE *f = popen(command, "r");
	json_t *summary = NULL;

	while (f && fgets(line, sizeof(line), f)) {
		json_t *object = json_loads(line, 0, NULL);
		if (json_object_get(object, "summary")) {
			json_decref(summary);
			summary = json_incref(json_object_get(object, "summary"));
		}
		json_decref(object);
	}
	if (f && pclose(f) == 0 && summary)
		return summary;
	json_decref(summary);
	fprintf(stderr, "dxp bench %s: this command failed: %s\n", bench, command);
	return NULL;
}

static int classify_run(const struct classify_options *o, const char *where, const char *how,
			double *median_ms, double *per_s)
{
	char command[COMMAND_BYTES];

	snprintf(command, sizeof(command),
		 "'%s/classify' %s %s%s%s --split auto --json --repeat %u %s '%s'",
		 fabric_programs_folder(), where, o->model ? "--model '" : "",
		 o->model ? o->model : "", o->model ? "'" : "", o->photos, how, o->photo);
	json_t *summary = classify_summary("classify", command);
	if (!summary)
		return 1;
	*median_ms = json_number_value(json_object_get(summary, "median_ms"));
	*per_s = json_number_value(json_object_get(summary, "photos_per_s"));
	json_decref(summary);
	return 0;
}

static int round_run(const struct classify_options *o, const char *where, unsigned round,
		     struct figures *f)
{
	double unused;

	if (classify_run(o, where, "--depth 1", &f->median_ms[round], &unused) != 0)
		return 1;
	return classify_run(o, where, "", &unused, &f->photos_per_s[round]);
}

static void rows_print(struct figures *network, struct figures *local, unsigned rounds)
{
	struct report_row row = {
		.bench = "classify", .name = "two xPUs", .peer = "local OpenCL, 2 stages"};

	row.metric = "one photo";
	row.unit = "ms";
	row.value = report_median(network->median_ms, rounds);
	row.peer_value = report_median(local->median_ms, rounds);
	report_row(&row);
	row.metric = "pipelined";
	row.unit = "photos/s";
	row.value = report_median(network->photos_per_s, rounds);
	row.peer_value = report_median(local->photos_per_s, rounds);
	report_row(&row);
}

static int rounds_run(void *context)
{
	const struct classify_options *o = context;
	struct figures network, local;

	for (unsigned round = 0; round < o->rounds; round++)
		if (round_run(o, "--xpus xpu1,xpu2", round, &network) != 0 ||
		    round_run(o, "--local 2", round, &local) != 0)
			return 1;
	rows_print(&network, &local, o->rounds);
	return 0;
}

int bench_classify(int argc, char **argv)
{
	struct classify_options o;
	int status = options_parse(argc, argv, &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "The classifier over the network");
	return fabric_run(2, "256M", rounds_run, &o);
}
