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
#include "base/log.h"
#include "base/rng.h"
#include "base/tree.h"
#include "base/util.h"
#include "worker/limits.h"
#include "xpu/limits.h"

/* blocks on each side that an arena_reach result may cover, to save calls */
#define RUN_BLOCKS 64

struct block {
	struct tree_node by_address;
	struct tree_node by_bytes; /* free blocks only; by bytes, then address */
	struct block *before, *behind;
	uint64_t address, bytes;
	uint64_t requested; /* at most `bytes`; valid if `used` */
	uint32_t holders;
	bool used;  /* allocated, or freed but still held */
	bool freed; /* becomes free with its last holder */
	struct owner *owner;
	struct block *owner_next, **owner_link; /* the owner's blocks */
};

/* Exists while the owner has a block. */
struct owner {
	struct tree_node node;
	uint64_t bytes;
	struct block *blocks;
};

struct arena {
	uint8_t *base, *tail; /* tail: WORKER_TAIL_BYTES behind the arena */
	uint64_t bytes, free_bytes;
	uint64_t unit; /* bytes; allocations are multiples of it */
	bool separate;
	int fd;
	struct block *first;
	struct tree by_address, by_bytes, owners;
	/* free, not cleared bytes; meaningless inside present allocations */
	struct ranges stale;
	bool all_stale; /* no memory for `stale`: no free byte may be accessed */
	/* grows when arena_reach may return something else */
	uint64_t epoch;
};

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static int memory_map(struct arena *a)
{
	a->fd = descriptor_memory("dxp-arena", a->bytes + WORKER_TAIL_BYTES);
	if (a->fd < 0) {
		log_error("cannot create %llu MiB of device memory: %s; use a smaller --memory",
			  (unsigned long long)(a->bytes >> 20), strerror(errno));
		return DXP_EIO;
	}
	void *base = mmap(NULL, a->bytes + WORKER_TAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			  a->fd, 0);
	if (base == MAP_FAILED) {
		log_error("cannot map %llu MiB of device memory: %s; use a smaller --memory",
			  (unsigned long long)(a->bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	a->base = base;
	a->tail = a->base + a->bytes;
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
	a->first = calloc(1, sizeof(*a->first));
	int status = a->first ? memory_map(a) : DXP_ENOMEM;
	if (status != DXP_OK) {
		arena_destroy(a);
		return status;
	}
	rng_entropy_kernel(NULL, &a->by_address.random, sizeof(a->by_address.random));
	rng_entropy_kernel(NULL, &a->by_bytes.random, sizeof(a->by_bytes.random));
	rng_entropy_kernel(NULL, &a->owners.random, sizeof(a->owners.random));
	a->first->bytes = a->bytes;
	tree_insert(&a->by_address, &a->first->by_address, 0, 0);
	tree_insert(&a->by_bytes, &a->first->by_bytes, a->bytes, 0);
	*out = a;
	return DXP_OK;
}

static struct owner *owner_find(const struct arena *a, uint32_t number)
{
	struct tree_node *n = tree_floor(&a->owners, number, 0);

	return n && n->key == number ? CONTAINER_OF(n, struct owner, node) : NULL;
}

/* NULL: out of memory. */
static struct owner *owner_ensure(struct arena *a, uint32_t number)
{
	struct owner *o = owner_find(a, number);

	if (o || !(o = calloc(1, sizeof(*o))))
		return o;
	tree_insert(&a->owners, &o->node, number, 0);
	return o;
}

static void owner_release(struct arena *a, struct owner *o)
{
	if (o->blocks)
		return;
	tree_remove(&a->owners, &o->node);
	free(o);
}

static void owner_enter(struct owner *o, struct block *b)
{
	b->owner = o;
	b->owner_next = o->blocks;
	b->owner_link = &o->blocks;
	if (o->blocks)
		o->blocks->owner_link = &b->owner_next;
	o->blocks = b;
	o->bytes += b->bytes;
}

static void owner_leave(struct arena *a, struct block *b)
{
	struct owner *o = b->owner;

	*b->owner_link = b->owner_next;
	if (b->owner_next)
		b->owner_next->owner_link = b->owner_link;
	o->bytes -= b->bytes;
	b->owner = NULL;
	owner_release(a, o);
}

static bool owned_by(const struct block *b, uint32_t owner)
{
	return b->owner && b->owner->node.key == owner;
}

void arena_unmap(struct arena *a)
{
	if (a->base)
		munmap(a->base, a->bytes);
	if (a->fd >= 0)
		close(a->fd);
	a->base = NULL;
	a->fd = -1;
}

uint8_t *arena_tail(const struct arena *a)
{
	return a->tail;
}

void arena_destroy(struct arena *a)
{
	if (!a)
		return;
	arena_unmap(a);
	if (a->tail)
		munmap(a->tail, WORKER_TAIL_BYTES);
	ranges_free(&a->stale);
	for (struct block *b = a->first, *next; b; b = next) {
		next = b->behind;
		if (b->owner)
			owner_leave(a, b);
		free(b);
	}
	free(a);
}

void arena_separate(struct arena *a)
{
	a->separate = true;
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

static struct block *block_at(const struct arena *a, uint64_t address)
{
	return CONTAINER_OF(tree_floor(&a->by_address, address, 0), struct block, by_address);
}

/* Returns the lowest of the smallest free blocks with `bytes`. */
static struct block *best_fit(const struct arena *a, uint64_t bytes)
{
	struct tree_node *n = tree_ceiling(&a->by_bytes, bytes, 0);

	return n ? CONTAINER_OF(n, struct block, by_bytes) : NULL;
}

uint64_t arena_owned_bytes(const struct arena *a, uint32_t owner)
{
	const struct owner *o = owner_find(a, owner);

	return o ? o->bytes : 0;
}

/* Cuts a block, which is not in `by_bytes`; the remainder becomes the free block `rest`. */
static void block_cut(struct arena *a, struct block *b, uint64_t bytes, struct block *rest)
{
	*rest = (struct block){.address = b->address + bytes,
			       .bytes = b->bytes - bytes,
			       .before = b,
			       .behind = b->behind};
	if (rest->behind)
		rest->behind->before = rest;
	b->behind = rest;
	b->bytes = bytes;
	tree_insert(&a->by_address, &rest->by_address, rest->address, 0);
	tree_insert(&a->by_bytes, &rest->by_bytes, rest->bytes, rest->address);
}

/* `rest` becomes the block of the remainder, or is freed. */
static uint64_t block_allocate(struct arena *a, struct block *b, uint64_t bytes, struct owner *o,
			       struct block *rest)
{
	tree_remove(&a->by_bytes, &b->by_bytes);
	if (b->bytes > bytes)
		block_cut(a, b, bytes, rest);
	else
		free(rest);
	b->used = true;
	owner_enter(o, b);
	a->epoch++;
	a->free_bytes -= bytes;
	return b->address;
}

int arena_alloc(struct arena *a, uint32_t owner, uint64_t bytes, uint64_t *address)
{
	if (bytes == 0)
		return DXP_EINVAL;
	if (bytes > a->bytes)
		return DXP_ENOMEM;
	const uint64_t requested = bytes;
	bytes = round_up(bytes, a->unit);
	struct block *b = best_fit(a, bytes);
	if (!b)
		return DXP_ENOMEM;
	struct block *rest = malloc(sizeof(*rest));
	struct owner *o = owner_ensure(a, owner);
	if (!rest || !o) {
		free(rest);
		if (o)
			owner_release(a, o);
		return DXP_ENOMEM;
	}
	*address = block_allocate(a, b, bytes, o, rest);
	b->requested = requested;
	return DXP_OK;
}

void arena_clear(struct arena *a, uint64_t address, uint64_t bytes)
{
	assert(a->base && address <= a->bytes && bytes <= a->bytes - address);
	memset(a->base + address, 0, bytes);
}

void arena_discard(struct arena *a, uint64_t address, uint64_t bytes)
{
	if (!descriptor_discard(a->fd, address, bytes))
		arena_clear(a, address, bytes);
}

static void block_join(struct arena *a, struct block *b)
{
	struct block *gone = b->behind;

	tree_remove(&a->by_address, &gone->by_address);
	tree_remove(&a->by_bytes, &gone->by_bytes);
	b->bytes += gone->bytes;
	b->behind = gone->behind;
	if (b->behind)
		b->behind->before = b;
	free(gone);
}

static void block_release(struct arena *a, struct block *b)
{
	a->free_bytes += b->bytes;
	if (!a->separate)
		a->all_stale |= !ranges_add(&a->stale, b->address, b->address + b->bytes);
	owner_leave(a, b);
	b->used = b->freed = false;
	if (b->behind && !b->behind->used)
		block_join(a, b);
	if (b->before && !b->before->used) {
		struct block *before = b->before;
		/* block_join() removes b from `by_bytes`. */
		tree_insert(&a->by_bytes, &b->by_bytes, b->bytes, b->address);
		tree_remove(&a->by_bytes, &before->by_bytes);
		block_join(a, before);
		b = before;
	}
	tree_insert(&a->by_bytes, &b->by_bytes, b->bytes, b->address);
}

static void block_free(struct arena *a, struct block *b)
{
	b->freed = true;
	a->epoch++;
	if (b->holders == 0)
		block_release(a, b);
}

int arena_free(struct arena *a, uint32_t owner, uint64_t address)
{
	struct block *b = block_at(a, address);

	if (b->address != address || !b->used || b->freed || !owned_by(b, owner))
		return DXP_ENOENT;
	block_free(a, b);
	return DXP_OK;
}

void arena_free_owner(struct arena *a, uint32_t owner)
{
	const struct owner *o = owner_find(a, owner);

	/* A freed block may merge with a free neighbour, never with one of this list. The last one
	 * also frees the owner. */
	for (struct block *b = o ? o->blocks : NULL, *next; b; b = next) {
		next = b->owner_next;
		if (!b->freed)
			block_free(a, b);
	}
}

bool arena_next(const struct arena *a, uint32_t owner, uint64_t *address, uint64_t *bytes)
{
	for (const struct block *b = block_at(a, *address); b; b = b->behind) {
		if (b->address < *address || !b->used || b->freed || !owned_by(b, owner))
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
	struct block *b = block_at(a, address);
	const uint64_t offset = address - b->address;

	if (!b->used || b->freed || !owned_by(b, owner) || bytes > b->bytes - offset)
		return DXP_ERANGE;
	if (rest && offset >= b->requested)
		return DXP_ERANGE;
	b->holders++;
	if (rest)
		*rest = b->requested - offset;
	return DXP_OK;
}

void arena_drop(struct arena *a, uint64_t address)
{
	struct block *b = block_at(a, address);

	assert(b->used && b->holders > 0);
	b->holders--;
	if (b->freed && b->holders == 0)
		block_release(a, b);
}

static bool reached(const struct block *b, uint32_t owner, bool common)
{
	return b->used ? !b->freed && owned_by(b, owner) : common;
}

static bool joins(const struct arena *a, const struct block *b, const struct block *c)
{
	return !a->separate || b->used == c->used;
}

/* Accessible blocks around b: RUN_BLOCKS on each side, and all up to `end`. */
static struct range run_of(const struct arena *a, const struct block *b, uint32_t owner,
			   bool common, uint64_t end)
{
	const struct block *first = b, *last = b;

	for (int i = 0; i < RUN_BLOCKS && first->before && joins(a, b, first->before) &&
			reached(first->before, owner, common);
	     i++)
		first = first->before;
	for (int i = 0; (i < RUN_BLOCKS || last->address + last->bytes < end) && last->behind &&
			joins(a, b, last->behind) && reached(last->behind, owner, common);
	     i++)
		last = last->behind;
	return (struct range){first->address, last->address + last->bytes};
}

/* Finds the first part of [start, end) that is free and not cleared. False: none; *run is then
 * reduced to cleared bytes around [start, end). */
static bool stale_find(const struct arena *a, uint64_t start, uint64_t end, struct range *run)
{
	for (const struct block *b = block_at(a, run->start); b; b = b->behind) {
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
	const struct block *b = block_at(a, address);

	common = common && !a->all_stale;
	if (!reached(b, owner, common))
		return DXP_EACCESS;
	uint64_t end = address + min_u64(bytes, a->bytes - address);
	struct range run = run_of(a, b, owner, common, end);
	if (bytes > run.end - address)
		return DXP_EACCESS;
	bool stale = stale_find(a, address, address + bytes, &run);
	*out = run;
	return stale ? DXP_EAGAIN : DXP_OK;
}

bool arena_is_free(const struct arena *a, uint64_t address, uint64_t bytes)
{
	const struct block *b = block_at(a, address);

	return !b->used && bytes <= b->bytes - (address - b->address);
}

const uint64_t *arena_epoch(const struct arena *a)
{
	return &a->epoch;
}

void arena_access_changed(struct arena *a)
{
	a->epoch++;
}

void arena_cleared(struct arena *a, uint64_t start, uint64_t end)
{
	/* Without memory, the range stays and is cleared again later. */
	ranges_remove(&a->stale, start, end);
}
