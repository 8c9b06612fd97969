/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of `dxp bench inc-sim`: every cost can be replaced. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/inc_sim.h"
#include "bench/report.h"

#define COST(field) offsetof(struct inc_sim_costs, field)

/* Options that set a uint64_t of struct inc_sim_costs. */
static const struct {
	const char *name, *help;
	size_t offset;
	uint64_t low, high;
} numbers[] = {
	{"host-receive-ns", "CPU time of a host for a received packet", COST(host.receive_ns), 0,
	 S_NS},
	{"host-send-ns", "and for a sent packet", COST(host.send_ns), 0, S_NS},
	{"tcp-receive-ns", "the same for a host with MPI over TCP", COST(tcp.receive_ns), 0, S_NS},
	{"tcp-send-ns", "", COST(tcp.send_ns), 0, S_NS},
	{"kernel-receive-ns", "CPU time of a switch with XDP for a received packet",
	 COST(kernel.receive_ns), 0, S_NS},
	{"kernel-send-ns", "and for a sent packet", COST(kernel.send_ns), 0, S_NS},
	{"user-receive-ns", "the same for a switch in user space", COST(user.receive_ns), 0, S_NS},
	{"user-send-ns", "", COST(user.send_ns), 0, S_NS},
	{"user-latency-ns", "its latency until it reads a packet", COST(user.latency_ns), 0, S_NS},
	{"wire-ns", "delay of a wire", COST(wire_ns), 1, S_NS},
	{"forward-ns", "delay of a switch that only forwards a packet", COST(forward_ns), 0, S_NS},
	{"rate-bps", "bandwidth of a wire; 0: unlimited", COST(rate_bps), 0, 800000000000},
	{"leaf-hosts", "hosts below a leaf, switches below one above", COST(leaf_hosts), 2, 256},
	{"hosts-max", "maximum number of hosts", COST(hosts_max), 4, 4096},
};

enum { OPTION_ONLY = ARRAY_COUNT(numbers), OPTION_QUICK, OPTION_JSON, OPTION_HELP, OPTIONS };

static void help(const char *name)
{
	printf("usage: dxp bench %s [options]\n\n"
	       "Latency of an allreduce of 8 and of 256 bytes against the number of hosts, to\n"
	       "4096, on simulated trees: switches that compute, and recursive doubling over the\n"
	       "same wires. The costs are figures measured on real hosts and switches:\n\n",
	       name);
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		printf("  --%-17s N  %s (%llu)\n", numbers[i].name, numbers[i].help,
		       (unsigned long long)*(
			       const uint64_t
				       *)(const void *)((const char *)&inc_sim_costs_default +
							numbers[i].offset));
	printf("  --only TEXT            only contenders whose name contains it\n"
	       "  --quick                no more than 256 hosts\n"
	       "  --json                 one JSON object a line\n"
	       "  --help                 this text\n");
}

static bool number_set(struct inc_sim_costs *c, int i, const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*end || end == text || *text == '-' || value < numbers[i].low ||
	    value > numbers[i].high) {
		fprintf(stderr, "dxp bench inc-sim: --%s takes %llu .. %llu, not '%s'\n",
			numbers[i].name, (unsigned long long)numbers[i].low,
			(unsigned long long)numbers[i].high, text);
		return false;
	}
	*(uint64_t *)(void *)((char *)c + numbers[i].offset) = value;
	return true;
}

int bench_inc_simulated(int argc, char **argv)
{
	struct inc_sim_costs costs = inc_sim_costs_default;
	struct bench_options o = {0};
	struct option options[OPTIONS + 1] = {
		[OPTION_ONLY] = {"only", required_argument, NULL, OPTION_ONLY},
		[OPTION_QUICK] = {"quick", no_argument, NULL, OPTION_QUICK},
		[OPTION_JSON] = {"json", no_argument, NULL, OPTION_JSON},
		[OPTION_HELP] = {"help", no_argument, NULL, OPTION_HELP},
	};
	int c;

	for (int i = 0; i < OPTION_ONLY; i++)
		options[i] = (struct option){numbers[i].name, required_argument, NULL, i};
	optind = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == OPTION_HELP) {
			help(argv[0]);
			return 0;
		}
		if (c >= OPTIONS || (c < OPTION_ONLY && !number_set(&costs, c, optarg)))
			return 2;
		o.only = c == OPTION_ONLY ? optarg : o.only;
		o.quick |= c == OPTION_QUICK;
		o.json |= c == OPTION_JSON;
	}
	if (optind < argc) {
		fprintf(stderr, "dxp bench inc-sim: '%s' is not an option; see --help\n",
			argv[optind]);
		return 2;
	}
	report_begin(o.json, "In-network allreduce against the number of hosts, simulated");
	return inc_sim_table(&costs, &o);
}
