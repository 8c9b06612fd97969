/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the options of the network benchmarks. */
#include "bench/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/table.h"

/* A benchmark accepts options whose `val` is in its `letters`; the help keeps this order. */
static const struct {
	struct option option;
	const char *help;
} known[] = {
	{{"lab", required_argument, NULL, 'l'},
	 "  --lab NAME        one of loopback, veth-1500, veth-9000, wire-1500; default: all\n"
	 "                    (the last three need root; wire: each packet is sent alone)\n"},
	{{"only", required_argument, NULL, 'o'},
	 "  --only TEXT       only contenders whose name contains it\n"},
	{{"case", required_argument, NULL, 'c'},
	 "  --case TEXT       only cases whose name contains it\n"},
	{{"payload-crc", required_argument, NULL, 'n'},
	 "  --payload-crc MODE  RLTP's checksum over the payload: auto (default), always, never\n"},
	{{"engine", required_argument, NULL, 'e'},
	 "  --engine NAME     engine that has the memory, as for `dxpd --engine` (board:fast)\n"},
	{{"sizes", no_argument, NULL, 's'},
	 "  --sizes           only the table from which the buffer size is chosen\n"},
	{{"parts", no_argument, NULL, 'p'},
	 "  --parts           the parts of a PUT's round trip, in place of the table\n"},
	{{"rounds", required_argument, NULL, 'r'},
	 "  --rounds N        times each measurement alternates with its peers, 1 .. 99 (5)\n"},
	{{"quick", no_argument, NULL, 'q'}, "  --quick           a tenth of the work\n"},
	{{"json", no_argument, NULL, 'j'}, "  --json            one JSON object a line\n"},
	{{"help", no_argument, NULL, 'h'}, "  --help            this text\n"},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool accepts(const char *letters, int letter)
{
	return strchr(BENCH_OPTIONS_ALL, letter) || strchr(letters, letter);
}

static void help(const char *name, const char *summary, const char *letters)
{
	printf("usage: dxp bench %s [options]\n\n%s\n\n", name, summary);
	for (size_t i = 0; i < KNOWN; i++)
		if (accepts(letters, known[i].option.val))
			fputs(known[i].help, stdout);
}

static bool lab_known(const char *name)
{
	if (lab_find(name))
		return true;
	fprintf(stderr,
		"dxp bench: unknown lab '%s'; use loopback, veth-1500, veth-9000 or wire-1500\n",
		name);
	return false;
}

static bool payload_crc_known(const char *mode)
{
	if (strcmp(mode, "auto") == 0 || strcmp(mode, "always") == 0 || strcmp(mode, "never") == 0)
		return true;
	fprintf(stderr, "dxp bench: --payload-crc is auto, always or never, not '%s'\n", mode);
	return false;
}

bool bench_wanted(const char *only, const char *name)
{
	return !only || strstr(name, only);
}

bool bench_rounds_parse(const char *text, unsigned *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value < 1 || value > ROUNDS_MAX) {
		fprintf(stderr, "dxp bench: --rounds needs 1 .. %d, not '%s'\n", ROUNDS_MAX, text);
		return false;
	}
	*out = (unsigned)value;
	return true;
}

static int option_parse(int letter, struct bench_options *out)
{
	switch (letter) {
	case 'l': out->lab = optarg; return lab_known(optarg) ? -1 : 2;
	case 'o': out->only = optarg; return -1;
	case 'c': out->only_case = optarg; return -1;
	case 'n': out->payload_crc = optarg; return payload_crc_known(optarg) ? -1 : 2;
	case 'e': out->engine = optarg; return -1;
	case 'p': out->parts = true; return -1;
	case 's': out->sizes = true; return -1;
	case 'r': return bench_rounds_parse(optarg, &out->rounds) ? -1 : 2;
	case 'q': out->quick = true; return -1;
	case 'j': out->json = true; return -1;
	default: return 2;
	}
}

int bench_options_parse(int argc, char **argv, const char *summary, const char *letters,
			struct bench_options *out)
{
	struct option options[KNOWN + 1] = {0};
	size_t count = 0;
	int letter, status = -1;

	for (size_t i = 0; i < KNOWN; i++)
		if (accepts(letters, known[i].option.val))
			options[count++] = known[i].option;
	*out = (struct bench_options){.rounds = 5};
	optind = 1;
	while (status < 0 && (letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'h') {
			help(argv[0], summary, letters);
			return 0;
		}
		status = option_parse(letter, out);
	}
	if (status < 0 && optind < argc) {
		fprintf(stderr, "dxp bench %s: '%s' is not an option; see --help\n", argv[0],
			argv[optind]);
		return 2;
	}
	return status;
}
