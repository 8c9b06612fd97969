/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures local DMA (S-08) between a program and its own board. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/bridge.h"
#include "bench/report.h"
#include "bench/table.h"

#define SPARE_BYTES (1ull << 20)

bool bridge_dma_open(struct bridge_setup *p, uint64_t memory_bytes, uint32_t buffer_bytes)
{
	const struct dxp_dma_options options = {.engine = p->options->engine,
						.memory_bytes = memory_bytes,
						.buffer_bytes = buffer_bytes};

	if (dxp_dma_open(&options, &p->dma) != DXP_OK) {
		log_error("no local DMA: %s", dxp_fabric_error(NULL));
		return false;
	}
	if (dxp_dma_pin(p->dma, p->from, p->largest) != DXP_OK ||
	    dxp_dma_pin(p->dma, p->to, p->largest) != DXP_OK)
		report_note("host memory cannot stay pinned, so each direct DMA pins it again: %s",
			    dxp_fabric_error(NULL));
	return true;
}

int bridge_dma_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes)
{
	static const uint8_t kinds[ROUTES] = {
		[ROUTE_TO] = DXP_DMA_TO_DEVICE,
		[ROUTE_FROM] = DXP_DMA_FROM_DEVICE,
		[ROUTE_THROUGH] = DXP_DMA_THROUGH,
		[ROUTE_ACROSS] = DXP_DMA_DEVICE_TO_DEVICE,
	};
	const struct dxp_dma_order order = {
		.kind = kinds[way->route],
		.in_place = way->in_place,
		.mode = way->mode,
		.from = p->from,
		.to = p->to,
		.device_to = way->route == ROUTE_ACROSS ? p->largest : 0,
		.bytes = bytes,
		.piece_bytes = way->piece_bytes,
	};

	return dxp_dma_move(p->dma, &order);
}

static bool route_there(const struct bridge_setup *p, unsigned route)
{
	struct dxp_dma_caps caps;

	dxp_dma_caps(p->dma, &caps);
	if (route != ROUTE_THROUGH || caps.streams)
		return true;
	report_note("%s: skipped, %s has no stream core", bridge_route_name(route), caps.engine);
	return false;
}

static int sweep(struct bridge_setup *p)
{
	int status = 0;

	for (unsigned route = 0; route < ROUTE_ACROSS; route++)
		if (route_there(p, route))
			status |= bridge_sweep_run(p, route, bridge_dma_move);
	return status;
}

/* Uses the default buffer size; the last route uses no buffers. */
static int chosen(struct bridge_setup *p)
{
	int status = bridge_registration(p);

	for (unsigned route = 0; route < ROUTES; route++) {
		const struct bridge_way ways[] = {
			{.name = "copied", .move = bridge_dma_move, .route = (uint8_t)route},
			{.name = "in place",
			 .move = bridge_dma_move,
			 .route = (uint8_t)route,
			 .in_place = true},
			{.name = "sequential",
			 .move = bridge_dma_move,
			 .route = (uint8_t)route,
			 .mode = DXP_BRIDGE_SEQUENTIAL},
		};
		if (!route_there(p, route))
			continue;
		const struct bridge_case c = {
			.route = (uint8_t)route,
			.ways = ways,
			.count = route == ROUTE_ACROSS ? 1 : ARRAY_COUNT(ways),
		};
		status |= bridge_cases_run(p, &c);
	}
	return status;
}

static int part_run(struct bridge_setup *p, uint32_t buffer_bytes,
		    int (*part)(struct bridge_setup *p))
{
	if (!bridge_dma_open(p, 2 * p->largest + SPARE_BYTES, buffer_bytes))
		return 1;
	int status = part(p);
	dxp_dma_close(p->dma);
	p->dma = NULL;
	return status;
}

int bridge_local(const struct bench_options *o)
{
	struct bridge_setup p = {.options = o, .lab = "local", .largest = bridge_largest(o)};

	if (!bridge_memory_open(&p))
		return 1;
	int status = part_run(&p, BRIDGE_SWEEP_BYTES, sweep);
	status |= part_run(&p, 0, chosen);
	bridge_memory_close(&p);
	return status;
}
