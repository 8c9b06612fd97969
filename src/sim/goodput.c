/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one entry of the table of goodput against loss. */
#include "sim/goodput.h"

#include <dxp/status.h>

#include "base/util.h"

#define LIMIT_NS (3 * S_NS)

/* Protocols for comparison have no congestion control, as in their papers. */
const struct goodput_row goodput_rows[GOODPUT_ROWS] = {
	{RLTP_RACK, CC_SWIFT, 1},   {RLTP_RACK, CC_SWIFT, 8},   {RLTP_RACK, CC_NONE, 1},
	{RLTP_RACK, CC_NONE, 8},    {RLTP_IRN, CC_NONE, 1},     {RLTP_IRN, CC_NONE, 8},
	{RLTP_GBN_NAK, CC_NONE, 1}, {RLTP_GBN_NAK, CC_NONE, 8}, {RLTP_GBN_RTO, CC_NONE, 1},
	{RLTP_GBN_RTO, CC_NONE, 8},
};

const uint32_t goodput_losses_ppm[GOODPUT_LOSSES] = {0, 100, 1000, 10000, 50000, 100000};

/* Returns 0 for the transport's own time-out. */
static uint64_t timeout_of(const struct goodput_options *o)
{
	if (o->timeout_ns)
		return o->timeout_ns;
	return o->recovery >= RLTP_GBN_NAK ? MS_NS : 0;
}

int goodput_run(const struct goodput_options *options, struct crowd_result *result, double *gbps)
{
	const struct crowd_options o = {
		.net = {.seed = options->seed,
			.hosts = 2,
			.topology = NET_WIRE,
			.delay_ns = 10 * US_NS,
			.rate_bps = 10000000000ull,
			/* Short, so that a retransmission does not wait behind a whole window. */
			.backlog_bytes = 16384,
			.faults = {.loss_ppm = options->loss_ppm}},
		.pattern = CROWD_PAIR,
		.tuning = {.recovery = options->recovery,
			   .cc = options->cc,
			   .rto_min_ns = timeout_of(options)},
		.window_packets = options->recovery >= RLTP_GBN_NAK ? 64 : 0,
		.message_bytes = options->message_bytes ? options->message_bytes : 1 << 20,
		.outstanding = options->outstanding,
		.messages = options->messages ? options->messages : GOODPUT_MESSAGES,
		.limit_ns = options->limit_ns ? options->limit_ns : LIMIT_NS,
	};
	int status = crowd_run(&o, result);

	if (status == DXP_OK)
		*gbps = (double)(options->partial ? result->received_bytes : result->bytes) * 8 /
			(double)result->elapsed_ns;
	return status;
}
