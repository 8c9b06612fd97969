/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the command line options of all network benchmarks. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

#define BENCH_ROUNDS_MAX 99

struct bench_options {
	bool json;
	const char *lab;       /* name of the only lab to run; NULL: all labs */
	unsigned rounds;       /* number of times that each measurement alternates with its peer */
	bool quick;            /* does a tenth of the work */
	const char *only;      /* run only contenders whose name contains this text; NULL: all */
	const char *only_case; /* run only cases whose name contains this text; NULL: all */
	bool no_payload_crc;
	const char *engine; /* NULL: the benchmark's own choice */
	bool sizes;
	bool parts;
};

/* Returns whether `name` contains `only`; NULL matches every name. */
bool bench_wanted(const char *only, const char *name);

/* Parses the value of --rounds, 1 .. BENCH_ROUNDS_MAX. Returns false, after a message, if
 * invalid. */
bool bench_rounds_parse(const char *text, unsigned *out);

/* Options of every benchmark: --rounds, --quick, --json and --help. */
#define BENCH_OPTIONS_ALL "rqjh"
/* Options of benchmarks with contenders in labs: --lab, --only, --case, --no-payload-crc. */
#define BENCH_OPTIONS_LAB "locn"
/* Options of benchmarks with contenders in labs, without --no-payload-crc. Letters of other
 * options: 'e' --engine, 's' --sizes, 'p' --parts. */
#define BENCH_OPTIONS_LAB_ONLY "loc"

/* Parses the options. `summary` is the first text of the help. `letters` has one letter for each
 * accepted option beyond BENCH_OPTIONS_ALL. Returns the exit status if the program must exit,
 * otherwise -1. */
int bench_options_parse(int argc, char **argv, const char *summary, const char *letters,
			struct bench_options *out);

#endif
