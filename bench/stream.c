/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench stream`: PUT and GET bandwidth between two processes, beside a raw GSO+GRO stream
 * whose receiver copies into place as ours does, in turn. GB/s of payload, and CPU time per
 * kilobyte of both ends together, which drifts less. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/lab.h"
#include "bench/options.h"
#include "bench/pair.h"
#include "bench/report.h"
#include "link/udp.h"

#define ROUNDS_MAX 99
#define MEMORY     RAW_PLACE_BYTES /* as much as the peer goes through */
#define TOTAL      (1ull << 30)

struct shape {
	const char *name;
	bool get;
	uint32_t chunk, depth;
};

static const struct shape shapes[] = {
	{"PUT 64 KiB, one at a time", false, 64 << 10, 1},
	{"PUT 1 MiB, one at a time", false, 1 << 20, 1},
	{"PUT 1 MiB, 8 outstanding", false, 1 << 20, 8},
	{"GET 1 MiB, one at a time", true, 1 << 20, 1},
	{"GET 1 MiB, 8 outstanding", true, 1 << 20, 8},
};

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

struct figure {
	double gb_per_s, ns_per_kb;
};

static int ours_run(const struct pair_options *po, const struct shape *shape, uint64_t total,
		    struct figure *out)
{
	struct pair p;
	int status = pair_open(po, &p);

	if (status != DXP_OK)
		return status;
	status = pair_stream(&p, shape->get, 16u << 20, shape->chunk,
			     shape->depth); /* warms both ends */
	uint64_t begin_ns = link_now_ns(), cpu_ns = own_cpu_ns() + pair_far_cpu_ns(&p);
	if (status == DXP_OK)
		status = pair_stream(&p, shape->get, total, shape->chunk, shape->depth);
	uint64_t ns = link_now_ns() - begin_ns;
	cpu_ns = own_cpu_ns() + pair_far_cpu_ns(&p) - cpu_ns;
	pair_close(&p);
	if (status == DXP_OK)
		*out = (struct figure){(double)total / (double)ns,
				       (double)cpu_ns * 1000 / (double)total};
	return status;
}

static int raw_run(const struct lab *lab, const struct raw_ends *ends, uint64_t total,
		   struct figure *out)
{
	struct raw_stream_options o = {.ends = *ends,
				       .segment_bytes = lab->datagram_bytes,
				       .total_bytes = total,
				       .spin = true};
	struct raw_stream_result result;
	int status = raw_stream(&o, &result);

	if (status == DXP_OK)
		*out = (struct figure){result.gb_per_s,
				       result.sender_ns_per_kb + result.receiver_ns_per_kb};
	return status;
}

static void rows_print(const char *name, double *ours, double *ours_cpu, double *raw,
		       double *raw_cpu, unsigned rounds)
{
	struct report_row row = {.bench = "stream",
				 .name = name,
				 .metric = "bandwidth",
				 .unit = "GB/s",
				 .peer = "raw GSO+GRO stream"};

	row.value = report_median(ours, rounds);
	row.peer_value = report_median(raw, rounds);
	report_row(&row);
	row.metric = "CPU, both ends";
	row.unit = "ns/KB";
	row.value = report_median(ours_cpu, rounds);
	row.peer_value = report_median(raw_cpu, rounds);
	report_row(&row);
}

static int shape_run(const struct lab *lab, const struct raw_ends *ends,
		     const struct bench_options *o, const struct shape *shape)
{
	double ours[ROUNDS_MAX], ours_cpu[ROUNDS_MAX], raw[ROUNDS_MAX], raw_cpu[ROUNDS_MAX];
	struct pair_options po = {
		.ends = *ends, .memory_bytes = MEMORY, .no_payload_crc = o->no_payload_crc};
	uint64_t total = o->quick ? TOTAL / 8 : TOTAL;
	char name[64];

	for (unsigned round = 0; round < o->rounds; round++) {
		struct figure f;
		int status = ours_run(&po, shape, total, &f);
		if (status != DXP_OK) {
			fprintf(stderr, "dxp bench stream: %s: %s\n", shape->name,
				dxp_status_text(status));
			return 1;
		}
		ours[round] = f.gb_per_s;
		ours_cpu[round] = f.ns_per_kb;
		if (raw_run(lab, ends, total, &f) != DXP_OK)
			return 1;
		raw[round] = f.gb_per_s;
		raw_cpu[round] = f.ns_per_kb;
	}
	snprintf(name, sizeof(name), "%s %s", lab->name, shape->name);
	rows_print(name, ours, ours_cpu, raw, raw_cpu, o->rounds);
	return 0;
}

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (shape_run(lab, ends, context, &shapes[i]) != 0)
			return 1;
	return 0;
}

int bench_stream(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv, "Bandwidth of PUT and GET beside a raw GSO+GRO stream.", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Bandwidth between two processes");
	return lab_each(o.lab, lab_run_all, &o);
}
