/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane handlers of NIC instructions; lanes post and dequeue in order. */
#include <dxp/status.h>

#include "rv32/core_state.h"
#include "rv32/lane.h"

struct step *rv32_lane_set(struct warp *w, struct step *s)
{
	for (uint32_t m = w->mask; m; m &= m - 1)
		w->nic[s->imm][first_lane(m)] = w->row[s->a][first_lane(m)];
	return s + 1;
}

/* Reads a value. Without a NIC, RV32_NIC_ERROR is the negated DXP_EUNSUPPORTED, all else 0. */
static uint32_t nic_value(struct warp *w, uint32_t lane, enum rv32_nic_value which)
{
	const struct rv32_nic *nic = w->core->launch->nic;
	uint64_t value;

	if (which == RV32_NIC_TOTAL_HIGH)
		return w->nic_high[lane];
	if (!nic)
		return which == RV32_NIC_ERROR ? (uint32_t)-DXP_EUNSUPPORTED : 0;
	value = nic->value(nic->context, which);
	if (which == RV32_NIC_TOTAL_LOW)
		w->nic_high[lane] = (uint32_t)(value >> 32);
	return (uint32_t)value;
}

struct step *rv32_lane_get(struct warp *w, struct step *s)
{
	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m);

		w->row[s->d][i] = s->imm < RV32_NIC_REGISTERS
					  ? w->nic[s->imm][i]
					  : nic_value(w, i, (enum rv32_nic_value)s->imm);
	}
	return s + 1;
}

static void registers_of(const struct warp *w, uint32_t lane,
			 uint32_t registers[RV32_NIC_REGISTERS])
{
	for (unsigned n = 0; n < RV32_NIC_REGISTERS; n++)
		registers[n] = w->nic[n][lane];
}

/* Finds the bytes to send. Errors: DXP_ERANGE: not all in one argument, or inline data is not
 * readable; DXP_EINVAL: inline data is too long. */
static int locate(struct warp *w, uint32_t lane, unsigned op, uint32_t address,
		  struct rv32_nic_source *source)
{
	struct rv32_core *core = w->core;
	const struct rv32_segment *g;

	if (source->bytes == 0)
		return DXP_OK;
	if (rv32_nic_inline(op)) {
		if (source->bytes > sizeof(core->payload))
			return DXP_EINVAL;
		source->data = core->payload;
		return rv32_lane_read(w, lane, address, core->payload, source->bytes) ? DXP_OK
										      : DXP_ERANGE;
	}
	g = rv32_memory_find(&core->memory, address);
	if (!g || (uint64_t)(address - g->base) + source->bytes > g->bytes ||
	    (g->kind != RV32_GLOBAL && g->kind != RV32_CONSTANT))
		return DXP_ERANGE;
	source->offset = address - g->base;
	return DXP_OK;
}

struct step *rv32_lane_post(struct warp *w, struct step *s)
{
	const unsigned op = (unsigned)s->imm;

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m);
		uint32_t registers[RV32_NIC_REGISTERS];
		struct rv32_nic_source source = {.bytes = w->row[s->b][i]};
		int status = locate(w, i, op, w->row[s->a][i], &source);

		registers_of(w, i, registers);
		if (!w->core->launch->nic)
			status = DXP_EUNSUPPORTED;
		if (status == DXP_OK)
			status = rv32_nic_post(w->core->launch->nic, op, registers, &source);
		w->row[s->d][i] = (uint32_t)status;
	}
	return s + 1;
}

/* Executes dxp.take. If no lane got a completion, other warps run, as the program probably
 * waits. */
struct step *rv32_lane_dequeue(struct warp *w, struct step *s)
{
	uint32_t results = 0;

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m);
		uint32_t registers[RV32_NIC_REGISTERS];

		registers_of(w, i, registers);
		w->row[s->d][i] = (uint32_t)rv32_nic_dequeue(w->core->launch->nic, registers);
		results |= w->row[s->d][i];
		for (unsigned n = 0; n < RV32_NIC_REGISTERS; n++)
			w->nic[n][i] = registers[n];
	}
	return results ? s + 1 : leave(w, s, 1, s + 1, EVENT_PAUSE);
}
