/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench loss`: 1 MiB PUTs and GETs and 64-byte ping-pongs while both sides of a veth (MTU
 * 1500) drop incoming packets. Batches are cut first, so every contender loses single packets. One
 * without progress stops at its time budget; its row shows the completed part. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

static const unsigned bulk_losses[] = {0, 1, 10, 100, 500, 1000}; /* lost packets of 10,000 */
static const unsigned ping_losses[] = {0, 100, 1000};

/* each loss recovery of RLTP, then the peers */
static const struct contender bulk[] = {
	CONTENDER_RLTP_AS("rack", "rack"),
	CONTENDER_RLTP_AS("irn", "irn"),
	CONTENDER_RLTP_AS("gbn_nak", "gbn_nak"),
	CONTENDER_RLTP_AS("gbn_rto", "gbn_rto"),
	CONTENDER_TCP_CUBIC,
	CONTENDER_TCP_BBR,
	CONTENDER_UCX_TCP,
	CONTENDER_FABRIC("tcp;ofi_rxm"),
	CONTENDER_FABRIC("udp;ofi_rxd"),
};
#define RECOVERIES 4 /* first contenders, which are RLTP */

static const struct contender ping[] = {
	CONTENDER_RLTP,
	CONTENDER_TCP_CUBIC,
	CONTENDER_TCP_BBR,
	CONTENDER_UCX_TCP,
	CONTENDER_FABRIC("tcp;ofi_rxm"),
	CONTENDER_FABRIC("udp;ofi_rxd"),
};

static int bulk_run(const struct lab *lab, const struct raw_ends *ends,
		    const struct bench_options *o, unsigned per_10000, enum work_op op)
{
	char name[32];
	struct table_case c = {
		.bench = "loss",
		.name = name,
		.lab = lab,
		.metric = TABLE_GOODPUT,
		.work = {.op = op,
			 .bytes = 1 << 20,
			 .depth = 1,
			 .count = o->quick ? 32 : 256,
			 .budget_ns = o->quick ? S_NS : 5 * S_NS,
			 .payload_crc = o->payload_crc},
		.contenders = bulk,
		.count = op == WORK_PUT ? ARRAY_COUNT(bulk) : RECOVERIES,
		.reference = 0,
		.x_name = "loss_percent",
		.x = per_10000 / 100.0,
		.options = o,
	};

	snprintf(name, sizeof(name), "%s 1 MiB, %g %%", op == WORK_PUT ? "PUT" : "GET",
		 per_10000 / 100.0);
	return table_case_run(&c, ends);
}

static int ping_run(const struct lab *lab, const struct raw_ends *ends,
		    const struct bench_options *o, unsigned per_10000, enum work_op op)
{
	char name[32];
	struct table_case c = {
		.bench = "loss",
		.name = name,
		.lab = lab,
		.metric = TABLE_MEAN,
		.work = {.op = op,
			 .bytes = 64,
			 .depth = 1,
			 .warmup = 20,
			 .count = o->quick ? 1000 : 10000,
			 .budget_ns = o->quick ? S_NS : 5 * S_NS,
			 .spin = true,
			 .payload_crc = o->payload_crc},
		.contenders = ping,
		.count = op == WORK_PING ? ARRAY_COUNT(ping) : 1,
		.reference = 0,
		.x_name = "loss_percent",
		.x = per_10000 / 100.0,
		.options = o,
	};

	snprintf(name, sizeof(name), "%s 64 B, %g %%", op == WORK_PING ? "ping" : "PUT",
		 per_10000 / 100.0);
	return table_case_run(&c, ends);
}

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(bulk_losses); i++)
		if (lab_loss(ends, bulk_losses[i])) {
			status |= bulk_run(lab, ends, o, bulk_losses[i], WORK_PUT);
			status |= bulk_run(lab, ends, o, bulk_losses[i], WORK_GET);
		}
	for (size_t i = 0; i < ARRAY_COUNT(ping_losses); i++) {
		if (!lab_loss(ends, ping_losses[i]))
			continue;
		status |= ping_run(lab, ends, o, ping_losses[i], WORK_PING);
		status |= ping_run(lab, ends, o, ping_losses[i], WORK_PUT);
	}
	return status;
}

int bench_loss(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(argc, argv,
					 "1 MiB PUTs and GETs, and 64-byte ping-pongs at 0 to 10 % "
					 "loss. Always in the lab wire-1500.",
					 "ocn", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Goodput and latency against loss");
	return lab_run(lab_find("wire-1500"), lab_run_all, &o);
}
