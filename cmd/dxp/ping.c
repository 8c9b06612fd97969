/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp ping`: measures round trips to an xPU through its NIC, by a register read or a
 * GET of --size bytes. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/reach.h"
#include "cmd/dxp/session.h"

#define PING_COUNT_MAX    10000000
#define PING_INTERVAL_MAX 60000 /* ms */

struct ping {
	struct session_options options;
	uint64_t count, size;
	uint64_t interval_ms; /* pause after each round trip */
	uint64_t *times_ns;
	uint64_t begin_ns; /* time of the last request */
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
		p->begin_ns = clock_now_ns();
		status = p->size ? dxp_mem_read(xpu, to, 0, p->size)
				 : dxp_reg_read(xpu, 0, &word, 1);
		p->times_ns[i] = clock_now_ns() - p->begin_ns;
		if (status == DXP_OK && p->interval_ms && i + 1 < p->count)
			poll(NULL, 0, (int)p->interval_ms);
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

static int run(struct ping *p, const char *name)
{
	struct session s;

	p->begin_ns = clock_now_ns();
	int status = session_begin(&p->options, name, &s), code;
	if (status == DXP_OK)
		status = rounds(p, s.xpu);
	if (status == DXP_OK) {
		code = report(p, &s.caps);
	} else {
		const struct reach_failure failure = {.options = &p->options,
						      .xpu = name,
						      .joined = s.fabric != NULL,
						      .status = status,
						      .since_ns = p->begin_ns};
		code = reach_report(&failure);
	}
	session_close(&s);
	return code;
}

int command_ping(int argc, char **argv)
{
	struct ping p = {.count = 1000};
	const struct option_row rows[] = {
		SESSION_ROWS(p.options),
		{"count", "N", "round trips (default 1000)", OPTION_NUMBER, &p.count, 1,
		 PING_COUNT_MAX},
		{"size", "BYTES",
		 "GET this many bytes from address 0 instead of reading a register", OPTION_BYTES,
		 &p.size, 0, 1u << 30},
		{"interval", "MS", "milliseconds between round trips (default 0)", OPTION_NUMBER,
		 &p.interval_ms, 0, PING_INTERVAL_MAX},
		JSON_ROW(p.options.json)};
	const struct usage usage = {
		"ping", "XPU",
		"Measures round trips from this host through the NIC of an xPU. If there is no "
		"answer, the message begins with what\n"
		"fails: manager unreachable, not in the node table, not granted, node dead, or "
		"data path blocked.",
		ACCEPTS(rows, 1, 1)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	p.times_ns = calloc(p.count, sizeof(*p.times_ns));
	int code = p.times_ns ? run(&p, args.at[0])
			      : print_fail("out of memory; use a smaller --count");
	free(p.times_ns);
	return code;
}
