/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of one xPU: one shared mapping of a memfd, divided into allocations with owners.
 * NIC and kernels work in it in place. Addresses are offsets in it, multiples of XPU_ALIGN.
 *
 * In a separate arena, allocations have memory of their own elsewhere, with the same addresses
 * (tenant_memory.h). The memory here is then that of unallocated addresses only.
 *
 * A kernel or transfer holds its allocation. If the allocation is freed meanwhile, its memory is
 * reused after the last holder drops it. Invariant: blocks cover the arena without gaps, in address
 * order; no two free blocks are neighbours. Not thread-safe; any thread may access the bytes.
 *
 * Only its owner reaches an allocation; all owners reach unallocated memory. Bytes left by a freed
 * allocation are cleared before they are reachable again. */
#ifndef XPU_ARENA_H
#define XPU_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct arena;

/* Rounds `bytes` up to whole pages. On success *out must be destroyed. DXP_ENOMEM, DXP_EIO
 * (logged), DXP_EINVAL. */
int arena_create(uint64_t bytes, struct arena **out);
void arena_destroy(struct arena *a);

/* Releases mapping and file, for memory on a device. The arena then only allocates addresses, and
 * arena_base must not be called. The tail stays. */
void arena_unmap(struct arena *a);
/* Returns the WORKER_TAIL_BYTES of host memory behind the last address. */
uint8_t *arena_tail(const struct arena *a);

/* Makes allocations separate. They are whole pages, so that no page has two owners when other
 * processes map them, and freeing leaves no bytes. Call before the first allocation. */
void arena_separate(struct arena *a);
/* Returns the memfd. WORKER_TAIL_BYTES more, zero at first, follow the memory at arena_bytes(), in
 * the same mapping and file. */
int arena_fd(const struct arena *a);

uint8_t *arena_base(const struct arena *a);
uint64_t arena_bytes(const struct arena *a);
uint64_t arena_free_bytes(const struct arena *a);
/* Returns the bytes that an allocation of `bytes` occupies. */
uint64_t arena_rounded(const struct arena *a, uint64_t bytes);
/* Counts an owner's allocations, including those freed but still held. */
uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner);

/* Allocates the low end of the smallest free block that fits. Does not clear the memory: call
 * arena_clear before any access. The number of allocations has no bound; each costs 200 bytes of
 * this process. DXP_EINVAL: 0 bytes. DXP_ENOMEM: no such block, or no process memory. */
int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address);
void arena_clear(struct arena *a, uint64_t address, uint64_t bytes);
/* Clears whole pages, and returns them to the system. */
void arena_discard(struct arena *a, uint64_t address, uint64_t bytes);

/* Frees the allocation at `address`. DXP_ENOENT: not an allocation of the owner. */
int arena_free(struct arena *a, uint32_t owner, uint64_t address);
void arena_free_owner(struct arena *a, uint32_t owner);

/* Finds the owner's first allocation at or after *address that is not freed. False: none. */
bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes);

/* Holds the owner's allocation that contains [address, address + bytes). *rest (may be NULL): bytes
 * from `address` to the end that arena_alloc was called with, 1 or more. DXP_ERANGE: none. */
int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest);
/* Drops one hold. `address` was passed to arena_hold. */
void arena_drop(struct arena *a, uint64_t address);

/* Checks the owner's access to [address, address + bytes), a non-empty range of the arena. DXP_OK:
 * *out is an accessible range around it, until *arena_epoch() changes. In a separate arena, *out is
 * allocated as a whole or unallocated as a whole. DXP_EACCESS: part of it is neither the owner's
 * nor (with `common`) unallocated. DXP_EAGAIN: *out, an unallocated part of it, must be cleared
 * first. */
int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out);
bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes);
const uint64_t *arena_epoch(const struct arena *a);
/* Changes the epoch, because access by others has changed. */
void arena_access_changed(struct arena *a);
/* Marks unallocated bytes as cleared. */
void arena_cleared(struct arena *a, uint64_t start, uint64_t end);

#endif
