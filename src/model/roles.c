/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts roles and packets by the sends of every rank and switch. */
#include "model/roles.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"

#define HOSTS 9 /* case of N-11 with two ToRs */
#define RANKS 32

/* Counts a send by numbers: ranks of hosts are lowest, then ToRs, then spines. */
static void send_count(const struct model_allreduce_job *j, uint32_t rank, uint32_t peer,
		       struct model_roles *out)
{
	uint32_t spines = j->members + j->groups * j->tors;

	if (rank >= spines)
		out->from_spine++;
	else if (rank >= j->members && peer >= spines)
		out->to_spine++;
	else if (rank >= j->members)
		out->down++;
	else if (peer >= j->members)
		out->up++;
	else
		out->inside++;
}

int model_roles_count(const struct model_allreduce *of, const struct model_parameters *p,
		      struct model_roles *out)
{
	struct model_allreduce_job j;
	int status = of->way == MODEL_WAY_HOST
			     ? error_set(DXP_EINVAL, "only node and socket mode have leaders")
			     : model_allreduce_open(&j, of, p);

	if (status != DXP_OK)
		return status;
	*out = (struct model_roles){.tors = j.tors};
	for (uint32_t rank = 0; rank < j.schedule.ranks; rank++) {
		uint64_t up = out->up;
		for (uint32_t i = 0; i < j.schedule.count(&j.schedule, rank); i++) {
			struct model_task task;
			j.schedule.op(&j.schedule, rank, i, &task);
			if (task.kind == MODEL_SEND)
				send_count(&j, rank, task.peer, out);
		}
		out->leaders += out->up > up;
		out->other_ranks += rank < j.members && out->up == up;
	}
	return DXP_OK;
}

int model_roles_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	for (int way = MODEL_WAY_NODE; way <= MODEL_WAY_SOCKET; way++) {
		const struct model_allreduce of = {(enum model_way)way, HOSTS, RANKS, 8};
		struct model_roles r;
		int status = model_roles_count(&of, p, &r);
		if (status != DXP_OK)
			return status;
		const struct {
			const char *item, *what;
			uint64_t count, of;
		} rows[] = {
			{"N-05", "leaders (SRR) of a host", r.leaders, HOSTS},
			{"N-05", "other ranks (SR) of a host", r.other_ranks, HOSTS},
			{"N-09", "messages inside a host for an SR", r.inside, r.other_ranks},
			{"N-09", "packets of an SRR to its ToR", r.up, r.leaders},
			{"N-09", "packets of a ToR to its spine", r.to_spine, r.tors},
			{"N-09", "packets of a spine to a ToR", r.from_spine, r.tors},
			{"N-09", "packets of a ToR to an SRR", r.down, r.leaders},
		};
		for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
			char quantity[64];
			snprintf(quantity, sizeof(quantity), "%s, %s", rows[i].what,
				 model_way_name(of.way));
			struct model_row row =
				model_row_plain(rows[i].item, quantity, "",
						(double)rows[i].count / (double)rows[i].of);
			snprintf(row.x, sizeof(row.x), "%dx%d", HOSTS, RANKS);
			model_emit(sink, &row);
		}
	}
	return DXP_OK;
}
