/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce of short messages on hosts with many ranks (N-05, N-09, N-11), in three ways:
 * recursive doubling of all ranks; switches that compute, with a leader per host; the same with a
 * leader per processor socket. Uses LogGOPS on ranks; messages queue at the hosts' NICs and at the
 * switches. */
#ifndef MODEL_ALLREDUCE_H
#define MODEL_ALLREDUCE_H

#include "model/parameter.h"
#include "model/ranks.h"

enum model_way {
	MODEL_WAY_HOST,   /* Open MPI: recursive doubling */
	MODEL_WAY_NODE,   /* a leader per host */
	MODEL_WAY_SOCKET, /* a leader per socket */
	MODEL_WAYS
};

#define MODEL_HOSTS_MAX      4096
#define MODEL_HOST_RANKS_MAX 64

struct model_allreduce {
	enum model_way way;
	uint32_t hosts, ranks; /* `ranks` are per host */
	uint32_t bytes;
};

/* The schedule of a case, and its network. Do not copy: the parts refer to it. */
struct model_allreduce_job {
	struct model_schedule schedule; /* first member */
	struct model_network network;
	struct model_allreduce of;
	const struct model_parameters *parameters;
	uint32_t members;     /* ranks on all hosts */
	uint32_t groups;      /* leaders per host */
	uint32_t group_ranks; /* ranks in a leader's tree, including it */
	uint32_t tors, tor_hosts;
	bool spine; /* results cross the spine */
};

const char *model_way_name(enum model_way way);

/* Checks the case. DXP_EINVAL with error_text(). */
int model_allreduce_open(struct model_allreduce_job *job, const struct model_allreduce *of,
			 const struct model_parameters *p);

/* Computes the time of a call in ns: the mean of all ranks or that of the last, as parameter
 * `figure` selects. DXP_ENOMEM, DXP_EINVAL. */
int model_allreduce_ns(const struct model_allreduce *of, const struct model_parameters *p,
		       double *out);

/* settings: 3 numbers of hosts per ToR x 2 choices of `spine` x 2 of `nic_service` */
#define MODEL_ALLREDUCE_SETTINGS 12

/* Sets *p to `named`, with one of the MODEL_ALLREDUCE_SETTINGS that the sources leave open. */
void model_allreduce_setting(const struct model_parameters *named, unsigned number,
			     struct model_parameters *p);

/* Computes the least and the largest time over all settings of the switches and of hosts per
 * ToR. */
int model_allreduce_interval(const struct model_allreduce *of, const struct model_parameters *p,
			     double *low, double *high);

#endif
