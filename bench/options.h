/* SPDX-License-Identifier: BSD-3-Clause */
/* What every network benchmark takes from its command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

struct bench_options {
	bool json;
	const char *lab; /* NULL: all */
	unsigned rounds; /* times each measurement alternates with its peer */
	bool quick;      /* a tenth of the work */
	bool no_payload_crc;
};

/* What --rounds takes, 1 .. ROUNDS_MAX. False, told: another text. */
bool bench_rounds_parse(const char *text, unsigned *out);

/* Exit status to leave with, or -1 to go on. `summary` heads the help. */
int bench_options_parse(int argc, char **argv, const char *summary, struct bench_options *out);

#endif
