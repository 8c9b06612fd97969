/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes endpoints. */
#include "inc/endpoint.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "inc/limits.h"
#include "inc/where.h"

static _Atomic unsigned forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void fork_note(void)
{
	forks++;
}

static void forks_watch(void)
{
	pthread_atfork(NULL, NULL, fork_note);
}

bool endpoint_owns(const struct dxp_inc *inc)
{
	return inc->forks == forks;
}

uint64_t endpoint_now(struct dxp_inc *inc)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns > inc->planned_ns && now_ns - inc->planned_ns >= INC_STALL_NS) {
		inc->stalled_ns += now_ns - inc->planned_ns;
		/* no poll is planned until the progress thread plans its next one */
		inc->planned_ns = UINT64_MAX;
	}
	return now_ns - inc->stalled_ns;
}

static uint64_t time_of(uint64_t wanted_ns, uint64_t default_ns)
{
	return clamp_u64(wanted_ns ? wanted_ns : default_ns, INC_TIME_MIN_NS, INC_TIME_MAX_NS);
}

static void options_check(struct dxp_inc *inc, const struct dxp_inc_options *options)
{
	if (options)
		inc->o = *options;
	inc->o.deadline_ns = time_of(inc->o.deadline_ns, INC_DEADLINE_NS);
	inc->o.patience_ns = min_u64(inc->o.patience_ns, INC_TIME_MAX_NS);
	inc->o.create_ns = time_of(inc->o.create_ns, INC_CREATE_NS);
	inc->o.spin_ns = min_u64(inc->o.spin_ns, INC_TIME_MAX_NS);
	inc->o.switches = NULL; /* the caller owns this text */
}

static int endpoint_start(struct dxp_inc *inc, const char *switches)
{
	int status = inc_switch_find(switches, true, &inc->switch_ip, &inc->own.ip);

	if (status == DXP_OK)
		status = sockets_open(inc);
	if (status != DXP_OK)
		return status;
	status = endpoint_progress_start(inc);
	if (status != DXP_OK) {
		inc_port_close(&inc->in);
		inc_port_close(&inc->out);
	}
	return status;
}

int dxp_inc_open(const struct dxp_inc_options *options, struct dxp_inc **out)
{
	if (!out || (options && (unsigned)options->framing > DXP_INC_COMPAT))
		return DXP_EINVAL;

	struct dxp_inc *inc = calloc(1, sizeof(*inc));

	if (!inc)
		return DXP_ENOMEM;
	inc->reserve = calloc(1, inc_making_reserve_bytes());
	if (!inc->reserve) {
		free(inc);
		return DXP_ENOMEM;
	}
	options_check(inc, options);
	pthread_once(&forks_once, forks_watch);
	inc->forks = forks;
	inc->planned_ns = clock_now_ns() + S_NS;
	pthread_mutex_init(&inc->lock, NULL);
	pthread_cond_init(&inc->read, NULL);
	int status = endpoint_start(inc, options ? options->switches : NULL);
	if (status != DXP_OK) {
		pthread_cond_destroy(&inc->read);
		pthread_mutex_destroy(&inc->lock);
		free(inc->reserve);
		free(inc);
		return status;
	}
	*out = inc;
	return DXP_OK;
}

/* Sends due KILLs. Returns true if more KILLs must be sent later. A KILL is delayed, because the
 * switch keeps results until the KILL, and slower members may need the last result. */
static bool kills_pending(struct dxp_inc *inc)
{
	bool pending = false;

	pthread_mutex_lock(&inc->lock);
	inc_departed_tend(inc, endpoint_now(inc));
	for (const struct dxp_inc_group *g = inc->groups; g; g = g->next)
		pending |= g->departed_ns != 0 && g->kill_ns != UINT64_MAX;
	pthread_mutex_unlock(&inc->lock);
	return pending;
}

static void endpoint_free(struct dxp_inc *inc)
{
	while (inc->groups)
		endpoint_group_free(inc->groups);
	inc_port_close(&inc->in);
	inc_port_close(&inc->out);
	close(inc->wake_fd);
	free(inc->reserve);
	free(inc);
}

void dxp_inc_close(struct dxp_inc *inc)
{
	const struct timespec pause = {.tv_nsec = MS_NS};

	if (!inc)
		return;
	if (endpoint_owns(inc)) {
		while (kills_pending(inc))
			nanosleep(&pause, NULL);
		endpoint_progress_stop(inc);
		pthread_cond_destroy(&inc->read);
		pthread_mutex_destroy(&inc->lock);
	}
	endpoint_free(inc);
}
