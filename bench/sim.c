/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench sim`: the shipped transport on simulated networks. Parses options and selects
 * tables. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/sim.h"

static void help(const char *name)
{
	printf("usage: dxp bench %s [options]\n"
	       "\n"
	       "The shipped transport on simulated networks of up to thousands of nodes, and its "
	       "goodput against loss.\n"
	       "\n"
	       "  --loss            only goodput against loss, for each way of recovery\n"
	       "  --rate            packets that the simulator handles in a CPU second\n"
	       "  --topology NAME   only incast, permutation, all-to-all or pair\n"
	       "  --nodes N         number of nodes, 2 .. %d (default: those of the table)\n"
	       "  --cc NAME         only swift, none, dctcp or reno\n"
	       "  --seed N          seed of all random numbers (1)\n"
	       "  --quick           a tenth of the work\n"
	       "  --json            one JSON object a line\n"
	       "  --help            this text\n",
	       name, NET_HOSTS_MAX);
}

static bool number_parse(const char *option, const char *text, uint64_t low, uint64_t high,
			 uint64_t *out)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*end || end == text || *text == '-' || value < low || value > high) {
		fprintf(stderr, "dxp bench sim: %s needs %llu .. %llu, not '%s'\n", option,
			(unsigned long long)low, (unsigned long long)high, text);
		return false;
	}
	*out = value;
	return true;
}

static bool option_parse(int c, struct sim_bench_options *o)
{
	uint64_t value;

	switch (c) {
	case 'l': o->loss = true; return true;
	case 'r': o->rate = true; return true;
	case 'q': o->quick = true; return true;
	case 'j': o->json = true; return true;
	case 't':
		o->one_topology = crowd_pattern_parse(optarg, &o->topology);
		if (!o->one_topology)
			fprintf(stderr,
				"dxp bench sim: unknown topology '%s'; use incast, permutation, "
				"all-to-all or pair\n",
				optarg);
		return o->one_topology;
	case 'c':
		o->one_cc = cc_parse(optarg, &o->cc);
		if (!o->one_cc)
			fprintf(stderr,
				"dxp bench sim: unknown congestion control '%s'; use swift, none, "
				"dctcp or reno\n",
				optarg);
		return o->one_cc;
	case 'n':
		if (!number_parse("--nodes", optarg, 2, NET_HOSTS_MAX, &value))
			return false;
		o->nodes = (uint32_t)value;
		return true;
	case 's': return number_parse("--seed", optarg, 0, UINT64_MAX, &o->seed);
	default: return false;
	}
}

int bench_sim(int argc, char **argv)
{
	static const struct option options[] = {
		{"loss", no_argument, NULL, 'l'},           {"rate", no_argument, NULL, 'r'},
		{"topology", required_argument, NULL, 't'}, {"nodes", required_argument, NULL, 'n'},
		{"cc", required_argument, NULL, 'c'},       {"seed", required_argument, NULL, 's'},
		{"quick", no_argument, NULL, 'q'},          {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
	};
	struct sim_bench_options o = {.seed = 1};
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h') {
			help(argv[0]);
			return 0;
		}
		if (!option_parse(c, &o))
			return 2;
	}
	if (optind < argc) {
		fprintf(stderr, "dxp bench sim: '%s' is not an option; see --help\n", argv[optind]);
		return 2;
	}
	if (o.nodes > 0 && !o.one_topology) {
		fprintf(stderr, "dxp bench sim: --nodes needs --topology\n");
		return 2;
	}
	if (o.loss)
		return sim_loss(&o);
	if (o.rate)
		return sim_rate(&o);
	int status = sim_topologies(&o);
	return status == 0 && !o.one_topology ? sim_loss(&o) : status;
}
