/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp bench NAME ...`: finds the benchmark and passes it the other arguments. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cmd/dxp/bench_to.h"
#include "cmd/dxp/command.h"

static int list(void)
{
	puts("usage: dxp bench NAME [OPTION]...\n"
	     "\n"
	     "Runs one benchmark and prints its results beside the limits of this machine. --json "
	     "prints one object a line.\n");
	for (const struct bench_entry *b = bench_list; b->name; b++)
		printf("  %-12s %s\n", b->name, b->summary);
	printf("  %-12s %s\n", "all", "all benchmarks, one after another");
	puts("\n"
	     "`dxp bench NAME --help` lists the options of a benchmark.\n"
	     "latency, stream and rate measure to an xPU of the fabric with --to NODE; `dxp bench "
	     "latency --to NODE --help`.");
	return EXIT_DONE;
}

static int run_all(int argc, char **argv)
{
	int status = EXIT_DONE;

	for (const struct bench_entry *b = bench_list; b->name; b++) {
		int one = b->run(argc, argv);
		status = status == EXIT_DONE ? one : status;
	}
	return status;
}

int command_bench(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return list();
	if (strcmp(argv[1], "all") == 0)
		return run_all(argc - 1, argv + 1);
	for (const struct bench_entry *b = bench_list; b->name; b++) {
		if (strcmp(b->name, argv[1]) == 0)
			return bench_to_wanted(argc - 1, argv + 1)
				       ? bench_to_run(argc - 1, argv + 1)
				       : b->run(argc - 1, argv + 1);
	}
	print_fail("unknown benchmark '%s'; `dxp bench` lists them", argv[1]);
	return EXIT_USAGE;
}
