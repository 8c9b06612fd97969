/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates or registers memory that descriptors and peers can access. */
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "host/function.h"
#include "host/internal.h"

#define RIGHTS_ALL (DXP_REMOTE_READ | DXP_REMOTE_WRITE | DXP_REMOTE_ATOMIC)

_Static_assert((int)DXP_REMOTE_READ == NIC_REMOTE_READ, "the same rights");
_Static_assert((int)DXP_REMOTE_WRITE == NIC_REMOTE_WRITE, "the same rights");
_Static_assert((int)DXP_REMOTE_ATOMIC == NIC_REMOTE_ATOMIC, "the same rights");

static int region_check(uint64_t bytes, uint32_t rights)
{
	if (bytes == 0 || bytes > INT64_MAX)
		return error_set(DXP_EINVAL,
				 "a region of %llu bytes is not possible; use 1 byte or more, up "
				 "to the address space",
				 (unsigned long long)bytes);
	if (rights & ~(uint32_t)RIGHTS_ALL)
		return error_set(DXP_EINVAL,
				 "unknown rights %#x; combine read 1, write 2 and atomic 4",
				 rights);
	return DXP_OK;
}

static int memory_make(uint64_t bytes, struct function_memory **out)
{
	struct function_memory *m = calloc(1, sizeof(*m));
	int status = m ? local_memory_create("dxp-memory", bytes, &m->local) : DXP_ENOMEM;

	if (status == DXP_OK) {
		*out = m;
		return DXP_OK;
	}
	free(m);
	if (status == DXP_EIO)
		return error_set(status,
				 "cannot create a memfd of %llu bytes; if the limit of open files "
				 "is reached, raise \"ulimit -n\"",
				 (unsigned long long)bytes);
	return error_set(status, "not enough memory for a region of %llu bytes",
			 (unsigned long long)bytes);
}

int dxp_memory_create(struct dxp_function *f, uint64_t bytes, uint32_t rights,
		      struct dxp_memory *out)
{
	struct function_memory *m = NULL;
	int status = region_check(bytes, rights);

	if (status == DXP_OK)
		status = memory_make(bytes, &m);
	if (status != DXP_OK)
		return status;
	const struct function_region region = {
		.fd = m->local.fd, .base = m->local.base, .bytes = bytes, .rights = rights};
	status = f->ops->region_add(f, &region, &m->key);
	if (status != DXP_OK) {
		local_memory_free(&m->local);
		free(m);
		return status;
	}
	m->next = f->memories;
	f->memories = m;
	*out = (struct dxp_memory){m->local.base, bytes, m->key, m->local.fd};
	return DXP_OK;
}

void dxp_memory_destroy(struct dxp_function *f, struct dxp_memory *memory)
{
	struct function_memory **link = &f->memories;

	while (*link && (*link)->key != memory->key)
		link = &(*link)->next;
	struct function_memory *m = *link;
	if (!m)
		return;
	*link = m->next;
	f->ops->memory_free(f, m);
	*memory = (struct dxp_memory){.fd = -1};
}

int dxp_memory_register(struct dxp_function *f, int fd, uint64_t offset, uint64_t bytes,
			uint32_t rights, uint32_t *key)
{
	const struct function_region region = {
		.fd = fd, .offset = offset, .bytes = bytes, .rights = rights};
	int status = region_check(bytes, rights);

	if (status == DXP_OK && offset % (uint64_t)sysconf(_SC_PAGESIZE) != 0)
		status = error_set(DXP_EINVAL, "offset %llu is not a multiple of the page size",
				   (unsigned long long)offset);
	if (status == DXP_OK && fd < 0)
		status = error_set(DXP_EINVAL, "%d is not an open file descriptor", fd);
	return status == DXP_OK ? f->ops->region_add(f, &region, key) : status;
}

int dxp_memory_register_at(struct dxp_function *f, void *base, uint64_t bytes, uint32_t rights,
			   uint32_t *key)
{
	const struct function_region region = {
		.fd = -1, .base = base, .bytes = bytes, .rights = rights};
	int status = region_check(bytes, rights);

	if (status == DXP_OK && (!base || (uintptr_t)base + bytes < (uintptr_t)base))
		status = error_set(DXP_EINVAL, "no memory is mapped at %p", base);
	return status == DXP_OK ? f->ops->region_add(f, &region, key) : status;
}

int dxp_memory_revoke(struct dxp_function *f, uint32_t key)
{
	return f->ops->region_revoke(f, key);
}

void function_memories_free(struct function_memory *list)
{
	for (struct function_memory *next; list; list = next) {
		next = list->next;
		local_memory_free(&list->local);
		free(list);
	}
}
