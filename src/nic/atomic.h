/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-op (C-18) for requests from the network and from functions of this NIC. It uses the
 * CPU's atomics, so it is also atomic for programs that own the memory and use those. */
#ifndef NIC_ATOMIC_H
#define NIC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if `op` is an atomic of enum dxp_op. */
bool atomic_known(uint8_t op);

/* Executes `op` on the 8 bytes at `at`, aligned to 8, little-endian. Only COMPARE_SWAP uses `swap`:
 * stored if the bytes equal `operand`. *old is the previous value. Errors change nothing:
 * DXP_EINVAL: no atomic, or not aligned; DXP_EBUSY: other writers kept changing the bytes. */
int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old);

#endif
