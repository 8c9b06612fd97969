/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <dxp/status.h>

#include "cmd/dxp/services.h"
#include "cmd/web/sources.h"

static struct web_text *metrics_text(const struct fabric_services *s)
{
	char *data = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&data, &bytes);

	if (!out)
		return NULL;
	services_metrics(out, s, true);
	struct web_text *text = fclose(out) == 0 ? web_text_create(data, bytes) : NULL;
	free(data);
	return text;
}

/* A thread of its own polls, so that a silent switch does not delay the reading of the nodes. */
void web_services_poll(void *context)
{
	const struct web_services *w = context;
	struct fabric_stats source = {.fabric = w->fabric};
	struct fabric_services services = {0};
	const char *switches[WEB_SWITCHES];
	struct udp_address address;
	size_t count = 0;

	for (unsigned i = 0; i < w->count; i++)
		if (address_parse(w->switches[i], WIRE_SWITCH_PORT, &address) == DXP_OK)
			switches[count++] = w->switches[i];
	if (fabric_services_read(&source, switches, count, &services) != DXP_OK)
		return;
	web_state_document(w->state, WEB_SERVICES,
			   web_text_json(json_pack("{s:o}", "services", services_json(&services))));
	web_state_document(w->state, WEB_SERVICE_METRICS, metrics_text(&services));
	fabric_services_free(&services);
}
