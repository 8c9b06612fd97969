/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp bridge`: shows the bridges of a fabric, from two readings of their registers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/nodes.h"
#include "cmd/dxp/session.h"
#include "xpu/cfg.h"

#define FIRST       CFG_MEMORY_KIND
#define WORDS       (CFG_COUNT - FIRST)
#define INTERVAL_MS 1000
#define MINUTE_MS   60000

struct reading {
	uint64_t at_ns;
	uint32_t words[WORDS];
};

struct view {
	const char *name;
	struct dxp_xpu *xpu; /* NULL: not opened, or lost between the readings */
	struct reading before, after;
};

static uint64_t one(const struct reading *r, enum cfg_register index)
{
	return r->words[index - FIRST];
}

static uint64_t pair(const struct reading *r, enum cfg_register low)
{
	return one(r, low) | one(r, low + 1) << 32;
}

static double rate(const struct view *v, enum cfg_register low)
{
	double passed = (double)(v->after.at_ns - v->before.at_ns) / 1e9;

	return passed > 0 ? (double)(pair(&v->after, low) - pair(&v->before, low)) / passed : 0;
}

/* Returns the busy time in percent. A long DMA is counted when it completes, so the result is
 * capped. */
static double busy(const struct view *v, enum cfg_register low)
{
	double percent = rate(v, low) / 1e4;

	return percent < 100 ? percent : 100;
}

/* Returns the growth of a 32-bit counter, which may have wrapped. */
static uint32_t grown(const struct view *v, enum cfg_register index)
{
	return (uint32_t)one(&v->after, index) - (uint32_t)one(&v->before, index);
}

static void parse(struct view *v, struct reading *out)
{
	if (v->xpu && dxp_reg_read(v->xpu, FIRST, out->words, WORDS) != DXP_OK) {
		dxp_xpu_close(v->xpu);
		v->xpu = NULL;
	}
	out->at_ns = clock_now_ns();
}

static void print_view(const struct view *v)
{
	const struct reading *r = &v->after;
	char buffer[16], in[16], out[16];

	if (!v->xpu) {
		printf("%-16s no answer; it is down, or rejects this host; see `dxp nodes`\n",
		       v->name);
		return;
	}
	printf("%-16s %3llu x %-5s %8s %8s %4.0f %4.0f %6llu %6llu %8u %5llu %6llu %6llu\n",
	       v->name, (unsigned long long)one(r, CFG_BRIDGE_BUFFERS),
	       nodes_bytes_format(one(r, CFG_BRIDGE_BUFFER_BYTES), buffer),
	       nodes_bytes_format((uint64_t)rate(v, CFG_DMA_IN_LO), in),
	       nodes_bytes_format((uint64_t)rate(v, CFG_DMA_OUT_LO), out),
	       busy(v, CFG_DMA_IN_US_LO), busy(v, CFG_DMA_OUT_US_LO),
	       (unsigned long long)one(r, CFG_BRIDGE_IN_TAKEN),
	       (unsigned long long)one(r, CFG_BRIDGE_OUT_TAKEN), grown(v, CFG_BRIDGE_FULL),
	       (unsigned long long)one(r, CFG_BRIDGE_TRANSFERS),
	       (unsigned long long)one(r, CFG_DMA_FAILED),
	       (unsigned long long)one(r, CFG_DMA_STALLS));
}

static int print_table(const struct view *views, size_t count)
{
	printf("%-16s %-11s %8s %8s %4s %4s %6s %6s %8s %5s %6s %6s\n", "NAME", "BUFFERS", "IN/s",
	       "OUT/s", "IN%", "OUT%", "INTAKE", "OUTTAK", "FULL", "XFERS", "FAILED", "STALLS");
	for (size_t i = 0; i < count; i++)
		print_view(&views[i]);
	return EXIT_DONE;
}

static json_t *view_json(const struct view *v)
{
	const struct reading *r = &v->after;

	if (!v->xpu)
		return json_pack("{s:s, s:b}", "name", v->name, "known", 0);
	return json_pack(
		"{s:s, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
		"name", v->name, "known", 1, "buffers", (json_int_t)one(r, CFG_BRIDGE_BUFFERS),
		"buffer_bytes", (json_int_t)one(r, CFG_BRIDGE_BUFFER_BYTES), "in_bytes",
		(json_int_t)pair(r, CFG_DMA_IN_LO), "out_bytes",
		(json_int_t)pair(r, CFG_DMA_OUT_LO), "in_bytes_per_s", rate(v, CFG_DMA_IN_LO),
		"out_bytes_per_s", rate(v, CFG_DMA_OUT_LO), "in_busy_percent",
		busy(v, CFG_DMA_IN_US_LO), "out_busy_percent", busy(v, CFG_DMA_OUT_US_LO),
		"in_taken", (json_int_t)one(r, CFG_BRIDGE_IN_TAKEN), "out_taken",
		(json_int_t)one(r, CFG_BRIDGE_OUT_TAKEN), "full",
		(json_int_t)grown(v, CFG_BRIDGE_FULL), "transfers",
		(json_int_t)one(r, CFG_BRIDGE_TRANSFERS), "failed",
		(json_int_t)one(r, CFG_DMA_FAILED), "stalls", (json_int_t)one(r, CFG_DMA_STALLS));
}

static int print_json(const struct view *views, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, view_json(&views[i]));
	return print_json_text(all);
}

/* Opens all live xPUs with a bridge; returns their number. */
static size_t views_open(struct dxp_fabric *fabric, const struct node_entry *nodes, size_t count,
			 struct view *out)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (nodes[i].kind != MANAGE_XPU || !nodes[i].alive ||
		    !(nodes[i].capabilities & MANAGE_CAPABILITY_BRIDGED))
			continue;
		out[n].name = nodes[i].name;
		if (dxp_xpu_open(fabric, nodes[i].name, &out[n].xpu) != DXP_OK)
			out[n].xpu = NULL;
		n++;
	}
	return n;
}

/* Reads all registers twice, `interval_ms` apart. */
static void views_read(struct view *views, size_t count, uint64_t interval_ms)
{
	const struct timespec wait = {(time_t)(interval_ms / 1000),
				      (long)(interval_ms % 1000 * MS_NS)};

	for (size_t i = 0; i < count; i++)
		parse(&views[i], &views[i].before);
	if (count > 0)
		nanosleep(&wait, NULL);
	for (size_t i = 0; i < count; i++)
		parse(&views[i], &views[i].after);
}

static int show(const struct session_options *o, uint64_t interval_ms,
		const struct node_entry *nodes, size_t count)
{
	struct view *views = calloc(count + 1, sizeof(*views));
	struct dxp_fabric *fabric;
	int status;

	if (!views)
		return print_fail("out of memory");
	if (dxp_fabric_open(&o->fabric, &fabric) != DXP_OK) {
		free(views);
		return session_fail();
	}
	size_t n = views_open(fabric, nodes, count, views);
	views_read(views, n, interval_ms);
	if (n == 0 && !o->json)
		status = print_fail(
			"no xPU of this fabric has a bridge (`dxp nodes`, VIA); one with a "
			"board has: `dxp up --engine board`");
	else
		status = (o->json ? print_json : print_table)(views, n);
	for (size_t i = 0; i < n; i++)
		dxp_xpu_close(views[i].xpu);
	dxp_fabric_close(fabric);
	free(views);
	return status;
}

int command_bridge(int argc, char **argv)
{
	struct session_options o = {0};
	struct inquiry q = {.fabric = &o.fabric, .kind = QUERY_NODES};
	uint64_t interval_ms = INTERVAL_MS;
	const struct node_entry *nodes;
	struct query *a;
	const struct option_row rows[] = {SESSION_ROWS(o),
					  {"interval", "MS",
					   "interval between two samples (default 1000)",
					   OPTION_NUMBER, &interval_ms, 1, MINUTE_MS},
					  JSON_ROW(o.json)};
	const struct usage usage = {"bridge",
				    "",
				    "Shows the bridges of a fabric, that is, of xPUs whose memory "
				    "only DMA reaches. Over one interval: bytes per\n"
				    "second that DMA moved to the device (IN) and from it (OUT), "
				    "the share of time that DMA was busy, and how\n"
				    "often bytes from the network found no free buffer (FULL). "
				    "Now: used buffers of each ring, outstanding\n"
				    "transfers. Since the start: failed transfers, steps past "
				    "their time limit. See docs/guide/observe.md.",
				    rows,
				    ARRAY_COUNT(rows),
				    0,
				    0};
	int first = options_parse(argc, argv, &usage);

	if (first < 0)
		return -1 - first;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	size_t count = query_nodes(a, &nodes);
	int status = show(&o, interval_ms, nodes, count);
	query_destroy(a);
	return status;
}
