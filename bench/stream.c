/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench stream`: PUT and GET bandwidth between two processes, against kernel TCP and a raw
 * GSO+GRO stream that copies as RLTP does. Also reports CPU time per kilobyte at either end, which
 * varies less. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

#define TOTAL (1ull << 30)

struct shape {
	const char *name;
	enum work_op op;
	uint32_t bytes, depth;
};

static const struct shape shapes[] = {
	{"PUT 64 KiB, 1 at a time", WORK_PUT, 64 << 10, 1},
	{"PUT 1 MiB, 1 at a time", WORK_PUT, 1 << 20, 1},
	{"PUT 1 MiB, 8 at a time", WORK_PUT, 1 << 20, 8},
	{"PUT 64 MiB, 1 at a time", WORK_PUT, 64 << 20, 1},
	{"GET 1 MiB, 1 at a time", WORK_GET, 1 << 20, 1},
	{"GET 1 MiB, 8 at a time", WORK_GET, 1 << 20, 8},
	{"GET 64 MiB, 1 at a time", WORK_GET, 64 << 20, 1},
};

static const struct contender contenders[] = {
	CONTENDER_RLTP,
	CONTENDER_RAW_STREAM,
	CONTENDER_TCP_CUBIC,
};

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	uint64_t total = lab->cut ? TOTAL / 4 : TOTAL;
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
		const struct shape *s = &shapes[i];
		struct table_case c = {
			.bench = "stream",
			.name = s->name,
			.lab = lab,
			.metric = TABLE_GOODPUT,
			.work = {.op = s->op,
				 .bytes = s->bytes,
				 .depth = s->depth,
				 .warmup = (uint32_t)max_u64((16u << 20) / s->bytes, 1),
				 .count = max_u64((o->quick ? total / 8 : total) / s->bytes, 2),
				 .budget_ns = 10 * S_NS,
				 .payload_crc = o->payload_crc},
			.contenders = contenders,
			.count = ARRAY_COUNT(contenders),
			.reference = 1,
			.options = o,
		};
		status |= table_case_run(&c, ends);
	}
	return status;
}

int bench_stream(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"Bandwidth of PUT and GET beside a raw GSO+GRO stream and TCP.\n"
		"With --to NODE: to an xPU of the fabric (`dxp bench stream --to NODE --help`).",
		BENCH_OPTIONS_LAB, &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Bandwidth between two processes");
	return lab_each(o.lab, lab_run_all, &o);
}
