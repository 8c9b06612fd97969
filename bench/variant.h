/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects variants of RLTP that benchmarks compare: loss recovery and congestion control. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "rltp/session.h"

/* Applies `variant`: a list such as "gbn_rto,none" of names of recoveries and congestion controls,
 * and "no_pacing". NULL or "": the defaults. Returns false, logged, for an unknown name. */
bool variant_apply(const char *variant, struct rltp_tuning *tuning);

#endif
