/* SPDX-License-Identifier: BSD-3-Clause */
/* What allreduce is without switches that compute: recursive doubling between hosts, as MPI
 * libraries do it for short messages, over the network of inc_net.h. Nothing is lost there. */
#ifndef SIM_INC_DOUBLING_H
#define SIM_INC_DOUBLING_H

#include "sim/inc_net.h"

struct inc_doubling_options {
	struct inc_net_options net; /* all its hosts take part */
	uint32_t bytes;             /* of a message, with the headers that UDP has not */
	uint32_t calls;
};

struct inc_doubling_result {
	double latency_ns; /* mean of all calls */
	double packets;    /* of a call, sent by hosts */
	double crossings;  /* of a call, of wires */
	double busy_ns;    /* of a call, CPU of one host */
};

/* DXP_ENOMEM; DXP_EINVAL; DXP_EIO: it came to no end, or to a wrong sum. */
int inc_doubling_run(const struct inc_doubling_options *options, struct inc_doubling_result *out);

#endif
