/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares contenders and parts of `dxp bench nic`. */
#ifndef BENCH_NIC_H
#define BENCH_NIC_H

#include "bench/options.h"
#include "bench/peer.h"

/* Two processes, each with a function of the same NIC, use the library's public API. Variants:
 * "embedded": the far process runs the NIC. "served": a third process runs the NIC on a core of its
 * own, like dxpd; on two cores, the two processes share the other core. "alone", PING only: the far
 * process runs the NIC and the near process has both functions, so no core is shared. */
extern const struct peer_ops peer_function;

/* nic_one.c: measures descriptors per second, posted, polled and delivered by one thread; prints a
 * row. Returns an exit status. */
int nic_one_run(bool quick);

/* nic_share.c: measures sharing between functions, and the cost of an idle function; prints rows.
 * Returns an exit status. */
int nic_share_run(void);

/* nic_kernel.c: measures a doorbell rung by a kernel; prints rows. Returns an exit status. */
int nic_kernel_run(const struct bench_options *o);

/* nic_driven.c: measures blocks that a kernel computes, sent by the kernel and by the host; prints
 * rows. Returns an exit status. */
int nic_driven_run(const struct bench_options *o);

/* clang-format off */
#define CONTENDER_FUNCTION(name_, variant_) \
	{.name = name_, .ops = &peer_function, .variant = variant_}
/* clang-format on */

#endif
