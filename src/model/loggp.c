/* SPDX-License-Identifier: BSD-3-Clause */
/* T by the closed form, and by one simulated message (ranks.c). */
#include "model/loggp.h"

#include <dxp/status.h>

#include "base/util.h"
#include "model/ranks.h"

double model_loggp_closed(const struct model_loggp *g, double hops)
{
	return (double)(g->start_ps + g->descriptor_ps + (g->bytes - 1) * g->byte_ps +
			g->receive_ps) +
	       hops * (double)g->hop_ps;
}

struct one_message {
	struct model_schedule schedule;
	uint64_t bytes;
};

static uint32_t one_count(const struct model_schedule *s, uint32_t rank)
{
	return 1;
}

static void one_op(const struct model_schedule *s, uint32_t rank, uint32_t index,
		   struct model_task *out)
{
	*out = (struct model_task){
		.kind = rank == 0 ? MODEL_SEND : MODEL_RECEIVE,
		.peer = 1 - rank,
		.bytes = CONTAINER_OF(s, const struct one_message, schedule)->bytes,
	};
}

int64_t model_loggp_simulated(const struct model_loggp *g, uint32_t hops)
{
	const struct one_message m = {.schedule = {.ranks = 2, .count = one_count, .op = one_op},
				      .bytes = (uint64_t)g->bytes};
	struct model_flat_network n = {
		.send_ps = g->start_ps + g->descriptor_ps,
		.latency_ps = hops * g->hop_ps,
		.receive_ps = g->receive_ps,
		.byte_ps = g->byte_ps,
	};
	struct model_ranks_result r;

	model_flat_network(&n, 2);
	int status = model_ranks_run(&m.schedule, &n.network, 0, NULL, &r);
	return status == DXP_OK ? r.last_ps : status;
}
