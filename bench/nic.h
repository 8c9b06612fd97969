/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares contenders and parts of `dxp bench nic`. */
#ifndef BENCH_NIC_H
#define BENCH_NIC_H

#include "bench/options.h"
#include "bench/peer.h"

/* A contender with two processes that use the library's public API. Each has a function of the same
 * NIC. Variants:
 * "embedded": the far process runs the NIC.
 * "served": a third process runs the NIC on a core of its own, like dxpd. On two cores, the two
 * processes share the other core.
 * "alone", PING only: the far process runs the NIC and the near process has both functions, so no
 * core is shared. */
extern const struct peer_ops peer_function;

/* nic_one.c: measures how many descriptors per second one thread posts, polls and delivers; prints
 * a row. Returns an exit status. */
int nic_one_run(bool quick);

/* nic_share.c: measures sharing between functions, and the cost of an idle function; prints rows.
 * Returns an exit status. */
int nic_share_run(void);

/* nic_kernel.c: measures a doorbell that a kernel rings; prints rows. Returns an exit status. */
int nic_kernel_run(const struct bench_options *o);

/* nic_driven.c: measures how long it takes to send blocks that a kernel computed, by the kernel
 * itself and by the host; prints rows. Returns an exit status. */
int nic_driven_run(const struct bench_options *o);

/* clang-format off */
#define CONTENDER_FUNCTION(name_, variant_) \
	{.name = name_, .ops = &peer_function, .variant = variant_}
/* clang-format on */

#endif
