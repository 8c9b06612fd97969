/* SPDX-License-Identifier: BSD-3-Clause */
/* The control plane: QUERY, NOTIFY, KILL, RENEW, and the parent's report of a lost group.
 * docs/reference/inc.md "A group". */
#include "switch/core.h"

#include <string.h>

#include <dxp/status.h>

#include "switch/kernel.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

_Static_assert(INC_KERNEL_CHILDREN == SWITCH_KERNEL_CHILDREN, "hosts know it");

struct request {
	const struct arrival *a;
	struct inc_control control;
};

static bool request_decode(struct sw *s, const struct arrival *a, struct request *r)
{
	const struct inc_packet *p = a->packet;

	r->a = a;
	if (inc_packet_control_decode(p, &r->control) == DXP_OK &&
	    r->control.members <= DXP_INC_MEMBERS_MAX && p->header.src_rank < r->control.members &&
	    r->control.true_comm_id != INC_COMM_CONTROL &&
	    r->control.first_port >= ROCE_SOURCE_PORT && r->control.member_port >= ROCE_SOURCE_PORT)
		return true;
	s->counters.malformed++;
	return false;
}

static void request_pass(struct sw *s, const struct request *r, uint8_t kind, uint8_t status,
			 uint32_t to_ip, uint16_t from_port, uint16_t to_port)
{
	struct message *m = message_new(s);

	if (!m)
		return;
	m->header = r->a->packet->header;
	m->header.kind = kind;
	m->header.status = status;
	m->path = (struct roce_path){s->options.ip, to_ip, from_port, to_port};
	m->qkey = INC_CONTROL_QKEY;
	m->bytes = (uint16_t)inc_packet_control_encode(&m->header, &r->control, m->payload);
}

/* Sends from the main port to the port of member 0's requests; its other socket accepts only its
 * own switch. */
static void first_pass(struct sw *s, const struct request *r, uint8_t kind, uint8_t status)
{
	request_pass(s, r, kind, status, r->control.first_ip, ROCE_PORT, r->control.first_port);
}

static bool from_is(const struct arrival *a, uint32_t ip, uint16_t port)
{
	return a->path->from_ip == ip && a->path->from_port == port;
}

/* ---- query ---- */

static void lessen(struct sw *s, struct inc_control *c)
{
	uint32_t free_groups = s->options.groups_max - s->group_count;
	bool kernel = s->options.kernel.install && s->kernel_count < SWITCH_KERNEL_GROUPS;
	uint8_t planes = INC_PLANE_USER | (kernel ? INC_PLANE_KERNEL : 0);
	uint32_t ops = (1u << DXP_INC_OPS) - 1, types = (1u << DXP_INC_TYPES) - 1;
	uint8_t collectives =
		1 << INC_ALLREDUCE | 1 << INC_REDUCE | 1 << INC_BROADCAST | 1 << INC_BARRIER;

	c->sup_mpi_type &= s->options.modes;
	c->sup_op &= ops;
	c->sup_type &= types;
	c->sup_comm_type &= collectives;
	c->planes &= planes;
	c->segment_bytes = (uint16_t)min_u64(c->segment_bytes, s->options.segment_bytes);
	c->window = (uint16_t)min_u64(c->window, s->options.window);
	/* A power of two, so that aggregators have no gap when segment numbers wrap. */
	while (c->window & (c->window - 1))
		c->window &= c->window - 1;
	c->free_groups = (uint32_t)min_u64(c->free_groups, s->drained ? 0 : free_groups);
	if (c->lease_ms == 0 || c->lease_ms > s->options.lease_ms)
		c->lease_ms = s->options.lease_ms;
}

static bool is_compat(const struct request *r)
{
	return r->a->packet->header.flags & INC_FLAG_COMPAT;
}

static unsigned query_cause(const struct sw *s, const struct request *r)
{
	const struct inc_control *c = &r->control;

	if (c->hop == 0 ? !from_is(r->a, c->member_ip, c->member_port)
			: r->a->path->from_ip != c->path[c->hop - 1].ip)
		return INC_CAUSE_ADDRESS;
	if (s->drained)
		return INC_CAUSE_DRAINED;
	if (is_compat(r) && !(c->sup_mpi_type & s->options.modes & 1u << c->master_num))
		return INC_CAUSE_MODE;
	return s->group_count == s->options.groups_max ? INC_CAUSE_GROUPS : INC_CAUSE_NONE;
}

/* Its path is full, or has this switch already. */
static bool query_lost(const struct sw *s, const struct request *r)
{
	const struct inc_control *c = &r->control;

	for (unsigned i = 0; i < c->path_count; i++)
		if (c->path[i].ip == s->options.ip)
			return true;
	return c->path_count == (is_compat(r) ? INC_COMPAT_PATH_MAX : INC_PATH_MAX);
}

static void query_fail(struct sw *s, struct request *r, unsigned cause)
{
	struct inc_control *c = &r->control;

	if (cause == INC_CAUSE_NONE)
		return;
	(void)reject_cause(s, cause, r->a->path->from_ip, c->true_comm_id, r->a->now_ns);
	if (c->fail_cause != INC_CAUSE_NONE)
		return;
	c->fail_cause = (uint8_t)cause;
	c->cause_ip = s->options.ip;
}

void control_query_receive(struct sw *s, const struct arrival *a)
{
	struct request r;
	struct inc_control *c = &r.control;

	if (!request_decode(s, a, &r))
		return;
	if (c->hop != c->path_count) {
		s->counters.malformed++;
		return;
	}
	if (c->hop == 0 && !reject_query_allowed(s, a->path->from_ip, a->now_ns))
		return;
	s->counters.queries++;
	if (query_lost(s, &r)) {
		query_fail(s, &r, INC_CAUSE_DEPTH);
		first_pass(s, &r, INC_QUERY, 0);
		return;
	}
	const unsigned cause = query_cause(s, &r);
	if (c->hop > 0 && cause != INC_CAUSE_ADDRESS)
		below_note(s, a->path->from_ip, false, a->now_ns);
	query_fail(s, &r, cause);
	lessen(s, c);
	c->path[c->path_count++] = (struct inc_hop){
		.ip = s->options.ip,
		.children = (uint16_t)min_u64(s->options.groups_max - s->group_count, UINT16_MAX),
	};
	c->hop++;
	for (unsigned i = 0; i < s->options.parent_count; i++)
		request_pass(s, &r, INC_QUERY, 0, s->options.parents[i], ROCE_SOURCE_PORT,
			     ROCE_PORT);
	if (s->options.parent_count == 0)
		first_pass(s, &r, INC_QUERY, 0);
}

/* ---- notify and kill ---- */

/* Returns this switch's index in the path of a NOTIFY going down; -1: another switch is next. */
static int index_of(const struct sw *s, const struct inc_control *c)
{
	int position = (int)c->path_count - 1 - c->hop;

	return position >= 0 && c->path[position].ip == s->options.ip ? position : -1;
}

/* The sender must be member 0 (at the root), or the switch above on the path. */
static bool sender_right(const struct request *r, int position)
{
	const struct inc_control *c = &r->control;

	if (c->hop == 0)
		return from_is(r->a, c->first_ip, c->first_port);
	return r->a->path->from_ip == c->path[position + 1].ip;
}

static bool parent_known(const struct sw *s, uint32_t ip)
{
	for (unsigned i = 0; i < s->options.parent_count; i++)
		if (s->options.parents[i] == ip)
			return true;
	return false;
}

static struct sw_child child_below(const struct request *r, int position)
{
	const struct inc_control *c = &r->control;
	uint32_t member = r->a->packet->header.src_rank;

	if (position == 0)
		return (struct sw_child){
			.ip = c->member_ip, .port = c->member_port, .first = member};
	return (struct sw_child){.ip = c->path[position - 1].ip,
				 .port = ROCE_SOURCE_PORT,
				 .is_switch = true,
				 .first = member};
}

static void pass_down(struct sw *s, struct request *r, int position)
{
	struct sw_child below = child_below(r, position);

	r->control.hop++;
	request_pass(s, r, r->a->packet->header.kind, 0, below.ip, below.port, ROCE_PORT);
}

static bool same_owner(const struct sw_group *g, const struct inc_control *c)
{
	return g->job_id == c->job_id && g->first_ip == c->first_ip &&
	       g->first_port == c->first_port;
}

static bool same_group(const struct sw_group *g, const struct request *r, int position,
		       uint32_t parent_ip)
{
	const struct inc_control *c = &r->control;

	return same_owner(g, c) && g->epoch == r->a->packet->header.epoch && g->qkey == c->qkey &&
	       g->members == c->members && g->child_count == c->path[position].children &&
	       g->window == c->window && g->segment_bytes == c->segment_bytes &&
	       g->planes == c->planes && g->parent_ip == parent_ip && g->compat == is_compat(r);
}

static bool notice_sound(const struct sw *s, const struct request *r, int position)
{
	const struct inc_control *c = &r->control;
	const struct inc_hop *hop = &c->path[position];
	const struct sw_child below = child_below(r, position);

	return hop->index < hop->children && c->window > 0 && (c->window & (c->window - 1)) == 0 &&
	       c->window <= s->options.window && c->segment_bytes > 0 &&
	       c->segment_bytes <= s->options.segment_bytes && below.ip != 0 &&
	       !(below.is_switch && below.ip == s->options.ip);
}

/* The switch must support the mode, and mode Node allows one member per host. */
static bool mode_permits(const struct sw *s, const struct sw_group *g, const struct sw_child *child,
			 unsigned index)
{
	if (!(s->options.modes & 1u << g->mode))
		return false;
	for (unsigned i = 0; g->mode == DXP_INC_NODE && i < g->child_count; i++)
		if (i != index && g->children[i].ip == child->ip && !child->is_switch &&
		    !g->children[i].is_switch)
			return false;
	return true;
}

/* Records the child through which the NOTIFY came; installs a new group. INC_CAUSE_NONE, or a
 * cause. */
static unsigned notice_install(struct sw *s, const struct request *r, int position)
{
	const struct inc_control *c = &r->control;
	const struct inc_header *h = &r->a->packet->header;
	uint32_t parent_ip = c->hop > 0 ? c->path[position + 1].ip : 0;
	struct sw_child child = child_below(r, position);
	struct sw_group *g = group_find(s, c->true_comm_id);
	unsigned cause = INC_CAUSE_NONE;
	bool changed;

	/* `dxp inc` shows ids, jobs and epochs to anyone, so only the key proves the owner. */
	if (g && same_owner(g, c) && g->qkey == c->qkey && (int16_t)(h->epoch - g->epoch) > 0) {
		group_free(s, g); /* replaced by a newer epoch */
		g = NULL;
	}
	if (g && !same_group(g, r, position, parent_ip))
		return INC_CAUSE_ID;
	if (!g) {
		cause = group_install(s, c, &c->path[position], parent_ip, &g, r->a->now_ns);
		if (cause != INC_CAUSE_NONE)
			return cause;
		g->epoch = h->epoch;
		g->compat = is_compat(r);
	}
	if (g->compat && !mode_permits(s, g, &child, c->path[position].index))
		return INC_CAUSE_MODE;
	cause = group_child_set(g, c->path[position].index, &child, &changed);
	if (cause != INC_CAUSE_NONE)
		return cause;
	g->used_ns = r->a->now_ns;
	if (child.is_switch)
		below_note(s, child.ip, true, r->a->now_ns);
	if (changed)
		group_offer(s, g);
	return INC_CAUSE_NONE;
}

static void notice_reject(struct sw *s, struct request *r, unsigned cause)
{
	struct inc_control *c = &r->control;

	if (!reject_cause(s, cause, r->a->path->from_ip, c->true_comm_id, r->a->now_ns))
		return;
	c->fail_cause = (uint8_t)cause;
	c->cause_ip = s->options.ip;
	first_pass(s, r, INC_NOTIFIED, (uint8_t)-DXP_EBUSY);
}

static void notify(struct sw *s, struct request *r, int position)
{
	unsigned cause;

	s->counters.notifies++;
	if (!notice_sound(s, r, position)) {
		s->counters.malformed++;
		return;
	}
	cause = notice_install(s, r, position);
	if (cause == INC_CAUSE_NONE)
		pass_down(s, r, position);
	else
		notice_reject(s, r, cause);
}

/* Forwards the KILL even without the group, which another member's KILL may have freed. Anyone may
 * send such a KILL, so they are limited. */
static void end_group(struct sw *s, struct request *r, int position)
{
	const struct inc_control *c = &r->control;
	struct sw_group *g = group_find(s, c->true_comm_id);

	s->counters.kills++;
	if (g &&
	    (!same_owner(g, c) || g->qkey != c->qkey || g->epoch != r->a->packet->header.epoch)) {
		reject_packet(s, r->a, &(struct rejecting){g->id, g->qkey, DXP_EACCESS}, false);
		return;
	}
	if (!g && !reject_kill_allowed(s, r->a->path->from_ip, r->a->now_ns))
		return;
	if (g)
		group_free(s, g);
	pass_down(s, r, position);
}

void control_notify_receive(struct sw *s, const struct arrival *a)
{
	struct request r;
	int position;

	if (!request_decode(s, a, &r))
		return;
	position = index_of(s, &r.control);
	if (position < 0 || !sender_right(&r, position))
		notice_reject(s, &r, INC_CAUSE_ADDRESS);
	else if (r.control.hop > 0 && !parent_known(s, r.control.path[position + 1].ip))
		notice_reject(s, &r, INC_CAUSE_PARENT);
	else if (a->packet->header.kind == INC_KILL)
		end_group(s, &r, position);
	else
		notify(s, &r, position);
}

/* ---- renew ---- */

void control_renew_receive(struct sw *s, const struct arrival *a)
{
	struct request r;
	struct inc_control *c = &r.control;

	if (!request_decode(s, a, &r))
		return;

	struct sw_group *g = group_find(s, c->true_comm_id);
	const int child = g ? group_child(g, a->path->from_ip, a->path->from_port) : -1;

	s->counters.renews++;
	if (g && (g->qkey != c->qkey || child < 0)) {
		reject_packet(s, a, &(struct rejecting){g->id, g->qkey, DXP_EACCESS}, false);
		return;
	}
	if (!g || g->epoch != a->packet->header.epoch) {
		reject_packet(s, a, &(struct rejecting){c->true_comm_id, c->qkey, DXP_ENOENT},
			      true);
		return;
	}
	g->used_ns = a->now_ns;
	if (g->children[child].is_switch)
		below_note(s, g->children[child].ip, true, a->now_ns);
	if (g->parent_ip == 0 || a->now_ns - g->renewed_ns < g->lease_ns / 6)
		return;
	g->renewed_ns = a->now_ns;
	request_pass(s, &r, INC_RENEW, 0, g->parent_ip, ROCE_SOURCE_PORT, ROCE_PORT);
}

/* ---- rejection by the parent ---- */

/* The parent has lost the group: frees it, and sends REFUSED, which spares the children a
 * timeout. */
void control_rejected_receive(struct sw *s, const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct sw_group *g = group_find(s, p->header.comm_id);

	if (!g || g->parent_ip == 0 || a->path->from_ip != g->parent_ip ||
	    (p->header.epoch != g->epoch && !g->compat) ||
	    p->header.status != (uint8_t)-DXP_ENOENT || p->roce.qkey != g->qkey) {
		reject_data(s, a, DXP_EINVAL, false);
		return;
	}
	for (uint32_t i = 0; i < g->child_count; i++)
		if (g->children[i].ip != 0)
			reject_send(s, &p->header, g->qkey, g->children[i].ip, g->children[i].port,
				    DXP_ENOENT);
	group_free(s, g);
}
