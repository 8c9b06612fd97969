/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the command line options of all network benchmarks. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

#define BENCH_ROUNDS_MAX 99

struct bench_options {
	bool json;
	const char *lab;         /* NULL: all labs */
	unsigned rounds;         /* how often each measurement alternates with its peer */
	bool quick;              /* a tenth of the work */
	const char *only;        /* only contenders whose name contains this; NULL: all */
	const char *only_case;   /* only cases whose name contains this; NULL: all */
	const char *payload_crc; /* auto, always or never; NULL: auto */
	const char *engine;      /* NULL: the benchmark's own choice */
	bool sizes;
	bool parts;
};

/* Returns whether `name` contains `only`; NULL matches all. */
bool bench_wanted(const char *only, const char *name);

/* Accepts 1 .. BENCH_ROUNDS_MAX. Returns false, after a message, if invalid. */
bool bench_rounds_parse(const char *text, unsigned *out);

/* --rounds, --quick, --json, --help */
#define BENCH_OPTIONS_ALL "rqjh"
/* --lab, --only, --case, --payload-crc */
#define BENCH_OPTIONS_LAB "locn"
/* Options of benchmarks with contenders in labs, without --payload-crc. Letters of other
 * options: 'e' --engine, 's' --sizes, 'p' --parts. */
#define BENCH_OPTIONS_LAB_ONLY "loc"

/* `summary` starts the help. `letters` lists the options beyond BENCH_OPTIONS_ALL. Returns -1 to
 * continue, otherwise the exit status. */
int bench_options_parse(int argc, char **argv, const char *summary, const char *letters,
			struct bench_options *out);

#endif
