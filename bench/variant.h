/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants of our transport that benchmarks compare: loss recovery and congestion control. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "rltp/session.h"

/* Sets what `variant` names: a list such as "gbn_rto,none" of names of recoveries, of congestion
 * controls, and "no_pacing". NULL or "": nothing, the defaults. False, logged, for an unknown name.
 */
bool variant_apply(const char *variant, struct rltp_tuning *tuning);

#endif
