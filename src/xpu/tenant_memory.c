/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/tenant_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "xpu/slot_internal.h"

static int file_open(struct tenant_memory *m, uint64_t bytes)
{
	void *base = MAP_FAILED;

	m->fd = descriptor_memory("dxp-tenant", bytes);
	if (m->fd >= 0)
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (base == MAP_FAILED) {
		const int error = errno;
		log_warn("a host is rejected: cannot map %llu MiB of addresses for its memory: "
			 "%s; %s",
			 (unsigned long long)(bytes >> 20), strerror(error),
			 error == EMFILE || error == ENFILE
				 ? "raise the limit of open files (ulimit -n)"
				 : "use a smaller --memory or --hosts");
		if (m->fd >= 0)
			close(m->fd);
		return error == ENOMEM ? DXP_ENOMEM : DXP_EBUSY;
	}
	/* tenant_memories_check() counts the pages of a file. */
	madvise(base, bytes, MADV_NOHUGEPAGE);
	m->base = base;
	m->bytes = bytes;
	return DXP_OK;
}

static void file_free(struct tenant_memory *m)
{
	munmap(m->base, m->bytes);
	close(m->fd);
	ranges_free(&m->pages);
	free(m);
}

int tenant_memory_open(struct slot *s, struct tenant_memory **out)
{
	struct tenant_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return DXP_ENOMEM;
	m->fd = -1;
	if (s->zygote) {
		int status = file_open(m, arena_bytes(s->arena) + WORKER_TAIL_BYTES);
		if (status != DXP_OK) {
			free(m);
			return status;
		}
	} else if (!s->bridged) {
		m->base = arena_base(s->arena);
	}
	*out = m;
	return DXP_OK;
}

void tenant_memory_close(struct slot *s, struct tenant_memory *m, uint32_t key)
{
	if (m->fd < 0) {
		free(m);
		return;
	}
	m->key = key;
	m->next = s->memories;
	s->memories = m;
}

bool tenant_memory_separate(const struct tenant_memory *m)
{
	return m->fd >= 0;
}

bool tenant_memory_has(const struct tenant_memory *m, uint64_t address, uint64_t bytes)
{
	struct range r;

	return tenant_memory_separate(m) &&
	       (m->pages_unknown || ranges_next(&m->pages, address, address + bytes, &r));
}

/* First part of [start, end) that may have pages. */
static bool pages_next(const struct tenant_memory *m, uint64_t start, uint64_t end,
		       struct range *out)
{
	*out = (struct range){start, end};
	return start < end && (m->pages_unknown || ranges_next(&m->pages, start, end, out));
}

/* Another tenant gets the addresses of these freed allocations. */
static void pages_discard(struct tenant_memory *m, uint64_t start, uint64_t end)
{
	bool freed = true;
	struct range r;

	for (uint64_t at = start; pages_next(m, at, end, &r); at = r.end) {
		if (descriptor_discard(m->fd, r.start, r.end - r.start))
			continue;
		memset(m->base + r.start, 0, r.end - r.start);
		freed = false;
	}
	/* Pages stay in the list: they do not count as written by kernels, and are freed later. */
	if (freed)
		ranges_remove(&m->pages, start, end);
}

/* A lack of memory shows here, not when a kernel writes. New pages are zero. */
static void pages_make(struct tenant_memory *m, uint64_t start, uint64_t end)
{
	struct range r;

	for (uint64_t at = start; pages_next(m, at, end, &r); at = r.end)
		memset(m->base + r.start, 0, r.end - r.start);
	if (ranges_has(&m->pages, start, end))
		return;
	if (madvise(m->base + start, end - start, MADV_POPULATE_WRITE) != 0)
		log_debug("cannot populate %llu KiB: %s", (unsigned long long)(end - start) >> 10,
			  strerror(errno));
	m->pages_unknown |= !ranges_add(&m->pages, start, end);
}

void tenant_memory_clear(struct tenant *t, uint64_t address, uint64_t bytes)
{
	struct slot *s = t->slot;

	if (!tenant_memory_separate(t->memory)) {
		arena_clear(s->arena, address, bytes);
		return;
	}
	if (s->common_used)
		arena_discard(s->arena, address, bytes);
	for (struct tenant *other = s->tenants; other; other = other->next)
		if (other != t)
			pages_discard(other->memory, address, address + bytes);
	pages_make(t->memory, address, address + bytes);
}

void tenant_memory_window_free(const struct tenant *t, uint64_t address, uint64_t bytes)
{
	struct tenant_memory *m = t->memory;

	if (tenant_memory_separate(m) && !descriptor_discard(m->fd, address, bytes))
		m->pages_unknown |= !ranges_add(&m->pages, address, address + bytes);
}

/* Bytes of pages that the tenant's file may have. */
static uint64_t pages_most(const struct tenant *t)
{
	const struct ranges *listed = &t->memory->pages;
	uint64_t bytes = XPU_FILES_SLACK;

	for (uint32_t i = 0; i < listed->count; i++)
		bytes += listed->at[i].end - listed->at[i].start;
	for (const struct port *p = t->slot->ports; p; p = p->next)
		bytes += p->tenant == t ? sizeof(*p->window) : 0;
	return bytes;
}

/* Bytes of pages beyond pages_most(). */
static uint64_t pages_excess(const struct tenant *t)
{
	const struct tenant_memory *m = t->memory;
	struct stat st;

	if (!tenant_memory_separate(m) || m->pages_unknown || fstat(m->fd, &st) != 0)
		return 0;
	const uint64_t bytes = (uint64_t)st.st_blocks * 512, most = pages_most(t);
	return bytes > most ? bytes - most : 0;
}

uint32_t tenant_memories_check(struct slot *s)
{
	const uint64_t now_ns = s->tenants ? clock_now_ns() : 0;
	uint32_t evicted = 0;

	if (now_ns < s->files_ns)
		return 0;
	s->files_ns = now_ns + XPU_FILES_NS;
	for (struct tenant *t = s->tenants; t; t = t->next) {
		const uint64_t excess = t->leaving ? 0 : pages_excess(t);
		if (excess == 0)
			continue;
		log_warn("host node %u is evicted: its kernels have filled %llu KiB outside of its "
			 "allocations by system calls",
			 t->host, (unsigned long long)(excess >> 10));
		s->hooks->evict(t, DXP_EACCESS);
		node_peer_reset(s->node, t->host, DXP_EPEERLOST);
		evicted++;
	}
	return evicted;
}

uint64_t tenant_memories_deadline(const struct slot *s)
{
	const struct tenant *t = s->tenants;

	while (t && !t->worker)
		t = t->next;
	return t ? s->files_ns : UINT64_MAX;
}

static bool in_use(const struct slot *s, const struct tenant_memory *m)
{
	return nic_region_busy(node_nic(s->node), m->key);
}

bool tenant_memories_due(const struct slot *s)
{
	const struct tenant_memory *m = s->memories;

	while (m && in_use(s, m))
		m = m->next;
	return m != NULL;
}

/* Frees the first pages. False: none. */
static bool pages_free(const struct tenant_memory *m)
{
	off_t at = lseek(m->fd, 0, SEEK_DATA);

	if (at < 0)
		return false;
	return descriptor_discard(m->fd, (uint64_t)at,
				  min_u64(m->bytes - (uint64_t)at, XPU_DISCARD_BYTES));
}

uint32_t tenant_memories_advance(struct slot *s)
{
	struct tenant_memory **at = &s->memories, *m;

	while ((m = *at) && in_use(s, m))
		at = &m->next;
	if (!m)
		return 0;
	if (!pages_free(m)) {
		*at = m->next;
		file_free(m);
	}
	return 1;
}

void tenant_memories_free(struct slot *s)
{
	struct tenant_memory *m;

	while ((m = s->memories)) {
		s->memories = m->next;
		file_free(m);
	}
}
