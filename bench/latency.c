/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench latency`: PUT, GET and NAP of small sizes between two processes, beside a raw UDP
 * ping-pong that spins, in turn: ours, raw, ours, raw. Round trips in microseconds: a PUT's is from
 * doorbell to completion, which is one trip there and the acknowledgement back; a NAP's is to its
 * echo. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "bench/bench.h"
#include "bench/lab.h"
#include "bench/options.h"
#include "bench/pair.h"
#include "bench/report.h"
#include "link/udp.h"

#define TRIPS      2000
#define WARMUP     200
#define ROUNDS_MAX 99
#define MEMORY     (1u << 20)

enum kind { KIND_PUT, KIND_GET, KIND_NAP };

static const char *const kind_names[] = {"PUT", "GET", "NAP"};
static const uint32_t sizes[] = {4, 64, 1024, 65536};

struct figures {
	double p50[ROUNDS_MAX], p99[ROUNDS_MAX];
};

static int ours_run(struct pair *p, enum kind kind, uint32_t bytes, uint64_t *samples, size_t count)
{
	for (size_t i = 0; i < count + WARMUP; i++) {
		uint64_t begin = link_now_ns();
		int status = kind == KIND_PUT   ? pair_put(p, 0, bytes)
			     : kind == KIND_GET ? pair_get(p, 0, bytes)
						: pair_ping(p, bytes);
		if (status != DXP_OK)
			return status;
		if (i >= WARMUP)
			samples[i - WARMUP] = link_now_ns() - begin;
	}
	return DXP_OK;
}

static void figures_take(struct figures *f, unsigned round, uint64_t *samples, size_t count)
{
	f->p50[round] = (double)raw_percentile(samples, count, 50) / 1000;
	f->p99[round] = (double)raw_percentile(samples, count, 99) / 1000;
}

static void rows_print(const char *name, struct figures *ours, struct figures *raw, unsigned rounds)
{
	struct report_row row = {.bench = "latency",
				 .name = name,
				 .metric = "round trip p50",
				 .unit = "us",
				 .peer = "raw UDP, spinning"};

	row.value = report_median(ours->p50, rounds);
	row.peer_value = report_median(raw->p50, rounds);
	report_row(&row);
	row.metric = "round trip p99";
	row.value = report_median(ours->p99, rounds);
	row.peer_value = report_median(raw->p99, rounds);
	report_row(&row);
}

static int size_run(const struct lab *lab, const struct raw_ends *ends,
		    const struct bench_options *o, enum kind kind, uint32_t bytes)
{
	static uint64_t samples[TRIPS];
	struct figures ours, raw;
	size_t count = o->quick ? TRIPS / 10 : TRIPS;
	struct pair_options po = {.ends = *ends,
				  .memory_bytes = MEMORY,
				  .no_payload_crc = o->no_payload_crc,
				  .spin = true};
	/* A raw datagram cannot be larger than the path's: larger sizes have the largest as peer.
	 */
	struct raw_ping_options ping = {
		.ends = *ends,
		.payload_bytes = bytes < lab->datagram_bytes ? bytes : lab->datagram_bytes,
		.warmup = WARMUP,
		.count = count};
	char name[64];

	for (unsigned round = 0; round < o->rounds; round++) {
		struct pair p;
		int status = pair_open(&po, &p);
		if (status == DXP_OK) {
			status = ours_run(&p, kind, bytes, samples, count);
			pair_close(&p);
		}
		if (status != DXP_OK) {
			fprintf(stderr, "dxp bench latency: %s of %u bytes: %s\n", kind_names[kind],
				bytes, dxp_status_text(status));
			return 1;
		}
		figures_take(&ours, round, samples, count);
		if (raw_ping(&ping, samples) != DXP_OK)
			return 1;
		figures_take(&raw, round, samples, count);
	}
	snprintf(name, sizeof(name), "%s %s %u B", lab->name, kind_names[kind], bytes);
	rows_print(name, &ours, &raw, o->rounds);
	return 0;
}

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;

	for (int kind = KIND_PUT; kind <= KIND_NAP; kind++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (kind != KIND_NAP || sizes[i] <= NIC_INLINE_BYTES_MAX)
				if (size_run(lab, ends, o, (enum kind)kind, sizes[i]) != 0)
					return 1;
	return 0;
}

int bench_latency(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv, "Round trips of PUT, GET and NAP beside a raw UDP ping-pong.", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Latency between two processes");
	return lab_each(o.lab, lab_run_all, &o);
}
