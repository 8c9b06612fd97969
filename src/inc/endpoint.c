/* SPDX-License-Identifier: BSD-3-Clause */
/* An endpoint: opened, closed. */
#include "inc/endpoint.h"
#include "link/udp.h"

#include <stdlib.h>
#include <time.h>

#include <dxp/status.h>

#include "inc/where.h"

static void options_take(struct dxp_inc *inc, const struct dxp_inc_options *options)
{
	if (options)
		inc->o = *options;
	if (inc->o.deadline_ns == 0)
		inc->o.deadline_ns = 2 * S_NS;
	if (inc->o.create_ns == 0)
		inc->o.create_ns = S_NS;
	inc->o.switches = NULL; /* was the caller's */
}

static int endpoint_start(struct dxp_inc *inc, const char *switches)
{
	int status = inc_switch_find(switches, true, &inc->switch_ip, &inc->own.ip);

	if (status == DXP_OK)
		status = sockets_open(inc);
	if (status != DXP_OK)
		return status;
	status = endpoint_keeper_start(inc);
	if (status != DXP_OK) {
		inc_port_close(&inc->in);
		inc_port_close(&inc->out);
	}
	return status;
}

int dxp_inc_open(const struct dxp_inc_options *options, struct dxp_inc **out)
{
	struct dxp_inc *inc = calloc(1, sizeof(*inc));

	if (!inc)
		return DXP_ENOMEM;
	options_take(inc, options);
	pthread_mutex_init(&inc->lock, NULL);
	pthread_cond_init(&inc->read, NULL);
	int status = endpoint_start(inc, options ? options->switches : NULL);
	if (status != DXP_OK) {
		pthread_cond_destroy(&inc->read);
		pthread_mutex_destroy(&inc->lock);
		free(inc);
		return status;
	}
	*out = inc;
	return DXP_OK;
}

/* Are there KILLs to be sent? A switch keeps results as long as the group, and slower members may
 * need the last one. */
static bool kills_pending(struct dxp_inc *inc)
{
	bool pending = false;

	pthread_mutex_lock(&inc->lock);
	departed_tend(inc, link_now_ns());
	for (const struct dxp_inc_group *g = inc->groups; g; g = g->next)
		pending |= g->departed_ns != 0 && g->kill_ns != UINT64_MAX;
	pthread_mutex_unlock(&inc->lock);
	return pending;
}

void dxp_inc_close(struct dxp_inc *inc)
{
	const struct timespec pause = {.tv_nsec = 2 * MS_NS};

	if (!inc)
		return;
	while (kills_pending(inc))
		nanosleep(&pause, NULL);
	endpoint_keeper_stop(inc);
	while (inc->groups)
		endpoint_group_free(inc->groups);
	inc_port_close(&inc->in);
	inc_port_close(&inc->out);
	pthread_cond_destroy(&inc->read);
	pthread_mutex_destroy(&inc->lock);
	free(inc);
}
