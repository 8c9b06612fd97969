/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp bridge`: shows the bridges of a fabric, from two readings of their registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "cmd/dxp/bridge_view.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/dxp/nodes.h"
#include "cmd/dxp/session.h"

#define INTERVAL_MS 1000
#define MINUTE_MS   60000

static void print_view(const struct bridge_view *v)
{
	char buffer[16], in[16], out[16];

	if (!v->xpu) {
		printf("%-16s no answer; it is down, or rejects this host; see `dxp nodes`\n",
		       v->name);
		return;
	}
	printf("%-16s %3llu x %-5s %8s %8s %4.0f %4.0f %6llu %6llu %8u %5llu %6llu %6llu\n",
	       v->name, (unsigned long long)bridge_view_one(v, CFG_BRIDGE_BUFFERS),
	       nodes_bytes_format(bridge_view_one(v, CFG_BRIDGE_BUFFER_BYTES), buffer),
	       nodes_bytes_format((uint64_t)bridge_view_rate(v, CFG_DMA_IN_LO), in),
	       nodes_bytes_format((uint64_t)bridge_view_rate(v, CFG_DMA_OUT_LO), out),
	       bridge_view_busy(v, CFG_DMA_IN_US_LO), bridge_view_busy(v, CFG_DMA_OUT_US_LO),
	       (unsigned long long)bridge_view_one(v, CFG_BRIDGE_IN_TAKEN),
	       (unsigned long long)bridge_view_one(v, CFG_BRIDGE_OUT_TAKEN),
	       bridge_view_grown(v, CFG_BRIDGE_FULL),
	       (unsigned long long)bridge_view_one(v, CFG_BRIDGE_TRANSFERS),
	       (unsigned long long)bridge_view_one(v, CFG_DMA_FAILED),
	       (unsigned long long)bridge_view_one(v, CFG_DMA_STALLS));
}

static int print_table(const struct bridge_view *views, size_t count)
{
	printf("%-16s %-11s %8s %8s %4s %4s %6s %6s %8s %5s %6s %6s\n", "NAME", "BUFFERS", "IN/s",
	       "OUT/s", "IN%", "OUT%", "INTAKE", "OUTTAK", "FULL", "XFERS", "FAILED", "STALLS");
	for (size_t i = 0; i < count; i++)
		print_view(&views[i]);
	return EXIT_DONE;
}

static int print_json(const struct bridge_view *views, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, bridge_view_json(&views[i]));
	return print_json_text(all);
}

/* Makes a view of each live xPU with a bridge and opens the xPU. Returns the number of views. */
static size_t views_open(struct dxp_fabric *fabric, const struct node_entry *nodes, size_t count,
			 struct bridge_view *out)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!bridge_view_has(&nodes[i]))
			continue;
		memcpy(out[n].name, nodes[i].name, sizeof(out[n].name));
		if (dxp_xpu_open(fabric, nodes[i].name, &out[n].xpu) != DXP_OK)
			out[n].xpu = NULL;
		n++;
	}
	return n;
}

/* Reads all registers twice, `interval_ms` apart. */
static void views_read(struct bridge_view *views, size_t count, uint64_t interval_ms)
{
	const struct timespec wait = {(time_t)(interval_ms / 1000),
				      (long)(interval_ms % 1000 * MS_NS)};

	for (size_t i = 0; i < count; i++)
		bridge_view_read(&views[i], &views[i].before);
	if (count > 0)
		nanosleep(&wait, NULL);
	for (size_t i = 0; i < count; i++)
		bridge_view_read(&views[i], &views[i].after);
}

static int show(const struct session_options *o, uint64_t interval_ms,
		const struct node_entry *nodes, size_t count)
{
	struct bridge_view *views = calloc(count + 1, sizeof(*views));
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
	const struct usage usage = {"bridge", "",
				    "Shows the bridges of a fabric, that is, of xPUs whose memory "
				    "only DMA reaches. Over one interval: bytes per\n"
				    "second that DMA moved to the device (IN) and from it (OUT), "
				    "the share of time that DMA was busy, and how\n"
				    "often bytes from the network found no free buffer (FULL). "
				    "Now: used buffers of each ring, outstanding\n"
				    "transfers. Since the start: failed transfers, steps past "
				    "their time limit. See docs/guide/observe.md.",
				    ACCEPTS(rows, 0, 0)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text);
	size_t count = query_nodes(a, &nodes);
	int status = show(&o, interval_ms, nodes, count);
	query_destroy(a);
	return status;
}
