/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of dxp-switch. */
#ifndef CMD_SWITCH_OPTIONS_H
#define CMD_SWITCH_OPTIONS_H

#include "cmd/options/options.h"
#include "switch/kernel.h"
#include "switch/serve.h"

enum switch_exit {
	SWITCH_EXIT_GOOD = 0,
	SWITCH_EXIT_FAILED = 1,
	SWITCH_EXIT_USAGE = 2,
	SWITCH_EXIT_BUSY = 3,
	SWITCH_EXIT_ADDRESS = 4,
	SWITCH_EXIT_PLANE = 5,
	SWITCH_EXIT_KEY = 6,
};

extern const struct usage switch_usage;

/* Sets *out, except for stop, drain and wake_fd. Returns -1 to continue, otherwise the exit code,
 * after it has printed everything. */
int switch_options_parse(int argc, char **argv, struct serve_options *out);

/* Prints the error and refers to --help. Returns SWITCH_EXIT_USAGE. */
int switch_options_refuse(const char *what);

#endif
