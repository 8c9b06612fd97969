/* SPDX-License-Identifier: BSD-3-Clause */
/* What every network benchmark takes from its command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

#define BENCH_ROUNDS_MAX 99

struct bench_options {
	bool json;
	const char *lab;       /* NULL: all */
	unsigned rounds;       /* times each measurement alternates with its peer */
	bool quick;            /* a tenth of the work */
	const char *only;      /* contenders whose name contains it; NULL: all */
	const char *only_case; /* the same for cases */
	bool no_payload_crc;
	const char *engine; /* NULL: the benchmark's own choice */
	bool sizes;
};

/* Does `name` contain what is asked for? NULL asks for everything. */
bool bench_wanted(const char *only, const char *name);

/* What --rounds takes, 1 .. BENCH_ROUNDS_MAX. False, told: another text. */
bool bench_rounds_parse(const char *text, unsigned *out);

/* What every benchmark takes: --rounds, --quick, --json and --help. */
#define BENCH_OPTIONS_ALL "rqjh"
/* And what those with contenders in labs take: --lab, --only, --case, --no-payload-crc. */
#define BENCH_OPTIONS_LAB "locn"
/* Those without the last, and: --engine 'e', --sizes 's'. */
#define BENCH_OPTIONS_LAB_ONLY "loc"

/* `summary` heads the help; `taken` has a letter for each option beyond BENCH_OPTIONS_ALL. Returns
 * the exit status to leave with, or -1 to go on. */
int bench_options_parse(int argc, char **argv, const char *summary, const char *taken,
			struct bench_options *out);

#endif
