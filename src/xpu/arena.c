/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/arena.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/util.h"

#define BLOCKS_FIRST 64

struct block {
	uint64_t address, bytes;
	uint32_t holders;
	uint32_t owner;
	bool used;  /* allocated, or still held after it was freed */
	bool freed; /* goes back when the last holder drops it */
};

struct arena {
	uint8_t *base;
	uint64_t bytes, free_bytes;
	uint64_t unit; /* what is handed out is a multiple of it */
	int fd;
	struct block *blocks; /* ordered by address */
	uint32_t count, room;
	struct ranges stale; /* what allocations left behind; void where one is now */
	bool all_stale;      /* it could not be kept which: none that is free is reached any more */
	uint64_t epoch;      /* of arena_reach */
};

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static int memory_map(struct arena *a)
{
	a->fd = descriptor_raise(memfd_create("dxp-arena", MFD_CLOEXEC));
	if (a->fd < 0 || ftruncate(a->fd, (off_t)(a->bytes + XPU_TAIL_BYTES)) != 0) {
		log_error("cannot make %llu MiB of device memory: %s; use a smaller --memory",
			  (unsigned long long)(a->bytes >> 20), strerror(errno));
		return DXP_EIO;
	}
	void *base =
		mmap(NULL, a->bytes + XPU_TAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (base == MAP_FAILED) {
		log_error("cannot map %llu MiB of device memory: %s; use a smaller --memory",
			  (unsigned long long)(a->bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	a->base = base;
	return DXP_OK;
}

int arena_create(uint64_t bytes, struct arena **out)
{
	if (bytes == 0 || bytes > XPU_MEMORY_MAX)
		return DXP_EINVAL;
	struct arena *a = calloc(1, sizeof(*a));
	if (!a)
		return DXP_ENOMEM;
	a->fd = -1;
	a->unit = XPU_ALIGN;
	a->bytes = a->free_bytes = round_up(bytes, (uint64_t)sysconf(_SC_PAGESIZE));
	a->blocks = calloc(BLOCKS_FIRST, sizeof(*a->blocks));
	int status = a->blocks ? memory_map(a) : DXP_ENOMEM;
	if (status != DXP_OK) {
		arena_destroy(a);
		return status;
	}
	a->room = BLOCKS_FIRST;
	a->blocks[0] = (struct block){.bytes = a->bytes};
	a->count = 1;
	*out = a;
	return DXP_OK;
}

void arena_unmap(struct arena *a)
{
	if (a->base)
		munmap(a->base, a->bytes + XPU_TAIL_BYTES);
	if (a->fd >= 0)
		close(a->fd);
	a->base = NULL;
	a->fd = -1;
}

void arena_destroy(struct arena *a)
{
	if (!a)
		return;
	arena_unmap(a);
	ranges_free(&a->stale);
	free(a->blocks);
	free(a);
}

void arena_whole_pages(struct arena *a)
{
	a->unit = (uint64_t)sysconf(_SC_PAGESIZE);
}

int arena_fd(const struct arena *a)
{
	return a->fd;
}

uint8_t *arena_base(const struct arena *a)
{
	assert(a->base);
	return a->base;
}

uint64_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}

uint64_t arena_free_bytes(const struct arena *a)
{
	return a->free_bytes;
}

uint64_t arena_rounded(const struct arena *a, uint64_t bytes)
{
	return round_up(bytes, a->unit);
}

/* The block in which `address` lies; it must be in the arena. */
static uint32_t block_at(const struct arena *a, uint64_t address)
{
	uint32_t low = 0, high = a->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (a->blocks[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Index of the smallest free block of at least `bytes`, or `count`. */
static uint32_t best_fit(const struct arena *a, uint64_t bytes)
{
	uint32_t best = a->count;

	for (uint32_t i = 0; i < a->count; i++) {
		const struct block *b = &a->blocks[i];
		if (!b->used && b->bytes >= bytes &&
		    (best == a->count || b->bytes < a->blocks[best].bytes))
			best = i;
	}
	return best;
}

static uint32_t owned_count(const struct arena *a, uint32_t owner)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < a->count; i++)
		count += a->blocks[i].used && a->blocks[i].owner == owner;
	return count;
}

uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < a->count; i++)
		if (a->blocks[i].used && a->blocks[i].owner == owner)
			bytes += a->blocks[i].bytes;
	return bytes;
}

static bool room_ensure(struct arena *a)
{
	if (a->count < a->room)
		return true;
	struct block *blocks = realloc(a->blocks, 2 * a->room * sizeof(*blocks));
	if (!blocks)
		return false;
	a->blocks = blocks;
	a->room *= 2;
	return true;
}

/* Cuts block i after `bytes`; the rest becomes a free block behind it. */
static void block_cut(struct arena *a, uint32_t i, uint64_t bytes)
{
	struct block *b = &a->blocks[i];

	if (b->bytes == bytes)
		return;
	memmove(b + 2, b + 1, (a->count - i - 1) * sizeof(*b));
	b[1] = (struct block){.address = b->address + bytes, .bytes = b->bytes - bytes};
	b->bytes = bytes;
	a->count++;
}

int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address)
{
	if (bytes == 0)
		return DXP_EINVAL;
	if (bytes > a->bytes)
		return DXP_ENOMEM;
	if (owned_count(a, owner) >= XPU_ALLOCATIONS_MAX)
		return DXP_EAGAIN;
	bytes = round_up(bytes, a->unit);
	if (!room_ensure(a))
		return DXP_ENOMEM;
	uint32_t i = best_fit(a, bytes);
	if (i == a->count)
		return DXP_ENOMEM;
	block_cut(a, i, bytes);
	a->blocks[i].used = true;
	a->blocks[i].owner = owner;
	a->epoch++;
	a->free_bytes -= bytes;
	*address = a->blocks[i].address;
	return DXP_OK;
}

void arena_clear(struct arena *a, uint64_t address, uint64_t bytes)
{
	assert(a->base && address <= a->bytes && bytes <= a->bytes - address);
	memset(a->base + address, 0, bytes);
}

/* Block i + 1 becomes part of block i. */
static void block_join(struct arena *a, uint32_t i)
{
	struct block *b = &a->blocks[i];

	b->bytes += b[1].bytes;
	memmove(b + 1, b + 2, (a->count - i - 2) * sizeof(*b));
	a->count--;
}

static void block_release(struct arena *a, uint32_t i)
{
	struct block *b = &a->blocks[i];

	a->free_bytes += b->bytes;
	a->all_stale |= !ranges_add(&a->stale, b->address, b->address + b->bytes);
	*b = (struct block){.address = b->address, .bytes = b->bytes};
	if (i + 1 < a->count && !b[1].used)
		block_join(a, i);
	if (i > 0 && !b[-1].used)
		block_join(a, i - 1);
}

/* True when the block went back at once, so that its neighbours moved. */
static bool block_free(struct arena *a, uint32_t i)
{
	a->blocks[i].freed = true;
	a->epoch++;
	if (a->blocks[i].holders > 0)
		return false;
	block_release(a, i);
	return true;
}

int arena_free(struct arena *a, uint32_t owner, uint64_t address)
{
	uint32_t i = block_at(a, address);
	const struct block *b = &a->blocks[i];

	if (b->address != address || !b->used || b->freed || b->owner != owner)
		return DXP_ENOENT;
	block_free(a, i);
	return DXP_OK;
}

void arena_free_owner(struct arena *a, uint32_t owner)
{
	uint32_t i = 0;

	while (i < a->count) {
		const struct block *b = &a->blocks[i];
		bool moved = b->used && !b->freed && b->owner == owner && block_free(a, i);
		/* A released block may have joined the one before it: what follows has moved to i
		 * or i + 1. */
		i = moved && i > 0 ? i : i + 1;
	}
}

bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct block *b = &a->blocks[i];
		if (b->address < *address || !b->used || b->freed || b->owner != owner)
			continue;
		*address = b->address;
		*bytes = b->bytes;
		return true;
	}
	return false;
}

int arena_hold(struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes, uint64_t *rest)
{
	if (address >= a->bytes)
		return DXP_ERANGE;
	struct block *b = &a->blocks[block_at(a, address)];
	uint64_t left = b->bytes - (address - b->address);

	if (!b->used || b->freed || b->owner != owner || bytes > left)
		return DXP_ERANGE;
	b->holders++;
	if (rest)
		*rest = left;
	return DXP_OK;
}

void arena_drop(struct arena *a, uint64_t address)
{
	uint32_t i = block_at(a, address);
	struct block *b = &a->blocks[i];

	assert(b->used && b->holders > 0);
	b->holders--;
	if (b->freed && b->holders == 0)
		block_release(a, i);
}

static bool reached(const struct block *b, uint32_t owner, bool common)
{
	return b->used ? !b->freed && b->owner == owner : common;
}

/* All blocks around block i that may be reached. */
static struct range run_of(const struct arena *a, uint32_t i, uint32_t owner, bool common)
{
	uint32_t first = i, last = i;

	while (first > 0 && reached(&a->blocks[first - 1], owner, common))
		first--;
	while (last + 1 < a->count && reached(&a->blocks[last + 1], owner, common))
		last++;
	return (struct range){a->blocks[first].address,
			      a->blocks[last].address + a->blocks[last].bytes};
}

/* The first part of [start, end) that is free and not cleared, and all of *run if there is none:
 * then *run is cut down to what is clean. */
static bool stale_find(const struct arena *a, uint64_t start, uint64_t end, struct range *run)
{
	for (uint32_t i = block_at(a, run->start); i < a->count; i++) {
		const struct block *b = &a->blocks[i];
		struct range free = {b->address, b->address + b->bytes}, dirty;
		if (b->address >= run->end)
			break;
		while (!b->used && ranges_next(&a->stale, free.start, free.end, &dirty)) {
			free.start = dirty.end;
			if (dirty.end <= start) {
				run->start = dirty.end;
			} else if (dirty.start >= end) {
				run->end = dirty.start;
				return false;
			} else {
				*run = (struct range){max_u64(dirty.start, start),
						      min_u64(dirty.end, end)};
				return true;
			}
		}
	}
	return false;
}

int arena_reach(const struct arena *a, uint32_t owner, bool common, uint64_t address,
		uint64_t bytes, struct range *out)
{
	uint32_t i = block_at(a, address);

	common = common && !a->all_stale;
	if (!reached(&a->blocks[i], owner, common))
		return DXP_EACCESS;
	struct range run = run_of(a, i, owner, common);
	if (bytes > run.end - address)
		return DXP_EACCESS;
	bool stale = stale_find(a, address, address + bytes, &run);
	*out = run;
	return stale ? DXP_EAGAIN : DXP_OK;
}

bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes)
{
	const struct block *b = &a->blocks[block_at(a, address)];

	return !b->used && bytes <= b->bytes - (address - b->address);
}

const uint64_t *arena_epoch(const struct arena *a)
{
	return &a->epoch;
}

void arena_cleared(struct arena *a, uint64_t start, uint64_t end)
{
	/* Without memory it is cleared once more. */
	ranges_remove(&a->stale, start, end);
}
