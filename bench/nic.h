/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares contenders and parts of `dxp bench nic`. */
#ifndef BENCH_NIC_H
#define BENCH_NIC_H

#include "bench/options.h"
#include "bench/peer.h"

/* Two processes with a function each of one NIC, through the public API. Variants: "embedded": the
 * far process runs the NIC. "served": a third process runs it on its own core, like dxpd; on two
 * cores the others share one. "alone", PING only: the far process runs the NIC, the near one has
 * both functions, so no core is shared. */
extern const struct peer_ops peer_function;

/* Prints descriptors per second that one thread posts, polls and delivers. Returns an exit status
 * (nic_one.c). */
int nic_one_run(bool quick);

/* Prints sharing between functions, and an idle function's cost. Returns an exit status
 * (nic_share.c). */
int nic_share_run(void);

/* Prints the cost of a doorbell that a kernel rings. Returns an exit status (nic_kernel.c). */
int nic_kernel_run(const struct bench_options *o);

/* Prints the time to send a kernel's blocks, by the kernel and by the host. Returns an exit status
 * (nic_driven.c). */
int nic_driven_run(const struct bench_options *o);

/* clang-format off */
#define CONTENDER_FUNCTION(name_, variant_) \
	{.name = name_, .ops = &peer_function, .variant = variant_}
/* clang-format on */

#endif
