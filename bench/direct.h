/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench direct`. */
#ifndef BENCH_DIRECT_H
#define BENCH_DIRECT_H

#include "bench/options.h"

struct direct_options {
	bool json, quick;
	unsigned rounds;
	const char *only_case;
	const char *photo, *model; /* model NULL: the classifier's own default */
};

/* Returns the exit status if the program must exit now, otherwise -1. */
int direct_options_parse(int argc, char **argv, struct direct_options *out);

/* direct_classify.c: runs the classifier both ways on the fabric that the environment names, and
 * prints rows. If there is no photo, prints a row with the reason. Returns an exit status. */
int direct_classify_run(const struct direct_options *o);

#endif
