/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the network benchmarks. */
#include "bench/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/table.h"

static void help(const char *name, const char *summary)
{
	printf("usage: dxp bench %s [options]\n\n%s\n\n"
	       "  --lab NAME        only this one of loopback, veth-1500, veth-9000, wire-1500\n"
	       "                    (all but the first need root; wire: each packet sent alone)\n"
	       "  --rounds N        times each measurement alternates with its peers, 1 .. %d (5)\n"
	       "  --quick           a tenth of the work\n"
	       "  --no-payload-crc  leave payload to the UDP checksum\n"
	       "  --json            one JSON object a line\n"
	       "  --help            this text\n",
	       name, summary, ROUNDS_MAX);
}

static bool lab_known(const char *name)
{
	if (lab_find(name))
		return true;
	fprintf(stderr,
		"dxp bench: no lab '%s'; there are loopback, veth-1500, veth-9000 and wire-1500\n",
		name);
	return false;
}

static bool rounds_parse(const char *text, unsigned *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value < 1 || value > ROUNDS_MAX) {
		fprintf(stderr, "dxp bench: --rounds takes 1 .. %d, not '%s'\n", ROUNDS_MAX, text);
		return false;
	}
	*out = (unsigned)value;
	return true;
}

int bench_options_parse(int argc, char **argv, const char *summary, struct bench_options *out)
{
	static const struct option options[] = {
		{"lab", required_argument, NULL, 'l'},
		{"rounds", required_argument, NULL, 'r'},
		{"quick", no_argument, NULL, 'q'},
		{"no-payload-crc", no_argument, NULL, 'n'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	*out = (struct bench_options){.rounds = 5};
	optind = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			out->lab = optarg;
			if (!lab_known(optarg))
				return 2;
			break;
		case 'r':
			if (!rounds_parse(optarg, &out->rounds))
				return 2;
			break;
		case 'q': out->quick = true; break;
		case 'n': out->no_payload_crc = true; break;
		case 'j': out->json = true; break;
		case 'h': help(argv[0], summary); return 0;
		default: return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "dxp bench %s: '%s' is not an option; see --help\n", argv[0],
			argv[optind]);
		return 2;
	}
	return -1;
}
