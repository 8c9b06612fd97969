/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses of one lane: private, shared LOCAL, NIC window, misaligned, atomics; and struct
 * rv32_item. */
#include <string.h>

#include "rv32/core_state.h"
#include "rv32/lane.h"

/* Returns NULL if not the whole access is permitted. */
static const struct rv32_segment *permitted(const struct warp *w, uint32_t address, uint32_t bytes,
					    unsigned access)
{
	const struct rv32_segment *g = rv32_memory_find(&w->core->memory, address);

	if (!g || (g->access & access) != access ||
	    (uint64_t)(address - g->base) + bytes > g->bytes)
		return NULL;
	if (g->kind == RV32_PRIVATE && address < w->private_base)
		return NULL;
	return g;
}

static uint8_t *private_byte(const struct warp *w, uint32_t lane, uint32_t address)
{
	const uint32_t offset = address - w->private_base;

	return w->private_rows + (size_t)(offset & ~3u) * RV32_LANES + 4 * lane + offset % 4;
}

static uint8_t *host_of(const struct warp *w, uint32_t lane, uint32_t address,
			const struct rv32_segment *g)
{
	if (g->kind == RV32_PRIVATE)
		return private_byte(w, lane, address);
	if (g->kind == RV32_LOCAL)
		return g->host + (size_t)w->pack[lane] * w->core->local_stride +
		       (address - g->base);
	return g->host + (address - g->base);
}

/* Returns NULL if not permitted. access: enum rv32_access. */
static void *word_pointer(const struct warp *w, uint32_t lane, uint32_t address, unsigned access)
{
	const struct rv32_segment *g = permitted(w, address, 4, access);

	return g ? host_of(w, lane, address, g) : NULL;
}

/* Loads 1, 2 or 4 aligned bytes by one access of the host. */
static uint32_t load_window(const uint8_t *from, uint32_t bytes)
{
	const void *p = from;

	if (bytes == 4)
		return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
	if (bytes == 2)
		return __atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE);
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static void store_window(uint8_t *to, uint32_t value, uint32_t bytes)
{
	void *p = to;

	if (bytes == 4)
		__atomic_store_n((uint32_t *)p, value, __ATOMIC_RELEASE);
	else if (bytes == 2)
		__atomic_store_n((uint16_t *)p, (uint16_t)value, __ATOMIC_RELEASE);
	else
		__atomic_store_n(to, (uint8_t)value, __ATOMIC_RELEASE);
}

static bool load_lane(const struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes,
		      uint32_t *value)
{
	const struct rv32_segment *g = permitted(w, address, bytes, RV32_READ);
	const uint8_t *from;

	*value = 0;
	if (!g)
		return false;
	from = host_of(w, lane, address, g);
	if (g->kind == RV32_WINDOW && address % bytes == 0)
		*value = load_window(from, bytes);
	else if (g->kind != RV32_PRIVATE || address % 4 + bytes <= 4)
		memcpy(value, from, bytes);
	else
		for (uint32_t i = 0; i < bytes; i++)
			*value |= (uint32_t)*private_byte(w, lane, address + i) << 8 * i;
	return true;
}

static bool store_lane(struct warp *w, uint32_t lane, uint32_t address, uint32_t bytes,
		       uint32_t value)
{
	const struct rv32_segment *g = permitted(w, address, bytes, RV32_WRITE);
	uint8_t *to;

	if (!g)
		return false;
	to = host_of(w, lane, address, g);
	if (g->kind == RV32_PRIVATE) {
		if (address - w->private_base < w->private_low)
			w->private_low = (address - w->private_base) & ~3u;
		for (uint32_t i = 0; i < bytes; i++)
			*private_byte(w, lane, address + i) = (uint8_t)(value >> 8 * i);
	} else if (g->kind == RV32_WINDOW && address % bytes == 0) {
		store_window(to, value, bytes);
	} else {
		memcpy(to, &value, bytes);
	}
	return true;
}

static uint32_t bytes_of(enum rv32_opcode code)
{
	if (code == RV32_LB || code == RV32_LBU || code == RV32_SB)
		return 1;
	return code == RV32_LH || code == RV32_LHU || code == RV32_SH ? 2 : 4;
}

struct step *rv32_lane_load(struct warp *w, struct step *s, enum rv32_opcode code)
{
	const uint32_t bytes = bytes_of(code);

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m), at = w->row[s->a][i] + (uint32_t)s->imm;
		uint32_t value;

		if (!load_lane(w, i, at, bytes, &value))
			return rv32_lane_trap(w, s, i, RV32_TRAP_LOAD, at, bytes);
		if (code == RV32_LB)
			value = (uint32_t)(int8_t)value;
		else if (code == RV32_LH)
			value = (uint32_t)(int16_t)value;
		w->row[s->d][i] = value;
	}
	return s + 1;
}

struct step *rv32_lane_store(struct warp *w, struct step *s, enum rv32_opcode code)
{
	const uint32_t bytes = bytes_of(code);

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m), at = w->row[s->a][i] + (uint32_t)s->imm;

		if (!store_lane(w, i, at, bytes, w->row[s->b][i]))
			return rv32_lane_trap(w, s, i, RV32_TRAP_STORE, at, bytes);
	}
	return s + 1;
}

bool rv32_lane_read(const struct warp *w, uint32_t lane, uint32_t address, void *to, uint32_t bytes)
{
	uint8_t *into = to;
	uint32_t value;

	for (uint32_t i = 0; i < bytes; i++) {
		if (address + i < address || !load_lane(w, lane, address + i, 1, &value))
			return false;
		into[i] = (uint8_t)value;
	}
	return true;
}

/* ---- atomics ---- */

static uint32_t combined(enum rv32_opcode code, uint32_t old, uint32_t operand)
{
	switch (code) {
	case RV32_AMOADD_W: return old + operand;
	case RV32_AMOXOR_W: return old ^ operand;
	case RV32_AMOAND_W: return old & operand;
	case RV32_AMOOR_W: return old | operand;
	case RV32_AMOMIN_W: return (int32_t)old < (int32_t)operand ? old : operand;
	case RV32_AMOMAX_W: return (int32_t)old > (int32_t)operand ? old : operand;
	case RV32_AMOMINU_W: return old < operand ? old : operand;
	case RV32_AMOMAXU_W: return old > operand ? old : operand;
	default: /* AMOSWAP */ return operand;
	}
}

static uint32_t fetch_and(enum rv32_opcode code, uint32_t *at, uint32_t operand)
{
	uint32_t old;

	if (code == RV32_AMOADD_W)
		return __atomic_fetch_add(at, operand, __ATOMIC_SEQ_CST);
	if (code == RV32_AMOSWAP_W)
		return __atomic_exchange_n(at, operand, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(at, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(at, &old, combined(code, old, operand), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

/* Stores if the address is reserved and the word unchanged since LR. Returns 0 on success, else
 * 1. */
static uint32_t store_conditional(struct warp *w, uint32_t lane, uint32_t address, uint32_t *at,
				  uint32_t value)
{
	const bool valid = w->reserved[lane] == address + 1;
	uint32_t expected = w->reserved_value[lane];

	w->reserved[lane] = 0;
	return !valid || !__atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST,
						      __ATOMIC_RELAXED);
}

static uint32_t atomic_lane(struct warp *w, enum rv32_opcode code, uint32_t lane, uint32_t address,
			    uint32_t *at, uint32_t operand)
{
	if (code == RV32_SC_W)
		return store_conditional(w, lane, address, at, operand);
	if (code != RV32_LR_W)
		return fetch_and(code, at, operand);
	w->reserved[lane] = address + 1;
	w->reserved_value[lane] = __atomic_load_n(at, __ATOMIC_SEQ_CST);
	return w->reserved_value[lane];
}

struct step *rv32_lane_atomic(struct warp *w, struct step *s)
{
	const enum rv32_opcode code = (enum rv32_opcode)s->imm;
	const unsigned access = code == RV32_LR_W ? RV32_READ : RV32_READ | RV32_WRITE;

	for (uint32_t m = w->mask; m; m &= m - 1) {
		const uint32_t i = first_lane(m), address = w->row[s->a][i];
		void *at;

		if (address % 4)
			return rv32_lane_trap(w, s, i, RV32_TRAP_MISALIGNED, address, 4);
		at = word_pointer(w, i, address, access);
		if (!at)
			return rv32_lane_trap(w, s, i,
					      code == RV32_LR_W ? RV32_TRAP_LOAD : RV32_TRAP_STORE,
					      address, 4);
		if (address - w->private_base < w->private_low)
			w->private_low = address - w->private_base;
		w->row[s->d][i] = atomic_lane(w, code, i, address, at, w->row[s->b][i]);
	}
	return s + 1;
}

/* ---- a work-item, as callbacks access it ---- */

uint32_t rv32_item_get(const struct rv32_item *item, unsigned number)
{
	return item->warp->row[number % 32][item->lane];
}

void rv32_item_set(struct rv32_item *item, unsigned number, uint32_t value)
{
	if (number % 32)
		item->warp->row[number % 32][item->lane] = value;
}

uint32_t rv32_item_get_float(const struct rv32_item *item, unsigned number)
{
	return item->warp->row[ROW_FLOAT + number % 32][item->lane];
}

bool rv32_item_read(const struct rv32_item *item, uint32_t address, void *to, uint32_t bytes)
{
	return rv32_lane_read(item->warp, item->lane, address, to, bytes);
}

void rv32_item_ids(const struct rv32_item *item, uint32_t global[3], uint32_t group[3])
{
	const struct warp *w = item->warp;
	const struct rv32_launch *launch = w->core->launch;

	for (int i = 0; i < 3; i++) {
		group[i] = w->group_id[i][item->lane];
		global[i] = group[i] * launch->local[i] + w->local_id[i][item->lane] +
			    launch->offset[i];
	}
}
