/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-op (C-18) for requests from the network and from functions of this NIC. It uses the
 * CPU's atomic instructions. So it is also atomic for programs that own the memory and use such
 * instructions. */
#ifndef NIC_ATOMIC_H
#define NIC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if `op` is an atomic of enum dxp_op. */
bool atomic_known(uint8_t op);

/* Executes `op` on the little-endian 8-byte integer at address `at`, which must be a multiple of 8.
 * COMPARE_SWAP stores `swap` if the integer equals `operand`; other operations ignore `swap`. *old
 * is the previous value. Errors change nothing. DXP_EINVAL: `op` is no atomic, or `at` is not
 * aligned. DXP_EBUSY: other writers kept changing the integer. */
int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old);

#endif
