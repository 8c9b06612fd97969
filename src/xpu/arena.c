/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/arena.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/limits.h"
#include "base/log.h"

#define BLOCKS_FIRST 64
#define SCRUB_BYTES  65536u /* from here on giving pages back is cheaper than writing them */

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
	uint64_t unit;    /* what is handed out is a multiple of it */
	uint64_t limit;   /* of each owner; 0: none */
	uint64_t changes; /* of who owns what: each counts */
	int fd;
	struct block *blocks; /* ordered by address */
	uint32_t count, room;
};

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static int memory_map(struct arena *a)
{
	a->fd = memfd_create("dxp-arena", MFD_CLOEXEC);
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
	a->changes = 1;
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

void arena_limit(struct arena *a, uint64_t owner_bytes)
{
	a->limit = owner_bytes;
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

static uint32_t owned_count(const struct arena *a, uint32_t owner, uint64_t *bytes)
{
	uint32_t count = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct block *b = &a->blocks[i];
		if (!b->used || b->owner != owner)
			continue;
		count++;
		*bytes += b->bytes;
	}
	return count;
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
	uint64_t owned;

	if (bytes == 0)
		return DXP_EINVAL;
	if (bytes > a->bytes)
		return DXP_ENOMEM;
	if (owned_count(a, owner, &owned) >= XPU_ALLOCATIONS_MAX)
		return DXP_EAGAIN;
	bytes = round_up(bytes, a->unit);
	if (a->limit && (owned > a->limit || bytes > a->limit - owned))
		return DXP_ENOMEM;
	if (!room_ensure(a))
		return DXP_ENOMEM;
	uint32_t i = best_fit(a, bytes);
	if (i == a->count)
		return DXP_ENOMEM;
	block_cut(a, i, bytes);
	a->changes++;
	a->blocks[i].used = true;
	a->blocks[i].owner = owner;
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

/* Whole pages go back to the system and read as zeros; what is left over is written. */
static void scrub(struct arena *a, uint64_t address, uint64_t bytes)
{
	const uint64_t page = 4096;
	uint64_t from = round_up(address, page), to = (address + bytes) / page * page;

	if (!a->base)
		return;
	if (bytes < SCRUB_BYTES || fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					     (off_t)from, (off_t)(to - from)) != 0) {
		memset(a->base + address, 0, bytes);
		return;
	}
	memset(a->base + address, 0, from - address);
	memset(a->base + to, 0, address + bytes - to);
}

static void block_release(struct arena *a, uint32_t i)
{
	struct block *b = &a->blocks[i];

	a->changes++;
	scrub(a, b->address, b->bytes);
	a->free_bytes += b->bytes;
	*b = (struct block){.address = b->address, .bytes = b->bytes};
	if (i + 1 < a->count && !b[1].used)
		block_join(a, i);
	if (i > 0 && !b[-1].used)
		block_join(a, i - 1);
}

/* True when the block went back at once, so that its neighbours moved. */
static bool block_free(struct arena *a, uint32_t i)
{
	a->changes++;
	a->blocks[i].freed = true;
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

bool arena_open(const struct arena *a, uint32_t owner, uint64_t address, uint64_t bytes,
		struct arena_view *view)
{
	if (view->changes != a->changes)
		*view = (struct arena_view){.changes = a->changes};
	if (address >= view->from && address < view->to)
		return bytes <= view->to - address;
	if (address >= a->bytes)
		return false;
	const struct block *b = &a->blocks[block_at(a, address)];
	if (b->used && (b->freed || b->owner != owner))
		return false;
	view->from = b->address;
	view->to = b->address + b->bytes;
	return bytes <= view->to - address;
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
