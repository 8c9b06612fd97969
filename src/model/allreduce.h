/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts MPI_Allreduce of short messages on hosts with many ranks, in three ways: recursive
 * doubling of all ranks; switches that compute, with one leader on each host; switches that
 * compute, with one leader on each processor socket. Uses the LogGOPS model for ranks. Messages
 * queue at the hosts' NICs and at the switches. N-05, N-09 and N-11 are statements of its source
 * (row.h). */
#ifndef MODEL_ALLREDUCE_H
#define MODEL_ALLREDUCE_H

#include "model/parameter.h"
#include "model/ranks.h"

enum model_way {
	MODEL_WAY_HOST,   /* as Open MPI does it: recursive doubling of all ranks */
	MODEL_WAY_NODE,   /* switches; one leader on each host */
	MODEL_WAY_SOCKET, /* switches; one leader on each socket */
	MODEL_WAYS
};

#define MODEL_HOSTS_MAX      4096
#define MODEL_HOST_RANKS_MAX 64

struct model_allreduce {
	enum model_way way;
	uint32_t hosts, ranks; /* number of hosts; number of ranks on each host */
	uint32_t bytes;
};

/* The schedule of a case, and its network. Do not copy it, because its parts contain pointers to
 * each other. */
struct model_allreduce_job {
	struct model_schedule schedule; /* must be the first member */
	struct model_network network;
	struct model_allreduce of;
	const struct model_parameters *parameters;
	uint32_t members;     /* ranks on all hosts */
	uint32_t groups;      /* number of leaders on each host */
	uint32_t group_ranks; /* number of ranks in the tree of a leader, the leader included */
	uint32_t tors, tor_hosts;
	bool spine; /* true: results pass a spine switch */
};

const char *model_way_name(enum model_way way);

/* Checks the case, and prepares its schedule and network. DXP_EINVAL; error_text() has the
 * reason. */
int model_allreduce_open(struct model_allreduce_job *job, const struct model_allreduce *of,
			 const struct model_parameters *p);

/* Computes the time of an allreduce in ns. Parameter `figure` selects the mean of all ranks, or the
 * time of the last rank. DXP_ENOMEM, DXP_EINVAL. */
int model_allreduce_ns(const struct model_allreduce *of, const struct model_parameters *p,
		       double *out);

/* number of settings: 3 numbers of hosts per ToR x 2 choices of `spine` x 2 choices of
 * `nic_service` */
#define MODEL_ALLREDUCE_SETTINGS 12

/* Sets *p to `named`, changed to setting `number` of the MODEL_ALLREDUCE_SETTINGS that the sources
 * leave open. */
void model_allreduce_setting(const struct model_parameters *named, unsigned number,
			     struct model_parameters *p);

/* Computes the shortest and the longest time in ns over all these settings. */
int model_allreduce_interval(const struct model_allreduce *of, const struct model_parameters *p,
			     double *low, double *high);

#endif
