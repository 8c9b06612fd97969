/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint that all groups of this process share, and the group of a communicator's leaders.
 *
 * If a group is lost, the library completes each operation with the same status at all members. So
 * all leaders detect the loss in the same operation. From then on they count the same operations,
 * and create the next group at the same one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dxp_inc *endpoint; /* guarded by `lock` */

/* To create a group, the leaders wait up to create_ms for switches that do not answer. After a
 * failed attempt, communicators stay ordinary without another attempt, for PAUSE times the duration
 * of the failed one. So a program with many communicators spends at most a tenth of its time on
 * attempts. This does not apply to a communicator that lost its group: it has its own limit
 * (retry_calls). */
#define PAUSE 10
static double failed_at, paused_until; /* s (PMPI_Wtime); guarded by `lock` */

/* ns that members wait for a rank that is stopped or gets no CPU, as ordinary MPI waits. If the
 * group gave it up, that rank could continue at another operation than the others. If a rank is
 * dead, the launcher ends the job anyway. */
#define PATIENCE_NS (600ull * 1000 * 1000 * 1000)

static void idle(void *nothing)
{
	mpi_progress();
}

static int endpoint_open(struct dxp_inc **out)
{
	const struct dxp_mpi_settings *s = &dxp_mpi_settings;
	struct dxp_inc_options options = {
		.switches = s->switches && *s->switches ? s->switches : NULL,
		.deadline_ns = (uint64_t)s->deadline_ms * 1000000,
		.patience_ns = PATIENCE_NS,
		.create_ns = (uint64_t)s->create_ms * 1000000,
		.spin_ns = (uint64_t)s->spin_us * 1000,
		.framing = s->compat     ? DXP_INC_COMPAT
			   : s->reliable ? DXP_INC_RC
					 : DXP_INC_UD,
		.no_icrc_check = s->no_icrc_check,
		.user_plane = s->user_plane,
		.idle = idle,
	};
	int status = DXP_OK;

	pthread_mutex_lock(&lock);
	if (!endpoint)
		status = dxp_inc_open(&options, &endpoint);
	*out = endpoint;
	pthread_mutex_unlock(&lock);
	return status;
}

void mpi_endpoint_close(void)
{
	pthread_mutex_lock(&lock);
	if (endpoint)
		dxp_inc_close(endpoint);
	endpoint = NULL;
	pthread_mutex_unlock(&lock);
}

/* Returns the job number of the launcher. A switch shows this number for the group. */
static uint64_t job_id(void)
{
	static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
					    "OMPI_MCA_ess_base_jobid"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			return strtoull(getenv(names[i]), NULL, 10);
	return 0;
}

static int gather(void *context, const void *own, void *all, size_t bytes)
{
	struct dxp_mpi_comm *c = context;

	return PMPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, c->leaders);
}

/* Returns how many seconds ago the last attempt failed, if it is too early for another attempt.
 * Otherwise returns -1. */
static double pause_age(void)
{
	double now = PMPI_Wtime(), age;

	pthread_mutex_lock(&lock);
	age = now < paused_until ? now - failed_at : -1;
	pthread_mutex_unlock(&lock);
	return age;
}

static void pause_set(double begin, bool failed)
{
	double now = PMPI_Wtime();

	pthread_mutex_lock(&lock);
	failed_at = now;
	paused_until = failed ? now + PAUSE * (now - begin) : 0;
	pthread_mutex_unlock(&lock);
}

/* Returns true at all leaders if at least one of them waited in vain for switches a short time
 * ago. */
static bool paused(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES])
{
	double own = c->lost ? -1 : pause_age(), oldest;

	if (PMPI_Allreduce(&own, &oldest, 1, MPI_DOUBLE, MPI_MAX, c->leaders) || oldest < 0)
		return false;
	snprintf(why, DXP_INC_WHY_BYTES,
		 "an attempt failed %.0f s ago; it is too early for another", oldest);
	return true;
}

/* Opens an endpoint at all leaders. If one fails, returns false at all of them. */
static bool endpoints_open(struct dxp_mpi_comm *c, struct dxp_inc **inc,
			   char why[DXP_INC_WHY_BYTES])
{
	struct {
		int status, leader;
	} own = {.leader = c->leader}, worst;

	if (c->leader_count > DXP_INC_MEMBERS_MAX) {
		snprintf(why, DXP_INC_WHY_BYTES, "%d leaders; at most %d are possible",
			 c->leader_count, DXP_INC_MEMBERS_MAX);
		return false;
	}
	own.status = endpoint_open(inc);
	if (PMPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MINLOC, c->leaders)) {
		snprintf(why, DXP_INC_WHY_BYTES, "MPI failed among the leaders");
		return false;
	}
	if (worst.status == DXP_ENOENT)
		snprintf(why, DXP_INC_WHY_BYTES, "the host of leader %d reaches no switch",
			 worst.leader);
	else if (worst.status)
		snprintf(why, DXP_INC_WHY_BYTES, "leader %d cannot open its endpoint: %s",
			 worst.leader, dxp_status_text(worst.status));
	return worst.status == DXP_OK;
}

bool mpi_group_make(struct dxp_mpi_comm *c, char why[DXP_INC_WHY_BYTES])
{
	struct dxp_inc_bootstrap bootstrap = {
		.member = (uint32_t)c->leader,
		.members = (uint32_t)c->leader_count,
		.allgather = gather,
		.context = c,
	};
	struct dxp_inc_group_options options = {
		.mode = c->mode,
		.job_id = job_id(),
		.c_id = (uint32_t)PMPI_Comm_c2f(c->comm),
	};
	struct dxp_inc *inc;
	int world_rank, status;
	double begin;

	if (paused(c, why) || !endpoints_open(c, &inc, why))
		return false;
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	options.world_rank = (uint32_t)world_rank;
	begin = PMPI_Wtime();
	status = dxp_inc_group_create(inc, &bootstrap, &options, &c->group, why);
	pause_set(begin, status != DXP_OK);
	if (status != DXP_OK && !*why)
		snprintf(why, DXP_INC_WHY_BYTES, "%s", dxp_status_text(status));
	if (status != DXP_OK)
		c->group = NULL;
	c->lost = false;
	return status == DXP_OK;
}

void mpi_group_drop(struct dxp_mpi_comm *c)
{
	if (c->group)
		dxp_inc_group_destroy(c->group);
	c->group = NULL;
}

void mpi_group_lost(struct dxp_mpi_comm *c, int status)
{
	struct dxp_inc_group_view view;

	if (c->lost)
		return;
	c->lost = true;
	c->losses++;
	c->lost_waited = 0;
	dxp_inc_group_view(c->group, &view);
	if (status == DXP_EINVAL)
		mpi_log(0, c,
			"the calls of the ranks differ in length, type, operation or root; correct "
			"the program");
	else if (c->leader == 0)
		mpi_log(c->lost_reported ? 1 : 0, c,
			"the switches are lost (%s); ordinary MPI continues%s",
			dxp_status_text(view.lost_status),
			c->retry_calls ? ", and the switches are tried again later" : "");
	c->lost_reported = true;
}

static void make_again(struct dxp_mpi_comm *c)
{
	char why[DXP_INC_WHY_BYTES] = "";

	/* After this barrier, all members have finished with the lost group. Before it, a member
	 * might still request results from another member. */
	PMPI_Barrier(c->leaders);
	mpi_group_drop(c);
	c->lost_waited = 0;
	c->lost_patience *= 2;
	if (!mpi_group_make(c, why)) {
		c->lost = true;
		if (c->leader == 0)
			mpi_log(1, c, "tried the switches again, still ordinary MPI: %s", why);
	} else if (c->leader == 0) {
		mpi_log(1, c, "offloaded again");
	}
}

bool mpi_group_ready(struct dxp_mpi_comm *c)
{
	if (!c->lost)
		return true;
	if (c->retry_calls > 0 && ++c->lost_waited >= c->lost_patience)
		make_again(c);
	return !c->lost;
}
