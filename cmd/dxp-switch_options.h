/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of dxp-switch, from the command line and a file. */
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
	char *config; /* content of the file; options point into it */
	bool parents_given,
		ports_given; /* given on the command line: the file's lists are ignored */
	bool from_file;
};

/* Prints the error and refers to --help. Returns EXIT_USAGE. */
int switch_usage(const char *what);

/* Fills in *a; `serve` holds the defaults on entry. Returns -1 to continue, otherwise the program's
 * exit code after it has printed the reason. The caller frees a->config. */
int switch_options_parse(int argc, char **argv, struct switch_arguments *a);

#endif
