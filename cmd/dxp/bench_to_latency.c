/* SPDX-License-Identifier: BSD-3-Clause */
/* Round trips of `dxp bench latency --to NODE`. */
#include <stdio.h>

#include <dxp/async.h>
#include <dxp/status.h>

#include "base/clock.h"
#include "bench/raw_udp.h"
#include "bench/table.h"
#include "cmd/dxp/bench_to.h"

#define TRIPS  2000 /* round trips of one sample */
#define WARMUP 200  /* round trips before the first sample, while the session opens */

struct trip {
	const char *name;
	int (*run)(struct bench_to *b, uint64_t bytes);
	uint64_t bytes;
};

static int register_read(struct bench_to *b, uint64_t bytes)
{
	uint32_t word;

	return dxp_reg_read(b->session.xpu, 0, &word, 1);
}

static int put(struct bench_to *b, uint64_t bytes)
{
	return dxp_mem_write(b->session.xpu, b->address, b->buffer, bytes);
}

static int get(struct bench_to *b, uint64_t bytes)
{
	return dxp_mem_read(b->session.xpu, b->buffer, b->address, bytes);
}

static int command(struct bench_to *b, uint64_t bytes)
{
	dxp_event event;
	int status = dxp_mark(b->session.xpu, NULL, &event);

	if (status != DXP_OK)
		return status;
	return dxp_event_wait(b->session.fabric, event, BENCH_TO_WAIT, NULL);
}

/* Times up to `count` round trips. Appends the times to b->times_ns, and adds their number to
 * *used. */
static int sample(struct bench_to *b, const struct trip *t, uint32_t count, uint32_t *used)
{
	const uint64_t until_ns = clock_now_ns() + b->budget_ns;
	int status = DXP_OK;

	for (uint32_t i = 0; i < count && status == DXP_OK && *used < BENCH_TO_SAMPLES; i++) {
		b->begin_ns = clock_now_ns();
		status = t->run(b, t->bytes);
		const uint64_t now_ns = clock_now_ns();
		b->times_ns[(*used)++] = now_ns - b->begin_ns;
		if (now_ns > until_ns)
			break;
	}
	return status;
}

static int trip_run(struct bench_to *b, const struct trip *t)
{
	char name[48], size[TABLE_BYTES_TEXT];
	uint32_t used = 0;

	snprintf(name, sizeof(name), "%s%s%s", t->name, t->bytes ? " " : "",
		 t->bytes ? table_bytes(t->bytes, size) : "");
	if (!bench_to_begin(b, name, t->bytes))
		return DXP_OK;
	int status = sample(b, t, WARMUP, &used);
	used = 0;
	for (uint64_t r = 0; r < b->rounds && status == DXP_OK; r++)
		status = sample(b, t, b->quick ? TRIPS / 10 : TRIPS, &used);
	if (status != DXP_OK)
		return status;
	const double p50 = (double)raw_percentile(b->times_ns, used, 50) / 1e3;
	struct report_row row = {
		.name = name,
		.metric = "round trip p50",
		.unit = "us",
		.value = p50,
		.x_name = "bytes",
		.x = (double)t->bytes,
		.p50_us = p50,
		.p99_us = (double)raw_percentile(b->times_ns, used, 99) / 1e3,
	};
	bench_to_row(b, &row);
	return DXP_OK;
}

int bench_to_latency(struct bench_to *b)
{
	static const uint64_t sizes[] = {4, 64, 1024, 4096, 16384, 65536};
	const struct trip others[] = {{"register", register_read, 0}, {"command", command, 0}};
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(others) && status == DXP_OK; i++)
		status = trip_run(b, &others[i]);
	for (size_t i = 0; i < 2 * ARRAY_COUNT(sizes) && status == DXP_OK; i++) {
		const bool first = i < ARRAY_COUNT(sizes);
		const struct trip t = {first ? "PUT" : "GET", first ? put : get,
				       sizes[i % ARRAY_COUNT(sizes)]};
		status = trip_run(b, &t);
	}
	return status;
}
