/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory behind a tenant's allocations. If each host's kernels run in a process of their own,
 * the memory is a file of the tenant. The file is as long as all device memory, and the offset of a
 * byte is its device address. A host's process has only this file, so it cannot access memory of
 * other tenants. Pages of freed allocations stay for the tenant's next ones, until another tenant
 * gets the addresses. Unallocated addresses are in the arena's memory. If kernels run in one
 * thread, all tenants share the arena's memory.
 *
 * NIC windows for the tenant's kernels are behind the end of device memory. Only
 * the slot's thread calls these functions. */
#ifndef XPU_TENANT_MEMORY_H
#define XPU_TENANT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct slot;
struct tenant;

struct tenant_memory {
	struct tenant_memory *next; /* link in the slot's list of memories of departed tenants */
	uint8_t *base;              /* address 0 of the memory; NULL: only DMA can access it */
	uint64_t bytes;             /* bytes mapped at `base`, if the tenant has a file */
	int fd;                     /* the tenant's file; -1: the arena's memory is used */
	/* addresses with pages, of present and of freed allocations */
	struct ranges pages;
	bool pages_unknown; /* `pages` is incomplete: any address may have pages */
	uint32_t key;       /* key of the NIC's region, valid when the tenant has left */
};

/* Creates the memory of a tenant. DXP_ENOMEM, DXP_EBUSY: no descriptor or no addresses are left
 * (logged). */
int tenant_memory_open(struct slot *s, struct tenant_memory **out);
/* Gives up the memory of a tenant that no process maps. The memory is freed when the NIC does not
 * use region `key` any more. tenant_memories_advance() frees long memory page by page. */
void tenant_memory_close(struct slot *s, struct tenant_memory *m, uint32_t key);
bool tenant_memory_separate(const struct tenant_memory *m);

/* Returns true if the tenant's file may have pages in this range. */
bool tenant_memory_has(const struct tenant_memory *m, uint64_t address, uint64_t bytes);
/* Zeroes a new allocation before its tenant gets the address. Frees pages at the same addresses in
 * files of other tenants and in the arena. Call keys_memory_claim first. */
void tenant_memory_clear(struct tenant *t, uint64_t address, uint64_t bytes);
/* Frees the pages of a NIC window that is not used any more, if its tenant has a file. */
void tenant_memory_window_free(const struct tenant *t, uint64_t address, uint64_t bytes);

/* Evicts hosts with a file that has pages outside of their allocations: their workers wrote there
 * by system calls. Checks once per XPU_FILES_NS. Returns how many hosts it evicted. */
uint32_t tenant_memories_check(struct slot *s);
/* Returns the time at which tenant_memories_check must be called; UINT64_MAX: never. */
uint64_t tenant_memories_deadline(const struct slot *s);

/* Frees pages of tenants that have left. Returns 0 if there was nothing to do. */
uint32_t tenant_memories_advance(struct slot *s);
/* Returns true if tenant_memories_advance has work now. */
bool tenant_memories_due(const struct slot *s);
/* Frees the memories of all tenants that have left. Call it after the NIC was closed. */
void tenant_memories_free(struct slot *s);

#endif
