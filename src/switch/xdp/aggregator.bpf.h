/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of an aggregator under its spin lock: aggregator_add a contribution, aggregator_fold
 * after the last, aggregator_finish with the parent's result. BPF allows no calls there, so output
 * is copied to `w`. */
#ifndef SWITCH_XDP_AGGREGATOR_H
#define SWITCH_XDP_AGGREGATOR_H

#include "switch/xdp/maps.bpf.h"

/* ns between two transmissions of a partial result */
#define AGGREGATOR_REPEAT_NS (200ull * 1000)
/* ns; unused for longer, it accepts any segment */
#define AGGREGATOR_STALE_NS (10ull * 1000 * 1000 * 1000)
/* status if members disagree */
#define AGGREGATOR_MISMATCH (-DXP_EINVAL)

enum verdict {
	/* no aggregator here has the segment: user space */
	AGGREGATOR_LEFT,
	AGGREGATOR_STALE, /* an older segment */
	/* counted before, nothing to send */
	AGGREGATOR_DUPLICATE,
	AGGREGATOR_KEPT,     /* counted; others are missing */
	AGGREGATOR_COMPLETE, /* counted, the last one */
	/* counted before; `w` has the result for its sender */
	AGGREGATOR_ANSWER,
	/* counted before; `w` has the partial result for the parent */
	AGGREGATOR_UP_AGAIN,
	AGGREGATOR_DOWN /* `w` has the result for the children */
};

struct arrival {
	__u64 now_ns, bit, all; /* child's bit; all bits */
	__u64 kind;             /* of struct kernel_call */
	__u32 req_id, child;
	__u32 call_elements, words;
	__u8 status, flags, fast;
};

INLINE void words_copy(__u64 *to, const __u64 *from, __u32 words)
{
	if (words <= 1) {
		to[0] = from[0];
		return;
	}
#pragma unroll
	for (int i = 0; i < SWITCH_KERNEL_WORDS; i++)
		to[i] = from[i];
}

/* Caller holds s->lock. */
INLINE void aggregator_copy_out(const struct kernel_aggregator *s, struct work *w)
{
	w->out.kind = s->call.kind;
	w->out.call_elements = s->call.elements;
	w->out.src_rank = s->src_rank;
	w->out.elements = s->elements;
	w->out.flags = s->flags;
	w->out.status = s->status;
	words_copy(w->frame.payload, s->data, SWITCH_KERNEL_WORDS);
}

/* Handles a contribution counted before. Caller holds s->lock. */
INLINE enum verdict aggregator_repeat(struct kernel_aggregator *s, struct work *w, __u64 now_ns)
{
	if (s->has_result) {
		aggregator_copy_out(s, w);
		return AGGREGATOR_ANSWER;
	}
	if (!s->folded || now_ns - s->sent_ns < AGGREGATOR_REPEAT_NS)
		return AGGREGATOR_DUPLICATE;
	aggregator_copy_out(s, w);
	s->sent_ns = now_ns;
	return AGGREGATOR_UP_AGAIN;
}

/* Its payload is in `w`. Caller holds s->lock. */
INLINE enum verdict aggregator_count(struct kernel_aggregator *s, struct kernel_contributions *c,
				     struct work *w, const struct arrival *a)
{
	if (a->status)
		s->status = s->status ? s->status : a->status;
	else if (s->call.kind != a->kind || s->call.elements != a->call_elements)
		s->status = AGGREGATOR_MISMATCH;
	else
		words_copy(c->words[a->child % SWITCH_KERNEL_CHILDREN], w->frame.payload, a->words);
	s->arrived |= a->bit;
	s->seen_ns = a->now_ns;
	return s->arrived == a->all ? AGGREGATOR_COMPLETE : AGGREGATOR_KEPT;
}

INLINE enum verdict aggregator_add(struct kernel_aggregator *s, struct kernel_contributions *c,
				   struct work *w, const struct arrival *a)
{
	enum verdict verdict;

	bpf_spin_lock(&s->lock);
	if (s->used && s->req_id == a->req_id) {
		verdict = s->arrived & a->bit ? aggregator_repeat(s, w, a->now_ns)
					      : aggregator_count(s, c, w, a);
	} else if (!a->fast) {
		verdict = AGGREGATOR_LEFT;
	} else if (s->used && (__s32)(a->req_id - s->req_id) < 0 &&
		   a->now_ns - s->seen_ns < AGGREGATOR_STALE_NS) {
		verdict = AGGREGATOR_STALE;
	} else {
		s->used = 1;
		s->req_id = a->req_id;
		s->arrived = 0;
		s->call.kind = a->kind;
		s->call.elements = a->call_elements;
		s->flags = a->flags;
		s->folded = s->has_result = s->status = 0;
		verdict = aggregator_count(s, c, w, a);
	}
	bpf_spin_unlock(&s->lock);
	return verdict;
}

/* Stores the fold. Returns 0 if the aggregator has another segment by now. */
INLINE int aggregator_fold(struct kernel_aggregator *s, struct work *w, const struct arrival *a,
			   int root, __u32 words)
{
	int same;

	bpf_spin_lock(&s->lock);
	same = s->req_id == a->req_id;
	if (same) {
		s->elements = w->out.elements;
		s->src_rank = w->out.src_rank;
		words_copy(s->data, w->frame.payload, words);
		s->folded = 1;
		s->has_result = root;
		s->sent_ns = a->now_ns;
	}
	bpf_spin_unlock(&s->lock);
	return same;
}

/* Stores the parent's result if it is of the same operation. */
INLINE enum verdict aggregator_finish(struct kernel_aggregator *s, struct work *w,
				      const struct arrival *a, __u32 src_rank, __u32 elements)
{
	enum verdict verdict = AGGREGATOR_LEFT;

	bpf_spin_lock(&s->lock);
	if (s->used && s->req_id == a->req_id && s->folded) {
		verdict = AGGREGATOR_DUPLICATE;
		if (!s->has_result && (a->status || (s->call.kind == a->kind &&
						     s->call.elements == a->call_elements))) {
			s->has_result = 1;
			s->status = a->status;
			s->src_rank = src_rank;
			s->elements = elements;
			words_copy(s->data, w->frame.payload, SWITCH_KERNEL_WORDS);
			s->seen_ns = a->now_ns;
			aggregator_copy_out(s, w);
			verdict = AGGREGATOR_DOWN;
		}
	}
	bpf_spin_unlock(&s->lock);
	return verdict;
}

#endif
