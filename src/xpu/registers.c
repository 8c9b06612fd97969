/* SPDX-License-Identifier: BSD-3-Clause */
/* Present values of registers, and actions of writes. */
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "wire/frame.h"
#include "xpu/slot_internal.h"

#define NO_OWNER 0 /* owner numbers of tenants begin at 1 */

static uint32_t commands_queued(const struct slot *s)
{
	uint32_t count = 0;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		count += graph_count(t->graph);
	return count;
}

static void identity_fill(const struct slot *s, struct cfg_values *v)
{
	v->words[CFG_MAGIC] = CFG_MAGIC_VALUE;
	v->words[CFG_VERSION] = CFG_VERSION_VALUE;
	v->words[CFG_NODE] = node_id(s->node);
	v->words[CFG_SLOT] = s->options.number;
	for (int i = 0; i < 4; i++)
		v->words[CFG_UUID_0 + i] = get_be32(s->uuid + 4 * i);
	v->words[CFG_ENGINE] = s->about.kind;
	v->words[CFG_COMPUTE_UNITS] = s->about.compute_units;
	cfg_set_64(v, CFG_MEMORY_LO, arena_bytes(s->arena));
}

/* `owner`: the host whose core settings are shown. */
static void bridge_fill(const struct slot *s, uint32_t owner, struct cfg_values *v)
{
	struct bridged_state state;
	uint64_t result;

	bridged_state(s->bridged, &state);
	v->words[CFG_MEMORY_KIND] = s->about.memory_kind;
	v->words[CFG_BRIDGE_BUFFERS] = state.buffers;
	v->words[CFG_BRIDGE_BUFFER_BYTES] = state.buffer_bytes;
	engine_core_get(s->engine, owner, &v->words[CFG_CORE], &v->words[CFG_CORE_OPERAND],
			&result);
	cfg_set_64(v, CFG_CORE_RESULT_LO, result);
	cfg_set_64(v, CFG_DMA_IN_LO, state.in_bytes);
	cfg_set_64(v, CFG_DMA_OUT_LO, state.out_bytes);
	v->words[CFG_DMA_FAILED] = (uint32_t)state.failed;
	v->words[CFG_DMA_STALLS] = (uint32_t)state.stalls;
	cfg_set_64(v, CFG_DMA_IN_US_LO, state.in_busy_ns / 1000);
	cfg_set_64(v, CFG_DMA_OUT_US_LO, state.out_busy_ns / 1000);
	v->words[CFG_BRIDGE_FULL] = (uint32_t)state.no_buffer;
	v->words[CFG_BRIDGE_TRANSFERS] = state.transfers;
	v->words[CFG_BRIDGE_IN_TAKEN] = state.in_used;
	v->words[CFG_BRIDGE_OUT_TAKEN] = state.out_used;
}

static void ports_fill(const struct slot *s, struct cfg_values *v)
{
	for (const struct port *p = s->ports; p; p = p->next) {
		v->words[CFG_KERNEL_NICS] += !p->closed;
		v->words[CFG_KERNELS_ARMED] += p->launches;
	}
}

static void state_fill(const struct slot *s, struct cfg_values *v)
{
	const struct slot_counters *c = &s->counters;
	uint32_t queued = commands_queued(s);

	v->words[CFG_STATE] = node_id(s->node) == WIRE_NODE_NONE ? CFG_STATE_JOINING
			      : queued                           ? CFG_STATE_BUSY
								 : CFG_STATE_READY;
	v->words[CFG_HOSTS] = slot_hosts(s);
	cfg_set_64(v, CFG_FREE_LO, arena_free_bytes(s->arena));
	v->words[CFG_LAST_ERROR] = c->last_error;
	v->words[CFG_COMMANDS_DONE] = c->done;
	v->words[CFG_COMMANDS_FAILED] = c->failed;
	v->words[CFG_COMMANDS_QUEUED] = queued;
	v->words[CFG_COMMANDS_REFUSED] = c->rejected;
	v->words[CFG_KERNELS] = c->kernels;
	v->words[CFG_BUILDS] = c->builds;
	v->words[CFG_ALLREDUCES_DONE] = c->reduces_done;
	v->words[CFG_ALLREDUCES_FAILED] = c->reduces_failed;
	v->words[CFG_ALLREDUCES_REFUSED] = c->reduces_refused;
	cfg_set_64(v, CFG_SENT_LO, c->sent_bytes);
	cfg_set_64(v, CFG_RECEIVED_LO, dxp_load_acquire64(&node_window(s->node)->total_bytes));
}

static void switches_fill(const struct slot *s, struct cfg_values *v)
{
	v->words[CFG_SWITCH_GROUPS] = switches_count(s, NULL);
	v->words[CFG_SWITCH_REFUSED] = s->counters.switch_rejected;
	v->words[CFG_SWITCH_EXPIRED] = s->counters.switch_expired;
}

static uint8_t registers_read(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			      uint32_t *values)
{
	const struct slot *s = context;
	const struct tenant *t = tenant_find(s, src_node);
	struct cfg_values v = {0};

	identity_fill(s, &v);
	state_fill(s, &v);
	ports_fill(s, &v);
	switches_fill(s, &v);
	bridge_fill(s, t ? t->owner : NO_OWNER, &v);
	if (t) {
		v.words[CFG_MEMORY_KEY] = t->memory_key;
		cfg_set_task(&v, &t->task);
	}
	return cfg_read(&v, first, count, values);
}

static uint8_t core_set(struct tenant *t, const struct cfg_core *core)
{
	switch (engine_core_set(t->slot->engine, t->owner, core->core, core->operand)) {
	case DXP_OK: return 0;
	case DXP_EUNSUPPORTED: return WIRE_NACK_UNSUPPORTED;
	case DXP_ENOMEM: return WIRE_NACK_RESOURCE;
	default: return WIRE_NACK_BOUNDS;
	}
}

static uint8_t registers_write(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			       const uint32_t *values)
{
	struct slot *s = context;
	struct tenant *t = tenant_find(s, src_node);
	struct cfg_target target = {.task = t ? &t->task : NULL};
	struct cfg_go go = {0};
	uint64_t result;

	engine_core_get(s->engine, t ? t->owner : NO_OWNER, &target.core.core, &target.core.operand,
			&result);
	uint8_t rejected = cfg_write(t ? &target : NULL, first, count, values, &go);
	/* One write cannot do both: read-only registers lie between. */
	if (!rejected && go.core)
		rejected = core_set(t, &target.core);
	if (!rejected && go.allreduce)
		rejected = kernel_reduce_post(t, values);
	if (!rejected && go.task)
		transfer_task_start(t);
	return rejected;
}

const struct nic_cfg_ops registers_ops = {.read = registers_read, .write = registers_write};
