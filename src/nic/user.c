/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and polling through a window. The barriers are described in window.h. */
#include "nic/user.h"

#include <string.h>

#include <dxp/status.h>

/* Claims the next doorbell. False when all are taken. */
static bool slot_claim(struct nic_window *w, uint32_t *out)
{
	uint32_t index, consumer;

	do {
		/* `consumer` first: read last it may be ahead of an older `producer`, and the
		 * difference would read as full. Pairs with the engine's release of it: the slot
		 * was copied out. */
		consumer = atomic_load_explicit(&w->consumer, memory_order_acquire);
		index = atomic_load_explicit(&w->producer, memory_order_relaxed);
		if (index - consumer >= NIC_DOORBELLS)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&w->producer, &index, index + 1, memory_order_relaxed, memory_order_relaxed));
	*out = index;
	return true;
}

static void doorbell_ring(struct nic_window *w, uint32_t index, uint32_t bytes)
{
	struct nic_doorbell *bell = &w->doorbells[index % NIC_DOORBELLS];

	bell->bytes = bytes;
	/* Publishes descriptor and length; pairs with the engine's acquire. */
	atomic_store_explicit(&bell->lap, nic_lap(index, NIC_DOORBELLS), memory_order_release);
}

int nic_user_post(struct nic_window *w, const void *descriptor, uint32_t bytes)
{
	uint32_t index;

	if (bytes < sizeof(struct nic_descriptor) || bytes > NIC_DESCRIPTOR_BYTES)
		return DXP_EINVAL;
	if (!slot_claim(w, &index))
		return DXP_EAGAIN;
	memcpy(w->descriptors[index % NIC_DOORBELLS], descriptor, bytes);
	doorbell_ring(w, index, bytes);
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
	uint32_t index = atomic_load_explicit(&r->consumer, memory_order_relaxed);

	/* The slot was read out; pairs with the engine's acquire before it writes there again. One
	 * consumer at a time, so nobody else changes the index. */
	atomic_store_explicit(&r->consumer, index + 1, memory_order_release);
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

static struct nic_descriptor head_of(uint8_t op, uint8_t qp, const struct nic_target *to,
				     uint64_t context)
{
	return (struct nic_descriptor){
		.op = op,
		.qp = qp,
		.dst_function = to->function,
		.dst_node = to->node,
		.dst_qp = to->qp,
		.dst_magic = to->magic,
		.context = context,
	};
}

/* Posts head, entries and data, each written straight into the slot. */
static int parts_post(struct nic_window *w, const struct nic_descriptor *head,
		      const struct nic_lists *entries, const void *data)
{
	uint32_t first = head->src_count * (uint32_t)sizeof(struct nic_entry);
	uint32_t second = head->dst_count * (uint32_t)sizeof(struct nic_entry);
	uint32_t index;

	if (head->src_count + head->dst_count > NIC_LIST_ENTRIES_MAX ||
	    head->inline_bytes > NIC_INLINE_BYTES_MAX - first - second)
		return DXP_EINVAL;
	if (!slot_claim(w, &index))
		return DXP_EAGAIN;
	uint8_t *to = w->descriptors[index % NIC_DOORBELLS];
	memcpy(to, head, sizeof(*head));
	to += sizeof(*head);
	if (first > 0)
		memcpy(to, entries->local, first);
	if (second > 0)
		memcpy(to + first, entries->remote, second);
	if (head->inline_bytes > 0)
		memcpy(to + first + second, data, head->inline_bytes);
	doorbell_ring(w, index, (uint32_t)sizeof(*head) + first + second + head->inline_bytes);
	return DXP_OK;
}

int nic_user_nap(struct nic_window *w, uint8_t qp, const struct nic_target *to, const void *data,
		 uint32_t bytes, uint64_t imm, uint64_t context)
{
	struct nic_descriptor head = head_of(NIC_OP_NAP, qp, to, context);

	head.imm = imm;
	head.flags = NIC_FLAG_INLINE;
	head.inline_bytes = bytes;
	return parts_post(w, &head, NULL, data);
}

int nic_user_put(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct nic_descriptor head = head_of(NIC_OP_PUT, qp, to, context);

	head.src_count = l->local_count;
	head.dst_count = l->remote_count;
	return parts_post(w, &head, l, NULL);
}

int nic_user_get(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		 const struct nic_lists *l, uint64_t context)
{
	struct nic_descriptor head = head_of(NIC_OP_GET, qp, to, context);
	/* The source is the peer's. */
	const struct nic_lists swapped = {.local = l->remote, .remote = l->local};

	head.src_count = l->remote_count;
	head.dst_count = l->local_count;
	return parts_post(w, &head, &swapped, NULL);
}

int nic_user_cfg_read(struct nic_window *w, uint8_t qp, const struct nic_target *to, uint32_t first,
		      const struct nic_entry *local, uint64_t context)
{
	const struct nic_entry registers = {.offset = 4ull * first, .bytes = local->bytes};
	const struct nic_lists lists = {.local = &registers, .remote = local};
	struct nic_descriptor head = head_of(NIC_OP_CFG_READ, qp, to, context);

	head.src_count = head.dst_count = 1;
	return parts_post(w, &head, &lists, NULL);
}

int nic_user_cfg_write(struct nic_window *w, uint8_t qp, const struct nic_target *to,
		       uint32_t first, const uint32_t *values, uint32_t count, uint64_t context)
{
	const struct nic_entry registers = {.offset = 4ull * first, .bytes = 4 * count};
	const struct nic_lists lists = {.remote = &registers};
	struct nic_descriptor head = head_of(NIC_OP_CFG_WRITE, qp, to, context);

	if (count > NIC_CFG_WORDS_MAX)
		return DXP_EINVAL;
	head.dst_count = 1;
	head.flags = NIC_FLAG_INLINE;
	head.inline_bytes = 4 * count;
	return parts_post(w, &head, &lists, values);
}
