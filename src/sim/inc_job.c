/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on simulated hosts: groups are created and closed, and members agree, as by MPI. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/inc_sim_internal.h"
#include "wire/limits.h"

#define SEGMENT_BYTES 1408
#define KILL_ROUNDS   2

/* ---- creation ---- */

static bool job_settled(const struct inc_job *job, int *status)
{
	*status = DXP_OK;
	for (uint32_t i = 0; i < job->options.count; i++) {
		const struct inc_seat *seat = &job->seats[i];
		if (seat->dead)
			*status = DXP_EPEERLOST;
		else if (seat->outcome == DXP_EAGAIN)
			return false;
		else if (seat->outcome != DXP_OK && *status == DXP_OK)
			*status = seat->outcome;
	}
	return true;
}

static struct inc_member *job_members(const struct inc_job *job)
{
	const struct inc_tree *tree = inc_net_tree(job->sim->net);
	struct inc_member *members = calloc(job->options.count, sizeof(*members));

	for (uint32_t i = 0; members && i < job->options.count; i++)
		members[i] = (struct inc_member){
			.ip = inc_tree_ip(tree, job->seats[i].location.host),
			.port = (uint16_t)(ROCE_SOURCE_PORT + job->seats[i].location.endpoint)};
	return members;
}

static uint32_t seat_switch_ip(const struct inc_seat *seat)
{
	const struct inc_tree *tree = inc_net_tree(seat->job->sim->net);

	return inc_tree_ip(tree, inc_tree_parent(tree, seat->location.host, 0));
}

struct inc_group_options inc_seat_options(const struct inc_seat *seat)
{
	const struct inc_job *job = seat->job;
	const struct inc_control *c = &seat->notice;

	return (struct inc_group_options){.id = job->options.id,
					  .qkey = job->options.qkey,
					  .epoch = job->options.epoch,
					  .member = seat->member,
					  .count = job->options.count,
					  .switch_ip = seat_switch_ip(seat),
					  .segment_bytes = c->segment_bytes,
					  .window = c->window,
					  .sup_op = c->sup_op,
					  .sup_type = c->sup_type,
					  .planes = c->planes,
					  .lease_ms = c->lease_ms,
					  .deadline_ns = job->sim->options.deadline_ns,
					  .framing = job->sim->options.framing};
}

static int groups_make(struct inc_job *job, uint64_t now_ns)
{
	struct inc_member *members = job_members(job);
	int status = members ? DXP_OK : DXP_ENOMEM;

	for (uint32_t i = 0; status == DXP_OK && i < job->options.count; i++) {
		struct inc_group_options o = inc_seat_options(&job->seats[i]);
		o.members = members;
		status = inc_group_create(&o, now_ns, &job->seats[i].group);
	}
	free(members);
	return status;
}

static void creations_end(struct inc_job *job)
{
	for (uint32_t i = 0; i < job->options.count; i++) {
		struct inc_seat *seat = &job->seats[i];
		if (seat->create && (i > 0 || job->state != INC_JOB_READY))
			inc_create_end(seat->create);
		if (i > 0 || job->state != INC_JOB_READY)
			seat->create = NULL; /* member 0 needs its `create` to send KILL */
	}
}

/* Decides as MPI would: all members get the group, or none does. */
static void job_settle(struct inc_job *job, uint64_t now_ns)
{
	int status;

	if (job->state != INC_JOB_CREATING || !job_settled(job, &status))
		return;
	if (status == DXP_OK)
		status = groups_make(job, now_ns);
	job->status = status;
	job->created_ns = now_ns;
	job->state = status == DXP_OK ? INC_JOB_READY : INC_JOB_REJECTED;
	if (status != DXP_OK)
		job->kill_rounds = 0;
	creations_end(job);
	for (uint32_t i = 0; i < job->options.count; i++) {
		job->seats[i].wake_ns = now_ns;
		inc_net_touch(job->sim->net, job->seats[i].location.host);
	}
}

static struct inc_control seat_query(const struct inc_seat *seat, const struct inc_member *members)
{
	const struct inc_job_options *o = &seat->job->options;

	return (struct inc_control){
		.sup_comm_type = 1 << INC_ALLREDUCE | 1 << INC_REDUCE | 1 << INC_BROADCAST |
				 1 << INC_BARRIER,
		.sup_op = (1u << DXP_INC_OPS) - 1,
		.sup_type = (1u << DXP_INC_TYPES) - 1,
		.segment_bytes = o->segment_bytes ? o->segment_bytes : SEGMENT_BYTES,
		.window = o->window ? o->window : INC_WINDOW_MAX,
		.planes = o->planes ? o->planes : INC_PLANE_USER | INC_PLANE_KERNEL,
		.members = o->count,
		.true_comm_id = o->id,
		.qkey = o->qkey,
		.free_groups = UINT32_MAX,
		.lease_ms = UINT32_MAX,
		.job_id = o->id,
		.world_rank = seat->member,
		.member_ip = members[seat->member].ip,
		.member_port = members[seat->member].port,
		.first_ip = members[0].ip,
		.first_port = members[0].port};
}

static int seat_begin(struct inc_seat *seat, uint64_t now_ns)
{
	struct inc_job *job = seat->job;
	uint32_t count = job->options.count;
	struct inc_member *members = job_members(job);
	uint32_t *switches = calloc(count, sizeof(*switches));
	int status = DXP_ENOMEM;

	if (members && switches) {
		for (uint32_t i = 0; i < count; i++)
			switches[i] = seat_switch_ip(&job->seats[i]);
		const struct inc_create_options o = {.first = seat_query(seat, members),
						     .member = seat->member,
						     .count = count,
						     .members = members,
						     .switches = switches,
						     .epoch = job->options.epoch,
						     .limit_ns = job->sim->options.create_ns,
						     .framing = job->sim->options.framing};
		status = inc_create_begin(&o, now_ns, &seat->create);
	}
	free(switches);
	free(members);
	return status;
}

void inc_seat_step(struct inc_seat *seat, uint64_t now_ns)
{
	struct inc_job *job = seat->job;

	if (seat->dead)
		return;
	if (job->state == INC_JOB_CREATING && !seat->create && seat->start_ns <= now_ns &&
	    seat->outcome == DXP_EAGAIN) {
		int status = seat_begin(seat, now_ns);
		if (status != DXP_OK)
			seat->outcome = status;
	}
	if (seat->create && seat->outcome == DXP_EAGAIN) {
		seat->outcome = inc_create_outcome(seat->create, &seat->notice, &seat->silent);
		if (seat->outcome != DXP_EAGAIN)
			job_settle(job, now_ns);
	}
}

static size_t kill_send(struct inc_job *job, struct inc_batch *out)
{
	struct inc_seat *first = &job->seats[0];
	size_t count = 0;

	while (job->state == INC_JOB_CLOSED && first->create && job->kill_rounds > 0) {
		count += inc_create_kill(first->create, &job->kill_next, out);
		if (job->kill_next < job->options.count)
			break;
		job->kill_next = 0;
		job->kill_rounds--;
	}
	if (job->state == INC_JOB_CLOSED && first->create && job->kill_rounds == 0 &&
	    out->count == 0) {
		inc_create_end(first->create);
		first->create = NULL;
	}
	return count;
}

size_t inc_seat_send(struct inc_seat *seat, struct inc_batch *out, uint64_t now_ns)
{
	size_t count = 0;

	if (seat->dead)
		return 0;
	inc_seat_step(seat, now_ns);
	if (seat->create && seat->job->state == INC_JOB_CREATING)
		count += inc_create_send(seat->create, out, now_ns);
	if (seat->group)
		count += inc_group_send(seat->group, out, now_ns);
	if (seat->member == 0)
		count += kill_send(seat->job, out);
	inc_seat_step(seat, now_ns);
	return count;
}

uint64_t inc_seat_deadline(const struct inc_seat *seat)
{
	uint64_t at = seat->wake_ns;

	if (seat->dead)
		return UINT64_MAX;
	if (seat->job->state == INC_JOB_CREATING && !seat->create && seat->outcome == DXP_EAGAIN)
		at = min_u64(at, seat->start_ns);
	if (seat->create && seat->job->state == INC_JOB_CREATING)
		at = min_u64(at, inc_create_deadline(seat->create));
	if (seat->group)
		at = min_u64(at, inc_group_deadline(seat->group));
	if (seat->create && seat->job->state == INC_JOB_CLOSED)
		at = 0;
	return at;
}

int inc_job_open(struct inc_sim *s, const struct inc_job_options *options, struct inc_job **out)
{
	struct inc_job *job = calloc(1, sizeof(*job));
	struct inc_seat *seats = calloc(options->count, sizeof(*seats));

	if (!job || !seats) {
		free(seats);
		free(job);
		return DXP_ENOMEM;
	}
	*job = (struct inc_job){.sim = s, .options = *options, .seats = seats, .next = s->jobs};
	job->options.locations = NULL;
	job->kill_rounds = KILL_ROUNDS;
	if (job->options.id == 0)
		job->options.id = (uint32_t)rng_below(&s->rng, INC_COMM_CONTROL - 1) + 1;
	if (job->options.qkey == 0)
		job->options.qkey = (uint32_t)rng_next(&s->rng) & 0x7fffffffu;
	s->jobs = job;
	for (uint32_t i = 0; i < options->count; i++) {
		struct host *h = &s->hosts[options->locations[i].host];
		seats[i] = (struct inc_seat){.job = job,
					     .member = i,
					     .location = options->locations[i],
					     .wake_ns = UINT64_MAX,
					     .outcome = DXP_EAGAIN,
					     .start_ns = inc_net_now(s->net) +
							 rng_below(&s->rng, options->late_ns),
					     .next_here = h->seats};
		h->seats = &seats[i];
		inc_net_wake(s->net, h->node, seats[i].start_ns);
	}
	*out = job;
	return DXP_OK;
}

void inc_job_close(struct inc_job *job)
{
	bool was_ready = job->state == INC_JOB_READY;

	job->state = INC_JOB_CLOSED;
	for (uint32_t i = 0; i < job->options.count; i++) {
		struct inc_seat *seat = &job->seats[i];
		if (seat->group)
			inc_group_destroy(seat->group);
		seat->group = NULL;
		if (seat->create && (i > 0 || !was_ready)) {
			inc_create_end(seat->create);
			seat->create = NULL;
		}
	}
	if (was_ready)
		inc_net_touch(job->sim->net, job->seats[0].location.host);
}

void inc_seat_kill(struct inc_seat *seat)
{
	if (seat->group)
		inc_group_destroy(seat->group);
	if (seat->create)
		inc_create_end(seat->create);
	seat->group = NULL;
	seat->create = NULL;
	seat->dead = true;
	if (seat->job->state == INC_JOB_CREATING)
		job_settle(seat->job, inc_net_now(seat->job->sim->net));
}

void inc_job_free(struct inc_job *job)
{
	for (uint32_t i = 0; i < job->options.count; i++) {
		if (job->seats[i].create)
			inc_create_end(job->seats[i].create);
		if (job->seats[i].group)
			inc_group_destroy(job->seats[i].group);
	}
	free(job->seats);
	free(job);
}
