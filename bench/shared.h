/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that both ends of a measurement map: the near end creates it and sends it over the control
 * socket. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include "bench/peer.h"

/* Returns zeroed memory of `bytes`, the same at both ends; both must call it at the same time.
 * NULL, after a message, on failure. It lives as long as the processes. */
void *shared_map(struct peer_end *e, size_t bytes);

#endif
