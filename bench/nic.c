/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench nic`: the NIC between processes of one machine, without a network: NAP round trips and
 * PUT bandwidth against bare memory and other libraries; also descriptors per second, sharing, idle
 * functions, a kernel's doorbell and blocks. All contenders use 8 MiB at either end, beyond the
 * level-2 cache. A NIC in a third process adds two core hops; on two cores the users share one and
 * switch by a system call. Both users in one process show the hops alone. */
#include <stdio.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/nic.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"

/* a sample takes 0.1 s; contenders alternate often, because the machine's speed drifts */
#define TRIPS 200000
/* round trips per clock read, which costs a third of one */
#define BATCH  1000
#define COPIED (6ull << 30)

static const uint32_t nap_sizes[] = {8, 64, 256, 2048};
static const uint32_t put_sizes[] = {64,      512,     4096,    16384,   65536,
				     1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26};

static const struct contender trips[] = {
	CONTENDER_FUNCTION("NIC embedded", "embedded"),
	CONTENDER_STORE,
	CONTENDER_FUNCTION("NIC of a third process", "served"),
	CONTENDER_UCX_SHM,
	CONTENDER_FABRIC("shm"),
	CONTENDER_FUNCTION("third process, one user", "alone"),
};

static const struct contender copies[] = {
	CONTENDER_FUNCTION("NIC embedded", "embedded"),
	CONTENDER_COPY,
	CONTENDER_FUNCTION("NIC of a third process", "served"),
	CONTENDER_UCX_PUT,
	CONTENDER_UCX_SHM,
	CONTENDER_FABRIC_PUT("shm"),
};

static const struct contender posts[] = {
	CONTENDER_FUNCTION("NIC embedded", "embedded"),
	CONTENDER_STORE,
	CONTENDER_UCX_SHM,
	CONTENDER_FABRIC("shm"),
};

static int case_run(struct table_case *c, const char *what, uint32_t bytes,
		    const struct raw_ends *ends)
{
	char name[64], size[TABLE_BYTES_TEXT];

	snprintf(name, sizeof(name), "%s %s", what, table_bytes(bytes, size));
	c->bench = "nic";
	c->name = name;
	c->work.bytes = bytes;
	c->work.budget_ns = 2 * S_NS;
	c->x_name = "bytes";
	c->x = bytes;
	return table_case_run(c, ends);
}

static int trips_run(const struct lab *lab, const struct raw_ends *ends,
		     const struct bench_options *o, uint32_t bytes)
{
	struct table_case c = {
		.lab = lab,
		.metric = TABLE_ROUND_TRIP,
		.work = {.op = WORK_PING,
			 .depth = 1,
			 .spin = true,
			 .batch = BATCH,
			 .warmup = 20 * BATCH,
			 .count = o->quick ? TRIPS / 4 : TRIPS},
		.contenders = trips,
		.count = ARRAY_COUNT(trips),
		.reference = 3,
		.options = o,
	};

	return case_run(&c, "NAP", bytes, ends);
}

static int copies_run(const struct lab *lab, const struct raw_ends *ends,
		      const struct bench_options *o, uint32_t bytes)
{
	uint64_t count = min_u64(COPIED / bytes, 5 * 1000 * 1000) / (o->quick ? 10 : 1);
	struct table_case c = {
		.lab = lab,
		.metric = TABLE_GOODPUT,
		.work = {.op = WORK_PUT,
			 .depth = 16,
			 /* touches all pages */
			 .warmup = 64 + 2 * RAW_BUFFER_BYTES / bytes,
			 .count = max_u64(count, 8)},
		.contenders = copies,
		.count = ARRAY_COUNT(copies),
		.reference = 1,
		.options = o,
	};

	return case_run(&c, "PUT", bytes, ends);
}

static int posts_run(const struct lab *lab, const struct raw_ends *ends,
		     const struct bench_options *o, uint32_t bytes)
{
	struct table_case c = {
		.lab = lab,
		.metric = TABLE_RATE,
		.work = {.op = WORK_MESSAGE,
			 .depth = WORK_DEPTH_MAX,
			 .spin = true,
			 .warmup = 10000,
			 .count = o->quick ? 400000 : 4000000},
		.contenders = posts,
		.count = ARRAY_COUNT(posts),
		.reference = 1,
		.options = o,
	};

	return case_run(&c, "messages", bytes, ends);
}

static int machine_run(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(nap_sizes); i++)
		status |= trips_run(lab, ends, o, nap_sizes[i]);
	for (size_t i = 0; i < ARRAY_COUNT(put_sizes); i++)
		status |= copies_run(lab, ends, o, put_sizes[i]);
	status |= posts_run(lab, ends, o, 16);
	status |= posts_run(lab, ends, o, 64);
	if (bench_wanted(o->only_case, "descriptors, one thread"))
		status |= nic_one_run(o->quick);
	if (bench_wanted(o->only_case, "share") || bench_wanted(o->only_case, "idle"))
		status |= nic_share_run();
	return status;
}

int bench_nic(int argc, char **argv)
{
	static const struct lab memory = {"shared memory", 0, 8960, false};
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv,
		"The NIC between processes of one machine, beside bare memory and others.", "oc",
		&o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Functions of one machine");
	status = lab_run(&memory, machine_run, &o);
	status |= nic_kernel_run(&o);
	return status | nic_driven_run(&o);
}
