/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and polling through a window. The barriers are described in window.h. */
#include "nic/user.h"

#include <string.h>

#include <dxp/status.h>

int nic_user_post(struct nic_window *w, const void *descriptor, uint32_t bytes)
{
	if (bytes < sizeof(struct nic_descriptor) || bytes > NIC_DESCRIPTOR_BYTES)
		return DXP_EINVAL;
	uint32_t index, consumer;
	do {
		/* `consumer` first: read last it may be ahead of an older `producer`, and the
		 * difference would read as full. Pairs with the engine's release of it: the slot
		 * was copied out. */
		consumer = atomic_load_explicit(&w->consumer, memory_order_acquire);
		index = atomic_load_explicit(&w->producer, memory_order_relaxed);
		if (index - consumer >= NIC_DOORBELLS)
			return DXP_EAGAIN;
	} while (!atomic_compare_exchange_weak_explicit(
		&w->producer, &index, index + 1, memory_order_relaxed, memory_order_relaxed));
	struct nic_doorbell *bell = &w->doorbells[index % NIC_DOORBELLS];
	memcpy(w->descriptors[index % NIC_DOORBELLS], descriptor, bytes);
	bell->bytes = bytes;
	/* Publishes descriptor and length; pairs with the engine's acquire. */
	atomic_store_explicit(&bell->lap, nic_lap(index, NIC_DOORBELLS), memory_order_release);
	return DXP_OK;
}

static struct nic_event *ring_peek(struct nic_event_ring *r)
{
	uint32_t index = atomic_load_explicit(&r->consumer, memory_order_relaxed);
	struct nic_event *slot = &r->slots[index % NIC_EVENTS];

	/* Pairs with the engine's release of the event. */
	if (atomic_load_explicit(&slot->lap, memory_order_acquire) != nic_lap(index, NIC_EVENTS))
		return NULL;
	return slot;
}

static void ring_release(struct nic_event_ring *r)
{
	/* The slot was read out; pairs with the engine's acquire before it writes there again. */
	atomic_fetch_add_explicit(&r->consumer, 1, memory_order_release);
}

bool nic_user_sent(struct nic_window *w, struct nic_event *event)
{
	const struct nic_event *slot = ring_peek(&w->sent);

	if (!slot)
		return false;
	memcpy(event, slot, sizeof(*event));
	ring_release(&w->sent);
	return true;
}

const struct nic_event *nic_user_received_peek(struct nic_window *w, const uint8_t **data)
{
	const struct nic_event *slot = ring_peek(&w->received);

	if (slot)
		*data = w->nap[slot - w->received.slots];
	return slot;
}

void nic_user_received_release(struct nic_window *w)
{
	ring_release(&w->received);
}

struct builder {
	_Alignas(8) uint8_t bytes[NIC_DESCRIPTOR_BYTES];
	uint32_t used;
};

static void builder_begin(struct builder *b, uint8_t op, uint8_t qp, const struct nic_target *to,
			  uint64_t context)
{
	const struct nic_descriptor head = {
		.op = op,
		.qp = qp,
		.dst_function = to->function,
		.dst_node = to->node,
		.dst_qp = to->qp,
		.dst_magic = to->magic,
		.context = context,
	};

	memcpy(b->bytes, &head, sizeof(head));
	b->used = sizeof(head);
}

static struct nic_descriptor *builder_head(struct builder *b)
{
	return (void *)b->bytes;
}

static bool builder_append(struct builder *b, const void *data, uint32_t bytes)
{
	if (bytes > sizeof(b->bytes) - b->used)
		return false;
	memcpy(b->bytes + b->used, data, bytes);
	b->used += bytes;
	return true;
}

static bool builder_inline(struct builder *b, const void *data, uint32_t bytes)
{
	builder_head(b)->flags |= NIC_FLAG_INLINE;
	builder_head(b)->inline_bytes = bytes;
	return bytes == 0 || builder_append(b, data, bytes);
}

int nic_user_nap(struct nic_window *w, uint8_t qp, const struct nic_target *to, const void *data,
		 uint32_t bytes, uint64_t imm, uint64_t context)
{
	struct builder b;

	builder_begin(&b, NIC_OP_NAP, qp, to, context);
	builder_head(&b)->imm = imm;
	if (!builder_inline(&b, data, bytes))
		return DXP_EINVAL;
	return nic_user_post(w, b.bytes, b.used);
}

static int lists_post(struct nic_window *w, struct builder *b, const struct nic_entry *src,
		      uint16_t src_count, const struct nic_entry *dst, uint16_t dst_count)
{
	if (src_count + dst_count > NIC_LIST_ENTRIES_MAX ||
	    !builder_append(b, src, src_count * (uint32_t)sizeof(*src)) ||
	    !builder_append(b, dst, dst_count * (uint32_t)sizeof(*dst)))
		return DXP_EINVAL;
	builder_head(b)->src_count = src_count;
	builder_head(b)->dst_count = dst_count;
	return nic_user_post(w, b->bytes, b->used);
}

int nic_user_put(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct builder b;

	builder_begin(&b, NIC_OP_PUT, qp, to, context);
	return lists_post(w, &b, l->local, l->local_count, l->remote, l->remote_count);
}

int nic_user_get(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct builder b;

	builder_begin(&b, NIC_OP_GET, qp, to, context);
	return lists_post(w, &b, l->remote, l->remote_count, l->local, l->local_count);
}

int nic_user_cfg_read(struct nic_window *w, uint8_t qp, const struct nic_target *to, uint32_t first,
		      const struct nic_entry *local, uint64_t context)
{
	const struct nic_entry registers = {.offset = 4ull * first, .bytes = local->bytes};
	struct builder b;

	builder_begin(&b, NIC_OP_CFG_READ, qp, to, context);
	return lists_post(w, &b, &registers, 1, local, 1);
}

int nic_user_cfg_write(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context)
{
	const struct nic_entry registers = {.offset = 4ull * first, .bytes = 4 * count};
	struct builder b;

	if (count > NIC_CFG_WORDS_MAX)
		return DXP_EINVAL;
	builder_begin(&b, NIC_OP_CFG_WRITE, qp, to, context);
	builder_append(&b, &registers, sizeof(registers));
	builder_head(&b)->dst_count = 1;
	if (!builder_inline(&b, values, 4 * count))
		return DXP_EINVAL;
	return nic_user_post(w, b.bytes, b.used);
}
