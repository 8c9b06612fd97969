/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that both ends of a measurement map: the near one makes it, the far one finds it through
 * the control socket. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench/peer.h"

/* Zeroed memory of `bytes`, the same at both ends, which call this at the same time; NULL: told
 * why. It ends with the processes. */
void *shared_map(struct peer_end *e, size_t bytes);

#endif
