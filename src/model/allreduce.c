/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks are numbered by host, then by socket. Switches follow, because the schedule treats them as
 * ranks: one per ToR and group of leaders, then one spine per group. */
#include "model/allreduce.h"

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/collective.h"

#define TAG_REDUCE    0
#define TAG_UP        1
#define TAG_DOWN      2
#define TAG_BROADCAST 3

const char *model_way_name(enum model_way way)
{
	static const char *const names[MODEL_WAYS] = {"host", "node", "socket"};

	return names[way];
}

static const struct model_allreduce_job *self(const struct model_schedule *s)
{
	return CONTAINER_OF(s, const struct model_allreduce_job, schedule);
}

/* ---- schedule with switches ---- */

static uint32_t hosts_below(const struct model_allreduce_job *j, uint32_t tor)
{
	return (uint32_t)min_u64(j->tor_hosts, j->of.hosts - tor * j->tor_hosts);
}

static uint32_t tor_rank(const struct model_allreduce_job *j, uint32_t tor, uint32_t group)
{
	return j->members + group * j->tors + tor;
}

static uint32_t spine_rank(const struct model_allreduce_job *j, uint32_t group)
{
	return j->members + j->groups * j->tors + group;
}

static bool is_spine(const struct model_allreduce_job *j, uint32_t rank)
{
	return rank >= j->members + j->groups * j->tors;
}

static uint32_t way_count(const struct model_schedule *s, uint32_t rank)
{
	const struct model_allreduce_job *j = self(s);

	if (is_spine(j, rank))
		return 2 * j->tors;
	if (rank >= j->members)
		return 2 * hosts_below(j, (rank - j->members) % j->tors) + (j->spine ? 2 : 0);
	return 2 * model_tree_children(j->group_ranks, rank % j->group_ranks) + 2;
}

/* Computes an operation inside a group; the root of this tree also exchanges messages with the
 * ToR. */
static void member_op(const struct model_allreduce_job *j, uint32_t rank, uint32_t index,
		      struct model_task *out)
{
	uint32_t member = rank % j->group_ranks, host = rank / j->of.ranks;
	uint32_t children = model_tree_children(j->group_ranks, member);
	uint32_t group = rank % j->of.ranks / j->group_ranks;

	if (index < children) {
		out->kind = MODEL_RECEIVE;
		out->peer = rank + (1u << index);
		out->tag = TAG_REDUCE;
	} else if (index < children + 2) {
		bool up = index == children;
		out->kind = up ? MODEL_SEND : MODEL_RECEIVE;
		out->peer = member ? rank - member + model_tree_parent(member)
				   : tor_rank(j, host / j->tor_hosts, group);
		out->tag = member ? up ? TAG_REDUCE : TAG_BROADCAST : up ? TAG_UP : TAG_DOWN;
	} else {
		out->kind = MODEL_SEND;
		out->peer = rank + (1u << (2 * children + 1 - index));
		out->tag = TAG_BROADCAST;
	}
}

static void tor_op(const struct model_allreduce_job *j, uint32_t rank, uint32_t index,
		   struct model_task *out)
{
	uint32_t tor = (rank - j->members) % j->tors, group = (rank - j->members) / j->tors;
	uint32_t hosts = hosts_below(j, tor), up = j->spine ? 2 : 0;
	bool middle = index >= hosts && index < hosts + up;

	out->kind = index < hosts || (middle && index > hosts) ? MODEL_RECEIVE : MODEL_SEND;
	out->tag = out->kind == MODEL_RECEIVE && !middle ? TAG_UP : TAG_DOWN;
	if (middle) {
		out->peer = spine_rank(j, group);
		out->tag = index == hosts ? TAG_UP : TAG_DOWN;
		return;
	}
	uint32_t host = tor * j->tor_hosts + (index < hosts ? index : index - hosts - up);
	out->peer = host * j->of.ranks + group * j->group_ranks;
}

static void way_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out)
{
	const struct model_allreduce_job *j = self(s);

	*out = (struct model_task){.bytes = j->of.bytes};
	if (is_spine(j, rank)) {
		out->kind = index < j->tors ? MODEL_RECEIVE : MODEL_SEND;
		out->tag = index < j->tors ? TAG_UP : TAG_DOWN;
		out->peer = tor_rank(j, index % j->tors, rank - j->members - j->groups * j->tors);
	} else if (rank >= j->members) {
		tor_op(j, rank, index, out);
	} else {
		member_op(j, rank, index, out);
	}
}

/* ---- network ---- */

/* Returns the ps that a message occupies a NIC: sum or maximum of its gap and its wire time, by
 * nic_service. */
static int64_t service_ps(const struct model_parameters *p, int64_t wire_bytes)
{
	int64_t wire_ps = wire_bytes * 8 * 1000000 / p->net_rate_mbps;

	if (p->nic_service == MODEL_SERVICE_MAX)
		return wire_ps > p->nic_gap_ps ? wire_ps : p->nic_gap_ps;
	return wire_ps + p->nic_gap_ps;
}

static void inside_path(const struct model_allreduce_job *j, uint32_t from, uint32_t to,
			struct model_path *out)
{
	const struct model_parameters *p = j->parameters;
	uint32_t sockets = (uint32_t)p->sockets, ranks = j->of.ranks;
	bool same = from % ranks * sockets / ranks == to % ranks * sockets / ranks;

	out->latency_ps = same ? p->intra_ps : p->inter_ps;
}

static void between_hosts_path(const struct model_allreduce_job *j, uint32_t from, uint32_t to,
			       struct model_path *out)
{
	const struct model_parameters *p = j->parameters;
	uint32_t a = from / j->of.ranks, b = to / j->of.ranks;
	int64_t switches = a / j->tor_hosts == b / j->tor_hosts ? 1 : 3;

	out->transmit = a;
	out->receive = b;
	out->service_ps = service_ps(p, p->frame_bytes + j->of.bytes);
	out->latency_ps =
		2 * p->nic_latency_ps + (switches + 1) * p->cable_ps + switches * p->forward_ps;
}

/* Sets a path. A switch computes one packet at a time, and copies a result to all ports at once. */
static void switch_path(const struct model_allreduce_job *j, uint32_t from, uint32_t to,
			struct model_path *out)
{
	const struct model_parameters *p = j->parameters;

	out->latency_ps = p->cable_ps;
	out->service_ps = service_ps(p, p->frame_bytes + p->datagram_bytes + j->of.bytes);
	if (from < j->members) {
		out->transmit = from / j->of.ranks;
		out->latency_ps += p->nic_latency_ps;
	} else {
		out->send_ps = 0;
	}
	if (to < j->members) {
		out->receive = to / j->of.ranks;
		out->latency_ps += p->nic_latency_ps + p->forward_ps;
	} else {
		out->receive_ps = p->compute_ps;
	}
}

static void job_path(const struct model_network *n, uint32_t from, uint32_t to, uint64_t bytes,
		     struct model_path *out)
{
	const struct model_allreduce_job *j =
		CONTAINER_OF(n, const struct model_allreduce_job, network);
	int64_t overhead_ps =
		j->parameters->mpi_overhead_ps + (int64_t)bytes * j->parameters->mpi_byte_ps;

	*out = (struct model_path){.send_ps = overhead_ps,
				   .receive_ps = overhead_ps,
				   .transmit = MODEL_NO_SERVER,
				   .receive = MODEL_NO_SERVER};
	if (from >= j->members || to >= j->members)
		switch_path(j, from, to, out);
	else if (from / j->of.ranks == to / j->of.ranks)
		inside_path(j, from, to, out);
	else
		between_hosts_path(j, from, to, out);
}

/* ---- cases ---- */

static int case_check(const struct model_allreduce *of, const struct model_parameters *p)
{
	if (of->hosts < 1 || of->hosts > MODEL_HOSTS_MAX || of->ranks < 1 ||
	    of->ranks > MODEL_HOST_RANKS_MAX)
		return error_set(DXP_EINVAL,
				 "%u hosts of %u ranks are out of range; choose 1 .. %d hosts of "
				 "1 .. %d ranks",
				 of->hosts, of->ranks, MODEL_HOSTS_MAX, MODEL_HOST_RANKS_MAX);
	if (of->way == MODEL_WAY_SOCKET && of->ranks % p->sockets)
		return error_set(DXP_EINVAL,
				 "%u ranks of a host do not divide among %d sockets; choose a "
				 "multiple",
				 of->ranks, (int)p->sockets);
	return DXP_OK;
}

int model_allreduce_open(struct model_allreduce_job *j, const struct model_allreduce *of,
			 const struct model_parameters *p)
{
	int status = case_check(of, p);

	if (status != DXP_OK)
		return status;
	uint32_t groups = of->way == MODEL_WAY_SOCKET ? (uint32_t)p->sockets : 1;
	*j = (struct model_allreduce_job){
		.schedule = {.count = way_count, .op = way_op},
		.network = {.servers = of->hosts, .path = job_path},
		.of = *of,
		.parameters = p,
		.members = of->hosts * of->ranks,
		.groups = groups,
		.group_ranks = of->ranks / groups,
		.tor_hosts = (uint32_t)p->tor_hosts,
	};
	j->tors = (of->hosts + j->tor_hosts - 1) / j->tor_hosts;
	j->spine = j->tors > 1 || p->spine == MODEL_SPINE_ALWAYS;
	j->schedule.ranks = j->members + groups * (j->tors + j->spine);
	return DXP_OK;
}

/* Simulates a case. *out has the mean of the ranks' completion times, and the last one. */
static int case_run(const struct model_allreduce *of, const struct model_parameters *p,
		    struct model_ranks_result *out)
{
	struct model_allreduce_job j;
	struct model_collective c;
	int status = model_allreduce_open(&j, of, p);

	if (status == DXP_OK && of->way == MODEL_WAY_HOST)
		status = model_collective_make(MODEL_DOUBLING, j.members, of->bytes, &c);
	if (status != DXP_OK)
		return status;
	return model_ranks_run(of->way == MODEL_WAY_HOST ? &c.schedule : &j.schedule, &j.network,
			       j.members, NULL, out);
}

int model_allreduce_ns(const struct model_allreduce *of, const struct model_parameters *p,
		       double *out)
{
	struct model_ranks_result r;
	int status = case_run(of, p, &r);

	if (status == DXP_OK)
		*out = (p->figure == MODEL_FIGURE_MEAN ? r.mean_ps : (double)r.last_ps) / 1000;
	return status;
}

void model_allreduce_setting(const struct model_parameters *named, unsigned number,
			     struct model_parameters *p)
{
	static const int64_t tor_hosts[] = {4, 8, 16};

	*p = *named;
	p->tor_hosts = tor_hosts[number % 3];
	p->spine = number / 3 % 2;
	p->nic_service = number / 6;
}

int model_allreduce_interval(const struct model_allreduce *of, const struct model_parameters *p,
			     double *low, double *high)
{
	*low = 1e300;
	*high = 0;
	for (unsigned i = 0; i < MODEL_ALLREDUCE_SETTINGS; i++) {
		struct model_parameters q;
		struct model_ranks_result r;
		model_allreduce_setting(p, i, &q);
		if (q.spine != p->spine && of->way == MODEL_WAY_HOST)
			continue; /* no effect, because no switch computes */
		int status = case_run(of, &q, &r);
		if (status != DXP_OK)
			return status;
		double last = (double)r.last_ps / 1000, mean = r.mean_ps / 1000;
		*low = mean < *low ? mean : *low;
		*high = last > *high ? last : *high;
	}
	return DXP_OK;
}
