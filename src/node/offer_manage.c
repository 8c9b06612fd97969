/* SPDX-License-Identifier: BSD-3-Clause */
/* Management requests: list queue pairs, set weights, priorities and limits, reset a function, list
 * areas. */
#include <string.h>

#include <dxp/status.h>

#include "node/offer_internal.h"

/* largest error code that a list shows, because a user can write any value to its window */
#define ERROR_MAX 127

static struct attach_row row_of(const struct offer *o, uint32_t user, uint32_t qps)
{
	const struct offer_function *f = &o->functions[user % NIC_FUNCTIONS];
	const struct offer_user *u = &o->users[user];
	const struct nic *nic = o->options.nic;
	const struct dxp_window *w = nic_user_window(nic, user);
	struct attach_row row = {
		.function = (uint8_t)(user % NIC_FUNCTIONS),
		.qp = (uint8_t)(user / NIC_FUNCTIONS),
		.qps = (uint8_t)qps,
		.state = (uint8_t)nic_user_state(nic, user),
		.weight = (uint8_t)f->weight,
		.priority = (uint8_t)f->priority,
		.armed = u->armed,
		.error = w ? (uint32_t)min_u64(dxp_load_acquire(&w->error), ERROR_MAX) : 0,
		.pid = u->pid,
		.regions = u->region_count,
		.mapped_bytes = u->mapped_bytes,
		.limit_bytes_per_s = f->limit_bytes_per_s,
	};

	memcpy(row.label, user ? nic_user_label_of(nic, user) : o->name, sizeof(row.label));
	if (row.state)
		nic_user_counters(nic, user, &row.counters);
	return row;
}

/* Returns true if no user starts at queue pair 1, 2 or 3 of the function. */
static bool is_whole(const struct nic *nic, uint32_t function)
{
	for (uint32_t q = 1; q < NIC_QPS_PER_FUNCTION; q++)
		if (nic_user_state(nic, NIC_USER(function, q)) != 0)
			return false;
	return true;
}

/* Returns how many queue pairs the row for this queue pair covers. They are the queue pairs of the
 * user that starts there. If the function has no user, its first row covers all queue pairs. */
static uint32_t row_qps(const struct nic *nic, uint32_t function, uint32_t qp)
{
	uint32_t qps = nic_user_qps(nic, NIC_USER(function, qp));

	if (qps > 0)
		return qps;
	return qp == 0 && is_whole(nic, function) ? NIC_QPS_PER_FUNCTION : 1;
}

static int answer_list(const struct offer *o, const struct attach_request *r,
		       struct attach_answer *a)
{
	uint32_t function = r->function, qp = r->qp;

	a->malformed = o->options.malformed ? *o->options.malformed : 0;
	while (function < NIC_FUNCTIONS && a->row_count < ATTACH_ROWS) {
		uint32_t qps = row_qps(o->options.nic, function, qp);
		a->rows[a->row_count++] = row_of(o, NIC_USER(function, qp), qps);
		qp += qps;
		function += qp / NIC_QPS_PER_FUNCTION;
		qp %= NIC_QPS_PER_FUNCTION;
	}
	return DXP_OK;
}

static int answer_areas(const struct offer *o, uint32_t user, struct attach_answer *a)
{
	const struct dxp_window *w = nic_user_window(o->options.nic, user);
	struct nic_area areas[NIC_AREAS_MAX];

	_Static_assert(NIC_AREAS_MAX <= ATTACH_AREAS_MAX, "a whole table fits an answer");
	if (!w)
		return DXP_ENOENT;
	a->area_count = (uint8_t)nic_areas(o->options.nic, user, areas, NIC_AREAS_MAX);
	for (uint32_t i = 0; i < a->area_count; i++)
		a->areas[i] = (struct attach_area){.vaddr = areas[i].vaddr,
						   .bytes = areas[i].bytes,
						   .offset = areas[i].offset,
						   .key = areas[i].key};
	a->total_bytes = dxp_load_acquire64(&w->total_bytes);
	a->registers = w->registers;
	return DXP_OK;
}

static int weigh(struct offer *o, uint32_t function, uint64_t weight)
{
	if (weight > UINT32_MAX)
		return DXP_EINVAL;
	int status = nic_function_weight(o->options.nic, function, (uint32_t)weight);
	if (status == DXP_OK)
		o->functions[function].weight = (uint32_t)weight;
	return status;
}

static int prioritize(struct offer *o, uint32_t function, uint64_t priority)
{
	if (priority > UINT32_MAX)
		return DXP_EINVAL;
	int status = nic_function_priority(o->options.nic, function, (uint32_t)priority);
	if (status == DXP_OK)
		o->functions[function].priority = (uint32_t)priority;
	return status;
}

static int limit(struct offer *o, uint32_t function, uint64_t bytes_per_s)
{
	int status = nic_function_limit(o->options.nic, function, bytes_per_s);

	if (status == DXP_OK)
		o->functions[function].limit_bytes_per_s = bytes_per_s;
	return status;
}

int offer_manage(struct offer *o, const struct offer_client *client, const struct attach_request *r,
		 uint64_t now_ns, struct attach_answer *answer)
{
	if (!client->manages)
		return DXP_EACCESS;
	if (client->user || client->closed)
		return DXP_EINVAL; /* a client that has opened a user cannot manage the NIC */
	switch (r->type) {
	case ATTACH_LIST: return answer_list(o, r, answer);
	case ATTACH_WEIGHT: return weigh(o, r->function, r->value);
	case ATTACH_PRIORITY: return prioritize(o, r->function, r->value);
	case ATTACH_LIMIT: return limit(o, r->function, r->value);
	case ATTACH_RESET: return offer_function_reset(o, r->function, now_ns);
	case ATTACH_AREAS: return answer_areas(o, NIC_USER(r->function, r->qp), answer);
	default: return DXP_EMALFORMED;
	}
}
