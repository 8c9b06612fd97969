/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects variants of RLTP that benchmarks compare: loss recovery, congestion control, protection
 * of packets. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "rltp/session.h"

struct variant {
	struct rltp_tuning tuning;
	/* value for node_options; "none" by default, because the contenders do not protect
	 * packets */
	const char *protect;
};

/* Parses a list such as "gbn_rto,none". It may contain names of loss recoveries and of congestion
 * controls, "no_pacing", "integrity" and "encrypt". NULL or "" means the defaults. Returns false,
 * logged, for an unknown name. */
bool variant_parse(const char *text, struct variant *out);

#endif
