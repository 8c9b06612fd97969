/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers STATS requests with the manager's counters. */
#include "manager/internal.h"

#include <string.h>

#include <dxp/status.h>

/* The values are those of REGISTRY_COUNTERS and four sizes. */
#define COUNTED(name, text) +1
_Static_assert(REGISTRY_COUNTERS(COUNTED) + 4 <= STATS_SERVICE_VALUES_MAX,
	       "a reader shows all values");
#undef COUNTED

static size_t keys_count(const struct keyring *k)
{
	size_t count = 0;

	for (size_t i = 0; i < k->count; i++)
		count += k->rows[i] && !k->rows[i]->removed;
	return count;
}

static size_t values_fill(const struct registry *r, struct stats_value *values)
{
	size_t count = 0;

	stats_value_add(values, &count, "nodes_alive", true, registry_node_count(r, NODE_ALIVE));
	stats_value_add(values, &count, "nodes_dead", true, registry_node_count(r, NODE_DEAD));
	stats_value_add(values, &count, "grants", true, r->grants.present);
	stats_value_add(values, &count, "keys", true, keys_count(&r->keyring));
#define VALUE(name, text) stats_value_add(values, &count, #name, false, r->counters.name);
	REGISTRY_COUNTERS(VALUE)
#undef VALUE
	return count;
}

void manager_requests_stats(struct registry *r, const struct udp_address *from,
			    struct manage_body body, uint64_t now_ns)
{
	struct stats_value values[STATS_SERVICE_VALUES_MAX];
	struct stats_request request;

	if (stats_service_request_decode(body, &request) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	struct outbox_entry *out = manager_read_begin(r, from, request.request, request.nonce);
	if (!out)
		return;
	r->counters.stats_answered++;
	struct stats_service_page page = {.request = request.request,
					  .nonce = request.nonce,
					  .first = request.first,
					  .service = {.role = STATS_ROLE_MANAGER,
						      .pid = r->options.pid,
						      .up_ns = now_ns - r->started_ns,
						      .program = "dxp-manager"}};
	memcpy(page.service.name, r->options.name, sizeof(page.service.name));
	stats_service_page_fill(&page, values, values_fill(r, values));
	registry_outbox_commit(r, out, from,
			       stats_service_page_encode(&page, WIRE_NODE_MANAGER,
							 registry_sender_mac(r), out->data));
}
