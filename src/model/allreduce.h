/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce of short messages on hosts with many ranks, three ways (N-05, N-09, N-11): by
 * recursive doubling of all ranks, and by switches that compute, with a leader a host or a
 * processor socket. LogGOPS on ranks: a host's NIC and the switches queue. */
#ifndef MODEL_ALLREDUCE_H
#define MODEL_ALLREDUCE_H

#include "model/parameter.h"
#include "model/ranks.h"

enum model_way {
	MODEL_WAY_HOST,   /* Open MPI: recursive doubling */
	MODEL_WAY_NODE,   /* a leader a host */
	MODEL_WAY_SOCKET, /* a leader a socket */
	MODEL_WAYS
};

#define MODEL_HOSTS_MAX      4096
#define MODEL_HOST_RANKS_MAX 64

struct model_allreduce {
	enum model_way way;
	uint32_t hosts, ranks; /* ranks of each host */
	uint32_t bytes;
};

/* The schedule of a case and the network that it runs on. Do not copy: the parts refer to it. */
struct model_allreduce_job {
	struct model_schedule schedule; /* first member */
	struct model_network network;
	struct model_allreduce of;
	const struct model_parameters *parameters;
	uint32_t members;     /* ranks on all hosts */
	uint32_t groups;      /* leaders of a host */
	uint32_t group_ranks; /* ranks of each leader's tree, its own included */
	uint32_t tors, tor_hosts;
	bool spine; /* results cross the spine */
};

const char *model_way_name(enum model_way way);

/* Checks the case. DXP_EINVAL with error_text(). */
int model_allreduce_open(struct model_allreduce_job *job, const struct model_allreduce *of,
			 const struct model_parameters *p);

/* Time of one call, in ns: of the mean rank or of the last, as the parameter `figure` says.
 * DXP_ENOMEM; DXP_EINVAL. */
int model_allreduce_ns(const struct model_allreduce *of, const struct model_parameters *p,
		       double *out);

#define MODEL_ALLREDUCE_SETTINGS 12 /* 3 numbers of hosts at a ToR x 2 spines x 2 services */

/* Sets *p to `named` with one of the MODEL_ALLREDUCE_SETTINGS that the sources leave open. */
void model_allreduce_setting(const struct model_parameters *named, unsigned number,
			     struct model_parameters *p);

/* Sets the lowest and the highest over all settings of the switches and of hosts at a ToR. */
int model_allreduce_interval(const struct model_allreduce *of, const struct model_parameters *p,
			     double *low, double *high);

#endif
