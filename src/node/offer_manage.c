/* SPDX-License-Identifier: BSD-3-Clause */
/* Management requests: list functions, set weights, priorities and limits, reset a function, list
 * areas. */
#include <string.h>

#include <dxp/status.h>

#include "node/offer_internal.h"

#define ERROR_MAX 127 /* bounds a value that the user can change in its window */

static struct attach_row row_of(const struct offer *o, uint32_t function)
{
	const struct offer_function *f = &o->functions[function];
	const struct nic *nic = o->options.nic;
	const struct dxp_window *w = nic_function_window(nic, function);
	struct attach_row row = {
		.function = (uint8_t)function,
		.state = (uint8_t)nic_function_state(nic, function),
		.weight = (uint8_t)f->weight,
		.priority = (uint8_t)f->priority,
		.armed = f->armed,
		.error = w ? (uint32_t)min_u64(dxp_load_acquire(&w->error), ERROR_MAX) : 0,
		.pid = f->pid,
		.regions = f->region_count,
		.mapped_bytes = f->mapped_bytes,
		.limit_bytes_per_s = f->limit_bytes_per_s,
	};

	memcpy(row.label, function ? nic_function_label_of(nic, function) : o->name,
	       sizeof(row.label));
	if (row.state)
		nic_function_counters(nic, function, &row.counters);
	return row;
}

static int answer_list(const struct offer *o, uint32_t first, struct attach_answer *a)
{
	a->malformed = o->options.malformed ? *o->options.malformed : 0;
	for (uint32_t i = first; i < NIC_FUNCTIONS && a->row_count < ATTACH_ROWS; i++)
		a->rows[a->row_count++] = row_of(o, i);
	return DXP_OK;
}

static int answer_areas(const struct offer *o, uint32_t function, struct attach_answer *a)
{
	const struct dxp_window *w = nic_function_window(o->options.nic, function);
	struct nic_area areas[NIC_AREAS_MAX];

	_Static_assert(NIC_AREAS_MAX <= ATTACH_AREAS_MAX, "a whole table fits an answer");
	if (!w)
		return DXP_ENOENT;
	a->area_count = (uint8_t)nic_areas(o->options.nic, function, areas, NIC_AREAS_MAX);
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
	if (client->function || client->closed)
		return DXP_EINVAL; /* users of a function cannot manage */
	switch (r->type) {
	case ATTACH_LIST: return answer_list(o, r->function, answer);
	case ATTACH_WEIGHT: return weigh(o, r->function, r->value);
	case ATTACH_PRIORITY: return prioritize(o, r->function, r->value);
	case ATTACH_LIMIT: return limit(o, r->function, r->value);
	case ATTACH_RESET: return offer_function_reset(o, r->function, now_ns);
	case ATTACH_AREAS: return answer_areas(o, r->function, answer);
	default: return DXP_EMALFORMED;
	}
}
