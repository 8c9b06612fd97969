/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce of short messages on hosts with many ranks: recursive doubling of all ranks, or
 * switches that compute, with a leader per host or per socket. The LogGOPS model for ranks;
 * messages queue at NICs and switches. Its source (row.h) states N-05, N-09 and N-11. */
#ifndef MODEL_ALLREDUCE_H
#define MODEL_ALLREDUCE_H

#include "model/parameter.h"
#include "model/ranks.h"

enum model_way {
	MODEL_WAY_HOST,   /* recursive doubling of all ranks, as Open MPI does */
	MODEL_WAY_NODE,   /* one leader per host */
	MODEL_WAY_SOCKET, /* one leader per socket */
	MODEL_WAYS
};

#define MODEL_HOSTS_MAX      4096
#define MODEL_HOST_RANKS_MAX 64

struct model_allreduce {
	enum model_way way;
	uint32_t hosts, ranks; /* hosts; ranks per host */
	uint32_t bytes;
};

/* The schedule of a case, and its network. Do not copy it, because its parts contain pointers to
 * each other. */
struct model_allreduce_job {
	struct model_schedule schedule; /* must be first */
	struct model_network network;
	struct model_allreduce of;
	const struct model_parameters *parameters;
	uint32_t members;     /* ranks on all hosts */
	uint32_t groups;      /* leaders per host */
	uint32_t group_ranks; /* ranks in a leader's tree, with the leader */
	uint32_t tors, tor_hosts;
	bool spine; /* results pass a spine */
};

const char *model_way_name(enum model_way way);

/* Checks the case too. DXP_EINVAL; error_text() has the reason. */
int model_allreduce_open(struct model_allreduce_job *job, const struct model_allreduce *of,
			 const struct model_parameters *p);

/* Computes the time in ns; parameter `figure` selects the mean of the ranks or the last one.
 * DXP_ENOMEM, DXP_EINVAL. */
int model_allreduce_ns(const struct model_allreduce *of, const struct model_parameters *p,
		       double *out);

/* 3 numbers of hosts per ToR x 2 of `spine` x 2 of `nic_service` */
#define MODEL_ALLREDUCE_SETTINGS 12

/* Sets *p to `named`, with setting `number` of those that the sources leave open. */
void model_allreduce_setting(const struct model_parameters *named, unsigned number,
			     struct model_parameters *p);

/* Computes the shortest and longest ns over all these settings. */
int model_allreduce_interval(const struct model_allreduce *of, const struct model_parameters *p,
			     double *low, double *high);

#endif
