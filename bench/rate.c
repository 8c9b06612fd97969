/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench rate`: 64-byte NAPs to one peer over all queue pairs of a function, in millions per
 * second and CPU time per message at either end. References: batched raw datagrams, and other
 * libraries' tagged messages. */
#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define MESSAGES (2u << 20)

static const struct contender contenders[] = {
	CONTENDER_RLTP,
	{.name = "raw UDP, batches of 64", .alone = raw_messages_64_alone},
	{.name = "raw UDP, batches of 128", .alone = raw_messages_128_alone},
	CONTENDER_UCX_TCP,
	CONTENDER_FABRIC("tcp;ofi_rxm"),
	CONTENDER_FABRIC("net"),
	CONTENDER_FABRIC("udp;ofi_rxd"),
};

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	struct table_case c = {
		.bench = "rate",
		.name = "NAP 64 B",
		.lab = lab,
		.metric = TABLE_RATE,
		.work = {.op = WORK_MESSAGE,
			 .bytes = 64,
			 .depth = WORK_DEPTH_MAX,
			 .warmup = 10000,
			 .count = o->quick ? MESSAGES / 16 : MESSAGES,
			 .budget_ns = o->quick ? S_NS : 4 * S_NS,
			 .payload_crc = o->payload_crc},
		.contenders = contenders,
		.count = ARRAY_COUNT(contenders),
		.reference = 1,
		.options = o,
	};

	return table_case_run(&c, ends);
}

int bench_rate(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"64-byte NAPs to one peer beside raw datagrams and other libraries.\n"
		"With --to NODE: to an xPU of the fabric (`dxp bench rate --to NODE --help`).",
		BENCH_OPTIONS_LAB, &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Small messages to one peer");
	if (o.lab)
		return lab_each(o.lab, lab_run_all, &o);
	status = lab_each("loopback", lab_run_all, &o);
	return status > 1 ? status : status | lab_each("veth-1500", lab_run_all, &o);
}
