/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves bytes over the network: pulled or pushed by the xPU (BRIDGE), or by PUT, GET and SEND. */
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/bridge.h"

#define WAIT_NS     (60 * S_NS) /* a longer transfer has failed */
#define PROVE_BYTES ((1u << 20) + 3)

static struct dxp_bridge_transfer transfer_of(struct bridge_setup *p, const struct bridge_way *way,
					      unsigned path, uint64_t bytes)
{
	const struct bridge_daemon *daemon = &p->daemons[way->daemon];
	const struct bridge_daemon *peer = path == DXP_BRIDGE_DEVICE_TO_DEVICE ? daemon + 1 : NULL;

	return (struct dxp_bridge_transfer){
		.path = path,
		.mode = way->mode,
		.from = p->from,
		.to = p->to,
		.device_from = peer ? peer->address : daemon->address,
		.device_to = daemon->address,
		.peer = peer ? peer->xpu : NULL,
		.bytes = bytes,
		.piece_bytes = way->piece_bytes,
	};
}

int bridge_pull_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes)
{
	static const uint8_t paths[ROUTES] = {
		[ROUTE_TO] = DXP_BRIDGE_TO_DEVICE,
		[ROUTE_FROM] = DXP_BRIDGE_FROM_DEVICE,
		[ROUTE_THROUGH] = DXP_BRIDGE_THROUGH,
		[ROUTE_ACROSS] = DXP_BRIDGE_DEVICE_TO_DEVICE,
	};
	const struct dxp_bridge_transfer t = transfer_of(p, way, paths[way->route], bytes);

	return dxp_bridge_move(p->daemons[way->daemon].xpu, &t, NULL);
}

/* Sends from the second xPU to the first, so bytes flow as in a pull. */
static int send_move(struct bridge_setup *p, const struct bridge_daemon *daemon, uint64_t bytes)
{
	const struct dxp_transfer t = {
		.from_address = daemon[1].address, .to_address = daemon->address, .bytes = bytes};
	dxp_event event;
	int status = dxp_send(daemon[1].xpu, daemon->xpu, &t, &event);

	return status == DXP_OK ? dxp_event_wait(p->fabric, event, WAIT_NS, NULL) : status;
}

int bridge_push_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes)
{
	const struct bridge_daemon *daemon = &p->daemons[way->daemon];

	switch (way->route) {
	case ROUTE_TO: return dxp_mem_write(daemon->xpu, daemon->address, p->from, bytes);
	case ROUTE_FROM: return dxp_mem_read(daemon->xpu, p->to, daemon->address, bytes);
	case ROUTE_ACROSS: return send_move(p, daemon, bytes);
	default: return DXP_EUNSUPPORTED;
	}
}

int bridge_both_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes)
{
	static const uint8_t paths[] = {DXP_BRIDGE_TO_DEVICE, DXP_BRIDGE_FROM_DEVICE};
	struct dxp_bridge *outstanding[ARRAY_COUNT(paths)];
	int status = DXP_OK;
	size_t started = 0;

	for (; status == DXP_OK && started < ARRAY_COUNT(paths); started += status == DXP_OK) {
		const struct dxp_bridge_transfer t = transfer_of(p, way, paths[started], bytes);
		status = dxp_bridge_start(p->daemons[way->daemon].xpu, &t, &outstanding[started]);
	}
	for (size_t i = 0; i < started; i++) {
		int one = dxp_bridge_wait(outstanding[i], WAIT_NS, NULL);
		status = status == DXP_OK ? one : status;
	}
	return status;
}

static int prove_move(struct bridge_setup *p, unsigned route, size_t at)
{
	const struct bridge_way way = {.route = (uint8_t)route, .daemon = at};
	const struct bridge_daemon *daemon = &p->daemons[at];
	int status = DXP_OK;

	if (route == ROUTE_FROM)
		status = dxp_mem_write(daemon->xpu, daemon->address, p->from, PROVE_BYTES);
	if (route == ROUTE_ACROSS)
		status = dxp_mem_write(daemon[1].xpu, daemon[1].address, p->from, PROVE_BYTES);
	if (status == DXP_OK)
		status = bridge_pull_move(p, &way, PROVE_BYTES);
	if (status == DXP_OK && (route == ROUTE_TO || route == ROUTE_ACROSS))
		status = dxp_mem_read(daemon->xpu, p->to, daemon->address, PROVE_BYTES);
	return status;
}

bool bridge_prove(struct bridge_setup *p, unsigned route, size_t at)
{
	if (PROVE_BYTES > p->largest)
		return true;
	for (size_t i = 0; i < PROVE_BYTES; i++)
		p->from[i] = (uint8_t)(i * 2654435761u >> 11 ^ route);
	memset(p->to, 0, PROVE_BYTES);
	int status = prove_move(p, route, at);
	if (status == DXP_OK && memcmp(p->from, p->to, PROVE_BYTES) == 0)
		return true;
	if (status == DXP_OK)
		log_error("%s: the received bytes differ from the sent ones; nothing is measured",
			  bridge_route_name(route));
	else
		log_error("%s cannot be measured: %s", bridge_route_name(route),
			  dxp_fabric_error(NULL));
	return false;
}
