/* SPDX-License-Identifier: BSD-3-Clause */
/* State machine of a group's creation: begin, receive, outcome. */
#include "inc/create.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "inc/create_internal.h"
#include "wire/limits.h"

static bool memory_allocate(struct inc_create *c, const struct inc_create_options *o)
{
	struct inc_member *members = malloc(o->count * sizeof(*members));
	uint32_t *switches = malloc(o->count * sizeof(*switches));

	c->o.members = members;
	c->o.switches = switches;
	if (!members || !switches)
		return false;
	memcpy(members, o->members, o->count * sizeof(*members));
	memcpy(switches, o->switches, o->count * sizeof(*switches));
	if (o->member != 0)
		return true;
	/* The table has space for one leaf switch per member, and for as many switches above. */
	for (c->node_capacity = 64; c->node_capacity < 4 * o->count;)
		c->node_capacity *= 2;
	c->ways = calloc(o->count, sizeof(*c->ways));
	c->nodes = calloc(c->node_capacity, sizeof(*c->nodes));
	return c->ways && c->nodes;
}

/* Reduces the abilities to what the compatible format supports. */
static void compat_limit(struct inc_control *c)
{
	c->sup_mpi_type = 1u << DXP_INC_NODE | 1u << DXP_INC_SOCKET | 1u << DXP_INC_FLAT;
	c->sup_comm_type = 1u << INC_ALLREDUCE;
	c->sup_op &= UINT16_MAX;
	c->sup_type &= UINT16_MAX;
	c->segment_bytes = INC_SHORT_BYTES;
	c->window = 1;
	c->planes = INC_PLANE_USER;
}

int inc_create_begin(const struct inc_create_options *options, uint64_t now_ns,
		     struct inc_create **out)
{
	struct inc_create *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	c->o = *options;
	c->o.members = NULL;
	c->o.switches = NULL;
	if (!memory_allocate(c, options)) {
		inc_create_end(c);
		return DXP_ENOMEM;
	}
	if (options->framing == DXP_INC_COMPAT)
		compat_limit(&c->o.first);
	c->status = DXP_EAGAIN;
	c->limit_ns = now_ns + options->limit_ns;
	c->query_ns = now_ns;
	c->query_gap_ns = INC_QUERY_NS;
	c->silent = options->count;
	*out = c;
	return DXP_OK;
}

void inc_create_end(struct inc_create *c)
{
	if (!c)
		return;
	free((void *)(uintptr_t)c->o.members);
	free((void *)(uintptr_t)c->o.switches);
	free(c->ways);
	free(c->nodes);
	free(c);
}

static void round_begin(struct inc_create *c, uint64_t now_ns)
{
	c->round_ns = now_ns;
	c->round_gap_ns = INC_QUERY_NS;
	c->round_member = 0;
}

void create_fail(struct inc_create *c, int status, uint64_t now_ns)
{
	c->state = CREATE_FAILED;
	/* DXP_EAGAIN would mean that the creation still runs */
	c->status = status == DXP_EAGAIN ? DXP_EIO : status;
	round_begin(c, now_ns);
}

static bool path_same(const struct inc_control *a, const struct inc_control *b)
{
	if (a->path_count != b->path_count)
		return false;
	for (uint8_t i = 0; i < a->path_count; i++)
		if (a->path[i].ip != b->path[i].ip)
			return false;
	return true;
}

static bool all_received(const struct inc_create *c)
{
	for (uint32_t m = 0; m < c->o.count; m++)
		if (c->ways[m].count == 0)
			return false;
	return true;
}

/* Returns true if switches have at most reduced the abilities of this member's QUERY. */
static bool abilities_sound(const struct inc_create *c, const struct inc_control *n)
{
	const struct inc_control *first = &c->o.first;

	return n->members == c->o.count && n->lease_ms > 0 && n->window <= first->window &&
	       n->segment_bytes <= first->segment_bytes && (n->sup_op & ~first->sup_op) == 0 &&
	       (n->sup_type & ~first->sup_type) == 0 && (n->planes & ~first->planes) == 0;
}

/* Returns true if the path has no switch twice, and none without an address. */
static bool path_sound(const struct inc_control *n)
{
	for (uint8_t i = 0; i < n->path_count; i++)
		for (uint8_t k = 0; k <= i; k++)
			if (n->path[i].ip == (k == i ? 0 : n->path[k].ip))
				return false;
	return n->path_count > 0;
}

/* Returns true if the QUERY comes from the last switch of its path, or from one that rejects it. */
static bool query_sound(const struct inc_create *c, uint32_t member, const struct inc_control *q,
			const struct roce_path *path)
{
	const struct inc_member *m = &c->o.members[member];

	return q->member_ip == m->ip && q->member_port == m->port && path_sound(q) &&
	       q->path[0].ip == c->o.switches[member] && path->from_port == ROCE_PORT &&
	       (path->from_ip == q->path[q->path_count - 1].ip || q->fail_cause != 0) &&
	       abilities_sound(c, q);
}

static void query_receive(struct inc_create *c, uint32_t member, const struct inc_control *q,
			  const struct roce_path *path, uint64_t now_ns)
{
	struct ways *w = &c->ways[member];
	uint8_t at = 0;

	if (c->state != CREATE_QUERY || !query_sound(c, member, q, path))
		return;
	while (at < w->count && !path_same(&w->way[at], q))
		at++;
	/* If there is no space for this path, a usable path replaces a rejected one. */
	if (at == w->count && q->fail_cause == 0)
		for (uint8_t i = 0; at == INC_WAYS_MAX && i < w->count; i++)
			at = w->way[i].fail_cause != 0 ? i : at;
	if (at == INC_WAYS_MAX ||
	    (at < w->count && w->way[at].fail_cause == 0 && q->fail_cause == INC_CAUSE_ADDRESS))
		return; /* ignored: a rejection from a wrong address, perhaps a replay */
	c->changed |= at < w->count && w->way[at].fail_cause != q->fail_cause;
	w->way[at] = *q;
	if (at < w->count)
		return; /* this path is known; a changed load does not justify a new choice */
	w->count++;
	c->changed = true;
	if (member == 0 && q->path_count > c->above)
		c->above = q->path_count;
	if (c->received_ns == 0 && all_received(c))
		c->received_ns = now_ns;
}

static void bad_news(struct inc_create *c, int status, const struct inc_control *n, uint64_t now_ns)
{
	if (c->state == CREATE_DONE || c->state == CREATE_FAILED)
		return;
	c->notice.fail_cause = n->fail_cause;
	c->notice.cause_ip = n->cause_ip;
	create_fail(c, status, now_ns);
}

static void all_notified(struct inc_create *c)
{
	for (uint32_t m = 0; m < c->o.count; m++)
		if (!c->ways[m].notified)
			return;
	c->state = CREATE_DONE;
	c->status = DXP_OK;
}

/* Returns true if the NOTIFY is for this member, and each value that this member uses is one that
 * its QUERY allows. */
static bool notice_sound(const struct inc_create *c, const struct inc_header *h,
			 const struct inc_control *n)
{
	const struct inc_member *own = &c->o.members[c->o.member];

	return h->status == 0 && h->src_rank == c->o.member && n->member_ip == own->ip &&
	       n->member_port == own->port && path_sound(n) &&
	       n->path[0].ip == c->o.switches[c->o.member] && n->window > 0 &&
	       (n->window & (n->window - 1)) == 0 && n->segment_bytes >= INC_SHORT_BYTES &&
	       n->planes & INC_PLANE_USER && abilities_sound(c, n);
}

static void notify_receive(struct inc_create *c, const struct inc_header *h,
			   const struct inc_control *n, const struct roce_path *path,
			   uint64_t now_ns)
{
	const struct inc_member *first = &c->o.members[0];

	if (h->status != 0 && path->from_ip == first->ip && path->from_port == first->port) {
		bad_news(c, -(int)h->status, n, now_ns);
		return;
	}
	if (c->state == CREATE_FAILED || path->from_ip != c->o.switches[c->o.member] ||
	    !notice_sound(c, h, n))
		return;
	if (c->o.member == 0) {
		c->ways[0].notified = true;
		if (c->state == CREATE_NOTIFY)
			all_notified(c);
		return;
	}
	c->owes_notified = true;
	if (c->has_notice)
		return;
	c->has_notice = true;
	c->notice = *n;
	c->state = CREATE_DONE;
	c->status = DXP_OK;
}

static int status_of_cause(uint8_t cause)
{
	switch (cause) {
	case INC_CAUSE_GROUPS:
	case INC_CAUSE_MEMORY:
	case INC_CAUSE_DRAINED: return DXP_EBUSY;
	case INC_CAUSE_ID: return DXP_EEXIST;
	default: return DXP_EUNSUPPORTED;
	}
}

static void notified_receive(struct inc_create *c, const struct inc_header *h,
			     const struct inc_control *n, const struct roce_path *path,
			     uint64_t now_ns)
{
	const struct inc_member *m = &c->o.members[h->src_rank];

	if (c->state != CREATE_NOTIFY)
		return;
	if (n->fail_cause != 0 && path->from_ip == n->cause_ip && path->from_port == ROCE_PORT) {
		bad_news(c, status_of_cause(n->fail_cause), n, now_ns);
	} else if (n->fail_cause == 0 && h->status == 0 && path->from_ip == m->ip &&
		   path->from_port == m->port) {
		c->ways[h->src_rank].notified = true;
		all_notified(c);
	}
}

void inc_create_receive(struct inc_create *c, const struct inc_packet *p,
			const struct roce_path *path, uint64_t now_ns)
{
	struct inc_control n;
	const struct inc_header *h = &p->header;
	const bool compat = h->flags & INC_FLAG_COMPAT;

	/* Packets of one format do not fit the other: the compatible one has shorter paths. */
	if (compat != (c->o.framing == DXP_INC_COMPAT) || h->epoch != c->o.epoch ||
	    h->src_rank >= c->o.count || inc_packet_control_decode(p, &n) != DXP_OK ||
	    n.true_comm_id != c->o.first.true_comm_id || n.qkey != c->o.first.qkey)
		return;
	if (h->kind == INC_NOTIFY)
		notify_receive(c, h, &n, path, now_ns);
	else if (h->kind == INC_QUERY && c->o.member == 0)
		query_receive(c, h->src_rank, &n, path, now_ns);
	else if (h->kind == INC_NOTIFIED && c->o.member == 0)
		notified_receive(c, h, &n, path, now_ns);
}

/* Returns how many ns to wait for more paths. The wait is longer if the known paths have no common
 * switch and no rejection explains that, because QUERYs may then have been lost on several
 * paths. */
static uint64_t choice_max_ns(const struct inc_create *c)
{
	uint64_t half_ns = c->limit_ns > c->received_ns ? (c->limit_ns - c->received_ns) / 2 : 0;

	return c->no_common ? max_u64(half_ns, INC_CHOICE_MAX_NS) : INC_CHOICE_MAX_NS;
}

/* Returns true if members below one switch have equally many paths. If not, a QUERY was lost. Such
 * members usually have adjacent numbers, so each is compared only with INC_NEIGHBOURS others. */
static bool ways_complete(const struct inc_create *c)
{
	for (uint32_t m = 1; m < c->o.count; m++)
		for (uint32_t k = m; k > 0 && m - k < INC_NEIGHBOURS; k--) {
			if (c->o.switches[k - 1] != c->o.switches[m])
				continue;
			if (c->ways[k - 1].count != c->ways[m].count)
				return false;
			break;
		}
	return true;
}

/* Returns how many ns to wait for QUERYs over other paths. After a lost QUERY the wait is longer,
 * so that the loss does not influence the choice of the tree. */
static uint64_t choice_ns(const struct inc_create *c)
{
	const uint64_t first_ns = c->received_ns - (c->limit_ns - c->o.limit_ns);

	if (!ways_complete(c))
		return INC_CHOICE_MAX_NS;
	return min_u64(max_u64(first_ns, INC_CHOICE_MIN_NS), INC_CHOICE_NS);
}

static void choose(struct inc_create *c, uint64_t now_ns)
{
	struct inc_control why = {0};
	int status = create_tree_choose(c, &why);

	c->changed = false;
	c->no_common = status == DXP_EUNSUPPORTED && why.fail_cause == INC_CAUSE_NONE;
	if (status == DXP_OK) {
		c->state = CREATE_NOTIFY;
		round_begin(c, now_ns);
	} else if (now_ns - c->received_ns >= choice_max_ns(c)) {
		bad_news(c, status == DXP_EBUSY ? status_of_cause(why.fail_cause) : status, &why,
			 now_ns);
	}
}

static uint32_t silent_find(const struct inc_create *c)
{
	for (uint32_t m = 0; c->o.member == 0 && m < c->o.count; m++)
		if (c->state == CREATE_QUERY ? c->ways[m].count == 0 : !c->ways[m].notified)
			return m;
	return c->o.member == 0 ? c->o.count : c->o.member;
}

void create_tick(struct inc_create *c, uint64_t now_ns)
{
	if (c->state == CREATE_QUERY && c->received_ns != 0 &&
	    now_ns - c->received_ns >= choice_ns(c) &&
	    (c->changed || now_ns - c->received_ns >= choice_max_ns(c)))
		choose(c, now_ns);
	if ((c->state == CREATE_QUERY || c->state == CREATE_NOTIFY) && now_ns >= c->limit_ns) {
		c->silent = silent_find(c);
		create_fail(c, DXP_ENOENT, now_ns);
	}
}

uint64_t inc_create_deadline(const struct inc_create *c)
{
	uint64_t deadline_ns = UINT64_MAX;

	if (c->owes_notified)
		return 0;
	if (c->state == CREATE_QUERY || c->state == CREATE_NOTIFY)
		deadline_ns = c->limit_ns;
	if (c->state == CREATE_QUERY)
		deadline_ns = min_u64(deadline_ns, c->query_ns);
	if (c->state == CREATE_QUERY && c->received_ns != 0)
		deadline_ns =
			min_u64(deadline_ns,
				c->received_ns + (c->changed ? choice_ns(c) : choice_max_ns(c)));
	if (c->o.member == 0 && (c->state == CREATE_NOTIFY || c->state == CREATE_FAILED))
		deadline_ns = min_u64(deadline_ns, c->round_ns);
	return deadline_ns;
}

int inc_create_outcome(const struct inc_create *c, struct inc_control *notice, uint32_t *silent)
{
	if (c->status == DXP_EAGAIN)
		return DXP_EAGAIN;
	*notice = c->notice;
	*silent = c->silent;
	if (c->o.member == 0 && c->status == DXP_OK)
		*notice = create_tree_notice(c, 0);
	return c->status;
}

uint32_t inc_create_above(const struct inc_create *c)
{
	return c->above > 0 ? c->above - 1u : 0;
}
