/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers that name device memory for MPI: ranges of reserved address space. A freed range stays
 * reserved, so that a late use is found, until a buffer of the same length takes it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/mpi.h>

#include "host/internal.h"
#include "host/mpi.h"

struct buffer {
	struct buffer *next;
	uint8_t *base;
	uint64_t bytes, reserved_bytes, address;
	struct dxp_xpu *xpu; /* NULL: freed */
	bool memory_freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *buffers; /* guarded by `lock` */

/* Takes a freed range of the same length, or reserves a new one. Caller holds the lock. */
static struct buffer *range_find(uint64_t bytes)
{
	const uint64_t page = 4096, reserved = (bytes + page - 1) / page * page;
	struct buffer *b = buffers;

	while (b && (b->xpu || b->reserved_bytes != reserved))
		b = b->next;
	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	void *base = b ? mmap(NULL, reserved, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
		       : MAP_FAILED;
	if (base == MAP_FAILED) {
		free(b);
		return NULL;
	}
	b->base = base;
	b->reserved_bytes = reserved;
	b->next = buffers;
	buffers = b;
	return b;
}

int dxp_mpi_buffer(struct dxp_xpu *xpu, uint64_t address, uint64_t bytes, void **out)
{
	if (!xpu || !out || bytes == 0)
		return error_set(DXP_EINVAL, "MPI buffer: %s",
				 !xpu   ? "`xpu` is NULL"
				 : !out ? "`out` is NULL"
					: "0 bytes; use 1 or more");
	if (bytes > xpu->caps.memory_bytes || address > xpu->caps.memory_bytes - bytes)
		return error_set(DXP_ERANGE,
				 "MPI buffer: %llu bytes at %#llx are outside the memory of xPU "
				 "'%s', which has %llu bytes",
				 (unsigned long long)bytes, (unsigned long long)address,
				 xpu->caps.name, (unsigned long long)xpu->caps.memory_bytes);
	pthread_mutex_lock(&lock);
	struct buffer *b = range_find(bytes);
	if (b) {
		b->bytes = bytes;
		b->address = address;
		b->xpu = xpu;
		b->memory_freed = false;
		*out = b->base;
	}
	pthread_mutex_unlock(&lock);
	return b ? DXP_OK
		 : error_set(DXP_ENOMEM, "MPI buffer: no address space for %llu bytes",
			     (unsigned long long)bytes);
}

/* Caller holds the lock. */
static struct buffer *buffer_of(const void *pointer)
{
	const uintptr_t at = (uintptr_t)pointer;
	struct buffer *b = buffers;

	while (b && (at < (uintptr_t)b->base || at - (uintptr_t)b->base >= b->reserved_bytes))
		b = b->next;
	return b;
}

/* Caller holds the lock. */
static bool is_used(const struct dxp_xpu *xpu)
{
	const struct buffer *b = buffers;

	while (b && b->xpu != xpu)
		b = b->next;
	return b != NULL;
}

void dxp_mpi_buffer_free(void *buffer)
{
	pthread_mutex_lock(&lock);
	struct buffer *b = buffer ? buffer_of(buffer) : NULL;
	struct dxp_xpu *xpu = b && b->base == buffer ? b->xpu : NULL;
	if (xpu)
		b->xpu = NULL;
	const bool last = xpu && !is_used(xpu);
	pthread_mutex_unlock(&lock);
	if (last)
		mpi_xpu_release(xpu);
}

void mpi_buffers_forget(const struct dxp_xpu *xpu, const uint64_t *address)
{
	pthread_mutex_lock(&lock);
	for (struct buffer *b = buffers; b; b = b->next) {
		if (b->xpu != xpu || (address && b->address != *address))
			continue;
		b->memory_freed = true;
		if (!address)
			b->xpu = NULL;
	}
	pthread_mutex_unlock(&lock);
}

static int place_fill(const struct buffer *b, const void *pointer, struct mpi_device_place *out)
{
	const uint64_t offset = (uintptr_t)pointer - (uintptr_t)b->base;

	if (b->memory_freed)
		return error_set(DXP_EINVAL, "the buffer's memory was freed before the buffer");
	if (!b->xpu)
		return error_set(DXP_EINVAL, "the buffer was freed with dxp_mpi_buffer_free()");
	if (offset > b->bytes)
		return error_set(DXP_EINVAL, "the pointer is behind the end of its buffer");
	*out = (struct mpi_device_place){.xpu = b->xpu,
					 .address = b->address + offset,
					 .bytes = b->bytes - offset,
					 .key = b->xpu->memory_key,
					 .node = b->xpu->node};
	memcpy(out->name, b->xpu->caps.name, sizeof(out->name));
	return DXP_OK;
}

int mpi_buffer_find(const void *pointer, struct mpi_device_place *out)
{
	int status = DXP_ENOENT;

	pthread_mutex_lock(&lock);
	const struct buffer *b = buffer_of(pointer);
	if (b)
		status = place_fill(b, pointer, out);
	pthread_mutex_unlock(&lock);
	return status;
}
