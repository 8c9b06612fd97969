/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the last error sentences of each xPU about failed commands. A sentence is found by the name
 * of the command's event. These names are never used twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "host/internal.h"

struct host_failures {
	struct {
		uint64_t event;
		char text[DXP_FAILURE_BYTES];
	} entries[HOST_FAILURES];
	uint32_t next;
};

_Static_assert(DXP_FAILURE_BYTES >= COMMAND_FAILURE_BYTES, "a sentence fits");

void failure_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	char text[COMMAND_FAILURE_BYTES];
	struct host_event *entry;
	struct dxp_xpu *x;
	uint64_t event;

	if (command_failed_decode(data, bytes, &event, text) != DXP_OK ||
	    EVENT_XPU(event) != node) {
		log_debug("a failure of node %u does not parse", node);
		return;
	}
	if (!events_of(f, event, &x, &entry) || !x || entry->state != HOST_EVENT_PENDING)
		return;
	if (!x->failures)
		x->failures = calloc(1, sizeof(*x->failures));
	if (!x->failures)
		return; /* without memory, the program gets only the status */
	const uint32_t at = x->failures->next++ % HOST_FAILURES;
	x->failures->entries[at].event = event;
	memcpy(x->failures->entries[at].text, text, sizeof(text));
}

const char *failure_find(const struct dxp_xpu *x, uint64_t event)
{
	for (uint32_t i = 0; event && x->failures && i < HOST_FAILURES; i++)
		if (x->failures->entries[i].event == event)
			return x->failures->entries[i].text;
	return NULL;
}

int dxp_event_failure(struct dxp_fabric *fabric, dxp_event event, char text[DXP_FAILURE_BYTES])
{
	const char *found = NULL;

	host_fabric_enter(fabric);
	const struct dxp_xpu *x = xpu_find(fabric, EVENT_XPU(event));
	if (x)
		found = failure_find(x, event);
	snprintf(text, DXP_FAILURE_BYTES, "%s", found ? found : "");
	host_fabric_leave(fabric);
	return (int)strlen(text);
}
