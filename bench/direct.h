/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `dxp bench direct`. */
#ifndef BENCH_DIRECT_H
#define BENCH_DIRECT_H

#include "bench/options.h"

struct direct_options {
	bool json, quick;
	unsigned rounds;
	const char *only_case;
	const char *photo, *model; /* model NULL: the classifier's default */
};

/* Returns -1 to continue, otherwise the exit status. */
int direct_options_parse(int argc, char **argv, struct direct_options *out);

/* Runs the classifier both ways on the environment's fabric. Without a photo, prints a row with the
 * reason. Returns an exit status (direct_classify.c). */
int direct_classify_run(const struct direct_options *o);

#endif
