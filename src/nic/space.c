/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns receive entries of a user to requests of its NIC. A request without an entry waits at the
 * head of its queue pair. Reading events signals nothing, so the engine checks at growing
 * intervals. Waiting queue pairs are served round robin; otherwise the one polled first would get
 * every entry. Up to half of the ring stays free for credits of peers (credit.c). */
#include "nic/internal.h"
#include "wire/frame.h"

#define QUEUES (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

_Static_assert(QUEUES == 32, "one bit each in `waiters`");

static bool space_is_free(struct nic_user *t)
{
	uint32_t entries = event_received_entries(t), kept = t->promised;

	/* If peers wait for credit, a quarter stays free for them: small grants are not made. */
	if (t->waiting && kept < entries / 4)
		kept = entries / 4;
	return event_received_space_beside(t, kept < entries / 2 ? kept : entries / 2);
}

bool space_now(struct nic_user *t)
{
	return t->waiters == 0 && space_is_free(t);
}

static uint32_t queue_id(const struct nic_request *r)
{
	return nic_stream_index((uint8_t)r->function->index, r->head.qp);
}

/* After NIC_SPACE_RUN entries, the next waiting queue pair gets its run. */
static bool is_first(const struct nic_user *t, uint32_t id)
{
	if ((t->waiters & ~(1u << id)) == 0)
		return true;
	bool runs = t->run < NIC_SPACE_RUN;
	if (runs && (t->runner == id || t->waiters >> t->runner & 1))
		return t->runner == id;
	uint32_t later = t->runner + 1 < QUEUES ? t->waiters >> (t->runner + 1) : 0;
	uint32_t first = later ? t->runner + 1 + (uint32_t)__builtin_ctz(later)
			       : (uint32_t)__builtin_ctz(t->waiters);
	return first == id;
}

static void wait_more(struct nic_request *r, struct nic_user *t)
{
	struct nic *n = t->nic;

	if (r->space_of != t) {
		r->space_of = t;
		t->waiters |= 1u << queue_id(r);
		r->pause_ns = NIC_SPACE_CHECK_NS;
		r->look_ns = n->now_ns + r->pause_ns;
		r->function->counters[r->head.qp].waits_for_credit++;
		r->user->counted = true;
		access_refused(n, t, WIRE_NACK_RNR);
	} else if (n->now_ns >= r->look_ns) {
		r->pause_ns = min_u64(2 * r->pause_ns, NIC_SPACE_CHECK_MAX_NS);
		r->look_ns = n->now_ns + r->pause_ns;
	}
	n->look_ns = min_u64(n->look_ns, r->look_ns);
}

bool space_acquire(struct nic_request *r, struct nic_user *t)
{
	uint32_t id = queue_id(r);

	if (!is_first(t, id) || !space_is_free(t)) {
		wait_more(r, t);
		return false;
	}
	if (t->runner != id || t->run == NIC_SPACE_RUN)
		t->run = 0;
	t->runner = id;
	t->run++;
	space_unwait(r);
	return true;
}

void space_unwait(struct nic_request *r)
{
	if (!r->space_of)
		return;
	r->space_of->waiters &= ~(1u << queue_id(r));
	r->space_of = NULL;
}
