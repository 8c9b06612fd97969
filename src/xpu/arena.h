/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of one xPU: a shared mapping of a memfd, divided into allocations with owners,
 * which NIC and kernels access in place. Addresses are offsets in the arena, multiples of
 * XPU_ALIGN.
 *
 * In a separate arena, each tenant's allocations are in memory of their own, at the same addresses
 * (tenant_memory.h). The arena's own memory then holds only unallocated addresses.
 *
 * Freed memory is reused when its last holder, a kernel or transfer, drops it. Invariant: blocks
 * cover the arena without gaps, in address order; no two free ones are neighbours. Not thread-safe;
 * any thread may access the bytes.
 *
 * Only its owner can access an allocation; all owners can access unallocated memory. Bytes of a
 * freed allocation are cleared before the next access. */
#ifndef XPU_ARENA_H
#define XPU_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct arena;

/* Creates an arena of whole pages. DXP_ENOMEM. DXP_EIO: no memfd, logged. DXP_EINVAL: `bytes` is
 * out of range. */
int arena_create(uint64_t bytes, struct arena **out);
void arena_destroy(struct arena *a);

/* Releases mapping and file, for memory on a device: the arena then only allocates addresses, and
 * has no arena_base. The memory of arena_tail stays. */
void arena_unmap(struct arena *a);
/* Returns WORKER_TAIL_BYTES of host memory behind the last address. */
uint8_t *arena_tail(const struct arena *a);

/* Makes allocations whole pages, so that no page mapped by other processes has two owners. Freeing
 * one leaves no bytes. Call before the first allocation. */
void arena_separate(struct arena *a);
/* The memfd. The tail of WORKER_TAIL_BYTES, initially zero, is at offset arena_bytes(). */
int arena_fd(const struct arena *a);

uint8_t *arena_base(const struct arena *a);
uint64_t arena_bytes(const struct arena *a);
uint64_t arena_free_bytes(const struct arena *a);
/* Bytes that an allocation of `bytes` occupies. */
uint64_t arena_rounded(const struct arena *a, uint64_t bytes);
/* Includes freed allocations that are still held. */
uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner);

/* Allocates the low end of the smallest free block with space. Call arena_clear before any access.
 * Allocations have no bound; each costs 200 bytes of this process. DXP_EINVAL: 0 bytes. DXP_ENOMEM:
 * no such block, or no process memory. */
int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address);
void arena_clear(struct arena *a, uint64_t address, uint64_t bytes);
/* Whole pages, whose memory the system gets back if possible. */
void arena_discard(struct arena *a, uint64_t address, uint64_t bytes);

/* DXP_ENOENT: not an allocation of the owner. */
int arena_free(struct arena *a, uint32_t owner, uint64_t address);
void arena_free_owner(struct arena *a, uint32_t owner);

/* Finds the owner's first allocation at or after *address that is not freed. */
bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes);

/* Holds the owner's allocation with [address, address + bytes). *rest, 1 or more: bytes from
 * `address` to the end of the requested size; may be NULL. DXP_ERANGE: no such allocation. */
int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest);
/* `address` was passed to arena_hold. */
void arena_drop(struct arena *a, uint64_t address);

/* Checks the owner's access to a non-empty range. DXP_OK: *out is an accessible range around it,
 * until *arena_epoch() changes; in a separate arena, it is allocated or unallocated as a whole.
 * DXP_EACCESS: a part is not the owner's; `common` permits unallocated parts. DXP_EAGAIN: *out is
 * an unallocated part that must be cleared first. */
int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out);
bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes);
const uint64_t *arena_epoch(const struct arena *a);
void arena_access_changed(struct arena *a);
/* Marks unallocated bytes as cleared. */
void arena_cleared(struct arena *a, uint64_t start, uint64_t end);

#endif
