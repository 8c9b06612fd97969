/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limits of functions; bucket.h has the arithmetic. */
#include "nic/limit.h"

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"

int nic_function_limit(struct nic *n, uint32_t function, uint64_t bytes_per_s)
{
	if (function >= NIC_FUNCTIONS || bytes_per_s > BUCKET_RATE_MAX)
		return DXP_EINVAL;
	bucket_rate(&n->functions[function].limit, bytes_per_s);
	limit_apply(&n->functions[function]);
	n->space = true; /* requests may wait for the old limit */
	return DXP_OK;
}

void limit_apply(struct nic_function *f)
{
	bool holds = f->limit.bytes_per_s != 0 && function_serves(f);

	rltp_endpoint_limit(f->nic->endpoint, f->index, holds ? &f->limit : NULL);
}

bool limit_allows(struct nic_function *f, uint64_t now_ns)
{
	return bucket_allows(&f->limit, now_ns);
}

/* Half of the time of a batch. A message may begin while at most this much is unpaid, and takes
 * less than the other half, so its packets leave together. After a wait a function continues only
 * when all is paid; otherwise messages would leave one by one. */
static uint64_t half_ns(const struct bucket *b)
{
	return b->batch_ns / 2;
}

bool limit_begins(struct nic_user *u)
{
	struct nic_function *f = u->function;
	struct bucket *b = &f->limit;
	struct nic *n = f->nic;

	if (b->bytes_per_s == 0)
		return true;
	uint64_t saved_ns = n->now_ns > b->burst_ns ? n->now_ns - b->burst_ns : 0;
	uint64_t paid_ns = max_u64(b->paid_ns, saved_ns) + bucket_time(b, f->unsent);
	if (paid_ns <= n->now_ns + (f->gathers ? 0 : half_ns(b))) {
		f->gathers = false;
		return true;
	}
	if (!f->gathers) {
		b->waits++;
		u->counted = true;
	}
	f->gathers = true;
	/* A peer may delay begun messages, so the next check is at least half a batch away. */
	n->look_ns =
		min_u64(n->look_ns, f->unsent ? max_u64(paid_ns, n->now_ns + half_ns(b)) : paid_ns);
	return false;
}

uint32_t limit_message_bytes(const struct nic_function *f)
{
	const struct bucket *b = &f->limit;

	if (b->bytes_per_s == 0)
		return UINT32_MAX;
	/* Three quarters of half a batch, because headers count too. */
	uint64_t bytes =
		max_u64(b->bytes_per_s / (S_NS / (BUCKET_BATCH_NS / 2)), BUCKET_BATCH_BYTES / 2);
	return (uint32_t)clamp_u64(bytes / 4 * 3, 1, NIC_MESSAGE_BYTES_MAX);
}

void limit_charge(struct nic_function *f, uint64_t bytes)
{
	bucket_charge(&f->limit, bytes, f->nic->now_ns);
}

uint64_t limit_deadline(const struct nic_function *f)
{
	return f->limit.bytes_per_s ? f->limit.next_ns : UINT64_MAX;
}

uint64_t limit_waits(const struct nic_function *f)
{
	return f->limit.waits;
}
