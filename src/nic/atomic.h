/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of fetch-and-op (C-18), the same for requests from the network and from functions
 * of this NIC. Of the CPU's atomics, so that it is also one step for programs that own the memory
 * and use them. */
#ifndef NIC_ATOMIC_H
#define NIC_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Is it one of enum dxp_op's atomics? */
bool atomic_known(uint8_t op);

/* Does `op` on the 8 bytes at `at`, which must be aligned to 8; little-endian, as in the window.
 * `swap` is used by COMPARE_SWAP alone: it is stored where `operand` is found. *old is the value
 * before. DXP_EINVAL: no atomic, or not aligned; DXP_EBUSY: others changed it again and again.
 * Nothing has changed then. */
int atomic_execute(uint8_t op, uint8_t *at, uint64_t operand, uint64_t swap, uint64_t *old);

#endif
