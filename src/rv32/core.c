/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs work-groups on one core: memory, warps, barriers, limits. A work-group of more than half a
 * warp has its own warps; smaller ones share a warp. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rv32/core_state.h"
#include "rv32/lane.h"

#define STACK_ALIGN     16u
#define LOCAL_ALIGN     64u
#define RETURN_REGISTER 1
#define STACK_REGISTER  2
#define FIRST_ARGUMENT  10

struct rv32_core *rv32_core_create(const struct rv32_core_options *options)
{
	const uint32_t bytes = options->private_bytes ? options->private_bytes : RV32_PRIVATE_BYTES;
	const uint32_t warps = options->warps ? options->warps : RV32_WARPS_MAX;
	struct rv32_core *core;

	if (bytes % STACK_ALIGN || bytes > RV32_PRIVATE_MAX || warps > RV32_WARPS_MAX)
		return NULL;
	core = aligned_alloc(alignof(struct rv32_core), sizeof(*core));
	if (!core)
		return NULL;
	memset(core, 0, sizeof(*core));
	core->index = options->index;
	core->private_max = bytes;
	core->warp_max = warps;
	core->warps = aligned_alloc(alignof(struct warp), warps * sizeof(struct warp));
	core->private_rows = aligned_alloc(64, (size_t)bytes * RV32_LANES * warps);
	core->local = aligned_alloc(64, (size_t)RV32_LOCAL_BYTES_MAX * RV32_LANES);
	if (!core->warps || !core->private_rows || !core->local) {
		rv32_core_destroy(core);
		return NULL;
	}
	/* Marks all private memory as written: it is not zero yet, so the first launch must clear
	 * it. */
	for (uint32_t i = 0; i < warps; i++)
		core->dirty[i] = bytes;
	return core;
}

void rv32_core_destroy(struct rv32_core *core)
{
	if (!core)
		return;
	free(core->warps);
	free(core->private_rows);
	free(core->local);
	free(core);
}

/* ---- before a launch ---- */

static bool sizes_fit(const struct rv32_core *core, const struct rv32_launch *l)
{
	const struct rv32_code *code = l->code;
	uint64_t items = 1;

	for (int i = 0; i < 3; i++) {
		if (l->groups[i] == 0 || l->local[i] == 0 || l->local[i] > RV32_GROUP_ITEMS_MAX)
			return false;
		items *= l->local[i];
	}
	return items <= core->warp_max * RV32_LANES && l->dimensions >= 1 && l->dimensions <= 3 &&
	       (uint64_t)l->groups[0] * l->groups[1] <= UINT64_MAX / l->groups[2] &&
	       l->local_bytes <= RV32_LOCAL_BYTES_MAX && l->private_bytes > 0 &&
	       l->private_bytes % STACK_ALIGN == 0 && l->private_bytes <= core->private_max &&
	       l->entry % 4 == 0 && l->entry >= code->base &&
	       (l->entry - code->base) / 4 < code->count;
}

/* Adds code, private memory and LOCAL memory. */
static int add_own(struct rv32_core *core, const struct rv32_launch *l)
{
	const uint32_t page = RV32_PAGE_BYTES;
	const uint32_t private_bytes = (l->private_bytes + page - 1) / page * page;
	void *words = l->code->words;
	const struct rv32_segment code = {.host = words,
					  .base = l->code->base,
					  .bytes = 4 * l->code->count,
					  .kind = RV32_CODE,
					  .argument = -1};
	const struct rv32_segment stack = {.host = core->private_rows,
					   .base = RV32_PRIVATE_END - private_bytes,
					   .bytes = private_bytes,
					   .kind = RV32_PRIVATE,
					   .access = RV32_READ | RV32_WRITE,
					   .argument = -1};
	const struct rv32_segment local = {.host = core->local,
					   .base = RV32_LOCAL_BASE,
					   .bytes = l->local_bytes,
					   .kind = RV32_LOCAL,
					   .access = RV32_READ | RV32_WRITE,
					   .argument = -1};
	int status = rv32_memory_add(&core->memory, &code);

	if (status == DXP_OK)
		status = rv32_memory_add(&core->memory, &stack);
	if (status == DXP_OK && l->local_bytes)
		status = rv32_memory_add(&core->memory, &local);
	return status;
}

/* Lists memory for the vector handlers: segments without special rules, at one host address for all
 * lanes. Others get limits of 0. */
static void list_spans(struct rv32_core *core)
{
	for (uint32_t i = 0; i < core->memory.count; i++) {
		const struct rv32_segment *g = &core->memory.segments[i];
		const bool plain = g->kind == RV32_GLOBAL || g->kind == RV32_CONSTANT ||
				   g->kind == RV32_ARGUMENTS ||
				   (g->kind == RV32_LOCAL && core->pack == 1);

		core->spans[i + 1] = (struct span){
			.host = g->host,
			.base = g->base,
			.read_limit = plain && g->access & RV32_READ ? g->bytes : 0,
			.write_limit = plain && g->access & RV32_WRITE ? g->bytes : 0,
		};
	}
}

/* Computes local ids, valid until the work-group size changes. */
static void local_ids_fill(struct rv32_core *core, const uint32_t local[3])
{
	memcpy(core->id_sizes, local, sizeof(core->id_sizes));
	for (uint32_t k = 0; k < core->warp_count; k++) {
		for (uint32_t i = 0; i < RV32_LANES; i++) {
			const uint32_t n = (k * RV32_LANES + i) % core->group_items;

			core->local_id[k][0][i] = n % local[0];
			core->local_id[k][1][i] = n / local[0] % local[1];
			core->local_id[k][2][i] = n / local[0] / local[1];
			core->local_id[k][3][i] = n;
		}
	}
}

static void divide_items(struct rv32_core *core, const struct rv32_launch *l)
{
	core->group_items = l->local[0] * l->local[1] * l->local[2];
	core->group_total = (uint64_t)l->groups[0] * l->groups[1] * l->groups[2];
	core->group_next = core->group_done = 0;
	core->warp_count = (core->group_items + RV32_LANES - 1) / RV32_LANES;
	core->pack = core->group_items <= RV32_LANES / 2 ? RV32_LANES / core->group_items : 1;
	if (core->pack > core->group_total)
		core->pack = (uint32_t)core->group_total;
	core->local_stride = (l->local_bytes + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
	if (memcmp(core->id_sizes, l->local, sizeof(core->id_sizes)) != 0)
		local_ids_fill(core, l->local);
}

static void prepare_warp(struct rv32_core *core, const struct rv32_launch *l, uint32_t k)
{
	struct warp *w = &core->warps[k];
	uint8_t *rows = core->private_rows + (size_t)k * core->private_max * RV32_LANES;
	const uint32_t clean = core->private_max - core->dirty[k];

	memset(rows + (size_t)clean * RV32_LANES, 0, (size_t)core->dirty[k] * RV32_LANES);
	core->dirty[k] = 0;
	w->core = core;
	w->index = k;
	w->count = w->items = 0;
	w->mask = 0;
	w->spans = core->spans;
	w->page = core->memory.page;
	w->private_bytes = w->private_low = l->private_bytes;
	w->private_base = RV32_PRIVATE_END - l->private_bytes;
	w->private_rows = rows + (size_t)(core->private_max - l->private_bytes) * RV32_LANES;
	w->local_id = (const uint32_t(*)[RV32_LANES])core->local_id[k];
	w->stamp = 0;
	memset(w->active, 0, sizeof(w->active));
	memset(w->fcsr, 0, sizeof(w->fcsr));
}

static int prepare(struct rv32_core *core, const struct rv32_launch *l)
{
	int status = DXP_OK;

	if (!l->code || !sizes_fit(core, l))
		return DXP_EINVAL;
	core->launch = l;
	rv32_memory_clear(&core->memory);
	for (uint32_t i = 0; i < l->segment_count && status == DXP_OK; i++)
		status = rv32_memory_add(&core->memory, &l->segments[i]);
	if (status == DXP_OK)
		status = add_own(core, l);
	if (status != DXP_OK)
		return DXP_EINVAL;
	divide_items(core, l);
	list_spans(core);
	memset(core->local, 0, (size_t)core->local_stride * core->pack);
	for (uint32_t k = 0; k < core->warp_count; k++)
		prepare_warp(core, l, k);
	return DXP_OK;
}

/* ---- a batch: work-groups that run at the same time ---- */

static void set_group_ids(struct warp *w, uint32_t lane, uint32_t lanes, uint64_t index)
{
	const struct rv32_launch *l = w->core->launch;
	const uint32_t ids[3] = {(uint32_t)(index % l->groups[0]),
				 (uint32_t)(index / l->groups[0] % l->groups[1]),
				 (uint32_t)(index / l->groups[0] / l->groups[1])};

	for (int k = 0; k < 3; k++)
		for (uint32_t i = lane; i < lane + lanes; i++)
			w->group_id[k][i] = ids[k];
}

/* `first`: index of the first work-group. */
static void assign_groups(struct warp *w, uint64_t first)
{
	const uint32_t items = w->core->group_items, running = w->core->running;

	if (w->core->pack == 1) {
		set_group_ids(w, 0, RV32_LANES, first);
		memset(w->pack, 0, sizeof(w->pack));
		return;
	}
	for (uint32_t i = 0; i < running; i++) {
		set_group_ids(w, i * items, items, first + i);
		for (uint32_t k = 0; k < items; k++)
			w->pack[i * items + k] = i;
	}
}

static void fill_row(struct warp *w, unsigned row, uint32_t value)
{
	for (uint32_t i = 0; i < RV32_LANES; i++)
		w->row[row][i] = value;
}

static void clear_registers(struct warp *w, const struct rv32_code *code)
{
	if (w->core->launch->trace)
		memset(w->row, 0, sizeof(w->row));
	for (unsigned i = 0; i < code->row_count; i++)
		memset(w->row[code->read_rows[i]], 0, sizeof(w->row[0]));
	if (code->exact)
		memset(w->fcsr, 0, sizeof(w->fcsr));
	if (code->reserves)
		memset(w->reserved, 0, sizeof(w->reserved));
	if (code->posts) {
		memset(w->nic, 0, sizeof(w->nic));
		memset(w->nic_high, 0, sizeof(w->nic_high));
	}
}

static void start_warp(struct rv32_core *core, uint32_t k, uint64_t first)
{
	const struct rv32_launch *l = core->launch;
	struct warp *w = &core->warps[k];
	uint32_t items = core->group_items * (core->pack > 1 ? core->running : 1);

	items -= k * RV32_LANES;
	w->live = items >= RV32_LANES ? UINT32_MAX : (1u << items) - 1;
	w->waiting = w->ended = 0;
	w->group_count = w->held_count = 0;
	w->rotate = false;
	assign_groups(w, first);
	clear_registers(w, l->code);
	fill_row(w, RETURN_REGISTER, RV32_RETURN);
	fill_row(w, STACK_REGISTER, RV32_PRIVATE_END);
	fill_row(w, FIRST_ARGUMENT, l->arguments);
	rv32_warp_insert(w, (l->entry - l->code->base) / 4, w->live);
}

static void trap_at(struct warp *w, uint32_t pc, uint32_t lane, enum rv32_trap_kind kind)
{
	w->steps = w->core->launch->code->full;
	w->block = w->steps + pc;
	rv32_lane_trap(w, w->block, lane, kind, 0, 0);
}

static void trap_barrier(struct warp *w, uint32_t waiting, uint32_t ended)
{
	for (uint32_t i = 0; i < w->held_count; i++) {
		const uint32_t here = w->held[i].mask & waiting;

		if (here) {
			trap_at(w, w->held[i].pc - 1, first_lane(here), RV32_TRAP_BARRIER);
			w->core->trap.waited_for = ended;
			return;
		}
	}
}

/* Releases the work-items if all of the group wait. false: some have ended without reaching the
 * barrier, which traps. */
static bool pass_barrier(struct rv32_core *core)
{
	uint32_t waiting = 0, live = 0, ended = 0;

	for (uint32_t k = 0; k < core->warp_count; k++) {
		waiting += (uint32_t)__builtin_popcount(core->warps[k].waiting);
		live += (uint32_t)__builtin_popcount(core->warps[k].live);
		ended += (uint32_t)__builtin_popcount(core->warps[k].ended);
	}
	if (waiting == 0 || waiting < live)
		return true;
	for (uint32_t k = 0; k < core->warp_count; k++) {
		if (ended > 0 && core->warps[k].waiting) {
			trap_barrier(&core->warps[k], core->warps[k].waiting, ended);
			return false;
		}
		rv32_warp_release(&core->warps[k], core->warps[k].waiting);
	}
	return true;
}

/* Does what pass_barrier() does, for each work-group of a shared warp. */
static bool pass_packed_barriers(struct rv32_core *core)
{
	struct warp *w = core->warps;
	const uint32_t lanes = (1u << core->group_items) - 1;

	for (uint32_t i = 0; i < core->running && w->waiting; i++) {
		const uint32_t group = lanes << i * core->group_items;
		const uint32_t waiting = w->waiting & group;

		if (!waiting || waiting != (w->live & group))
			continue;
		if (w->ended & group) {
			trap_barrier(w, waiting, (uint32_t)__builtin_popcount(w->ended & group));
			return false;
		}
		rv32_warp_release(w, waiting);
	}
	return true;
}

static uint64_t items_done(const struct rv32_core *core)
{
	uint64_t items = 0;

	for (uint32_t k = 0; k < core->warp_count; k++)
		items += core->warps[k].items;
	return items;
}

/* Checks stop flag and limit of instructions, for a warp that has lanes to run. Returns false after
 * a trap. */
static bool may_continue(struct rv32_core *core, struct warp *w)
{
	const struct rv32_launch *l = core->launch;
	enum rv32_trap_kind kind = RV32_TRAP_NONE;

	if (l->stop && atomic_load_explicit(l->stop, memory_order_relaxed))
		kind = RV32_TRAP_STOPPED;
	else if (l->instructions_max && items_done(core) >= l->instructions_max)
		kind = RV32_TRAP_BUDGET;
	if (kind == RV32_TRAP_NONE)
		return true;
	trap_at(w, w->groups[0].pc, first_lane(w->groups[0].mask), kind);
	return false;
}

/* Runs until all work-items have returned. Returns false after a trap. */
static bool run_batch(struct rv32_core *core)
{
	uint32_t live;

	do {
		live = 0;
		for (uint32_t k = 0; k < core->warp_count; k++) {
			struct warp *w = &core->warps[k];

			if (w->group_count == 0)
				continue;
			/* before each run, so that a loop whose lanes always wait at a barrier
			 * also ends */
			if (!may_continue(core, w) || !rv32_warp_run(w))
				return false;
		}
		if (!(core->pack > 1 ? pass_packed_barriers(core) : pass_barrier(core)))
			return false;
		for (uint32_t k = 0; k < core->warp_count; k++)
			live |= core->warps[k].live;
	} while (live);
	return true;
}

/* Claims core->running work-groups from *first on. Returns false if none is left. */
static bool claim(struct rv32_core *core, uint64_t *first)
{
	_Atomic uint64_t *shared = core->launch->next_group;

	if (shared)
		*first = atomic_fetch_add_explicit(shared, core->pack, memory_order_relaxed);
	else
		*first = core->group_next;
	if (*first >= core->group_total)
		return false;
	core->group_next = *first + core->pack;
	core->running = (uint32_t)min_u64(core->pack, core->group_total - *first);
	return true;
}

static void finish(struct rv32_core *core, struct rv32_counters *counters)
{
	*counters = (struct rv32_counters){.groups = core->group_done};
	for (uint32_t k = 0; k < core->warp_count; k++) {
		const struct warp *w = &core->warps[k];

		counters->instructions += w->items;
		counters->warp_instructions += w->count;
		core->dirty[k] = w->private_bytes - w->private_low;
	}
	core->trap.instructions = counters->instructions;
}

int rv32_core_run(struct rv32_core *core, const struct rv32_launch *launch,
		  struct rv32_counters *counters, struct rv32_trap *trap)
{
	int status = prepare(core, launch);
	uint64_t first;

	*counters = (struct rv32_counters){0};
	*trap = (struct rv32_trap){.kind = RV32_TRAP_NONE, .argument = -1};
	if (status != DXP_OK)
		return status;
	while (status == DXP_OK && claim(core, &first)) {
		for (uint32_t k = 0; k < core->warp_count; k++)
			start_warp(core, k, first);
		if (run_batch(core))
			core->group_done += core->running;
		else
			status = DXP_EDEVICE;
	}
	finish(core, counters);
	if (status != DXP_OK)
		*trap = core->trap;
	return status;
}
