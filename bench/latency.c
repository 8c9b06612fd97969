/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench latency`: round trips in us of small PUTs, GETs and NAPs between two polling
 * processes, against a raw UDP ping-pong and other libraries. A PUT lasts from doorbell to
 * completion, a NAP or a peer's message until its echo. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/latency.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"
#include "nic/limits.h"

#define TRIPS 2000
/* operations until the link adapts to its only peer (LINK_BUSY_VOTES, LINK_ALONE_MAX) */
#define WARMUP 2000

static const uint32_t sizes[] = {4, 64, 1024, 4096, 16384, 65536};

/* The peers' echo is compared with a NAP, and above the largest NAP with PUT and GET. */
static const struct contender with_peers[] = {
	CONTENDER_RLTP,
	CONTENDER_RAW_PING,
	{.name = "TCP, spinning", .ops = &peer_tcp, .variant = "cubic"},
	CONTENDER_UCX_TCP,
	CONTENDER_FABRIC("tcp;ofi_rxm"),
	CONTENDER_FABRIC("net"),
	CONTENDER_FABRIC("udp;ofi_rxd"),
};
#define ALONE 2 /* contenders without another library: RLTP, raw ping */

static int size_run(const struct lab *lab, const struct raw_ends *ends,
		    const struct bench_options *o, enum work_op op, uint32_t bytes)
{
	static const char *const names[] = {"PUT", "GET", "NAP"};
	bool peers = op == WORK_PING || (op == WORK_PUT && bytes > NIC_NAP_BYTES_MAX);
	char name[32], size[TABLE_BYTES_TEXT];
	struct table_case c = {
		.bench = "latency",
		.name = name,
		.lab = lab,
		.metric = TABLE_ROUND_TRIP,
		.work = {.op = op,
			 .bytes = bytes,
			 .depth = 1,
			 .warmup = WARMUP,
			 .count = o->quick ? TRIPS / 10 : TRIPS,
			 .budget_ns = 2 * S_NS,
			 .spin = true,
			 .payload_crc = o->payload_crc},
		.contenders = with_peers,
		.count = peers ? ARRAY_COUNT(with_peers) : ALONE,
		.reference = 1,
		.x_name = "bytes",
		.x = bytes,
		.options = o,
	};

	snprintf(name, sizeof(name), "%s %s", names[op], table_bytes(bytes, size));
	return table_case_run(&c, ends);
}

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	int status = 0;

	for (int op = WORK_PUT; op <= WORK_PING; op++)
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
			if (op != WORK_PING || sizes[i] <= NIC_NAP_BYTES_MAX)
				status |= size_run(lab, ends, o, (enum work_op)op, sizes[i]);
	return status;
}

int bench_latency(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"Round trips of PUT, GET and NAP beside raw UDP and other libraries.\n"
		"With --to NODE: to an xPU of the fabric (`dxp bench latency --to NODE --help`).",
		BENCH_OPTIONS_LAB "p", &o);

	if (status >= 0)
		return status;
	const lab_body body = o.parts ? latency_parts_run : lab_run_all;
	report_begin(o.json, o.parts ? "Parts of a round trip" : "Latency between two processes");
	if (o.lab)
		return lab_each(o.lab, body, &o);
	status = lab_each("loopback", body, &o);
	return status > 1 ? status : status | lab_each("veth-1500", body, &o);
}
