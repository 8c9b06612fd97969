/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which nodes a node sees. A host sees itself and the xPUs that it may use. An xPU sees all
 * xPUs and the hosts that may use it. */
#include "manager/internal.h"

/* Returns the name that grants use for a host: the name of its key, if it has one. The node's name
 * would prove nothing, because a host with a key may choose any. */
static const char *grantee(const struct roster_node *host)
{
	return host->key ? host->key->name : host->entry.name;
}

/* Returns true if the two nodes may work together. */
static bool granted(const struct registry *r, const struct roster_node *a,
		    const struct roster_node *b)
{
	if (a->entry.kind == b->entry.kind)
		return a == b || a->entry.kind == MANAGE_XPU;
	if (a->entry.kind == MANAGE_HOST)
		return grants_allow(&r->grants, grantee(a), b->entry.name);
	return grants_allow(&r->grants, grantee(b), a->entry.name);
}

const struct roster_node *view_next(const struct registry *r, const struct roster_node *viewer,
				    uint32_t id)
{
	if (viewer->entry.kind == MANAGE_XPU)
		return roster_next(&r->roster, id, false);
	const struct roster_node *xpu = roster_next(&r->roster, id, true);
	const bool own = viewer->entry.id >= id && (!xpu || viewer->entry.id < xpu->entry.id);
	return own ? viewer : xpu;
}

const struct roster_node *view_news(const struct registry *r, const struct roster_node *viewer,
				    uint64_t sequence)
{
	const struct roster_node *xpu = roster_changed_after(&r->roster, ROSTER_XPUS, sequence);
	const struct roster_node *host = viewer;

	if (viewer->entry.kind == MANAGE_XPU)
		host = roster_changed_after(&r->roster, ROSTER_HOSTS, sequence);
	else if (viewer->changed <= sequence)
		host = NULL;
	return !xpu || (host && host->changed < xpu->changed) ? host : xpu;
}

bool view_visible(const struct registry *r, const struct roster_node *viewer,
		  const struct roster_node *subject)
{
	return subject->state != NODE_GONE && granted(r, viewer, subject);
}

void view_entry(const struct roster_node *subject, struct node_entry *out)
{
	*out = subject->entry;
	out->alive = subject->state == NODE_ALIVE;
	out->granted = true;
}
