/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-op (C-18) for requests from the network and from functions of this NIC. It uses atomic
 * instructions of the CPU. So it is also atomic for a program that owns the memory and uses such
 * instructions. */
#ifndef NIC_ATOMIC_H
#define NIC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if `op` is an atomic of enum dxp_op. */
bool atomic_known(uint8_t op);

/* Executes `op` on the 8 little-endian bytes at `at`, which must be aligned to 8 bytes. *old is the
 * previous value. COMPARE_SWAP stores `swap` if the bytes equal `operand`; other operations ignore
 * `swap`. Errors change nothing. DXP_EINVAL: `op` is not an atomic, or `at` is not aligned;
 * DXP_EBUSY: other writers kept changing the bytes. */
int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old);

#endif
