/* SPDX-License-Identifier: BSD-3-Clause */
/* The build puts sums.h before this text. In each round, all xPUs compute new numbers from the last
 * sums, and switches sum them, part by part. A part travels while the kernel computes the next. */

#define LOOKS 4000000000ul /* polls after which a wait fails */

/* Device addresses of the numbers and of the results in the report. */
struct places {
	ulong numbers, results;
};

int part_post(global struct dxp_window *nic, const struct shape *s, const struct places *at,
	      uint part, uint tag)
{
	const ulong count = s->count / PARTS, numbers = at->numbers + 4 * count * part;
	const struct dxp_allreduce_descriptor d = {
		.from = numbers,
		.to = numbers,
		.count = count,
		.result = at->results + sizeof(struct dxp_allreduce_result) * part,
		.group = s->group,
		.type = DXP_UINT32,
		.reduction = DXP_SUM,
		.tag = tag};
#if defined(__riscv)
	const struct dxp_target self = dxp_self(nic, 0);

	dxp_insn_peer_set(&self, 0);
	return dxp_insn_allreduce(&d);
#else
	return dxp_post_allreduce(nic, 0, &d, part);
#endif
}

/* Waits for the part's sum, and dequeues the completion of its post. */
int part_wait(global struct dxp_window *nic, global struct report *report, uint part, uint tag)
{
	struct dxp_nic_event posted;
	int status = dxp_allreduce_wait(nic, &report->results[part], tag, LOOKS);

	if (status != DXP_OK)
		return status;
	report->sums++;
	return dxp_sent_wait(nic, &posted, LOOKS);
}

/* Work-item 0 posts and waits; all compute. Tags of a part are the numbers of its rounds. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
sums(global struct dxp_window *nic, global uint *numbers, global struct report *report,
     struct shape shape, struct places at)
{
	local int shared_status;
	const uint item = get_local_id(0), count = shape.count / PARTS;
	int status = DXP_OK, posted = DXP_OK;

	/* The last step of each part only waits. */
	for (uint step = 0; step < PARTS * (shape.rounds + 1) && status == DXP_OK; step++) {
		const uint part = step % PARTS, round = step / PARTS;
		if (item == 0)
			shared_status = posted != DXP_OK || round == 0
						? posted
						: part_wait(nic, report, part, round);
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		status = shared_status;
		if (round < shape.rounds && status == DXP_OK)
			for (uint i = part * count + item; i < (part + 1) * count; i += ITEMS)
				numbers[i] = contribution(numbers[i], shape.rank, i, round);
		barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		if (item == 0 && round < shape.rounds && status == DXP_OK)
			posted = part_post(nic, &shape, &at, part, round + 1);
	}
	if (item == 0)
		report->failed = (uint)-status;
}
