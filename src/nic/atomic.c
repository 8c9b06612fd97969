/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-op on 8 bytes of a region. Tries are bounded, because programs that map the region may
 * store there too. */
#include "nic/atomic.h"

#include <dxp/status.h>

#include "nic/window.h"

/* tries; one fails only if another thread stores a new value */
#define TRIES_MAX 1000

bool atomic_known(uint8_t op)
{
	return op >= DXP_OP_FETCH_ADD && op <= DXP_OP_FETCH_XOR;
}

static uint64_t value_after(uint8_t op, uint64_t value, uint64_t operand, uint64_t swap)
{
	switch (op) {
	case DXP_OP_FETCH_ADD: return value + operand;
	case DXP_OP_COMPARE_SWAP: return value == operand ? swap : value;
	case DXP_OP_FETCH_MIN: return value < operand ? value : operand;
	case DXP_OP_FETCH_MAX: return value > operand ? value : operand;
	case DXP_OP_FETCH_AND: return value & operand;
	case DXP_OP_FETCH_OR: return value | operand;
	default: return value ^ operand;
	}
}

int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old)
{
	if (!atomic_known(op) || (uintptr_t)at % sizeof(uint64_t) != 0)
		return DXP_EINVAL;
	uint64_t *word = (uint64_t *)(void *)at;
	uint64_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	for (int i = 0; i < TRIES_MAX; i++) {
		uint64_t after = value_after(op, value, operand, swap);
		/* A thread that sees the new value also sees what the initiator placed before. A
		 * failure loads the current value. */
		if (__atomic_compare_exchange_n(word, &value, after, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*old = value;
			return DXP_OK;
		}
	}
	return DXP_EBUSY;
}
