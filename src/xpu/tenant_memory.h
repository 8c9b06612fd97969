/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory behind a tenant's allocations. If each host's kernels run in a process, it is a file
 * as long as all device memory, with device addresses as offsets. The process has only this file,
 * so it cannot access other tenants. Pages of freed allocations stay for the tenant's next ones,
 * until another tenant gets the addresses. Unallocated addresses are in the arena's memory. If
 * kernels run in one thread, all tenants share the arena's memory.
 *
 * NIC windows for the tenant's kernels are behind the end of device memory. Only for the slot's
 * thread. */
#ifndef XPU_TENANT_MEMORY_H
#define XPU_TENANT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

struct slot;
struct tenant;

struct tenant_memory {
	struct tenant_memory *next; /* memories of departed tenants */
	uint8_t *base;              /* address 0; NULL: only DMA can access it */
	uint64_t bytes;             /* mapped, if the tenant has a file */
	int fd;                     /* -1: the arena's memory is used */
	/* ranges with pages, of present and freed allocations */
	struct ranges pages;
	bool pages_unknown; /* any address may have pages */
	uint32_t key;       /* key of the NIC's region, when the tenant has left */
};

/* DXP_ENOMEM, DXP_EBUSY: no descriptor or addresses left (logged). */
int tenant_memory_open(struct slot *s, struct tenant_memory **out);
/* Gives up memory that no process maps. It is freed when the NIC does not use region `key` any
 * more; tenant_memories_advance() frees long memory page by page. */
void tenant_memory_close(struct slot *s, struct tenant_memory *m, uint32_t key);
bool tenant_memory_separate(const struct tenant_memory *m);

/* The tenant's file may have pages in this range. */
bool tenant_memory_has(const struct tenant_memory *m, uint64_t address, uint64_t bytes);
/* Zeroes a new allocation before its tenant gets the address; frees pages at these addresses in
 * other files and in the arena. Call keys_memory_claim first. */
void tenant_memory_clear(struct tenant *t, uint64_t address, uint64_t bytes);
/* Frees the pages of an unused NIC window in the tenant's file. */
void tenant_memory_window_free(const struct tenant *t, uint64_t address, uint64_t bytes);

/* Evicts hosts whose files have pages outside of their allocations: their workers wrote there by
 * system calls. Once per XPU_FILES_NS; returns how many. */
uint32_t tenant_memories_check(struct slot *s);
uint64_t tenant_memories_deadline(const struct slot *s);

/* Frees pages of tenants that have left. 0: nothing to do. */
uint32_t tenant_memories_advance(struct slot *s);
/* tenant_memories_advance has work now. */
bool tenant_memories_due(const struct slot *s);
/* Frees the memory of all tenants that have left; call it after the NIC was closed. */
void tenant_memories_free(struct slot *s);

#endif
