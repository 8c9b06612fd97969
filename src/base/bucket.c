/* SPDX-License-Identifier: BSD-3-Clause */
/* Token bucket. Remainders of divisions are kept, so the rate has no rounding error. */
#include "base/bucket.h"

#include "base/limits.h"
#include "base/util.h"

static uint64_t time_of(uint64_t bytes, uint64_t bytes_per_s)
{
	return bytes * S_NS / bytes_per_s;
}

uint64_t bucket_time(const struct bucket *b, uint64_t bytes)
{
	return time_of(min_u64(bytes, BUCKET_BYTES_MAX), b->bytes_per_s);
}

void bucket_rate(struct bucket *b, uint64_t bytes_per_s)
{
	if (b->bytes_per_s == bytes_per_s)
		return;
	uint64_t waits = b->waits;
	*b = (struct bucket){.bytes_per_s = bytes_per_s, .waits = waits};
	if (bytes_per_s == 0)
		return;
	b->batch_ns = max_u64(BUCKET_BATCH_NS, time_of(BUCKET_BATCH_BYTES, bytes_per_s));
	b->burst_ns = max_u64(BUCKET_BURST_NS, time_of(BUCKET_BURST_BYTES, bytes_per_s));
	b->burst_ns -= b->batch_ns;
}

void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns)
{
	if (b->bytes_per_s == 0)
		return;
	uint64_t owed = min_u64(bytes, BUCKET_BYTES_MAX) * S_NS + b->remainder;
	uint64_t saved_ns = now_ns > b->burst_ns ? now_ns - b->burst_ns : 0;

	uint64_t start_ns = max_u64(b->paid_ns, saved_ns);

	/* After a wait, the next one counts; a wait that is extended counts once. */
	b->counted = b->counted && now_ns < b->next_ns;
	b->remainder = owed % b->bytes_per_s;
	b->paid_ns = start_ns + min_u64(owed / b->bytes_per_s, UINT64_MAX - start_ns);
	b->next_ns = b->paid_ns >= now_ns + b->batch_ns ? b->paid_ns : 0;
}
