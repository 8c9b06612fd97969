/* SPDX-License-Identifier: BSD-3-Clause */
/* The build puts ring.h before this text. A round adds the numbers of all xPUs in 2 * (ranks - 1)
 * steps; in each, an xPU PUTs a part to the next and awaits one from the previous. First, parts
 * arrive in the inbox and are added; later, complete sums arrive in place. */

#define LOOKS 4000000000ul /* polls after which a wait fails */

uint part_begin(const struct ring *r, uint part)
{
	return (uint)((ulong)r->count * part / r->ranks);
}

/* The next xPU's NIC, and the memory at both ends of a PUT. */
struct route {
	struct dxp_target next;
	struct dxp_entry own, to;
};

#if defined(__riscv)
int part_put(global struct dxp_window *nic, global const uint *numbers, const struct route *r,
	     uint first, uint count, ulong step)
{
	dxp_insn_peer_set(&r->next, 0);
	dxp_insn_keys_set(r->own.key, r->own.offset, r->to.key);
	dxp_insn_flags_set(DXP_FLAG_NOTIFY);
	dxp_insn_remote_set(r->to.offset + 4ul * first);
	dxp_insn_imm_set(step);
	return dxp_insn_put(numbers + first, 4 * count);
}
#else
int part_put(global struct dxp_window *nic, global const uint *numbers, const struct route *r,
	     uint first, uint count, ulong step)
{
	struct dxp_entry from = {r->own.offset + 4ul * first, 4 * count, r->own.key};
	struct dxp_entry to = {r->to.offset + 4ul * first, 4 * count, r->to.key};

	return dxp_post_put(nic, 0, &r->next, &from, &to, DXP_FLAG_NOTIFY, step, step);
}
#endif

/* The event carries the sender's step. */
int part_wait(global struct dxp_window *nic, ulong step)
{
	int status = dxp_received_wait(nic, LOOKS);

	if (status != DXP_OK)
		return status;
	if (dxp_received_peek(nic)->imm != step)
		status = DXP_EINVAL;
	dxp_received_release(nic);
	return status;
}

/* Returns when `part` is at the next xPU and the previous xPU's part is here. */
int step_run(global struct dxp_window *nic, global const uint *numbers, const struct ring *ring,
	     const struct route *r, uint part, ulong step)
{
	struct dxp_nic_event sent;
	const uint first = part_begin(ring, part);
	int status = part_put(nic, numbers, r, first, part_begin(ring, part + 1) - first, step);

	if (status == DXP_OK)
		status = part_wait(nic, step);
	if (status == DXP_OK)
		status = dxp_sent_wait(nic, &sent, LOOKS);
	return status == DXP_OK ? sent.status : status;
}

/* Work-item 0 sends and waits; all compute. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
allreduce(global struct dxp_window *nic, global uint *numbers, global const uint *inbox,
	  global struct report *report, struct ring ring, struct dxp_target next,
	  struct dxp_entry own, struct dxp_entry next_numbers, struct dxp_entry next_inbox)
{
	local int shared_status;
	const uint item = get_local_id(0), others = ring.ranks - 1;
	uint round = 0;
	int status = DXP_OK;

	while (round < ring.rounds && status == DXP_OK) {
		for (uint i = item; i < ring.count; i += ITEMS)
			numbers[i] = contribution(numbers[i], ring.rank, i, round);
		barrier(CLK_GLOBAL_MEM_FENCE);
		for (uint step = 0; step < 2 * others && status == DXP_OK; step++) {
			const uint part = (ring.rank + 2 * ring.ranks - step) % ring.ranks;
			const uint before = (part + others) % ring.ranks;
			if (item == 0) {
				struct route route = {next, own,
						      step < others ? next_inbox : next_numbers};
				shared_status = step_run(nic, numbers, &ring, &route, part,
							 (ulong)round << 32 | step);
			}
			barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
			status = shared_status;
			const uint end = step < others && status == DXP_OK
						 ? part_begin(&ring, before + 1)
						 : 0;
			for (uint i = part_begin(&ring, before) + item; i < end; i += ITEMS)
				numbers[i] += inbox[i];
			barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
		}
		round += status == DXP_OK;
	}
	if (item == 0) {
		report->failed = (uint)-status;
		report->rounds = round;
	}
}
