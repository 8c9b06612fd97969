/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "network.h"
#include "sum.h"

#define BATCH_MAX  1024 /* a gradient is below 2^31 / batch, here 2.0 */
#define EPOCHS_MAX 10000
#define BUCKET_MAX (1u << 30) /* far more than the gradients of all layers */

static void help(void)
{
	printf("Usage: cl_train [OPTION]... [FOLDER]\n"
	       "Trains a small convolutional network on handwritten digits, on the xPUs of a\n"
	       "fabric: dxp up --xpus 4 && dxp run -- cl_train\n\n"
	       "FOLDER has the files " DIGITS_IMAGES " and " DIGITS_LABELS
	       "; default models/digits, where\n"
	       "tools/digits writes them. A tenth of the samples is held out for the accuracy.\n\n"
	       "  --xpus N         use N xPUs, 1 to %d; default: all\n",
	       REPLICAS_MAX);
	for (uint32_t i = 0; i < sum_way_count; i++)
		printf("  --sum %-10s %s%s\n", sum_ways[i].name, sum_ways[i].help,
		       i ? "" : "; the default");
	printf("  --bucket BYTES   add the gradients of neighbouring layers together, in pieces "
	       "of\n"
	       "                   at least BYTES; 0: those of each layer alone; default 16384\n"
	       "  --epochs N       passes over the samples, 1 to %d; default 8\n"
	       "  --batch N        samples of a step, 1 to %d; default 64\n"
	       "  --rate R         learning rate, above 0, at most 1; default 0.04; each\n"
	       "                   epoch has 0.7 times the rate of the epoch before\n"
	       "  --seed N         of weights, order and drawn digits; default 1\n"
	       "  --drawn N        draw N digits, %d to %d, instead of reading files\n"
	       "  --json FILE      write a line of JSON for each epoch\n"
	       "  --platform WORD  use the platform with this word in its name\n"
	       "  --help           print this text\n",
	       EPOCHS_MAX, BATCH_MAX, DIGITS_MIN, DIGITS_MAX);
}

static _Noreturn void usage(const char *what, const char *text)
{
	fprintf(stderr, "cl_train: %s '%s'; cl_train --help lists the options\n", what, text);
	exit(2);
}

static uint32_t number(const char *option, const char *text, uint32_t low, uint32_t high)
{
	char range[64];
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && *end == '\0' && value >= low && value <= high)
		return (uint32_t)value;
	snprintf(range, sizeof(range), "--%s is %u to %u, not", option, low, high);
	usage(range, text);
}

static float fraction(const char *option, const char *text)
{
	char range[64];
	char *end;
	const float value = strtof(text, &end);

	if (*text && *end == '\0' && value > 0.0f && value <= 1.0f)
		return value;
	snprintf(range, sizeof(range), "--%s is above 0 and at most 1, not", option);
	usage(range, text);
}

static void option_set(struct options *o, const char *name, const char *value)
{
	if (strcmp(name, "xpus") == 0)
		o->xpus = number(name, value, 1, REPLICAS_MAX);
	else if (strcmp(name, "epochs") == 0)
		o->epochs = number(name, value, 1, EPOCHS_MAX);
	else if (strcmp(name, "batch") == 0)
		o->batch = number(name, value, 1, BATCH_MAX);
	else if (strcmp(name, "bucket") == 0)
		o->bucket = number(name, value, 0, BUCKET_MAX);
	else if (strcmp(name, "seed") == 0)
		o->seed = number(name, value, 0, UINT32_MAX);
	else if (strcmp(name, "drawn") == 0)
		o->drawn = number(name, value, DIGITS_MIN, DIGITS_MAX);
	else if (strcmp(name, "rate") == 0)
		o->rate = fraction(name, value);
	else if (strcmp(name, "json") == 0)
		o->json = value;
	else if (strcmp(name, "platform") == 0)
		o->platform = value;
	else
		o->way = sum_way_find(value);
	if (!o->way)
		usage("--sum has no way", value);
}

void options_parse(struct options *o, int argc, char **argv)
{
	static const struct option names[] = {
		{"xpus", required_argument, NULL, 'o'},
		{"sum", required_argument, NULL, 'o'},
		{"bucket", required_argument, NULL, 'o'},
		{"epochs", required_argument, NULL, 'o'},
		{"batch", required_argument, NULL, 'o'},
		{"rate", required_argument, NULL, 'o'},
		{"seed", required_argument, NULL, 'o'},
		{"drawn", required_argument, NULL, 'o'},
		{"json", required_argument, NULL, 'o'},
		{"platform", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int found, index = 0;

	*o = (struct options){.folder = "models/digits",
			      .way = &sum_ways[0],
			      .bucket = 16384,
			      .epochs = 8,
			      .batch = 64,
			      .seed = 1,
			      .rate = 0.04f,
			      .momentum = 0.9f};
	while ((found = getopt_long(argc, argv, "", names, &index)) != -1) {
		if (found == 'h') {
			help();
			exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
		}
		if (found != 'o') {
			fprintf(stderr, "cl_train --help lists the options\n");
			exit(2);
		}
		option_set(o, names[index].name, optarg);
	}
	if (optind < argc)
		o->folder = argv[optind++];
	if (optind < argc)
		usage("only one folder is read, not also", argv[optind]);
}
