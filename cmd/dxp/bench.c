/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench NAME ...`: finds the benchmark; the rest of the line is its own. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cmd/dxp/command.h"

static int list(void)
{
	puts("usage: dxp bench NAME [OPTION]...\n\nMeasures, beside what limits it. With --json "
	     "one object a "
	     "line.\n");
	for (const struct bench_entry *b = bench_list; b->name; b++)
		printf("  %-12s %s\n", b->name, b->summary);
	puts("\n`dxp bench NAME --help` tells the options of one.");
	return EXIT_DONE;
}

int command_bench(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0)
		return list();
	for (const struct bench_entry *b = bench_list; b->name; b++) {
		if (strcmp(b->name, argv[1]) == 0)
			return b->run(argc - 1, argv + 1);
	}
	fail("there is no benchmark '%s'; `dxp bench` lists them", argv[1]);
	return EXIT_USAGE;
}
