/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of the receive engine: dispatch and upload, event, until the host sees the result. */
#include "base/util.h"
#include "model/nic_internal.h"
#include "model/pcie.h"

uint64_t model_nic_upload_cycles(const struct model_parameters *p, uint64_t address, uint64_t bytes)
{
	uint64_t most = (uint64_t)p->mps_bytes, cycles = 0;

	while (bytes > 0) {
		uint64_t piece = model_pcie_piece(address, bytes, most, most);
		cycles += model_pcie_cycles(p, piece, (uint64_t)p->datapath_bytes);
		address += piece;
		bytes -= piece;
	}
	return cycles;
}

void model_nic_receive(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		       struct model_route *route)
{
	const struct model_parameters *p = plan->p;
	/* the link to memory may be slower */
	uint64_t link_ps = kind->data ? model_pcie_link_ps(p, kind->data) : 0;
	uint64_t hold_ps = max_u64(model_cycles_ps(p, kind->upload_cycles), link_ps);
	struct model_step *step =
		model_nic_step(p, route, MODEL_AT_UPLOAD, hold_ps, model_cycles_ps(p, 1));

	if (model_nic_is_nap(plan->op) && p->nap_overlap == MODEL_NAP_SERIAL)
		step->release = 1u << MODEL_POOL_PIECE;
}

uint64_t model_nic_event_cycles(const struct model_parameters *p, enum model_op op)
{
	uint64_t row = p->base == MODEL_BASE_ROW;

	/* A NAP always has an event; a PUT's counts only if the measurement waits for it. */
	if (op == MODEL_NAP_IMM)
		return row * (uint64_t)p->event_cycles;
	if (op == MODEL_NAP_IND)
		return row * (uint64_t)p->indirect_cycles;
	return p->event_wait == MODEL_WAIT_EVENT ? (uint64_t)p->event_cycles : 0;
}

uint64_t model_nic_see_ps(const struct model_parameters *p)
{
	/* With base=value, no constant stands for a NAP's event. Its time is then part of the time
	 * until the host sees the result. */
	uint64_t event = p->base == MODEL_BASE_VALUE ? (uint64_t)p->event_cycles * 4000 : 0;

	return (uint64_t)p->host_see_ns * 1000 + event;
}
