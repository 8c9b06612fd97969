/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp ping`: measures round trips to an xPU through its NIC, by a register read or a
 * GET of --size bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/session.h"

#define PING_COUNT_MAX 10000000

struct ping {
	struct session_options options;
	uint64_t count, size;
	uint64_t *times_ns;
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int rounds(struct ping *p, struct dxp_xpu *xpu)
{
	uint32_t word;
	void *to = p->size ? malloc(p->size) : &word;
	int status = to ? DXP_OK : DXP_ENOMEM;

	for (uint64_t i = 0; status == DXP_OK && i < p->count; i++) {
		uint64_t begin = clock_now_ns();
		status = p->size ? dxp_mem_read(xpu, to, 0, p->size)
				 : dxp_reg_read(xpu, 0, &word, 1);
		p->times_ns[i] = clock_now_ns() - begin;
	}
	if (p->size)
		free(to);
	return status;
}

static double percentile_us(const struct ping *p, unsigned percent)
{
	return (double)p->times_ns[(p->count - 1) * percent / 100] / 1e3;
}

static int report(struct ping *p, const struct dxp_xpu_caps *caps)
{
	qsort(p->times_ns, p->count, sizeof(*p->times_ns), by_size);
	double least = percentile_us(p, 0), p50 = percentile_us(p, 50), p99 = percentile_us(p, 99);
	double most = percentile_us(p, 100);
	uint64_t bytes = p->size ? p->size : 4;

	if (p->options.json)
		return print_json_text(json_pack(
			"{s:s, s:i, s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "xpu", caps->name, "node",
			caps->node, "operation", p->size ? "get" : "register", "count",
			(json_int_t)p->count, "bytes", (json_int_t)bytes, "min_us", least, "p50_us",
			p50, "p99_us", p99, "max_us", most));
	printf("%s (node %u): %llu round trips, %s of %llu bytes: min %.1f  p50 %.1f  p99 %.1f  "
	       "max %.1f us\n",
	       caps->name, caps->node, (unsigned long long)p->count,
	       p->size ? "GET" : "register read", (unsigned long long)bytes, least, p50, p99, most);
	return EXIT_DONE;
}

int command_ping(int argc, char **argv)
{
	struct ping p = {.count = 1000};
	struct session s;
	const struct option_row rows[] = {
		SESSION_ROWS(p.options),
		{"count", "N", "round trips (default 1000)", OPTION_NUMBER, &p.count, 1,
		 PING_COUNT_MAX},
		{"size", "BYTES",
		 "GET this many bytes from address 0 instead of reading a register", OPTION_BYTES,
		 &p.size, 0, 1u << 30},
		JSON_ROW(p.options.json)};
	const struct usage usage = {
		"ping",
		"XPU",
		"Measures round trips from this host through the NIC of an xPU.",
		rows,
		ARRAY_COUNT(rows),
		1,
		1};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (!session_open(&p.options, argv[first], &s))
		return EXIT_FAILED;
	p.times_ns = calloc(p.count, sizeof(*p.times_ns));
	int status = !p.times_ns ? print_fail("out of memory; use a smaller --count")
		     : rounds(&p, s.xpu) == DXP_OK ? report(&p, &s.caps)
						   : session_fail();
	free(p.times_ns);
	session_close(&s);
	return status;
}
