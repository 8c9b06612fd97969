/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "cmd/dxp/grant.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/web/sources.h"

/* If the manager does not answer, keeps the last list. web/nodes.c already raises an alert then. */
void web_grants_poll(void *context)
{
	struct web_grants *g = context;
	struct inquiry q = {.fabric = g->fabric, .kind = QUERY_GRANTS, .timeout_ns = S_NS};
	struct query *a;

	if (inquiry_run(&q, &a) != DXP_OK)
		return;
	web_state_document(g->state, WEB_GRANTS, web_text_json(grant_list_json(a)));
	query_destroy(a);
}
