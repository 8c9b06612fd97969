/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures memory bridged to the network (S-09): first the buffer sizes, then the whole pipeline
 * against its single stages. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

#define SPARE_BYTES (1ull << 20)

/* Indices into bridge_setup.daemons. */
enum { BOARD, BOARD_SECOND, DIRECT, DIRECT_SECOND };

static bool route_there(const struct bridge_setup *p, unsigned route)
{
	const struct dxp_xpu_caps *caps = &p->daemons[BOARD].caps;

	if (route != ROUTE_THROUGH || caps->streams)
		return true;
	report_note("%s: skipped, %s has no stream core", bridge_route_name(route), caps->engine);
	return false;
}

static int sweep_run(struct bridge_setup *p)
{
	int status = 0;

	for (unsigned route = 0; route < ROUTE_ACROSS; route++) {
		if (!route_there(p, route))
			continue;
		status |= bridge_prove(p, route, BOARD)
				  ? bridge_sweep_run(p, route, bridge_pull_move)
				  : 1;
	}
	return status;
}

static size_t way_add(struct bridge_way *ways, size_t count, const char *name,
		      struct bridge_way way)
{
	ways[count] = way;
	snprintf(ways[count].name, sizeof(ways[count].name), "%s", name);
	return count + 1;
}

static size_t route_ways(unsigned route, struct bridge_way *w)
{
	static const char *const pushed[ROUTES] = {
		[ROUTE_TO] = "PUT", [ROUTE_FROM] = "GET", [ROUTE_ACROSS] = "SEND"};
	struct bridge_way way = {
		.move = bridge_pull_move, .route = (uint8_t)route, .daemon = BOARD};
	size_t n = way_add(w, 0, "pipelined", way);

	way.mode = DXP_BRIDGE_SEQUENTIAL;
	n = way_add(w, n, "sequential", way);
	way.mode = DXP_BRIDGE_PIPELINED;
	way.move = bridge_push_move;
	if (pushed[route])
		n = way_add(w, n, pushed[route], way);

	way.daemon = DIRECT;
	way.move = bridge_naive_move;
	if (route == ROUTE_THROUGH)
		n = way_add(w, n, "naive", way);
	way.move = bridge_push_move;
	way.stage = STAGE_NETWORK;
	if (pushed[route])
		n = way_add(w, n, "network, pushed", way);
	way.move = pushed[route] ? bridge_pull_move : bridge_both_move;
	n = way_add(w, n, pushed[route] ? "network, pulled" : "network, both ways", way);

	way.move = bridge_dma_move;
	way.in_place = true;
	way.stage = STAGE_DMA;
	if (route != ROUTE_ACROSS)
		return way_add(w, n, "DMA", way);
	way.route = ROUTE_FROM;
	n = way_add(w, n, "DMA out", way);
	way.route = ROUTE_TO;
	way.stage = STAGE_DMA_SECOND;
	return way_add(w, n, "DMA in", way);
}

static int shares_run(struct bridge_setup *p)
{
	int status = 0;

	for (unsigned route = 0; route < ROUTES; route++) {
		struct bridge_way ways[BRIDGE_WAYS_MAX];
		const struct bridge_case c = {
			.route = (uint8_t)route, .ways = ways, .count = route_ways(route, ways)};
		if (!route_there(p, route))
			continue;
		bool good = bridge_prove(p, route, BOARD);
		if (good && route == ROUTE_THROUGH)
			good = bridge_naive_prove(p, DIRECT);
		status |= good ? bridge_cases_run(p, &c) : 1;
	}
	return status;
}

static int main_run(struct bridge_setup *p)
{
	int status = bridge_memory_row(p, BOARD);

	return status | shares_run(p);
}

static int lab_body_run(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	struct bridge_setup p = {.options = o, .lab = lab->name, .largest = bridge_largest(o)};

	if (!bridge_memory_open(&p))
		return 1;
	p.daemons[BOARD] = (struct bridge_daemon){
		.name = "board1", .engine = o->engine, .buffer_bytes = BRIDGE_SWEEP_BYTES};
	p.daemon_count = 1;
	int status = bridge_fabric_run(&p, ends, sweep_run);

	p.daemons[BOARD].buffer_bytes = 0;
	p.daemons[BOARD_SECOND] = (struct bridge_daemon){.name = "board2", .engine = o->engine};
	p.daemons[DIRECT] = (struct bridge_daemon){.name = "direct1", .engine = "none"};
	p.daemons[DIRECT_SECOND] = (struct bridge_daemon){.name = "direct2", .engine = "none"};
	p.daemon_count = BRIDGE_DAEMONS_MAX;
	p.dma_bytes = p.largest + SPARE_BYTES;
	status |= bridge_fabric_run(&p, ends, main_run);
	bridge_memory_close(&p);
	return status;
}

int bridge_remote(const struct bench_options *o)
{
	return lab_each(o->lab, lab_body_run, (void *)o);
}
