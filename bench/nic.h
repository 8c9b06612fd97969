/* SPDX-License-Identifier: BSD-3-Clause */
/* Contenders of `dxp bench nic` alone. */
#ifndef BENCH_NIC_H
#define BENCH_NIC_H

#include "bench/options.h"
#include "bench/peer.h"

/* Two processes with a function each of one NIC, by the library's public calls. Variants:
 * "embedded", the far process runs the NIC; "served", a third process does, as dxpd would, on a
 * core of its own, and the two share the other core where there are only two; "alone", PING alone:
 * the far process does, and the near one has both functions, so that nobody shares a core. */
extern const struct peer_ops peer_function;

/* nic_one.c: descriptors per second, posted, taken and delivered by one thread; prints a row. An
 * exit status. */
int nic_one_run(bool quick);

/* nic_share.c: how functions share, and what an idle one costs; prints rows. An exit status. */
int nic_share_run(void);

/* nic_kernel.c: what a doorbell costs that a kernel rings; prints rows. An exit status. */
int nic_kernel_run(const struct bench_options *o);

/* clang-format off */
#define CONTENDER_FUNCTION(name_, variant_) \
	{.name = name_, .ops = &peer_function, .variant = variant_}
/* clang-format on */

#endif
