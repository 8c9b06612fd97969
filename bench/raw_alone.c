/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the raw measurements contenders of a table. */
#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/contenders.h"

int raw_ping_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		   struct tally *tally)
{
	size_t count = min_u64(work->count, TALLY_SAMPLES);
	struct raw_ping_options o = {.ends = *ends,
				     .payload_bytes = min_u64(work->bytes, datagram_bytes),
				     .warmup = work->warmup,
				     .count = count};
	uint64_t before_ns = clock_now_ns();
	int status = raw_ping(&o, tally->samples);

	if (status != DXP_OK)
		return status;
	tally->begin_ns = before_ns;
	tally->end_ns = clock_now_ns();
	tally->sample_count = (uint32_t)count;
	tally->done = work->count;
	return DXP_OK;
}

static int stream_run(const struct raw_stream_options *o, const struct work *work,
		      struct tally *tally)
{
	struct raw_stream_result r;
	int status = raw_stream(o, &r);

	if (status != DXP_OK)
		return status;
	tally->end_ns = clock_now_ns();
	tally->begin_ns = tally->end_ns - (uint64_t)((double)r.bytes / r.gb_per_s);
	tally->near_cpu_ns = (uint64_t)(r.sender_ns_per_kb * (double)r.bytes / 1000);
	tally->far_cpu_ns = (uint64_t)(r.receiver_ns_per_kb * (double)r.bytes / 1000);
	tally->done = r.bytes / work->bytes;
	return DXP_OK;
}

int raw_stream_alone(const struct raw_ends *ends, const struct work *work, size_t datagram_bytes,
		     struct tally *tally)
{
	struct raw_stream_options o = {.ends = *ends,
				       .segment_bytes = datagram_bytes,
				       .total_bytes = work->count * work->bytes,
				       .spin = true};

	return stream_run(&o, work, tally);
}

static int messages_run(const struct raw_ends *ends, const struct work *work, size_t segments,
			struct tally *tally)
{
	struct raw_stream_options o = {.ends = *ends,
				       .segment_bytes = work->bytes,
				       .batch_segments = segments,
				       .total_bytes = work->count * work->bytes,
				       .spin = true};

	return stream_run(&o, work, tally);
}

int raw_messages_64_alone(const struct raw_ends *ends, const struct work *work,
			  size_t datagram_bytes, struct tally *tally)
{
	return messages_run(ends, work, 64, tally);
}

int raw_messages_128_alone(const struct raw_ends *ends, const struct work *work,
			   size_t datagram_bytes, struct tally *tally)
{
	return messages_run(ends, work, 128, tally);
}
