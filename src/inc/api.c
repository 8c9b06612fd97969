/* SPDX-License-Identifier: BSD-3-Clause */
/* Public functions that start operations or query a group. */
#include <stdlib.h>

#include <dxp/status.h>

#include "inc/endpoint.h"

static struct dxp_inc_operation *operation_accept(struct dxp_inc_group *g)
{
	struct dxp_inc_operation *c = g->free_operations;

	if (c)
		g->free_operations = c->next;
	else
		c = malloc(sizeof(*c));
	return c;
}

/* Starts an operation. `stays`: the caller then waits for the operation itself, so the progress
 * thread need not wake. */
static int begin(struct dxp_inc_group *g, const struct inc_operation *what, bool stays,
		 struct dxp_inc_operation **out)
{
	struct dxp_inc *inc = g->inc;
	int status = DXP_ENOMEM;
	bool wake = false;

	if (!endpoint_owns(inc))
		return DXP_ECLOSED;

	pthread_mutex_lock(&inc->lock);
	struct dxp_inc_operation *c = operation_accept(g);
	if (c) {
		uint64_t now_ns = endpoint_now(inc);
		c->core = *what;
		c->group = g;
		status = inc_group_start(g->group, &c->core, now_ns);
		if (status == DXP_OK) {
			g->open_operations++;
			inc->active_ns = now_ns;
			endpoint_flush(g, now_ns);
			wake = !stays && endpoint_deadline(g) < inc->listens_until_ns;
			*out = c;
		} else {
			c->next = g->free_operations;
			g->free_operations = c;
		}
	}
	pthread_mutex_unlock(&inc->lock);
	if (wake)
		progress_wake(inc);
	return status;
}

/* Returns true if a buffer is missing. `receives`: this member gets the result. */
static bool data_wrong(const struct inc_operation *c, bool receives)
{
	return c->elements > 0 && ((!c->send && !c->receive) || (receives && !c->receive));
}

static int start(struct dxp_inc_group *g, const struct inc_operation *what,
		 struct dxp_inc_operation **out)
{
	return out ? begin(g, what, false, out) : DXP_EINVAL;
}

static int start_and_wait(struct dxp_inc_group *g, const struct inc_operation *what,
			  size_t *done_elements)
{
	struct dxp_inc_operation *c;
	int status = begin(g, what, true, &c);

	if (status == DXP_OK)
		return dxp_inc_wait(c, done_elements);
	if (done_elements)
		*done_elements = 0;
	return status;
}

static struct inc_operation arithmetic(uint8_t collective, const void *send, void *receive,
				       size_t count, enum dxp_inc_type type, enum dxp_inc_op op)
{
	return (struct inc_operation){.collective = collective,
				      .op = op,
				      .type = type,
				      .send = send ? send : receive,
				      .receive = receive,
				      .elements = count};
}

int dxp_inc_allreduce_start(struct dxp_inc_group *group, const void *send, void *receive,
			    size_t count, enum dxp_inc_type type, enum dxp_inc_op op,
			    struct dxp_inc_operation **out)
{
	struct inc_operation c = arithmetic(INC_ALLREDUCE, send, receive, count, type, op);

	if (!group || data_wrong(&c, true))
		return DXP_EINVAL;
	return start(group, &c, out);
}

int dxp_inc_allreduce(struct dxp_inc_group *group, const void *send, void *receive, size_t count,
		      enum dxp_inc_type type, enum dxp_inc_op op, size_t *done_elements)
{
	struct inc_operation c = arithmetic(INC_ALLREDUCE, send, receive, count, type, op);

	if (group && !data_wrong(&c, true))
		return start_and_wait(group, &c, done_elements);
	if (done_elements)
		*done_elements = 0;
	return DXP_EINVAL;
}

int dxp_inc_reduce_start(struct dxp_inc_group *group, const void *send, void *receive, size_t count,
			 enum dxp_inc_type type, enum dxp_inc_op op, uint32_t root,
			 struct dxp_inc_operation **out)
{
	struct inc_operation c = arithmetic(INC_REDUCE, send, receive, count, type, op);

	if (!group || data_wrong(&c, group->member == root))
		return DXP_EINVAL;
	c.root = root;
	if (group->member != root)
		c.receive = NULL;
	return start(group, &c, out);
}

int dxp_inc_broadcast_start(struct dxp_inc_group *group, void *data, size_t bytes, uint32_t root,
			    struct dxp_inc_operation **out)
{
	struct inc_operation c = {.collective = INC_BROADCAST, .root = root, .elements = bytes};

	if (!group || (!data && bytes > 0))
		return DXP_EINVAL;
	if (group->member == root)
		c.send = data;
	else
		c.receive = data;
	return start(group, &c, out);
}

int dxp_inc_barrier_start(struct dxp_inc_group *group, struct dxp_inc_operation **out)
{
	struct inc_operation c = {.collective = INC_BARRIER};

	return group ? start(group, &c, out) : DXP_EINVAL;
}

int dxp_inc_barrier(struct dxp_inc_group *group)
{
	struct inc_operation c = {.collective = INC_BARRIER};

	return group ? start_and_wait(group, &c, NULL) : DXP_EINVAL;
}

bool dxp_inc_accepts(const struct dxp_inc_group *group, enum dxp_inc_op op, enum dxp_inc_type type,
		     size_t count)
{
	return group && inc_group_accepts(group->group, op, type, count);
}

void dxp_inc_group_view(const struct dxp_inc_group *group, struct dxp_inc_group_view *out)
{
	if (!group || !out)
		return;
	pthread_mutex_lock(&group->inc->lock);
	inc_group_view(group->group, out);
	out->depth = group->depth;
	pthread_mutex_unlock(&group->inc->lock);
}

void endpoint_group_give_up(struct dxp_inc_group *g, int status)
{
	pthread_mutex_lock(&g->inc->lock);
	inc_group_give_up(g->group, status, endpoint_now(g->inc));
	pthread_mutex_unlock(&g->inc->lock);
	progress_wake(g->inc);
}
