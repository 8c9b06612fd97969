/* SPDX-License-Identifier: BSD-3-Clause */
/* What dxp-switch is called with: words of the command line and of a file. */
#ifndef CMD_DXP_SWITCH_OPTIONS_H
#define CMD_DXP_SWITCH_OPTIONS_H

#include "switch/kernel.h"
#include "switch/serve.h"

enum switch_exit {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUSY = 3,
	EXIT_ADDRESS = 4,
	EXIT_PLANE = 5,
};

struct switch_arguments {
	struct serve_options serve;
	const char *ports[SWITCH_KERNEL_PORTS];
	char *config;                    /* lines of the file; options point into it */
	bool parents_given, ports_given; /* by the command line: those of the file do not count */
	bool from_file;
};

/* Says what is wrong and where to look. Returns EXIT_USAGE. */
int switch_usage(const char *what);

/* Fills in *a, whose `serve` has its defaults. -1: go on; otherwise the program ends with this exit
 * code, which was said why. a->config is the caller's to free. */
int switch_options_take(int argc, char **argv, struct switch_arguments *a);

#endif
