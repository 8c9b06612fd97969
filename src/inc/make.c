/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys groups with sockets. Members exchange addresses, create the group
 * (create.h), then exchange the outcome, so that all members have the group or none has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/rng.h"
#include "inc/endpoint.h"
#include "inc/limits.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

struct making {
	struct dxp_inc *inc;
	const struct dxp_inc_bootstrap *boot;
	const struct dxp_inc_group_options *options;
	struct endpoint_user user;
	uint32_t count, member;
	struct hello *hellos;
	struct outcome *outcomes;
	struct inc_member *members;
	uint32_t *switches;
	struct dxp_inc_group *g;
	struct inc_control notice;
};

static void making_free(struct making *m)
{
	struct dxp_inc *inc = m->inc;

	if (m->hellos == inc->reserve) {
		pthread_mutex_lock(&inc->lock);
		inc->reserved = false;
		pthread_mutex_unlock(&inc->lock);
	} else {
		free(m->hellos);
	}
	free(m->outcomes);
	free(m->members);
	free(m->switches);
}

/* Returns the reserved memory, or NULL if another creation uses it. With it, a member that has no
 * other memory can still report this to the other members, which wait for it. */
static struct hello *hellos_reserved(struct dxp_inc *inc)
{
	pthread_mutex_lock(&inc->lock);
	struct hello *hellos = inc->reserved ? NULL : inc->reserve;
	inc->reserved = true;
	pthread_mutex_unlock(&inc->lock);
	return hellos;
}

/* Allocates memory. Returns false if an allocation fails. If there is not even memory for the
 * hellos of all members, m->hellos is NULL. */
static bool making_allocate(struct making *m)
{
	m->hellos = calloc(m->count, sizeof(*m->hellos));
	m->outcomes = calloc(m->count, sizeof(*m->outcomes));
	m->members = calloc(m->count, sizeof(*m->members));
	m->switches = calloc(m->count, sizeof(*m->switches));
	bool able = m->hellos && m->outcomes && m->members && m->switches;
	if (!m->hellos)
		m->hellos = hellos_reserved(m->inc);
	return able;
}

size_t inc_making_reserve_bytes(void)
{
	return DXP_INC_MEMBERS_MAX * sizeof(struct hello);
}

static struct hello hello_own(struct dxp_inc *inc, bool able, const atomic_bool *stop)
{
	struct hello h = {.ip = inc->own.ip,
			  .switch_ip = inc->switch_ip,
			  .port = inc->own.port,
			  .segment_bytes = inc->segment_bytes,
			  .framing = (uint8_t)inc->o.framing,
			  .able = able,
			  .reach = (uint8_t)probe_switch_reach(inc, stop)};

	rng_entropy_kernel(NULL, &h.id, sizeof(h.id));
	rng_entropy_kernel(NULL, &h.qkey, sizeof(h.qkey));
	rng_entropy_kernel(NULL, &h.epoch, sizeof(h.epoch));
	if (inc->o.framing == DXP_INC_COMPAT)
		h.id %= INC_COMPAT_COMM; /* data packets carry only 16 bits of the id */
	if (h.id == INC_COMM_CONTROL || h.id == 0)
		h.id = 1;
	return h;
}

/* Exchanges the hellos. Returns the status of exchange_hellos_check(). */
static int hello_share(struct making *m, const struct hello *own, char why[DXP_INC_WHY_BYTES])
{
	if (m->boot->allgather(m->boot->context, own, m->hellos, sizeof(*own)) != 0) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "the bootstrap exchange between the members failed");
		return DXP_EIO;
	}
	int status = exchange_hellos_check(m->hellos, m->count, m->member, own, why);
	for (uint32_t i = 0; i < m->count && status == DXP_OK; i++) {
		m->members[i] = (struct inc_member){m->hellos[i].ip, m->hellos[i].port};
		m->switches[i] = m->hellos[i].switch_ip;
	}
	return status;
}

static struct inc_control query_of(const struct making *m, bool kernel)
{
	const struct dxp_inc_group_options *o = m->options;
	struct inc_control c = {
		.master_num = o ? (uint8_t)o->mode : 0,
		.sup_comm_type = 1u << INC_ALLREDUCE | 1u << INC_REDUCE | 1u << INC_BROADCAST |
				 1u << INC_BARRIER,
		.sup_op = (1u << DXP_INC_OPS) - 1,
		.sup_type = (1u << DXP_INC_TYPES) - 1,
		.segment_bytes = m->inc->segment_bytes,
		.window = INC_WINDOW_MAX,
		/* the XDP plane has no connections */
		.planes = INC_PLANE_USER |
			  (kernel && m->inc->o.framing != DXP_INC_RC ? INC_PLANE_KERNEL : 0),
		.members = m->count,
		.true_comm_id = m->hellos[0].id,
		.qkey = m->hellos[0].qkey,
		.free_groups = UINT32_MAX,
		.lease_ms = UINT32_MAX,
		.job_id = o ? o->job_id : 0,
		.c_id = o ? o->c_id : 0,
		.world_rank = o ? o->world_rank : 0,
		.member_ip = m->inc->own.ip,
		.member_port = m->inc->own.port,
		.first_ip = m->members[0].ip,
		.first_port = m->members[0].port,
	};

	return c;
}

/* Returns true if another group of this endpoint has the id. Caller holds the lock. */
static bool id_used(const struct dxp_inc *inc, uint32_t id)
{
	const struct dxp_inc_group *g = inc->groups;

	while (g && g->id != id)
		g = g->next;
	return g != NULL;
}

static int group_begin(struct making *m)
{
	struct dxp_inc *inc = m->inc;
	struct dxp_inc_group *g = m->g;
	const bool used = id_used(inc, m->hellos[0].id);
	bool kernel = !used && !inc->o.user_plane && inc->o.framing != DXP_INC_COMPAT &&
		      !inc->multicast_lost &&
		      sockets_multicast_open(inc, &g->multicast, m->hellos[0].id);
	struct inc_create_options o = {
		.first = query_of(m, kernel),
		.member = m->member,
		.count = m->count,
		.members = m->members,
		.switches = m->switches,
		.epoch = m->hellos[0].epoch,
		.limit_ns = inc->o.create_ns,
		.framing = inc->o.framing,
	};

	g->inc = inc;
	g->id = used ? 0 : m->hellos[0].id; /* 0: no packet reaches the group */
	g->member = m->member;
	g->owner = m->user.owner;
	g->kill_ns = UINT64_MAX;
	g->alone = m->count == 1;
	/* The group is in the list before success is known; group_unmake() removes it. */
	g->next = inc->groups;
	inc->groups = g;
	inc->group_count++;
	return used ? DXP_EEXIST : inc_create_begin(&o, endpoint_now(inc), &g->create);
}

/* Returns a queue pair number that no other recent group of this host has. It includes the port,
 * which differs between the endpoints of a host. */
static uint32_t number_next(struct dxp_inc *inc)
{
	uint32_t endpoint = inc->own.port - ROCE_SOURCE_PORT;

	return endpoint << 10 | (2 + inc->connections++ % 1021);
}

static int core_create(struct making *m, uint64_t now_ns)
{
	const struct inc_control *n = &m->notice;
	const struct dxp_inc *inc = m->inc;
	struct inc_group_options o = {
		.id = n->true_comm_id,
		.qkey = n->qkey,
		.epoch = m->hellos[0].epoch,
		.member = m->member,
		.count = m->count,
		.members = m->members,
		.switch_ip = inc->switch_ip,
		.segment_bytes = n->segment_bytes,
		.window = n->window,
		.sup_op = n->sup_op,
		.sup_type = n->sup_type,
		.planes = n->planes,
		.lease_ms = n->lease_ms,
		.deadline_ns = inc->o.deadline_ns,
		.patience_ns = inc->o.patience_ns,
		.framing = inc->o.framing,
		.no_icrc_check = inc->o.no_icrc_check,
		.batches = true,
		.qp_number = number_next(m->inc),
	};

	m->g->kernel = n->planes & INC_PLANE_KERNEL;
	m->g->depth = n->path_count;
	m->g->above = inc_create_above(m->g->create);
	return inc_group_create(&o, now_ns, &m->g->group);
}

/* Runs the creation until its outcome. After success g->group exists, because other members may
 * send at once. */
static struct outcome creation_run(struct making *m)
{
	struct dxp_inc *inc = m->inc;
	struct port *const ports[] = {&inc->in, &inc->out};
	struct outcome o = {.silent = m->member};

	pthread_mutex_lock(&inc->lock);
	inc->waiting++;
	o.status = group_begin(m);
	if (o.status == DXP_OK)
		o.status = DXP_EAGAIN;
	while (o.status == DXP_EAGAIN) {
		uint64_t now_ns = endpoint_now(inc);
		traffic_port_receive(inc, &inc->in, now_ns);
		traffic_port_receive(inc, &inc->out, now_ns);
		endpoint_flush(m->g, now_ns);
		o.status = inc_create_outcome(m->g->create, &m->notice, &o.silent);
		if (o.status == DXP_EAGAIN && m->user.stop && atomic_load(m->user.stop))
			o.status = DXP_ECANCELED;
		if (o.status == DXP_EAGAIN)
			wait_ports_sleep(inc, ports, 2, inc_create_deadline(m->g->create));
	}
	if (o.status == DXP_OK)
		o.status = core_create(m, endpoint_now(inc));
	else if (m->g->create)
		o.cause = m->notice.fail_cause;
	o.cause_ip = m->notice.cause_ip;
	inc->waiting--;
	inc->active_ns = endpoint_now(inc);
	pthread_mutex_unlock(&inc->lock);
	if (o.silent >= m->count)
		o.silent = m->member;
	return o;
}

static void group_unmake(struct dxp_inc_group *g)
{
	struct dxp_inc *inc = g->inc;

	pthread_mutex_lock(&inc->lock);
	g->departed_ns = max_u64(endpoint_now(inc), 1);
	inc->departed_count++;
	g->kill_ns = g->member == 0 && g->create ? g->departed_ns : UINT64_MAX;
	inc_port_close(&g->multicast);
	inc_departed_tend(inc, g->departed_ns);
	pthread_mutex_unlock(&inc->lock);
	progress_wake(inc);
}

/* Runs a barrier. If the user stops, gives up the group, so that members which never begin the
 * barrier cannot delay its end. */
static int barrier_run(struct making *m)
{
	struct dxp_inc *inc = m->inc;
	struct port *const ports[] = {&m->g->multicast, &inc->in, &inc->out};
	struct dxp_inc_operation *barrier;
	int status = dxp_inc_barrier_start(m->g, &barrier);

	if (status != DXP_OK)
		return status;
	while ((status = dxp_inc_test(barrier, NULL)) == DXP_EAGAIN) {
		if (m->user.stop && atomic_load(m->user.stop)) {
			endpoint_group_give_up(m->g, DXP_ECANCELED);
			return dxp_inc_wait(barrier, NULL);
		}
		pthread_mutex_lock(&inc->lock);
		wait_ports_sleep(inc, ports, ARRAY_COUNT(ports), endpoint_deadline(m->g));
		pthread_mutex_unlock(&inc->lock);
	}
	return status;
}

/* Tests by barriers whether multicast of switches arrives. If it does not, results would arrive
 * only as answers to retransmissions, some ms late. */
static void multicast_test(struct making *m, struct outcome *own)
{
	struct dxp_inc_group *g = m->g;

	own->status = DXP_OK;
	for (int i = 0; i < INC_MULTICAST_TESTS && own->status == DXP_OK; i++)
		own->status = barrier_run(m);
	pthread_mutex_lock(&g->inc->lock);
	own->multicast_lost = own->status == DXP_OK && !g->received;
	if (own->multicast_lost && !g->inc->multicast_lost)
		log_warn("multicast of switch %u.%u.%u.%u does not arrive at this host, so the "
			 "switch computes in user space; pass UDP to 239.192.0.0/14, port 4791, in "
			 "this host's firewall and the network",
			 g->inc->switch_ip >> 24, g->inc->switch_ip >> 16 & 255,
			 g->inc->switch_ip >> 8 & 255, g->inc->switch_ip & 255);
	g->inc->multicast_lost |= own->multicast_lost;
	g->used_ns = 0; /* all members have the results of the barriers, so KILL needs no delay */
	pthread_mutex_unlock(&g->inc->lock);
}

/* Exchanges the outcomes. DXP_EAGAIN: multicast does not reach a member, so all members must create
 * another group. */
static int outcome_share(struct making *m, const struct outcome *own, char why[DXP_INC_WHY_BYTES])
{
	uint32_t sender;

	if (m->boot->allgather(m->boot->context, own, m->outcomes, sizeof(*own)) != 0) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "the bootstrap exchange between the members failed");
		return DXP_EIO;
	}
	int status = exchange_outcomes_judge(m->outcomes, m->count, m->member, own, &sender, why);
	if (status != DXP_OK && sender < m->count)
		why_text(&m->outcomes[sender], sender, m->members, m->switches, why);
	for (uint32_t i = 0; i < m->count && status == DXP_OK; i++)
		if (m->outcomes[i].multicast_lost)
			status = DXP_EAGAIN;
	return status;
}

static bool groups_left(struct dxp_inc *inc)
{
	pthread_mutex_lock(&inc->lock);
	const bool left = inc->group_count - inc->departed_count < INC_GROUPS_MAX;
	pthread_mutex_unlock(&inc->lock);
	return left;
}

static int attempt(struct making *m, bool able, char why[DXP_INC_WHY_BYTES])
{
	m->g = calloc(1, sizeof(*m->g));
	struct hello h = hello_own(m->inc, able && m->g && groups_left(m->inc), m->user.stop);
	int status = hello_share(m, &h, why);
	if (status != DXP_OK) {
		free(m->g);
		return status;
	}
	m->g->inc = m->inc;
	struct outcome own = creation_run(m);
	status = outcome_share(m, &own, why);
	if (status == DXP_OK && m->g->kernel) {
		multicast_test(m, &own);
		status = outcome_share(m, &own, why);
	}
	if (status != DXP_OK)
		group_unmake(m->g);
	return status;
}

static void group_settle(struct dxp_inc_group *g)
{
	pthread_mutex_lock(&g->inc->lock);
	/* Member 0 keeps g->create, because it sends KILL. */
	if (g->member != 0) {
		inc_create_end(g->create);
		g->create = NULL;
	}
	if (!g->kernel)
		inc_port_close(&g->multicast);
	pthread_mutex_unlock(&g->inc->lock);
	progress_wake(g->inc);
}

int endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
			  const struct dxp_inc_group_options *options,
			  const struct endpoint_user *user, struct dxp_inc_group **out,
			  char why[DXP_INC_WHY_BYTES])
{
	if (!inc || !bootstrap || !bootstrap->allgather || !out || !why ||
	    (options && (unsigned)options->mode > DXP_INC_FLAT))
		return DXP_EINVAL;

	struct making m = {.inc = inc,
			   .boot = bootstrap,
			   .options = options,
			   .user = *user,
			   .count = bootstrap->members,
			   .member = bootstrap->member};
	int status = DXP_EEXIST;

	why[0] = '\0';
	if (!endpoint_owns(inc)) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "the endpoint belongs to another process; open one in this process");
		return DXP_ECLOSED;
	}
	if (m.count == 0 || m.count > DXP_INC_MEMBERS_MAX || m.member >= m.count) {
		snprintf(why, DXP_INC_WHY_BYTES, "a group has 1 to %d members",
			 DXP_INC_MEMBERS_MAX);
		return DXP_EINVAL;
	}
	bool able = making_allocate(&m);
	if (!m.hellos) {
		making_free(&m);
		snprintf(why, DXP_INC_WHY_BYTES, "out of memory");
		return DXP_ENOMEM;
	}
	for (int i = 0; i < INC_ID_TRIES && (status == DXP_EEXIST || status == DXP_EAGAIN); i++)
		status = attempt(&m, able, why);
	if (status == DXP_OK) {
		group_settle(m.g);
		*out = m.g;
	}
	making_free(&m);
	return status == DXP_EEXIST || status == DXP_EAGAIN ? DXP_EBUSY : status;
}

int dxp_inc_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
			 const struct dxp_inc_group_options *options, struct dxp_inc_group **out,
			 char why[DXP_INC_WHY_BYTES])
{
	const struct endpoint_user only = {.stop = NULL};

	return endpoint_group_create(inc, bootstrap, options, &only, out, why);
}

/* Returns the time for the KILL. It is delayed, so that slower members can fetch the last
 * result. */
static uint64_t kill_time(const struct dxp_inc_group *g)
{
	if (g->alone || g->used_ns == 0)
		return g->departed_ns;
	return max_u64(g->departed_ns, g->used_ns + INC_LINGER_NS);
}

void dxp_inc_group_destroy(struct dxp_inc_group *g)
{
	if (!g || !endpoint_owns(g->inc))
		return;
	struct dxp_inc *inc = g->inc;
	pthread_mutex_lock(&inc->lock);
	g->departed_ns = max_u64(endpoint_now(inc), 1);
	inc->departed_count++;
	g->kill_ns = g->member == 0 ? kill_time(g) : UINT64_MAX;
	inc_port_close(&g->multicast);
	pthread_mutex_unlock(&inc->lock);
	progress_wake(inc);
}
