/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/slot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "link/udp.h"
#include "xpu/slot_internal.h"

#define SPINNERS                                                                                   \
	4 /* a host, the network's thread, an engine's thread, and room for the rest of the system \
	   */

static void wake(void *context)
{
	node_wake(context);
}

static void changed(void *context, const struct table_change *change)
{
	tenants_changed(context, change);
}

static int engine_start(struct slot *s)
{
	struct engine_options options = {
		.name = s->options.engine,
		.cache_folder = s->options.cache_folder,
		.memory = arena_base(s->arena),
		.memory_bytes = arena_bytes(s->arena),
	};

	return engine_open(&options, &s->engine);
}

static bool uuid_empty(const uint8_t uuid[WIRE_UUID_BYTES])
{
	static const uint8_t zero[WIRE_UUID_BYTES];

	return memcmp(uuid, zero, sizeof(zero)) == 0;
}

static int node_start(struct slot *s)
{
	struct node_options options = s->options.node;
	struct engine_description engine;

	engine_describe(s->engine, &engine);
	if (uuid_empty(options.uuid))
		entropy_kernel(NULL, options.uuid, sizeof(options.uuid));
	memcpy(s->uuid, options.uuid, sizeof(s->uuid));
	options.xpu = true;
	options.engine = engine.name;
	options.device = engine.device;
	options.memory_bytes = arena_bytes(s->arena);
	options.cfg = &registers_ops;
	options.cfg_context = s;
	options.changed = changed;
	options.changed_context = s;
	return node_open(&options, &s->node);
}

/* The engine's thread spins only where it does not take a core from the network's thread, and from
 * a host beside us that spins as well: with three on two cores an empty kernel takes 250 us instead
 * of 27. */
static uint32_t worker_spin(uint32_t spin_ns)
{
	if (spin_ns == UINT32_MAX || sysconf(_SC_NPROCESSORS_ONLN) < SPINNERS)
		return 0;
	return spin_ns == 0 ? LINK_SPIN_NS : spin_ns;
}

static int worker_start(struct slot *s)
{
	struct worker_options options = {
		.spin_ns = worker_spin(s->options.node.spin_ns),
		.wake = wake,
		.wake_context = s->node,
	};

	return worker_create(&options, &s->worker);
}

static int parts_start(struct slot *s)
{
	int status = arena_create(s->options.memory_bytes, &s->arena);

	if (status == DXP_OK)
		status = engine_start(s);
	if (status == DXP_OK)
		status = node_start(s);
	if (status == DXP_OK)
		status = outbox_create(node_window(s->node), &s->outbox);
	if (status == DXP_OK)
		status = worker_start(s);
	if (status == DXP_OK)
		status = nic_region_register(node_nic(s->node), 0, arena_base(s->arena),
					     arena_bytes(s->arena),
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &s->memory_key);
	return status;
}

int slot_open(const struct slot_options *options, struct slot **out)
{
	if (options->memory_bytes < XPU_MEMORY_MIN || options->memory_bytes > XPU_MEMORY_MAX)
		return DXP_EINVAL;
	struct slot *s = calloc(1, sizeof(*s));
	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	s->clearings_tail = &s->clearings;
	int status = parts_start(s);
	/* The texts are the caller's and may go. */
	s->options.engine = s->options.cache_folder = NULL;
	if (status != DXP_OK) {
		slot_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void slot_close(struct slot *s)
{
	if (!s)
		return;
	ports_close(s); /* a kernel that waits for its NIC ends */
	if (s->worker)
		jobs_drop(s, worker_destroy(s->worker));
	tenants_free(s);
	outbox_destroy(s->outbox);
	node_close(s->node); /* before the memory that it sends from */
	ports_free(s);
	engine_close(s->engine);
	arena_destroy(s->arena);
	free(s);
}

struct node *slot_node(const struct slot *s)
{
	return s->node;
}

void slot_describe(const struct slot *s, struct engine_description *out)
{
	engine_describe(s->engine, out);
}

uint64_t slot_memory_bytes(const struct slot *s)
{
	return arena_bytes(s->arena);
}

bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out)
{
	const struct node_entry *entry = node_table_find(node_table(s->node), node);

	if (entry)
		*out = *entry;
	return entry != NULL;
}

int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry, struct dxp_target *out)
{
	if (!slot_lookup(s, node, entry))
		return DXP_ENOENT;
	if (!entry->alive)
		return DXP_EPEERLOST;
	if (!entry->granted)
		return DXP_EACCESS;
	if (entry->kind != MANAGE_XPU || node == node_id(s->node))
		return DXP_EINVAL;
	*out = (struct dxp_target){.node = node, .qp = NODE_SERVICE_QP, .magic = entry->magic};
	return DXP_OK;
}

void slot_error_note(struct slot *s, int status)
{
	if (status != DXP_OK)
		s->counters.last_error = (uint32_t)status;
}

static uint32_t messages_take(struct slot *s)
{
	struct dxp_window *w = node_window(s->node);
	const struct dxp_nic_event *event;
	const uint8_t *data;
	uint32_t taken = 0;

	while (taken < XPU_MESSAGES_TURN && (event = nic_user_received_peek(w, &data))) {
		if (event->type == DXP_EVENT_NAP && event->status == DXP_OK)
			message_take(s, event, data);
		dxp_received_release(w);
		taken++;
	}
	return taken;
}

uint32_t slot_service(struct slot *s)
{
	uint32_t work = jobs_take(s);

	work += outbox_service(s->outbox); /* completions */
	work += messages_take(s);
	work += clearings_advance(s);
	work += works_advance(s);
	work += events_flush_due(s);
	work += tenants_reap(s);
	work += ports_reap(s);
	return work + outbox_service(s->outbox); /* what all this wants to send */
}

uint64_t slot_deadline(const struct slot *s)
{
	return worker_finished(s->worker) || s->clearings ? 0 : events_deadline(s);
}

uint32_t slot_hosts(const struct slot *s)
{
	uint32_t count = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		count += !t->leaving;
	return count;
}
