/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce without switches that compute, for comparison: recursive doubling between hosts. MPI
 * libraries use this algorithm for short messages. Runs on the network of inc_net.h, without
 * loss. */
#ifndef SIM_INC_DOUBLING_H
#define SIM_INC_DOUBLING_H

#include "sim/inc_net.h"

struct inc_doubling_options {
	struct inc_net_options net; /* network of the run; all its hosts take part */
	uint32_t bytes;             /* bytes of a message, with all headers above UDP */
	uint32_t calls;
};

struct inc_doubling_result {
	double latency_ns; /* duration of the run divided by the number of operations */
	double packets;    /* packets that hosts send per operation */
	double crossings;  /* wires that packets cross per operation */
	double busy_ns;    /* CPU time of one host per operation */
};

/* Runs all operations. DXP_ENOMEM; DXP_EINVAL; DXP_EIO: the run did not finish, or a sum was
 * wrong. */
int inc_doubling_run(const struct inc_doubling_options *options, struct inc_doubling_result *out);

#endif
