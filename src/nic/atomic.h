/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-op (C-18), also atomic for programs that own the memory and use the CPU's atomic
 * instructions. */
#ifndef NIC_ATOMIC_H
#define NIC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

bool atomic_known(uint8_t op);

/* Executes `op` on the little-endian 8 bytes at `at`; *old is the previous value. COMPARE_SWAP
 * stores `swap` if the integer equals `operand`. Errors change nothing. DXP_EINVAL: `op` is no
 * atomic, or `at` is no multiple of 8. DXP_EBUSY: other writers kept changing the integer. */
int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old);

#endif
