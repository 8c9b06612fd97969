/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates device memory. A small range is a block in a larger part, so most buffers need no
 * message to the node. A large range is a part of its own. Unused parts are kept for reuse, up to a
 * bound, or until the node's memory is short. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/node/blocks.h"
#include "plugins/opencl/node/device.h"

#define PART_BYTES (4u << 20)
/* bytes; a range of at least this size gets a part of its own */
#define DIRECT_BYTES (1u << 20)
#define DIRECT_ROUND (64u << 10) /* bytes; the size of such a part is a multiple of this */
#define KEPT_BYTES   (64u << 20) /* bytes; limit for the unused parts of a device */

struct part {
	uint64_t address, bytes;
	/* direct: one large range; used: valid only if `direct` */
	bool direct, used;
	struct blocks blocks; /* valid only if `direct` is false */
};

struct heap {
	uint32_t generation; /* number of the connection that the parts belong to */
	struct part *parts;  /* sorted by address */
	uint32_t count, space;
	uint64_t kept; /* bytes of all unused parts */
};

static void part_end(struct part *p)
{
	if (!p->direct)
		blocks_destroy(&p->blocks);
}

/* Returns the heap of the current connection; allocations of earlier ones do not exist any more.
 * NULL: memory is short. */
static struct heap *current(cl_device_id d)
{
	if (!d->heap)
		d->heap = calloc(1, sizeof(struct heap));
	struct heap *h = d->heap;
	if (!h || h->generation == d->generation)
		return h;
	for (uint32_t i = 0; i < h->count; i++)
		part_end(&h->parts[i]);
	h->count = 0;
	h->kept = 0;
	h->generation = d->generation;
	return h;
}

static bool unused(const struct part *p)
{
	return p->direct ? !p->used : blocks_unused(&p->blocks);
}

static uint32_t index_of(const struct heap *h, uint64_t address)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (h->parts[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_space(struct heap *h)
{
	if (h->count < h->space)
		return true;
	uint32_t space = h->space ? h->space * 2 : 8;
	struct part *parts = realloc(h->parts, space * sizeof(*parts));
	if (!parts)
		return false;
	h->parts = parts;
	h->space = space;
	return true;
}

static void give_part(cl_device_id d, uint32_t index)
{
	struct heap *h = d->heap;
	struct part *p = &h->parts[index];
	uint64_t address = p->address;

	h->kept -= p->bytes;
	part_end(p);
	memmove(p, p + 1, (--h->count - index) * sizeof(*p));
	int status = dxp_mem_free(d->xpu, address);
	if (status != DXP_OK)
		device_judge(d, status);
}

static bool give_unused(cl_device_id d)
{
	uint32_t before = d->heap->count;

	for (uint32_t i = d->heap->count; i-- > 0 && d->xpu;)
		if (unused(&d->heap->parts[i]))
			give_part(d, i);
	return d->heap->count < before;
}

static cl_int space_request(cl_device_id d, uint64_t bytes, uint64_t *address)
{
	int status = dxp_mem_alloc(d->xpu, bytes, address);

	if (status == DXP_ENOMEM && give_unused(d) && d->xpu)
		status = dxp_mem_alloc(d->xpu, bytes, address);
	if (status == DXP_OK)
		return CL_SUCCESS;
	cl_int error = device_judge(d, status);
	return error == CL_DEVICE_NOT_AVAILABLE ? error : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static cl_int add_part(cl_device_id d, uint64_t bytes, bool direct, struct part **out)
{
	struct heap *h = d->heap;
	struct part p = {.bytes = bytes, .direct = direct};

	if (!make_space(h))
		return CL_OUT_OF_HOST_MEMORY;
	if (!direct && !blocks_create(&p.blocks, bytes))
		return CL_OUT_OF_HOST_MEMORY;
	uint32_t generation = d->generation;
	cl_int error = space_request(d, bytes, &p.address);
	if (error == CL_SUCCESS && d->generation != generation)
		error = CL_DEVICE_NOT_AVAILABLE;
	if (error != CL_SUCCESS) {
		part_end(&p);
		return error;
	}
	uint32_t at = index_of(h, p.address);
	memmove(&h->parts[at + 1], &h->parts[at], (h->count++ - at) * sizeof(p));
	h->parts[at] = p;
	h->kept += bytes;
	*out = &h->parts[at];
	return CL_SUCCESS;
}

/* Returns the smallest unused direct part that is at most an eighth larger than `bytes`, or
 * NULL. */
static struct part *find_direct(struct heap *h, uint64_t bytes)
{
	struct part *best = NULL;

	for (uint32_t i = 0; i < h->count; i++) {
		struct part *p = &h->parts[i];
		if (p->direct && !p->used && p->bytes >= bytes && p->bytes - bytes <= bytes / 8 &&
		    (!best || p->bytes < best->bytes))
			best = p;
	}
	return best;
}

static cl_int allocate_direct(cl_device_id d, uint64_t bytes, uint64_t *address)
{
	if (bytes > UINT64_MAX - DIRECT_ROUND)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	bytes = (bytes + DIRECT_ROUND - 1) & ~(uint64_t)(DIRECT_ROUND - 1);
	struct part *p = find_direct(d->heap, bytes);
	cl_int error = p ? CL_SUCCESS : add_part(d, bytes, true, &p);
	if (error != CL_SUCCESS)
		return error;
	p->used = true;
	d->heap->kept -= p->bytes;
	*address = p->address;
	return CL_SUCCESS;
}

static bool allocate_block(struct heap *h, struct part *p, uint64_t bytes, uint64_t *address)
{
	bool was_unused = unused(p);
	uint64_t offset = 0;

	if (!blocks_allocate(&p->blocks, bytes, BLOCK_UNIT, &offset))
		return false;
	if (was_unused)
		h->kept -= p->bytes;
	*address = p->address + offset;
	return true;
}

/* Allocates a block. With `of_unused`, it uses a part without blocks, otherwise a part that already
 * has blocks. Callers try the latter first, so that other parts can become unused. */
static bool allocate_small(struct heap *h, uint64_t bytes, bool of_unused, uint64_t *address)
{
	for (uint32_t i = 0; i < h->count; i++) {
		struct part *p = &h->parts[i];
		if (!p->direct && unused(p) == of_unused && allocate_block(h, p, bytes, address))
			return true;
	}
	return false;
}

cl_int heap_allocate(cl_device_id d, uint64_t bytes, uint64_t *address)
{
	cl_int error = device_connect(d);
	struct part *p = NULL;

	if (error != CL_SUCCESS)
		return error;
	if (!current(d))
		return CL_OUT_OF_HOST_MEMORY;
	if (bytes >= DIRECT_BYTES)
		return allocate_direct(d, bytes, address);
	if (allocate_small(d->heap, bytes, false, address) ||
	    allocate_small(d->heap, bytes, true, address))
		return CL_SUCCESS;
	error = add_part(d, PART_BYTES, false, &p);
	/* If the node has little free memory, it may still have space for `bytes` alone. */
	if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
		return allocate_direct(d, bytes, address);
	if (error != CL_SUCCESS)
		return error;
	return allocate_block(d->heap, p, bytes, address) ? CL_SUCCESS
							  : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

void heap_give(cl_device_id d, uint32_t generation, uint64_t address)
{
	struct heap *h = d->heap;

	if (generation != d->generation || !d->xpu)
		return;
	uint32_t at = index_of(h, address);
	if (!at)
		return;
	struct part *p = &h->parts[at - 1];
	if (p->direct)
		p->used = false;
	else if (!blocks_give(&p->blocks, address - p->address))
		return;
	if (!unused(p))
		return;
	h->kept += p->bytes;
	if (h->kept > KEPT_BYTES || h->kept > d->caps.memory_bytes / 16 + PART_BYTES)
		give_part(d, at - 1);
}
