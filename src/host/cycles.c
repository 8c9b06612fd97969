/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the cycles of launches on xPUs whose engine has a model of time: with each event, and those
 * of the last launches without their events. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/log.h"
#include "host/internal.h"

struct host_cycles {
	struct {
		uint64_t event; /* such a name is never used twice */
		struct dxp_event_cycles cycles;
	} entries[HOST_CYCLES];
	uint32_t next;
};

void cycles_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	struct dxp_event_cycles cycles;
	struct host_event *entry;
	struct dxp_xpu *x;
	uint64_t event;

	if (command_cycles_decode(data, bytes, &event, &cycles) != DXP_OK ||
	    EVENT_XPU(event) != node) {
		log_debug("the cycles of a launch on node %u do not parse", node);
		return;
	}
	if (!events_of(f, event, &x, &entry) || !x || entry->state != HOST_EVENT_PENDING)
		return;
	/* Without memory, the program gets no cycles. */
	if (!entry->cycles)
		entry->cycles = malloc(sizeof(*entry->cycles));
	if (entry->cycles)
		*entry->cycles = cycles;
	if (!x->cycles)
		x->cycles = calloc(1, sizeof(*x->cycles));
	if (!x->cycles)
		return;
	const uint32_t at = x->cycles->next++ % HOST_CYCLES;
	x->cycles->entries[at].event = event;
	x->cycles->entries[at].cycles = cycles;
}

static int cycles_find(struct dxp_fabric *f, uint64_t event, struct dxp_event_cycles *out)
{
	const struct dxp_xpu *x = xpu_find(f, EVENT_XPU(event));
	struct host_event *entry;
	struct dxp_xpu *owner;

	if (events_of(f, event, &owner, &entry) && entry->cycles) {
		*out = *entry->cycles;
		return DXP_OK;
	}
	for (uint32_t i = 0; event && x && x->cycles && i < HOST_CYCLES; i++)
		if (x->cycles->entries[i].event == event) {
			*out = x->cycles->entries[i].cycles;
			return DXP_OK;
		}
	return DXP_ENOENT;
}

int dxp_event_cycles(struct dxp_fabric *fabric, dxp_event event, struct dxp_event_cycles *out)
{
	host_fabric_enter(fabric);
	int status = cycles_find(fabric, event, out);
	host_fabric_leave(fabric);
	return status;
}
