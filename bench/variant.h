/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants of our transport that benchmarks compare: loss recovery and congestion control. */
#ifndef BENCH_VARIANT_H
#define BENCH_VARIANT_H

#include <stdbool.h>

#include "node/node.h"

/* Sets what `variant` names, a list such as "gbn_rto,none"; NULL or "": nothing, the defaults.
 * False for an unknown name. */
bool variant_apply(const char *variant, struct node_options *options);

#endif
