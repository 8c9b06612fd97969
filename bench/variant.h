/* SPDX-License-Identifier: BSD-3-Clause */
/* RLTP variants that benchmarks compare: loss recovery, congestion control, packet protection. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "rltp/session.h"

struct variant {
	struct rltp_tuning tuning;
	/* for node_options; default "none", because contenders do not protect packets */
	const char *protect;
};

/* Parses a list such as "gbn_rto,none": loss recoveries, congestion controls, "no_pacing",
 * "integrity", "encrypt". NULL or "": defaults. Returns false, logged, for an unknown name. */
bool variant_parse(const char *text, struct variant *out);

#endif
