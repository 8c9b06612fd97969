/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on the function window of a NIC (dxp/window.h): post descriptors, dequeue events, wait
 * with a bound. Any code that can store to the window can send: this process, another process, a
 * kernel on a device. The same source compiles as C17, C++, CUDA C, OpenCL C and C for RISC-V. It
 * makes no system call and no allocation, and needs no header except for fixed-width integers.
 *
 * Any number of threads and processes may post with dxp_post_*(). For lists they may also call
 * dxp_claim(), fill dxp_slot(), and call dxp_ring(). Each event ring has one consumer at a time.
 * Every wait is bounded: it returns with the event, after a number of polls, or with the function's
 * error (dxp_error()).
 *
 * After posting, a process calls dxp_function_kick() (dxp/function.h) if its NIC may sleep. A
 * device cannot call it, so its runtime keeps the function armed (dxp_function_arm()) while kernels
 * run. Sources: C-12, C-13, C-15, C-16, P-02 .. P-04. */
#ifndef DXP_DEVICE_H
#define DXP_DEVICE_H

/* Device compilers that cannot include files get the text of these headers in front of the
 * program. */
#ifndef DXP_WINDOW_H
#include <dxp/window.h>
#endif
#ifndef DXP_SHARED_H
#include <dxp/shared.h>
#endif
#ifndef DXP_REDUCTION_H
#include <dxp/reduction.h>
#endif

/* ---- posting ---- */

/* Returns the lap number of free-running index i in a ring of `size` entries. It is never 0, the
 * content of new memory, and repeats only after 2^32 entries. */
DXP_FN dxp_u32 dxp_lap(dxp_u32 i, dxp_u32 size)
{
	return i / size + 1;
}

/* Returns why the NIC's engine stopped the function of window `w`, as a negative status; DXP_OK:
 * not stopped. */
DXP_FN int dxp_error(const DXP_SHARED struct dxp_window *w)
{
	return (int)(0u - dxp_load_acquire(&w->error));
}

/* Claims the next free descriptor and stores its index in *index. The caller must fill it and call
 * dxp_ring().
 * Errors: DXP_EAGAIN: all DXP_DOORBELLS descriptors are in use; DXP_EOVERRUN: a doorbell was stored
 * without a claim, and the function has stopped; otherwise see dxp_error(). Source: C-15, C-16. */
DXP_FN int dxp_claim(DXP_SHARED struct dxp_window *w, dxp_u32 *index)
{
	dxp_u32 next, consumer;
	int error;

	do {
		/* Load `consumer` before `producer`. Otherwise `consumer` may be ahead of an older
		 * `producer`, and the difference looks like a full ring. Acquire pairs with the
		 * engine's release: the engine has copied these descriptors out. */
		consumer = dxp_load_acquire(&w->consumer);
		next = dxp_load_acquire(&w->producer);
		error = dxp_error(w);
		if (error)
			return error;
		if (next - consumer >= DXP_DOORBELLS)
			return DXP_EAGAIN;
	} while (!dxp_exchange_if(&w->producer, next, next + 1));
	*index = next;
	return DXP_OK;
}

DXP_FN DXP_SHARED struct dxp_slot *dxp_slot(DXP_SHARED struct dxp_window *w, dxp_u32 index)
{
	return &w->slots[index % DXP_DOORBELLS];
}

/* Publishes the descriptor (C-13); pairs with the engine's acquire of `lap`. */
DXP_FN void dxp_ring(DXP_SHARED struct dxp_window *w, dxp_u32 index)
{
	dxp_store_release(&dxp_slot(w, index)->head.lap, dxp_lap(index, DXP_DOORBELLS));
}

/* Stores the head of a descriptor, without `lap` and inline data: dxp_head() sets no inline
 * data. */
DXP_FN void dxp_head_store(DXP_SHARED struct dxp_slot *slot, const struct dxp_descriptor *head)
{
	dxp_store_bytes((DXP_SHARED dxp_u8 *)&slot->head, head,
			(dxp_u32)(sizeof(*head) - sizeof(head->data) - sizeof(head->lap)));
}

DXP_FN struct dxp_descriptor dxp_head(dxp_u8 op, dxp_u8 qp, const struct dxp_target *to,
				      dxp_u64 context)
{
	struct dxp_descriptor d;

	d.op = op;
	d.flags = 0;
	d.src_count = d.dst_count = 0;
	d.inline_bytes = 0;
	d.imm = d.trailer = 0;
	d.qp = qp;
	d.dst_function = to->function;
	d.dst_node = to->node;
	d.dst_qp = to->qp;
	d.dst_magic = to->magic;
	d.context = context;
	return d;
}

/* Posts a descriptor: copies `head`, its source list, destination list and inline data. `head` is
 * from dxp_head(), with flags, imm, trailer, counts and inline_bytes set by the caller.
 * Errors: DXP_EINVAL: lists and data do not fit a descriptor; otherwise see dxp_claim().
 * Source: C-14, C-23, C-24. */
DXP_FN int dxp_post_lists(DXP_SHARED struct dxp_window *w, const struct dxp_descriptor *head,
			  const struct dxp_entry *src, const struct dxp_entry *dst,
			  const void *data)
{
	const dxp_u32 each = (dxp_u32)sizeof(struct dxp_entry);
	const dxp_u32 src_count = head->src_count, dst_count = head->dst_count;
	const dxp_u32 count = src_count + dst_count;
	const dxp_u32 bytes = head->flags & DXP_FLAG_INLINE ? head->inline_bytes : 0;
	dxp_u32 index = 0;

	if (count > DXP_LIST_ENTRIES || bytes > DXP_NAP_BYTES - count * each)
		return DXP_EINVAL;
	int status = dxp_claim(w, &index);
	if (status != DXP_OK)
		return status;
	DXP_SHARED struct dxp_slot *slot = dxp_slot(w, index);
	dxp_head_store(slot, head);
	for (dxp_u32 i = 0; i < src_count; i++)
		dxp_store_bytes(slot->body + i * each, src + i, each);
	for (dxp_u32 i = 0; i < dst_count; i++)
		dxp_store_bytes(slot->body + (src_count + i) * each, dst + i, each);
	if (bytes > DXP_HEAD_BYTES)
		dxp_store_bytes(slot->body + count * each, data, bytes);
	else if (bytes > 0)
		dxp_store_bytes(slot->head.data, data, bytes);
	dxp_ring(w, index);
	return DXP_OK;
}

/* Does what dxp_post_lists() does, with both lists in one array, source list first. */
DXP_FN int dxp_post(DXP_SHARED struct dxp_window *w, const struct dxp_descriptor *head,
		    const struct dxp_entry *entries, const void *data)
{
	return dxp_post_lists(w, head, entries, entries ? entries + head->src_count : 0, data);
}

/* Returns the length in bytes of a descriptor in registered memory (struct dxp_chain) with lists of
 * these lengths. */
DXP_FN dxp_u64 dxp_chain_bytes(dxp_u32 src_count, dxp_u32 dst_count)
{
	return sizeof(struct dxp_chain) +
	       sizeof(struct dxp_entry) * ((dxp_u64)src_count + dst_count);
}

/* Stores the head of a descriptor (struct dxp_chain) at `chain`, which is registered memory aligned
 * to 8 bytes. The caller stores the entries behind the head, source list first. `head` is as for
 * dxp_post_lists(), without inline data; its counts are not used. */
DXP_FN void dxp_chain_store(DXP_SHARED struct dxp_chain *chain, const struct dxp_descriptor *head,
			    dxp_u32 src_count, dxp_u32 dst_count)
{
	dxp_store_bytes((DXP_SHARED dxp_u8 *)&chain->head, head,
			(dxp_u32)(sizeof(*head) - sizeof(head->data) - sizeof(head->lap)));
	chain->src_count = src_count;
	chain->dst_count = dst_count;
	chain->reserved = 0;
}

/* Posts the descriptor that `chain` names: dxp_chain_bytes() bytes of memory that the user of
 * window `w` registered. PUT and GET may have lists of any length; lists of other operations have
 * at most DXP_LIST_ENTRIES.
 * Owner:  the descriptor's memory belongs to the NIC until the completion with `context`.
 * Errors: see dxp_claim(). In the completion: DXP_EINVAL: wrong counts, `bytes` or totals;
 *         DXP_EACCESS: a wrong key or a missing right; DXP_ERANGE: outside of a region.
 * Source: C-13, C-14. */
DXP_FN int dxp_post_reference(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			      const struct dxp_entry *chain, dxp_u64 context)
{
	struct dxp_target none;

	none.node = 0;
	none.function = none.qp = 0;
	none.magic = 0;
	struct dxp_descriptor d = dxp_head(0, qp, &none, context);
	d.flags = DXP_FLAG_REFERENCE;
	d.src_count = 1;
	return dxp_post(w, &d, chain, 0);
}

/* Posts a NAP of up to DXP_NAP_BYTES bytes. Copies the bytes into the descriptor, so `data` may be
 * reused at once.
 * Errors: DXP_EINVAL: more than DXP_NAP_BYTES; otherwise see dxp_claim().
 * Source: C-17. */
DXP_FN int dxp_post_nap(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *to,
			const void *data, dxp_u32 bytes, dxp_u64 imm, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, qp, to, context);

	if (bytes > DXP_NAP_BYTES)
		return DXP_EINVAL;
	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = (dxp_u16)bytes;
	d.imm = imm;
	return dxp_post(w, &d, 0, data);
}

/* dxp_post_put() posts a PUT of one range to another range of the same length. `flags` is 0 or
 * DXP_FLAG_NOTIFY. dxp_post_get() posts a GET.
 * Owner:  the local memory belongs to the NIC until the completion with `context`.
 * Errors: see dxp_claim().
 * Source: C-18, C-19. */
DXP_FN int dxp_post_put(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *peer,
			const struct dxp_entry *from, const struct dxp_entry *to, dxp_u8 flags,
			dxp_u64 imm, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_PUT, qp, peer, context);
	struct dxp_entry entries[2] = {*from, *to};

	d.flags = flags;
	d.src_count = d.dst_count = 1;
	d.imm = imm;
	return dxp_post(w, &d, entries, 0);
}

DXP_FN int dxp_post_get(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *peer,
			const struct dxp_entry *from, const struct dxp_entry *to, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_GET, qp, peer, context);
	struct dxp_entry entries[2] = {*from, *to};

	d.src_count = d.dst_count = 1;
	return dxp_post(w, &d, entries, 0);
}

/* Posts an atomic. `op` is DXP_OP_FETCH_* or DXP_OP_COMPARE_SWAP; `at` names 8 bytes of the peer,
 * aligned to 8. Only COMPARE_SWAP uses `swap`. Errors: see dxp_claim(). */
DXP_FN int dxp_post_atomic(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			   const struct dxp_target *peer, dxp_u8 op, const struct dxp_entry *at,
			   dxp_u64 operand, dxp_u64 swap, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(op, qp, peer, context);

	d.dst_count = 1;
	d.imm = operand;
	d.trailer = swap;
	return dxp_post(w, &d, at, 0);
}

/* ---- CFG registers: 4 bytes each, by index; docs/reference/registers.md ---- */

/* Returns the address of queue pair `qp` of window `w`. CFG accesses to this address access the
 * registers of this node, with the rights of the host that opened the function. */
DXP_FN struct dxp_target dxp_self(const DXP_SHARED struct dxp_window *w, dxp_u8 qp)
{
	struct dxp_target self;

	self.node = 0;
	self.function = (dxp_u8)w->function;
	self.qp = (dxp_u8)(w->first_qp + qp);
	self.magic = w->qp_magic[qp];
	return self;
}

/* dxp_post_cfg_read() posts a read of consecutive registers of `peer`, from index `first` on, into
 * `to`; to->bytes is 4 for each register. dxp_post_cfg_write() posts a write of `count` registers
 * from `values`, which may be reused at once.
 * Errors: DXP_EINVAL: more than DXP_CFG_WORDS values; otherwise see dxp_claim(). In the completion:
 *         DXP_ERANGE: no such register; DXP_EACCESS: it is read-only, or the writer has not opened
 *         the xPU; DXP_EBUSY: the task is running.
 * Source. */
DXP_FN int dxp_post_cfg_read(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			     const struct dxp_target *peer, dxp_u32 first,
			     const struct dxp_entry *to, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_CFG_READ, qp, peer, context);
	struct dxp_entry entries[2] = {*to, *to};

	entries[0].offset = 4 * (dxp_u64)first;
	entries[0].key = 0;
	d.src_count = d.dst_count = 1;
	return dxp_post(w, &d, entries, 0);
}

DXP_FN int dxp_post_cfg_write(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			      const struct dxp_target *peer, dxp_u32 first, const dxp_u32 *values,
			      dxp_u32 count, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_CFG_WRITE, qp, peer, context);
	struct dxp_entry registers;

	if (count > DXP_CFG_WORDS)
		return DXP_EINVAL;
	registers.offset = 4 * (dxp_u64)first;
	registers.bytes = 4 * count;
	registers.key = 0;
	d.dst_count = 1;
	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = (dxp_u16)(4 * count);
	return dxp_post(w, &d, &registers, values);
}

/* ---- allreduce by switches ---- */

/* One member's part of an allreduce. All members of the group post the same operations in the same
 * order, with equal counts, types and reductions. Addresses are those of device memory, as in a
 * struct dxp_entry. All ranges are in memory that the kernel's host has allocated. Each word is a
 * register (DXP_ALLREDUCE_REGISTER). */
struct dxp_allreduce_descriptor {
	/* input and output, equal or disjoint; multiples of the element's size */
	dxp_u64 from, to;
	dxp_u64 count;     /* elements, at least 1 */
	dxp_u64 result;    /* address of a struct dxp_allreduce_result, a multiple of 8 */
	dxp_u32 group;     /* number from dxp_group_kernels() (dxp/collective.h) */
	dxp_u32 type;      /* enum dxp_type */
	dxp_u32 reduction; /* enum dxp_reduction, except DXP_AVERAGE */
	dxp_u32 tag;       /* stored in the result; not the value that is there */
};

/* The node stores `error`, then `tag`. */
struct dxp_allreduce_result {
	dxp_u32 error; /* negated enum dxp_status; 0: the output is complete */
	dxp_u32 tag;
};

/* index of the first register of a descriptor: ALLREDUCE_FROM_LO of docs/reference/registers.md */
#define DXP_ALLREDUCE_REGISTER 62
/* operations of one group at one xPU that wait for the one in progress */
#define DXP_ALLREDUCES_MAX 64

/* Posts an allreduce, and returns at once. dxp_allreduce_wait() waits for its result. The
 * completion with `context` states whether the node has accepted the descriptor. If not, the node
 * also stores the reason in the result, if that is in memory of the kernel's host.
 * Owner:  input and output belong to the node until the result has the tag; the input is only read.
 * Errors: see dxp_claim(). In the completion: DXP_EACCESS: no such group; DXP_ERANGE: a range is
 *         not in one allocation, or a field is out of range; DXP_EUNSUPPORTED: type, reduction or
 *         memory; DXP_EBUSY: DXP_ALLREDUCES_MAX operations wait, or no memory. */
DXP_FN int dxp_post_allreduce(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			      const struct dxp_allreduce_descriptor *d, dxp_u64 context)
{
	const struct dxp_target self = dxp_self(w, qp);

	return dxp_post_cfg_write(w, qp, &self, DXP_ALLREDUCE_REGISTER, (const dxp_u32 *)d,
				  sizeof(*d) / 4, context);
}

/* ---- dequeuing events ---- */

/* Dequeues the oldest completion into *event. Returns 1; or 0 if there is none. Source: C-26. */
DXP_FN int dxp_sent_dequeue(DXP_SHARED struct dxp_window *w, struct dxp_nic_event *event)
{
	dxp_u32 index = w->sent_consumer;
	DXP_SHARED struct dxp_nic_event *slot = &w->sent[index % DXP_EVENTS];

	/* Pairs with the engine's release: the event is complete. */
	if (dxp_load_acquire(&slot->lap) != dxp_lap(index, DXP_EVENTS))
		return 0;
	*event = *slot;
	/* Pairs with the engine's acquire before it reuses the entry: this thread has read the
	 * entry. */
	dxp_store_release(&w->sent_consumer, index + 1);
	return 1;
}

/* Returns the oldest receive event, or NULL. The event is valid until dxp_received_release() or
 * dxp_received_keep(). */
DXP_FN const DXP_SHARED struct dxp_nic_event *
dxp_received_peek(const DXP_SHARED struct dxp_window *w)
{
	dxp_u32 index = w->received_consumer;
	const DXP_SHARED struct dxp_nic_event *slot = &w->received[index % DXP_EVENTS];

	return dxp_load_acquire(&slot->lap) == dxp_lap(index, DXP_EVENTS) ? slot : 0;
}

/* Returns the data of a NAP, which are in the event or in its buffer. */
DXP_FN const DXP_SHARED dxp_u8 *dxp_received_data(const DXP_SHARED struct dxp_window *w,
						  const DXP_SHARED struct dxp_nic_event *event)
{
	return event->buffer < DXP_EVENTS ? w->nap[event->buffer] : event->data;
}

/* Returns a NAP buffer to the engine, in any order, at any time after its event. One caller at a
 * time. Source: C-30. */
DXP_FN void dxp_buffer_return(DXP_SHARED struct dxp_window *w, dxp_u16 buffer)
{
	dxp_u32 index = w->buffers_returned;

	w->buffers[index % DXP_EVENTS] = buffer;
	/* Pairs with the engine's acquire when it reads the entry. */
	dxp_store_release(&w->buffers_returned, index + 1);
}

/* Releases the oldest receive event, but not its buffer; dxp_buffer_return() does that later. */
DXP_FN void dxp_received_keep(DXP_SHARED struct dxp_window *w)
{
	dxp_store_release(&w->received_consumer, w->received_consumer + 1);
}

/* Releases the oldest receive event and its buffer. */
DXP_FN void dxp_received_release(DXP_SHARED struct dxp_window *w)
{
	dxp_u16 buffer = w->received[w->received_consumer % DXP_EVENTS].buffer;

	if (buffer != DXP_NO_BUFFER)
		dxp_buffer_return(w, buffer);
	dxp_received_keep(w);
}

/* ---- waiting: at most `looks` polls (0: one); DXP_ETIMEDOUT, or see dxp_error() ---- */

/* Waits a moment after a poll without result. Returns DXP_OK if the caller must poll again. */
DXP_FN int dxp_look_again(const DXP_SHARED struct dxp_window *w, dxp_u64 *looks)
{
	int status = dxp_error(w);

	if (status == DXP_OK && (*looks)-- <= 1)
		status = DXP_ETIMEDOUT;
	dxp_relax();
	return status;
}

DXP_FN int dxp_sent_wait(DXP_SHARED struct dxp_window *w, struct dxp_nic_event *event,
			 dxp_u64 looks)
{
	int status;

	do {
		if (dxp_sent_dequeue(w, event))
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

DXP_FN int dxp_received_wait(DXP_SHARED struct dxp_window *w, dxp_u64 looks)
{
	int status;

	do {
		if (dxp_received_peek(w))
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* Waits until PUTs of peers have placed `total` bytes in memory of the window's user since the
 * window was opened. */
DXP_FN int dxp_total_wait(const DXP_SHARED struct dxp_window *w, dxp_u64 total, dxp_u64 looks)
{
	int status;

	do {
		if (dxp_load_acquire64(&w->total_bytes) >= total)
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* Waits for the allreduce with `result` and `tag`, and returns its status. Leaves the completions
 * in their ring.
 * Errors: DXP_EPEERLOST: the switches are lost, or another member has failed; DXP_EINVAL: members
 *         disagree on count, type or reduction. After one of these two, all later operations of the
 *         group fail. DXP_ECANCELED: the host has aborted or destroyed the group, or has left.
 *         Those of dxp_post_allreduce(), with DXP_ENOENT: no such group; DXP_EINVAL: a field is out
 *         of range; DXP_ENOMEM. */
DXP_FN int dxp_allreduce_wait(const DXP_SHARED struct dxp_window *w,
			      const DXP_SHARED struct dxp_allreduce_result *result, dxp_u32 tag,
			      dxp_u64 looks)
{
	int status;

	do {
		/* Pairs with the node's release: `error` and the output are valid. */
		if (dxp_load_acquire(&result->tag) == tag)
			return (int)(0u - dxp_load_acquire(&result->error));
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* ---- register mode: for devices that load and store single words (P-03, P-04) ---- */

/* Starts to send `bytes` bytes at `vaddr`, an address of the device in the lookup table, to the
 * receive area of `to`.
 * Owner:  the bytes belong to the NIC until dxp_register_wait() returns the result.
 * Errors: DXP_EBUSY: the last send is not complete; otherwise see dxp_error().
 * Source: P-03, P-06. */
DXP_FN int dxp_register_send(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			     const struct dxp_target *to, dxp_u64 vaddr, dxp_u32 bytes)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	dxp_u32 go = r->send_go;
	int error = dxp_error(w);

	if (error)
		return error;
	if (dxp_load_acquire(&r->send_done) != go)
		return DXP_EBUSY;
	r->send_vaddr = vaddr;
	r->send_bytes = bytes;
	r->node = to->node ? to->node : dxp_load_acquire(&w->node);
	r->queue = (dxp_u32)to->function << 8 | to->qp;
	r->magic = to->magic;
	r->qp = qp;
	/* Publishes the registers; pairs with the engine's acquire. */
	dxp_store_release(&r->send_go, go + 1);
	return DXP_OK;
}

/* Waits for the last dxp_register_send() and returns its status.
 * Errors: DXP_ENOENT: no area contains these bytes; DXP_EBUSY: the receiver had no space for one
 *         second; DXP_ERANGE: longer than the receiver's whole area, or longer than 256 KiB from
 *         memory that only DMA can access; DXP_EACCESS: wrong magic, or the peer has no register
 *         mode; DXP_EINVAL: a register is out of range; DXP_EPEERLOST and others: the peer
 *         failed. */
DXP_FN int dxp_register_wait(DXP_SHARED struct dxp_window *w, dxp_u64 looks)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	int status;

	do {
		/* Pairs with the engine's release: send_error is valid. */
		if (dxp_load_acquire(&r->send_done) == r->send_go)
			return (int)(0u - dxp_load_acquire(&r->send_error));
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* Sets the receive area. Messages to the registers of window `w` are stored in it, one behind the
 * other. 0 bytes: there is no area. dxp_total_wait() shows their arrival.
 * Errors: DXP_ENOENT: no area of the lookup table contains the bytes; DXP_ETIMEDOUT: not in effect
 *         yet, so the NIC may still write to the old area.
 * Source: P-04, P-06. */
DXP_FN int dxp_register_receive(DXP_SHARED struct dxp_window *w, dxp_u64 vaddr, dxp_u32 bytes,
				dxp_u64 looks)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	dxp_u32 go = r->recv_go + 1;
	int status;

	r->recv_vaddr = vaddr;
	r->recv_bytes = bytes;
	/* Publishes address and length; pairs with the engine's acquire. */
	dxp_store_release(&r->recv_go, go);
	do {
		/* Pairs with the engine's release: recv_error is valid. */
		if (dxp_load_acquire(&r->recv_done) == go)
			return (int)(0u - dxp_load_acquire(&r->recv_error));
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

#endif
