/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of one xPU: one shared mapping of a memfd, divided into allocations with owners.
 * NIC and kernels access it in place. Addresses are offsets in the arena, multiples of XPU_ALIGN.
 *
 * In a separate arena, each tenant's allocations are in memory of their own, at the same addresses
 * (tenant_memory.h). The arena's own memory then holds only unallocated addresses.
 *
 * A kernel or transfer holds its allocation. If the allocation is freed before, its memory is
 * reused after the last holder drops it. Invariant: blocks cover the arena without gaps, in address
 * order; no two free blocks are neighbours. Not thread-safe; any thread may access the bytes.
 *
 * Only its owner can access an allocation; all owners can access unallocated memory. Bytes of a
 * freed allocation are cleared before anyone can access them again. */
#ifndef XPU_ARENA_H
#define XPU_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct arena;

/* Creates an arena. Rounds `bytes` up to whole pages. On success *out must be destroyed.
 * DXP_ENOMEM: out of memory. DXP_EIO: no memfd, logged. DXP_EINVAL: `bytes` is out of range. */
int arena_create(uint64_t bytes, struct arena **out);
void arena_destroy(struct arena *a);

/* Releases mapping and file of the arena, for memory on a device. The arena then only allocates
 * addresses, and arena_base must not be called. The memory of arena_tail stays. */
void arena_unmap(struct arena *a);
/* Returns the tail: WORKER_TAIL_BYTES of host memory behind the last address. */
uint8_t *arena_tail(const struct arena *a);

/* Makes allocations separate. They are whole pages, so that no page has two owners when other
 * processes map it. Freeing one leaves no bytes. Call this before the first allocation. */
void arena_separate(struct arena *a);
/* Returns the memfd. In mapping and file, the tail of WORKER_TAIL_BYTES follows the arena at offset
 * arena_bytes(); it is zero at first. */
int arena_fd(const struct arena *a);

uint8_t *arena_base(const struct arena *a);
uint64_t arena_bytes(const struct arena *a);
uint64_t arena_free_bytes(const struct arena *a);
/* Returns the number of bytes that an allocation of `bytes` occupies. */
uint64_t arena_rounded(const struct arena *a, uint64_t bytes);
/* Returns the bytes of an owner's allocations, including allocations that are freed but still
 * held. */
uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner);

/* Allocates the low end of the smallest free block that is large enough. Does not clear the memory:
 * call arena_clear before any access. The number of allocations has no bound; each costs 200 bytes
 * of this process. DXP_EINVAL: 0 bytes. DXP_ENOMEM: no such block, or no process memory. */
int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address);
void arena_clear(struct arena *a, uint64_t address, uint64_t bytes);
/* Clears whole pages, and returns their memory to the system if the system permits it. */
void arena_discard(struct arena *a, uint64_t address, uint64_t bytes);

/* Frees the allocation at `address`. DXP_ENOENT: not an allocation of the owner. */
int arena_free(struct arena *a, uint32_t owner, uint64_t address);
void arena_free_owner(struct arena *a, uint32_t owner);

/* Finds the first allocation of the owner, at or after *address, that is not freed. False: there is
 * none. */
bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes);

/* Holds the owner's allocation that contains [address, address + bytes). *rest is the number of
 * bytes from `address` to the end of the size that was requested, 1 or more; `rest` may be NULL.
 * DXP_ERANGE: no such allocation. */
int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest);
/* Drops one hold. `address` was passed to arena_hold. */
void arena_drop(struct arena *a, uint64_t address);

/* Checks the owner's access to [address, address + bytes), a non-empty range of the arena. DXP_OK:
 * *out is an accessible range that contains it, until *arena_epoch() changes. In a separate arena,
 * *out is allocated as a whole or unallocated as a whole. DXP_EACCESS: a part is not the owner's;
 * unallocated parts are permitted with `common`. DXP_EAGAIN: *out is an unallocated part that must
 * be cleared first. */
int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out);
bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes);
const uint64_t *arena_epoch(const struct arena *a);
/* Changes the epoch, because other code has changed who may access the memory. */
void arena_access_changed(struct arena *a);
/* Marks unallocated bytes as cleared. */
void arena_cleared(struct arena *a, uint64_t start, uint64_t end);

#endif
