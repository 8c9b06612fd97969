/* SPDX-License-Identifier: BSD-3-Clause */
/* What a function may move in a second; the arithmetic is the bucket's. */
#include "nic/limit.h"

#include <dxp/status.h>

#include "nic/internal.h"

int nic_function_limit(struct nic *n, uint32_t function, uint64_t bytes_per_s)
{
	if (function >= NIC_FUNCTIONS || bytes_per_s > BUCKET_RATE_MAX)
		return DXP_EINVAL;
	bucket_rate(&n->functions[function].limit, bytes_per_s);
	limit_apply(&n->functions[function]);
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
