/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers by the xPU, which reads and writes host memory (S-05, step 1). This file registers the
 * memory, sends the command and revokes the keys.
 *
 * A transfer is over when its event has completed and the NIC no longer uses its memory. The second
 * condition is needed because the last message may still be in the NIC when the event arrives. The
 * event always completes, even if the xPU is lost. */
#include <dxp/bridge.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"
#include "nic/limits.h"
#include "wire/command.h"

/* ---- checks on the host, so that the xPU accepts the command ---- */

_Static_assert((int)DXP_BRIDGE_TO_DEVICE == (int)COMMAND_BRIDGE_IN &&
		       (int)DXP_BRIDGE_FROM_DEVICE == (int)COMMAND_BRIDGE_OUT &&
		       (int)DXP_BRIDGE_THROUGH == (int)COMMAND_BRIDGE_THROUGH,
	       "the same numbers");
_Static_assert((int)DXP_BRIDGE_PIPELINED == (int)COMMAND_BRIDGE_PIPELINED &&
		       (int)DXP_BRIDGE_SEQUENTIAL == (int)COMMAND_BRIDGE_SEQUENTIAL,
	       "the same numbers");

static bool bridge_reads_host(enum dxp_bridge_path path)
{
	return path == DXP_BRIDGE_TO_DEVICE || path == DXP_BRIDGE_THROUGH;
}

static bool bridge_writes_host(enum dxp_bridge_path path)
{
	return path == DXP_BRIDGE_FROM_DEVICE || path == DXP_BRIDGE_THROUGH;
}

static int check_host(const char *field, const void *base, uint64_t bytes)
{
	if (bytes && !base)
		return error_set(DXP_EINVAL, "bridge: `%s` is NULL; give host memory", field);
	if ((uintptr_t)base + bytes < (uintptr_t)base)
		return error_set(DXP_EINVAL, "bridge: `%s` + `bytes` exceeds the address space",
				 field);
	return DXP_OK;
}

static int check_device(const struct dxp_xpu *x, const char *field, uint64_t address,
			uint64_t bytes)
{
	if (bytes > x->caps.memory_bytes || address > x->caps.memory_bytes - bytes)
		return error_set(DXP_ERANGE,
				 "bridge: %llu bytes at `%s` %#llx: xPU '%s' has %llu bytes of "
				 "memory",
				 (unsigned long long)bytes, field, (unsigned long long)address,
				 x->caps.name, (unsigned long long)x->caps.memory_bytes);
	return DXP_OK;
}

static int check_through(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	uintptr_t from = (uintptr_t)t->from, to = (uintptr_t)t->to;

	if (!x->caps.streams)
		return error_set(DXP_EUNSUPPORTED,
				 "bridge: xPU '%s' (engine '%s') has no stream core; use an xPU "
				 "with the engine 'board'",
				 x->caps.name, x->caps.engine);
	/* With a partial overlap, a piece could overwrite bytes that were not read yet. */
	if (from != to && t->bytes && from < to + t->bytes && to < from + t->bytes)
		return error_set(DXP_EINVAL,
				 "bridge: `from` and `to` overlap; they must be equal or disjoint");
	return DXP_OK;
}

static int check_peer(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	const struct dxp_xpu *peer = t->peer;

	if (t->path != DXP_BRIDGE_DEVICE_TO_DEVICE)
		return !peer ? DXP_OK
			     : error_set(DXP_EINVAL, "bridge: `peer` is for DEVICE_TO_DEVICE only; "
						     "leave it NULL");
	if (!peer)
		return error_set(DXP_EINVAL,
				 "bridge: DEVICE_TO_DEVICE needs `peer`, the xPU to read from");
	if (peer->fabric != x->fabric)
		return error_set(DXP_EINVAL, "bridge: `peer` and the xPU belong to different "
					     "fabrics; open both through one");
	if (peer->node == x->node)
		return error_set(DXP_EINVAL,
				 "bridge: `peer` is xPU '%s' itself; copy there with a kernel",
				 x->caps.name);
	return peer->status == DXP_OK ? DXP_OK : error_xpu(peer, peer->status, "bridge");
}

static int check_sizes(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	/* If the xPU has no bridge, the length of a piece is limited only by the protocol. */
	uint32_t most = x->caps.buffer_bytes ? x->caps.buffer_bytes : WIRE_BUFFER_MAX;

	if (t->piece_bytes && (t->piece_bytes < WIRE_BUFFER_MIN || t->piece_bytes > most))
		return error_set(DXP_EINVAL,
				 "bridge: `piece_bytes` is %u; xPU '%s' accepts %u to %u, or 0 for "
				 "its default",
				 t->piece_bytes, x->caps.name, WIRE_BUFFER_MIN, most);
	if ((unsigned)t->mode > DXP_BRIDGE_SEQUENTIAL)
		return error_set(DXP_EINVAL, "bridge: unknown `mode` %u", (unsigned)t->mode);
	return DXP_OK;
}

static int check_ranges(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t)
{
	int status = DXP_OK;

	if (bridge_reads_host(t->path))
		status = check_host("from", t->from, t->bytes);
	if (status == DXP_OK && bridge_writes_host(t->path))
		status = check_host("to", t->to, t->bytes);
	if (status != DXP_OK)
		return status;
	switch (t->path) {
	case DXP_BRIDGE_TO_DEVICE: return check_device(x, "device_to", t->device_to, t->bytes);
	case DXP_BRIDGE_FROM_DEVICE:
		return check_device(x, "device_from", t->device_from, t->bytes);
	case DXP_BRIDGE_THROUGH: return check_through(x, t);
	case DXP_BRIDGE_DEVICE_TO_DEVICE:
		status = check_device(t->peer, "device_from", t->device_from, t->bytes);
		return status == DXP_OK ? check_device(x, "device_to", t->device_to, t->bytes)
					: status;
	}
	return DXP_EINVAL;
}

/* Checks the transfer and fills in path, mode, sizes and device addresses of *c. For
 * DEVICE_TO_DEVICE, also fills in the memory of the other xPU. The caller adds the keys of host
 * memory. Caller holds the fabric's lock. DXP_EINVAL, DXP_ERANGE or DXP_EUNSUPPORTED, with an error
 * text that names the field. */
static int bridge_check(const struct dxp_xpu *x, const struct dxp_bridge_transfer *t,
			struct command *c)
{
	if ((unsigned)t->path > DXP_BRIDGE_DEVICE_TO_DEVICE)
		return error_set(DXP_EINVAL, "bridge: unknown `path` %u", (unsigned)t->path);
	int status = check_peer(x, t);
	if (status == DXP_OK)
		status = check_sizes(x, t);
	if (status == DXP_OK)
		status = check_ranges(x, t);
	if (status != DXP_OK)
		return status;
	*c = (struct command){.op = COMMAND_BRIDGE,
			      .path = (uint8_t)t->path,
			      .mode = (uint8_t)t->mode,
			      .piece_bytes = t->piece_bytes,
			      .bytes = t->bytes};
	if (t->path == DXP_BRIDGE_TO_DEVICE || t->path == DXP_BRIDGE_DEVICE_TO_DEVICE)
		c->address = t->device_to;
	else if (t->path == DXP_BRIDGE_FROM_DEVICE)
		c->address = t->device_from;
	if (t->path == DXP_BRIDGE_DEVICE_TO_DEVICE) {
		c->path = COMMAND_BRIDGE_IN;
		c->to_node = t->peer->node;
		c->from_key = t->peer->memory_key;
		c->from_address = t->device_from;
	} else {
		c->to_node = node_id(x->fabric->node);
	}
	return DXP_OK;
}

struct dxp_bridge {
	/* NULL: the xPU was closed, and nothing of the fabric may be accessed. See
	 * bridges_close. */
	struct dxp_fabric *_Atomic fabric;
	struct dxp_xpu *xpu; /* NULL: the xPU was closed */
	struct dxp_bridge *next;
	dxp_event event;
	uint32_t from_key, to_key; /* keys of host memory; 0: none */
	uint64_t revoked_ns;       /* time at which the keys were revoked; 0: they are valid */
	bool through;
	/* status of the transfer if the xPU was closed before dxp_bridge_wait() */
	int status;
	char peer[DXP_NAME_BYTES]; /* name of the other xPU, for DEVICE_TO_DEVICE */
};

static struct nic *nic_of(const struct dxp_xpu *x)
{
	return node_nic(x->fabric->node);
}

static int memory_register(struct dxp_xpu *x, void *base, uint64_t bytes, uint32_t rights,
			   uint32_t *key)
{
	int status = nic_region_register(nic_of(x), 0, base, bytes, rights, key);

	return status == DXP_OK ? DXP_OK
				: error_set(DXP_EAGAIN,
					    "bridge: all %d memory regions are in use; wait until "
					    "a transfer completes",
					    NIC_REGIONS_MAX);
}

static int memory_offer(struct dxp_bridge *b, const struct dxp_bridge_transfer *t,
			struct command *c)
{
	int status = DXP_OK;

	if (t->bytes == 0)
		return DXP_OK;
	/* the xPU may only read, so the cast is safe */
	if (bridge_reads_host(t->path))
		status = memory_register(b->xpu, (void *)(uintptr_t)t->from, t->bytes,
					 NIC_REMOTE_READ, &b->from_key);
	if (status == DXP_OK && bridge_writes_host(t->path))
		status = memory_register(b->xpu, t->to, t->bytes, NIC_REMOTE_WRITE, &b->to_key);
	if (t->path != DXP_BRIDGE_DEVICE_TO_DEVICE)
		c->from_key = b->from_key;
	c->to_key = b->to_key;
	return status;
}

static void memory_revoke(struct dxp_bridge *b)
{
	if (b->revoked_ns)
		return;
	b->revoked_ns = clock_now_ns() - b->xpu->fabric->away_ns;
	if (b->from_key)
		nic_region_revoke(nic_of(b->xpu), b->from_key);
	if (b->to_key)
		nic_region_revoke(nic_of(b->xpu), b->to_key);
}

/* Revokes the keys. Returns true if the NIC no longer uses the memory. */
static bool memory_free(struct dxp_bridge *b)
{
	struct nic *nic = nic_of(b->xpu);

	memory_revoke(b);
	if (!nic_region_busy(nic, b->from_key) && !nic_region_busy(nic, b->to_key))
		return true;
	/* After this time, only requests of an unreachable peer can still use the memory, so they
	 * are aborted. */
	if (clock_now_ns() - b->xpu->fabric->away_ns > b->revoked_ns + 2 * RLTP_DEAD_NS)
		nic_peer_reset(nic, b->xpu->node, DXP_ETIMEDOUT);
	return false;
}

static void unlink_bridge(struct dxp_bridge *b)
{
	struct dxp_bridge **at = &b->xpu->bridges;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
}

static int start_locked(struct dxp_xpu *x, const struct dxp_bridge_transfer *t,
			struct dxp_bridge *b)
{
	struct command c;
	int status =
		x->status != DXP_OK ? error_xpu(x, x->status, "bridge") : bridge_check(x, t, &c);

	if (status != DXP_OK)
		return status;
	b->xpu = x;
	b->through = t->path == DXP_BRIDGE_THROUGH;
	if (t->peer)
		snprintf(b->peer, sizeof(b->peer), "%s", t->peer->caps.name);
	status = memory_offer(b, t, &c);
	if (status == DXP_OK)
		status = host_command_start_after(x, &c, t->wait, t->wait_count, &b->event);
	if (status != DXP_OK) {
		/* The command was not sent, so no xPU has the keys. */
		memory_revoke(b);
		return status;
	}
	b->next = x->bridges;
	x->bridges = b;
	if (t->path != DXP_BRIDGE_DEVICE_TO_DEVICE)
		events_pull(&x->events, EVENT_COUNT(b->event));
	progress_notify(x->fabric);
	return DXP_OK;
}

int dxp_bridge_start(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
		     struct dxp_bridge **out)
{
	struct dxp_bridge *b = calloc(1, sizeof(*b));

	if (!b)
		return error_set(DXP_ENOMEM, "out of memory");
	atomic_init(&b->fabric, xpu->fabric);
	host_fabric_enter(xpu->fabric);
	int status = start_locked(xpu, transfer, b);
	host_fabric_leave(xpu->fabric);
	if (status == DXP_OK)
		*out = b;
	else
		free(b);
	return status;
}

dxp_event dxp_bridge_event(const struct dxp_bridge *bridge)
{
	return bridge->event;
}

static bool over(void *context)
{
	struct dxp_bridge *b = context;

	if (!b->xpu)
		return true;
	const struct host_event *entry = events_find(&b->xpu->events, EVENT_COUNT(b->event));
	return (!entry || entry->state == HOST_EVENT_DONE) && memory_free(b);
}

static int closed(const struct dxp_bridge *b)
{
	if (b->status == DXP_OK)
		return DXP_OK;
	return error_set(b->status, "bridge: the xPU was closed before dxp_bridge_wait(): %s",
			 dxp_status_text(b->status));
}

/* Returns the event's status. DXP_ETIMEDOUT is replaced by DXP_EDEVICE, because dxp_bridge_wait()
 * returns DXP_ETIMEDOUT if the transfer is not complete yet. */
static int status_of(const struct host_event *ended)
{
	return ended->status == DXP_ETIMEDOUT ? DXP_EDEVICE : ended->status;
}

static int explain(const struct dxp_bridge *b, const struct host_event *ended)
{
	const struct dxp_xpu *x = b->xpu;
	int status = ended->status;

	if (status == DXP_ETIMEDOUT)
		return error_set(
			status_of(ended),
			"bridge: a step of the transfer stalled on xPU '%s': its device or the "
			"network to the peer made no progress; the device was reset",
			x->caps.name);
	if (status == DXP_EPEERLOST && x->status == DXP_OK)
		return error_set(status,
				 "bridge: xPU '%s' lost its connection to %s%s%s; see "
				 "`dxp nodes`",
				 x->caps.name, b->peer[0] ? "xPU '" : "this host", b->peer,
				 b->peer[0] ? "'" : "");
	if (status == DXP_ERANGE)
		return error_set(status,
				 "bridge: the memory on xPU '%s' is not allocated by this host; "
				 "call dxp_mem_alloc() first",
				 x->caps.name);
	if (status == DXP_ENOMEM)
		return error_set(status,
				 "bridge: the machine of xPU '%s' has too little free memory; try "
				 "again, or stop other programs there",
				 x->caps.name);
	if (status == DXP_EUNSUPPORTED && b->through)
		return error_set(status, "bridge: xPU '%s' has no stream core", x->caps.name);
	return error_xpu(x, status, "bridge");
}

/* Reads the result of a completed transfer. Caller holds the fabric's lock. */
static int result_read(struct dxp_bridge *b, struct dxp_event_times *times)
{
	struct events *events = &b->xpu->events;
	const struct host_event *entry = events_find(events, EVENT_COUNT(b->event));

	if (!entry)
		return error_set(DXP_ENOENT, "bridge: dxp_event_wait() has already read the status "
					     "of this transfer; use only dxp_bridge_wait()");
	int status = entry->status == DXP_OK ? DXP_OK : explain(b, entry);
	if (times)
		*times = entry->times;
	events_free(events, EVENT_COUNT(b->event));
	return status;
}

static int wait_locked(struct dxp_bridge *b, struct dxp_fabric *f, uint64_t timeout_ns,
		       struct dxp_event_times *times)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;

	if (host_fabric_wait(f, over, b, deadline) != DXP_OK)
		return error_set(DXP_ETIMEDOUT, "the transfer of xPU '%s' is not complete yet",
				 b->xpu->caps.name);
	if (!b->xpu)
		return closed(b);
	int status = result_read(b, times);
	unlink_bridge(b);
	return status;
}

int dxp_bridge_wait(struct dxp_bridge *bridge, uint64_t timeout_ns, struct dxp_event_times *times)
{
	/* Pairs with the release in bridges_close: if `fabric` is NULL, `status` is final. */
	struct dxp_fabric *f = atomic_load_explicit(&bridge->fabric, memory_order_acquire);
	int status;

	if (f) {
		host_fabric_enter(f);
		status = wait_locked(bridge, f, timeout_ns, times);
		host_fabric_leave(f);
	} else {
		status = closed(bridge);
	}
	if (status != DXP_ETIMEDOUT)
		free(bridge);
	return status;
}

int dxp_bridge_move(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
		    struct dxp_event_times *times)
{
	struct dxp_bridge *b;
	int status = dxp_bridge_start(xpu, transfer, &b);

	return status == DXP_OK ? dxp_bridge_wait(b, UINT64_MAX, times) : status;
}

static bool all_free(void *context)
{
	const struct dxp_xpu *x = context;
	bool all = true;

	for (struct dxp_bridge *b = x->bridges; b; b = b->next)
		all &= memory_free(b);
	return all;
}

void bridges_close(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;

	/* This wait ends even without a timeout, because memory_free aborts requests after some
	 * time. */
	host_fabric_wait(f, all_free, x, UINT64_MAX);
	for (struct dxp_bridge *b; (b = x->bridges);) {
		const struct host_event *entry = events_find(&x->events, EVENT_COUNT(b->event));
		x->bridges = b->next;
		b->status =
			entry && entry->state == HOST_EVENT_DONE ? status_of(entry) : DXP_ECLOSED;
		b->xpu = NULL;
		/* This is the last access to *b: the program may free it from now on. */
		atomic_store_explicit(&b->fabric, NULL, memory_order_release);
	}
	f->ended++;
	host_fabric_ended(f);
}
