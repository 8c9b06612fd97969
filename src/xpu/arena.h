/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of one xPU: one shared mapping of a memfd, and who owns which part of it. NIC and
 * kernels work in it in place. Addresses are offsets in it, multiples of XPU_ALIGN.
 *
 * Holding: whoever works on a range (a kernel, a transfer) holds its allocation; one that is freed
 * meanwhile is given out again only when the last holder has dropped it. Invariant: blocks cover
 * the arena without gaps, in order of address; no two free ones are neighbours. Not thread-safe,
 * but the bytes are anybody's.
 *
 * Reaching: an allocation is its owner's alone. What nobody has allocated is everybody's who may
 * have such memory; what an owner left there when it was freed is nobody's, so it is cleared before
 * anybody reaches it again. */
#ifndef XPU_ARENA_H
#define XPU_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct arena;

/* `bytes` is rounded up to whole pages. On success *out must be destroyed. DXP_ENOMEM, DXP_EIO
 * (logged), DXP_EINVAL. */
int arena_create(uint64_t bytes, struct arena **out);
void arena_destroy(struct arena *a);

/* The memory is elsewhere, and only its parts are handed out here: nobody may ask for its base. */
void arena_unmap(struct arena *a);

/* For other processes, that map parts of it: from now on what is handed out begins and ends with
 * pages, so that no page has two owners. Before anything is handed out. */
void arena_whole_pages(struct arena *a);
/* Behind the memory that is handed out lie XPU_TAIL_BYTES more, zero at first, at
 * arena_bytes() under the same base and in the same file. */
int arena_fd(const struct arena *a);

uint8_t *arena_base(const struct arena *a);
uint64_t arena_bytes(const struct arena *a);
uint64_t arena_free_bytes(const struct arena *a);
/* What an allocation of so many bytes takes. */
uint64_t arena_rounded(const struct arena *a, uint64_t bytes);
/* Of an owner's allocations, with those that are freed and still held. */
uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner);

/* The smallest free block that fits, at its low end. The bytes are not cleared: arena_clear before
 * anybody sees them. DXP_EINVAL: 0 bytes; DXP_ENOMEM: no block is large enough. An owner may
 * have any number; each takes 200 bytes of this process. */
int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address);
void arena_clear(struct arena *a, uint64_t address, uint64_t bytes);

/* `address` is what arena_alloc gave. DXP_ENOENT: the owner has no such allocation. */
int arena_free(struct arena *a, uint32_t owner, uint64_t address);
void arena_free_owner(struct arena *a, uint32_t owner);

/* The owner's first allocation at or behind *address that is not freed; false: there is none. */
bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes);

/* Holds the owner's allocation in which all of [address, address + bytes) lies. *rest, which may be
 * NULL, is what it has from `address` on. DXP_ERANGE: there is none. */
int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest);
/* `address` is one that was held. */
void arena_drop(struct arena *a, uint64_t address);

/* May the owner reach [address, address + bytes), which lie in the arena and are not none? DXP_OK:
 * *out, around them, until *arena_epoch() is another. DXP_EACCESS: not all of that is its
 * own, or, if `common`, nobody's. DXP_EAGAIN: *out, a part of it that is nobody's, is to be cleared
 * before. */
int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out);
bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes);
const uint64_t *arena_epoch(const struct arena *a);
/* These bytes, which are nobody's, have been cleared. */
void arena_cleared(struct arena *a, uint64_t start, uint64_t end);

#endif
