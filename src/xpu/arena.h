/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of one xPU: one shared mapping of a memfd, divided into allocations with owners.
 * The NIC and kernels work in it in place. An address is an offset in the mapping, a multiple of
 * XPU_ALIGN.
 *
 * Holders: a kernel or transfer holds the allocation that it works on. An allocation freed
 * meanwhile is reused only after its last holder drops it. Invariant: blocks cover the arena
 * without gaps, in address order; no two free blocks are neighbours. Not thread-safe, but any
 * thread may access the bytes.
 *
 * Access: only its owner reaches an allocation. Unallocated memory is common: every owner with
 * access to common memory reaches it. Bytes left behind by a freed allocation are cleared before
 * they become reachable again. */
#ifndef XPU_ARENA_H
#define XPU_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct arena;

/* Creates an arena of `bytes`, rounded up to whole pages. On success *out must be destroyed.
 * DXP_ENOMEM, DXP_EIO (logged), DXP_EINVAL. */
int arena_create(uint64_t bytes, struct arena **out);
void arena_destroy(struct arena *a);

/* Releases the mapping and its file. For memory on a device: the arena then only allocates
 * addresses, and arena_base must not be called. */
void arena_unmap(struct arena *a);

/* Makes later allocations begin and end at page boundaries, so that no page has two owners when
 * other processes map allocations. Call before the first allocation. */
void arena_whole_pages(struct arena *a);
/* Returns the memfd. XPU_TAIL_BYTES more, zero at first, follow the allocatable memory: at
 * arena_bytes(), in the same mapping and file. */
int arena_fd(const struct arena *a);

uint8_t *arena_base(const struct arena *a);
uint64_t arena_bytes(const struct arena *a);
uint64_t arena_free_bytes(const struct arena *a);
/* Returns the bytes that an allocation of `bytes` occupies. */
uint64_t arena_rounded(const struct arena *a, uint64_t bytes);
/* Returns the bytes of an owner's allocations, including those freed but still held. */
uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner);

/* Allocates from the low end of the smallest free block that fits. Does not clear the bytes:
 * call arena_clear before any access. The number of allocations has no bound; each costs 200
 * bytes of this process. DXP_EINVAL: 0 bytes. DXP_ENOMEM: no block is large enough, or this
 * process has no memory. */
int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address);
void arena_clear(struct arena *a, uint64_t address, uint64_t bytes);

/* Frees the allocation that begins at `address`. DXP_ENOENT: the owner has no such allocation. */
int arena_free(struct arena *a, uint32_t owner, uint64_t address);
void arena_free_owner(struct arena *a, uint32_t owner);

/* Finds the owner's first allocation at or after *address that is not freed; writes its address
 * and bytes. False: none. */
bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes);

/* Holds the owner's allocation that contains all of [address, address + bytes). *rest, unless
 * NULL, is the number of bytes from `address` to its end. DXP_ERANGE: no such allocation. */
int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest);
/* Drops one hold. `address` was passed to arena_hold. */
void arena_drop(struct arena *a, uint64_t address);

/* Checks whether the owner may access [address, address + bytes), a range of the arena that is not
 * empty.
 * DXP_OK: *out is a permitted range around it, valid until *arena_epoch() changes.
 * DXP_EACCESS: part of it is neither the owner's nor, with `common`, unallocated.
 * DXP_EAGAIN: *out is an unallocated part of it that must be cleared first. */
int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out);
bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes);
const uint64_t *arena_epoch(const struct arena *a);
/* Records that these unallocated bytes have been cleared. */
void arena_cleared(struct arena *a, uint64_t start, uint64_t end);

#endif
