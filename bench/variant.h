/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects variants of RLTP that benchmarks compare: loss recovery, congestion control, protection
 * of packets. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "rltp/session.h"

struct variant {
	struct rltp_tuning tuning;
	const char *protect; /* of node_options; initially "none", as the contenders */
};

/* Parses a list such as "gbn_rto,none" of names of recoveries and congestion controls, "no_pacing",
 * "integrity" and "encrypt". NULL or "": the defaults. Returns false, logged, for an unknown
 * name. */
bool variant_parse(const char *text, struct variant *out);

#endif
