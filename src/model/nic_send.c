/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of the send engine: read request, memory, link, extraction, packet builder, crossbar. */
#include "base/util.h"
#include "model/nic_internal.h"
#include "model/pcie.h"

struct model_step *model_nic_step(const struct model_parameters *p, struct model_route *route,
				  enum model_nic_stage stage, uint64_t hold_ps, uint64_t head_ps)
{
	struct model_step *step = &route->steps[route->count++];

	*step = (struct model_step){.stage = stage, .hold_ps = hold_ps, .fill_ps = hold_ps};
	if (p->forward == MODEL_FORWARD_BEATS)
		step->fill_ps = min_u64(hold_ps, head_ps);
	return step;
}

/* for request and completion; in the stated cycles of a read of 1 byte */
#define READ_ENGINE_CYCLES 4

/* Appends request, memory and link. A request keeps its tag until its last completion is
 * extracted. */
static void read_steps(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		       struct model_route *route)
{
	const struct model_parameters *p = plan->p;
	uint64_t request_ps = kind->first ? model_cycles_ps(p, 1) : 0;
	/* Host memory has its own clock: the source's cycles are of 250 MHz, 4000 ps. */
	uint64_t memory_ps = (uint64_t)(p->memory_read_cycles - READ_ENGINE_CYCLES) * 4000;

	struct model_step *step =
		model_nic_step(p, route, MODEL_AT_REQUEST, request_ps, request_ps);
	step->acquire = kind->first ? 1u << MODEL_POOL_TAGS : 0;
	model_nic_step(p, route, MODEL_AT_MEMORY, memory_ps, memory_ps);
	model_nic_step(p, route, MODEL_AT_LINK, model_pcie_link_ps(p, kind->bytes),
		       model_pcie_link_ps(p, 0));
}

/* Limits how packets of one NAP may use the engines together. */
static void nap_restrict(const struct model_nic_plan *plan, struct model_step *step)
{
	if (!model_nic_is_nap(plan->op))
		return;
	if (plan->p->nap_overlap == MODEL_NAP_WHOLE)
		step->barrier = true;
	if (plan->p->nap_overlap == MODEL_NAP_SERIAL)
		step->acquire |= 1u << MODEL_POOL_PIECE;
}

/* Appends packet builder and crossbar. Their latency includes the wire, and the engines' time
 * outside the stages. */
static void crossbar_step(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
			  struct model_route *route)
{
	const struct model_parameters *p = plan->p;
	uint64_t width = (uint64_t)p->datapath_bytes;
	uint64_t frame = model_pcie_cycles(p, 0, width) - 1;
	uint64_t cycles = kind->packets * frame + (kind->data + width - 1) / width;

	struct model_step *step = model_nic_step(p, route, MODEL_AT_CROSSBAR,
						 model_cycles_ps(p, cycles), model_cycles_ps(p, 1));
	step->delay_ps = plan->rest_ps + (uint64_t)(p->hops * p->hop_ns) * 1000;
	if (model_nic_is_nap(plan->op))
		step->barrier = p->nap_overlap == MODEL_NAP_WHOLE;
}

void model_nic_send(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		    struct model_route *route)
{
	const struct model_parameters *p = plan->p;
	bool descriptor = plan->descriptor || model_nic_immediate(plan->op);
	uint64_t width = (uint64_t)(descriptor ? p->extract_bytes : p->datapath_bytes);
	uint64_t hold_ps = model_cycles_ps(p, model_pcie_completion_cycles(p, kind->bytes, width));

	read_steps(plan, kind, route);
	struct model_step *step =
		model_nic_step(p, route, descriptor ? MODEL_AT_DESCRIPTOR : MODEL_AT_DATA, hold_ps,
			       model_cycles_ps(p, 1));
	step->release = kind->last ? 1u << MODEL_POOL_TAGS : 0;
	if (plan->descriptor)
		return;
	nap_restrict(plan, step);
	crossbar_step(plan, kind, route);
}

uint64_t model_nic_turnaround_cycles(const struct model_parameters *p)
{
	uint64_t descriptor = (uint64_t)p->descriptor_bytes;

	if (p->base == MODEL_BASE_ROW)
		return (uint64_t)p->turnaround_cycles;
	/* sent as payload, and extracted again at the peer */
	return model_pcie_cycles(p, descriptor, (uint64_t)p->datapath_bytes) +
	       model_pcie_cycles(p, descriptor, (uint64_t)p->extract_bytes);
}
