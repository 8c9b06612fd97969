/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane handlers of jumps, system instructions and software floats; traps. */
#include "rv32/lane.h"

#include <stdatomic.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/core_state.h"
#include "rv32/decode.h"
#include "rv32/float.h"

#define FLAGS     31u /* flags in fcsr */
#define FRM_SHIFT 5
/* An address from here to private memory belongs to a full stack: other segments are lower. */
#define STACK_LEAST (RV32_PRIVATE_END - 16 * RV32_PRIVATE_MAX)

static uint32_t address_of(const struct warp *w, const struct step *s)
{
	return w->core->launch->code->base + 4 * (uint32_t)(s - w->steps);
}

static void fill_segment(struct rv32_trap *t, const struct warp *w)
{
	const struct rv32_segment *g = rv32_memory_find(&w->core->memory, t->address);

	t->argument = -1;
	if (!g && t->address >= STACK_LEAST && t->address < RV32_PRIVATE_END)
		g = rv32_memory_find(&w->core->memory, RV32_PRIVATE_END - 1);
	if (!g && t->address >= RV32_PAGE_BYTES)
		g = rv32_memory_find(&w->core->memory, t->address - RV32_PAGE_BYTES);
	if (!g)
		return;
	t->segment_kind = g->kind;
	t->argument = g->argument;
	t->segment_base = g->kind == RV32_PRIVATE ? w->private_base : g->base;
	t->segment_bytes = g->kind == RV32_PRIVATE ? w->private_bytes : g->bytes;
	t->name = g->name;
}

struct step *rv32_lane_trap(struct warp *w, struct step *s, uint32_t lane, enum rv32_trap_kind kind,
			    uint32_t address, uint32_t bytes)
{
	const struct rv32_launch *launch = w->core->launch;
	const uint32_t index = (uint32_t)(s - w->steps);
	struct rv32_trap *t = &w->core->trap;

	*t = (struct rv32_trap){
		.kind = kind, .pc = address_of(w, s), .address = address, .bytes = bytes};
	if (index < launch->code->count)
		t->word = launch->code->words[index];
	rv32_item_ids(&(struct rv32_item){w, lane}, t->item, t->group);
	t->argument = -1;
	if (kind == RV32_TRAP_LOAD || kind == RV32_TRAP_STORE || kind == RV32_TRAP_MISALIGNED)
		fill_segment(t, w);
	return leave(w, s, 0, s, EVENT_TRAP);
}

static struct step *illegal(struct warp *w, struct step *s)
{
	/* It continued after its last instruction. */
	if ((uint32_t)(s - w->steps) >= w->core->launch->code->count)
		return rv32_lane_trap(w, s, first_lane(w->mask), RV32_TRAP_JUMP, address_of(w, s),
				      4);
	return rv32_lane_trap(w, s, first_lane(w->mask), RV32_TRAP_ILLEGAL, address_of(w, s), 4);
}

struct step *rv32_lane_no_target(struct warp *w, struct step *s, uint32_t mask)
{
	const struct rv32_op op = rv32_decode(w->core->launch->code->words[s - w->steps]);

	return rv32_lane_trap(w, s, first_lane(mask), RV32_TRAP_JUMP,
			      address_of(w, s) + (uint32_t)op.imm, 4);
}

static struct step *jump_to(struct warp *w, struct step *s, struct step *to)
{
	if (to <= s)
		count_branch(w, (uint32_t)(s - to));
	if (w->countdown <= 0)
		return leave(w, s, 1, to, EVENT_COUNTDOWN);
	/* After a call or return, another group may have to run first. */
	if (w->group_count > 0)
		return leave(w, s, 1, to, EVENT_PASSED);
	w->count += (uint64_t)(s - w->block) + 1;
	w->block = to;
	return to;
}

static void link(struct warp *w, const struct step *s)
{
	const uint32_t address = address_of(w, s) + 4;

	if (s->d == ROW_SINK)
		return;
	for (uint32_t m = w->mask; m; m &= m - 1)
		w->row[s->d][first_lane(m)] = address;
}

struct step *rv32_lane_jal(struct warp *w, struct step *s)
{
	if (s->imm == NO_TARGET)
		return rv32_lane_no_target(w, s, w->mask);
	link(w, s);
	return jump_to(w, s, s + s->imm);
}

/* Ends lanes: they return from the entry function. */
static void end_lanes(struct warp *w, uint32_t mask)
{
	w->live &= ~mask;
	w->ended |= mask;
}

/* Returns true if all running lanes have one target. */
static bool targets_of(const struct warp *w, const struct step *s, uint32_t target[RV32_LANES])
{
	const uint32_t first = (w->row[s->a][first_lane(w->mask)] + (uint32_t)s->imm) & ~1u;
	uint32_t differ = 0;

	for (int i = 0; i < RV32_LANES; i++) {
		target[i] = (w->row[s->a][i] + (uint32_t)s->imm) & ~1u;
		differ |= (target[i] ^ first) & w->active[i];
	}
	return differ == 0;
}

static bool is_target(const struct rv32_code *code, uint32_t t)
{
	return t == RV32_RETURN || (t % 4 == 0 && (t - code->base) / 4 < code->count);
}

/* Moves lanes; the entry function's return address ends them. */
static void move_lanes(struct warp *w, const struct step *s, uint32_t mask, uint32_t target)
{
	const uint32_t here = (uint32_t)(s - w->steps);
	const uint32_t pc = (target - w->core->launch->code->base) / 4;

	if (target == RV32_RETURN) {
		end_lanes(w, mask);
		return;
	}
	if (pc <= here)
		count_branch(w, here - pc);
	rv32_warp_insert(w, pc, mask);
}

struct step *rv32_lane_jalr(struct warp *w, struct step *s)
{
	const struct rv32_code *code = w->core->launch->code;
	uint32_t target[RV32_LANES], left = w->mask;
	const bool same = targets_of(w, s, target);

	for (uint32_t m = w->mask; m; m &= same ? 0 : m - 1)
		if (!is_target(code, target[first_lane(m)]))
			return rv32_lane_trap(w, s, first_lane(m), RV32_TRAP_JUMP,
					      target[first_lane(m)], 4);
	link(w, s);
	if (same && target[first_lane(left)] != RV32_RETURN)
		return jump_to(w, s, w->steps + (target[first_lane(left)] - code->base) / 4);
	while (left) {
		const uint32_t t = target[first_lane(left)];
		uint32_t these = same ? left : 0;

		for (uint32_t m = same ? 0 : left; m; m &= m - 1)
			these |= target[first_lane(m)] == t ? m & (0u - m) : 0;
		move_lanes(w, s, these, t);
		left &= ~these;
	}
	return leave(w, s, 1, s, EVENT_LEFT);
}

static struct step *fence(struct warp *w, struct step *s)
{
	const unsigned order = (unsigned)s->imm;

	/* Only a store before a later load needs a full fence; x86 keeps other orders. */
	if ((order & 0x10) && (order & 0x2))
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_acq_rel);
	return s + 1;
}

static struct step *pause(struct warp *w, struct step *s)
{
	return leave(w, s, 1, s + 1, EVENT_PAUSE);
}

static struct step *barrier(struct warp *w, struct step *s)
{
	return leave(w, s, 1, s + 1, EVENT_BARRIER);
}

static struct step *ecall(struct warp *w, struct step *s)
{
	const struct rv32_launch *launch = w->core->launch;

	for (uint32_t m = w->mask; m; m &= m - 1) {
		struct rv32_item item = {w, first_lane(m)};
		int status = launch->ecall ? launch->ecall(launch->ecall_context, &item)
					   : DXP_EUNSUPPORTED;

		if (status != DXP_OK) {
			struct step *next = rv32_lane_trap(w, s, item.lane, RV32_TRAP_ABORT, 0, 0);

			w->core->trap.status = status;
			return next;
		}
		/* A call may take long. */
		if (launch->stop && atomic_load_explicit(launch->stop, memory_order_relaxed))
			return rv32_lane_trap(w, s, item.lane, RV32_TRAP_STOPPED, 0, 0);
	}
	return s + 1;
}

static struct step *ebreak(struct warp *w, struct step *s)
{
	return rv32_lane_trap(w, s, first_lane(w->mask), RV32_TRAP_BREAK, 0, 0);
}

/* ---- CSRs ---- */

static void fill(uint32_t values[RV32_LANES], uint32_t value)
{
	for (int i = 0; i < RV32_LANES; i++)
		values[i] = value;
}

/* `k` is the dimension. */
static void read_dimension(const struct warp *w, uint32_t csr, uint32_t k,
			   uint32_t values[RV32_LANES])
{
	const struct rv32_launch *l = w->core->launch;
	const uint32_t *group = w->group_id[k], *local = w->local_id[k];

	switch (csr) {
	case RV32_CSR_GLOBAL_ID:
		for (int i = 0; i < RV32_LANES; i++)
			values[i] = group[i] * l->local[k] + local[i] + l->offset[k];
		break;
	case RV32_CSR_LOCAL_ID: memcpy(values, local, RV32_LANES * sizeof(*values)); break;
	case RV32_CSR_GROUP_ID: memcpy(values, group, RV32_LANES * sizeof(*values)); break;
	case RV32_CSR_GLOBAL_SIZE: fill(values, l->groups[k] * l->local[k]); break;
	case RV32_CSR_LOCAL_SIZE: fill(values, l->local[k]); break;
	case RV32_CSR_GROUPS: fill(values, l->groups[k]); break;
	default: fill(values, l->offset[k]); break;
	}
}

/* Returns false if there is no such CSR. */
static bool csr_read(const struct warp *w, const struct step *s, uint32_t csr,
		     uint32_t values[RV32_LANES])
{
	const uint64_t count = w->count + (uint64_t)(s - w->block);

	switch (csr) {
	case RV32_CSR_FFLAGS:
		for (int i = 0; i < RV32_LANES; i++)
			values[i] = w->fcsr[i] & FLAGS;
		return true;
	case RV32_CSR_FRM:
		for (int i = 0; i < RV32_LANES; i++)
			values[i] = w->fcsr[i] >> FRM_SHIFT;
		return true;
	case RV32_CSR_FCSR: memcpy(values, w->fcsr, RV32_LANES * sizeof(*values)); return true;
	case RV32_CSR_LOCAL_INDEX:
		memcpy(values, w->local_id[3], RV32_LANES * sizeof(*values));
		return true;
	case RV32_CSR_LANE:
		for (uint32_t i = 0; i < RV32_LANES; i++)
			values[i] = i;
		return true;
	case RV32_CSR_INSTRET: fill(values, (uint32_t)count); return true;
	case RV32_CSR_INSTRETH: fill(values, (uint32_t)(count >> 32)); return true;
	case RV32_CSR_DIMENSIONS: fill(values, w->core->launch->dimensions); return true;
	case RV32_CSR_CORE: fill(values, w->core->index); return true;
	case RV32_CSR_LOCAL_BYTES: fill(values, w->core->launch->local_bytes); return true;
	default:
		if (csr < RV32_CSR_GLOBAL_ID || csr >= RV32_CSR_DIMENSIONS)
			return false;
		csr -= RV32_CSR_GLOBAL_ID;
		read_dimension(w, RV32_CSR_GLOBAL_ID + csr - csr % 3, csr % 3, values);
		return true;
	}
}

static void csr_write(struct warp *w, uint32_t lane, uint32_t csr, uint32_t value)
{
	uint32_t *fcsr = &w->fcsr[lane];

	if (csr == RV32_CSR_FFLAGS)
		*fcsr = (*fcsr & ~FLAGS) | (value & FLAGS);
	else if (csr == RV32_CSR_FRM)
		*fcsr = (*fcsr & FLAGS) | (value & 7) << FRM_SHIFT;
	else
		*fcsr = value & 255;
}

struct step *rv32_lane_csr(struct warp *w, struct step *s)
{
	const uint32_t csr = (uint32_t)s->imm & 0xfff, code = (uint32_t)s->imm >> 16;
	const bool immediate = code >= RV32_CSRRWI;
	const bool swaps = code == RV32_CSRRW || code == RV32_CSRRWI;
	const bool sets = code == RV32_CSRRS || code == RV32_CSRRSI;
	/* CSRRS and CSRRC with x0 or 0 do not write. */
	const bool writes = swaps || s->a != 0;

	uint32_t old[RV32_LANES];

	if (!csr_read(w, s, csr, old) || (writes && csr > RV32_CSR_FCSR))
		return rv32_lane_trap(w, s, first_lane(w->mask), RV32_TRAP_CSR, csr, 4);
	for (uint32_t m = w->mask; writes && m; m &= m - 1) {
		const uint32_t i = first_lane(m), operand = immediate ? s->a : w->row[s->a][i];

		csr_write(w, i, csr, swaps ? operand : sets ? old[i] | operand : old[i] & ~operand);
	}
	if (w->mask == UINT32_MAX)
		memcpy(w->row[s->d], old, sizeof(old));
	else
		for (uint32_t m = w->mask; m; m &= m - 1)
			w->row[s->d][first_lane(m)] = old[first_lane(m)];
	return s + 1;
}

/* ---- floats ---- */

struct step *rv32_lane_float(struct warp *w, struct step *s)
{
	const enum rv32_opcode code = (enum rv32_opcode)(s->imm & 255);
	const unsigned rounding = (unsigned)s->imm >> 8;

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m);
		const uint32_t a = w->row[s->a][i], b = w->row[s->b][i], c = w->row[s->c][i];
		struct rv32_rounder r = {.rounding = (uint8_t)rounding};

		if (rounding == RV32_DYN)
			r.rounding = (uint8_t)(w->fcsr[i] >> FRM_SHIFT);
		if (r.rounding > RV32_RMM)
			return rv32_lane_trap(w, s, i, RV32_TRAP_ILLEGAL, 0, 4);
		w->row[s->d][i] = rv32_format_of(code) == RV32_FORMAT_F4
					  ? rv32_float_fused(code, a, b, c, &r)
					  : rv32_float(code, a, b, &r);
		w->fcsr[i] |= r.flags;
	}
	return s + 1;
}

step_fn rv32_lane_handler(enum rv32_opcode code)
{
	switch (code) {
	case RV32_JAL: return rv32_lane_jal;
	case RV32_JALR: return rv32_lane_jalr;
	case RV32_FENCE: return fence;
	case RV32_PAUSE: return pause;
	case RV32_ECALL: return ecall;
	case RV32_EBREAK: return ebreak;
	case RV32_DXP_BAR: return barrier;
	case RV32_DXP_SET: return rv32_lane_set;
	case RV32_DXP_GET: return rv32_lane_get;
	case RV32_DXP_POST: return rv32_lane_post;
	case RV32_DXP_DEQUEUE: return rv32_lane_dequeue;
	default:
		if (code >= RV32_CSRRW && code <= RV32_CSRRCI)
			return rv32_lane_csr;
		if (code >= RV32_LR_W && code <= RV32_AMOMAXU_W)
			return rv32_lane_atomic;
		if (code >= RV32_FMADD_S && code <= RV32_FMV_W_X)
			return rv32_lane_float;
		return illegal;
	}
}
