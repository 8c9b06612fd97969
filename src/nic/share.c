/* SPDX-License-Identifier: BSD-3-Clause */
/* Fair shares of copies inside this NIC (C-37). The bytes of one poll are bounded, so that the
 * network does not wait. Functions share them by weight, then the queue pairs of each. High
 * priority comes first; the others share the rest, at least one part of RLTP_GUARD_SHARE. A long
 * copy pauses when the share is used up; an indivisible message may exceed it, which reduces the
 * next share. */
#include "nic/internal.h"

void share_order_next(struct nic_order *o, uint32_t count)
{
	uint8_t served[NIC_FUNCTIONS];
	uint32_t kept = 0, moved = 0;

	if (o->served == 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (o->served >> o->at[i] & 1)
			served[moved++] = o->at[i];
		else
			o->at[kept++] = o->at[i];
	}
	/* The first one served got most, so it becomes the last. */
	for (uint32_t i = 1; i < moved; i++)
		o->at[kept++] = served[i];
	o->at[kept] = served[0];
	o->served = 0;
}

void share_poll_begin(struct nic *n)
{
	n->poll++;
	n->high_bytes = 0;
	for (int class = 0; class < 2; class ++) {
		n->weights_last[class] = n->weights[class];
		n->weights[class] = 0;
	}
}

static uint32_t priority(const struct nic_function *f)
{
	return f->nic->high >> f->index & 1;
}

void share_weights_sum(struct nic *n)
{
	n->weights_open[NIC_PRIORITY_NORMAL] = n->weights_open[NIC_PRIORITY_HIGH] = 0;
	for (int i = 0; i < NIC_FUNCTIONS; i++)
		if (n->functions[i].open)
			n->weights_open[priority(&n->functions[i])] += n->functions[i].weight;
}

static uint64_t class_bytes(const struct nic *n, uint32_t class)
{
	const uint64_t least = NIC_QUANTUM_BYTES / RLTP_GUARD_SHARE;

	if (class == NIC_PRIORITY_HIGH || n->high_bytes == 0)
		return NIC_QUANTUM_BYTES;
	return n->high_bytes < NIC_QUANTUM_BYTES - least ? NIC_QUANTUM_BYTES - n->high_bytes
							 : least;
}

/* Computed at the function's first copy in a poll, so others cost nothing. If it also copied in the
 * last poll, it shares with the functions that did, else with all open ones, because many may
 * begin. */
static void share_make(struct nic_function *f)
{
	struct nic *n = f->nic;
	const uint32_t class = priority(f);
	uint32_t weights =
		f->poll_at + 1 == n->poll ? n->weights_last[class] : n->weights_open[class];

	if (weights < f->weight)
		weights = f->weight; /* the weight was changed after the sum */
	f->poll_at = n->poll;
	n->weights[class] += f->weight;
	f->share = (f->share < 0 ? f->share : 0) +
		   (int64_t)(class_bytes(n, class) * f->weight / weights);
}

bool share_left(struct nic_function *f)
{
	if (f->poll_at != f->nic->poll)
		share_make(f);
	return f->share > 0 && limit_allows(f, f->nic->now_ns);
}

void share_spend(struct nic_function *f, uint32_t bytes)
{
	f->share -= bytes;
	if (priority(f) == NIC_PRIORITY_HIGH)
		f->nic->high_bytes += bytes;
	limit_charge(f, bytes);
}

static uint32_t busy_next(const struct nic_function *f)
{
	uint32_t later = (uint32_t)f->busy >> f->copy_qp << f->copy_qp;

	return (uint32_t)__builtin_ctz(later ? later : f->busy);
}

/* Its requests stop waiting for receive entries, so that other functions get them. */
static void limit_wait(struct nic_function *f)
{
	f->nic->look_ns = min_u64(f->nic->look_ns, limit_deadline(f));
	for (int q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		if (f->queues[q].uncut)
			space_unwait(f->queues[q].uncut);
}

void share_function_copy(struct nic_function *f)
{
	while (f->busy && share_left(f)) {
		uint32_t index = busy_next(f);
		struct nic_queue *q = &f->queues[index];
		if (q->left <= 0)
			q->left += NIC_SLICE_BYTES;
		int64_t before = f->share < q->left ? f->share : q->left, left = before;
		f->busy &= (uint8_t) ~(1u << index);
		request_queue_advance(f, q, &left);
		share_spend(f, (uint32_t)(before - left));
		q->left -= (int32_t)(before - left);
		/* A queue pair that can copy nothing loses the rest of its slice. */
		bool more = f->busy >> index & 1;
		if (!more && q->left > 0)
			q->left = 0;
		f->copy_qp =
			(uint8_t)(more && q->left > 0 ? index : (index + 1) % NIC_QPS_PER_FUNCTION);
	}
	if (f->busy && limit_allows(f, f->nic->now_ns))
		f->nic->space = true;
	else if (f->busy)
		limit_wait(f);
}
