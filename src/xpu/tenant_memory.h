/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory behind a tenant's allocations. If kernels run in a process of each host, it is a file
 * of the tenant's own, as long as all device memory, in which a byte has its device address as its
 * offset. So a process that has this file, and no other, reaches nothing of its neighbours. Pages
 * of freed allocations stay for its next ones, until another tenant gets the addresses. Unallocated
 * addresses are the arena's memory. Otherwise all tenants share the arena's memory.
 *
 * NIC windows of the tenant's kernels follow at the end of device memory. Slot's thread only. */
#ifndef XPU_TENANT_MEMORY_H
#define XPU_TENANT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct slot;
struct tenant;

struct tenant_memory {
	struct tenant_memory *next; /* in the slot's list of those whose tenant is gone */
	uint8_t *base;              /* address 0; NULL: behind DMA */
	uint64_t bytes;             /* mapped at `base`, if it has a file */
	int fd;                     /* -1: the arena's memory */
	struct ranges pages;        /* addresses with pages: allocations, and freed ones */
	bool pages_unknown;         /* `pages` is incomplete: there may be some anywhere */
	uint32_t key;               /* of the NIC's region, once the tenant is gone */
};

/* DXP_ENOMEM, DXP_EBUSY: no descriptor or no addresses are left (logged). */
int tenant_memory_open(struct slot *s, struct tenant_memory **out);
/* Gives up the memory of a tenant that no process maps. It is freed once the NIC does not use
 * region `key`; a long one page by page, in tenant_memories_advance. */
void tenant_memory_close(struct slot *s, struct tenant_memory *m, uint32_t key);
bool tenant_memory_separate(const struct tenant_memory *m);

/* Returns whether an own file may have pages there. */
bool tenant_memory_has(const struct tenant_memory *m, uint64_t address, uint64_t bytes);
/* Zeroes an allocation that its tenant does not know yet, and frees pages that other tenants and
 * common memory have there (keys_memory_claim first). */
void tenant_memory_clear(struct tenant *t, uint64_t address, uint64_t bytes);
/* Frees the pages of a NIC window that is not used any more, if its tenant has a file. */
void tenant_memory_window_free(const struct tenant *t, uint64_t address, uint64_t bytes);

/* Evicts hosts whose kernels have filled their file outside of what they were given; their workers
 * have written there by system calls. Looks once per XPU_FILES_NS. Returns how many. */
uint32_t tenant_memories_check(struct slot *s);
/* Returns when tenant_memories_check must be called; UINT64_MAX: never. */
uint64_t tenant_memories_deadline(const struct slot *s);

/* Frees pages of tenants that are gone. Returns the amount of work. */
uint32_t tenant_memories_advance(struct slot *s);
/* Returns whether tenant_memories_advance has work now. */
bool tenant_memories_due(const struct slot *s);
/* Frees all of them, after the NIC is closed. */
void tenant_memories_free(struct slot *s);

#endif
