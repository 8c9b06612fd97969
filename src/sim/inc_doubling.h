/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce without switches that compute, for comparison: recursive doubling, as MPI libraries use
 * for short messages, on inc_net.h without loss. */
#ifndef SIM_INC_DOUBLING_H
#define SIM_INC_DOUBLING_H

#include "sim/inc_net.h"

struct inc_doubling_options {
	struct inc_net_options net; /* all its hosts take part */
	uint32_t bytes;             /* with all headers above UDP */
	uint32_t calls;
};

struct inc_doubling_result {
	double latency_ns; /* duration of the run by operations */
	double packets;    /* of hosts, per operation */
	double crossings;  /* wires crossed per operation */
	double busy_ns;    /* CPU time of one host per operation */
};

/* DXP_ENOMEM; DXP_EINVAL; DXP_EIO: unfinished, or a wrong sum. */
int inc_doubling_run(const struct inc_doubling_options *options, struct inc_doubling_result *out);

#endif
