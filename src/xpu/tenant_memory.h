/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory behind a tenant's allocations. If kernels run in a process per host, the memory is a
 * file of the tenant. The file is as long as all device memory, and a byte's offset is its device
 * address. A process has only this file, so it cannot reach memory of other tenants. Pages of freed
 * allocations stay for its next ones, until another tenant gets the addresses. Unallocated
 * addresses are the arena's memory. If kernels run in one thread, all tenants share the arena's
 * memory.
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
	struct tenant_memory *next; /* link of the slot's list of memories whose tenant has left */
	uint8_t *base;              /* address 0; NULL: behind DMA */
	uint64_t bytes;             /* mapped at `base`, if it has a file */
	int fd;                     /* -1: the arena's memory */
	/* addresses that have pages: of present and of freed allocations */
	struct ranges pages;
	bool pages_unknown; /* `pages` is incomplete: any address may have pages */
	uint32_t key;       /* key of the NIC's region, once the tenant has left */
};

/* DXP_ENOMEM, DXP_EBUSY: no descriptor or no addresses are left (logged). */
int tenant_memory_open(struct slot *s, struct tenant_memory **out);
/* Gives up the memory of a tenant that no process maps. The memory is freed once the NIC does not
 * use region `key`. tenant_memories_advance() frees long memory page by page. */
void tenant_memory_close(struct slot *s, struct tenant_memory *m, uint32_t key);
bool tenant_memory_separate(const struct tenant_memory *m);

/* Returns whether the tenant's file may have pages in this range. */
bool tenant_memory_has(const struct tenant_memory *m, uint64_t address, uint64_t bytes);
/* Zeroes a new allocation before its tenant gets the address. Frees the pages that other tenants
 * and common memory have at the same addresses (keys_memory_claim first). */
void tenant_memory_clear(struct tenant *t, uint64_t address, uint64_t bytes);
/* Frees the pages of a NIC window that is not used any more, if its tenant has a file. */
void tenant_memory_window_free(const struct tenant *t, uint64_t address, uint64_t bytes);

/* Evicts hosts whose file has pages outside of their allocations, because their workers wrote there
 * by system calls. Checks once per XPU_FILES_NS. Returns how many. */
uint32_t tenant_memories_check(struct slot *s);
/* Returns when tenant_memories_check must be called; UINT64_MAX: never. */
uint64_t tenant_memories_deadline(const struct slot *s);

/* Frees pages of tenants that are gone. Returns the amount of work. */
uint32_t tenant_memories_advance(struct slot *s);
/* Returns whether tenant_memories_advance has work now. */
bool tenant_memories_due(const struct slot *s);
/* Frees the memories of all tenants that have left. Call after the NIC is closed. */
void tenant_memories_free(struct slot *s);

#endif
