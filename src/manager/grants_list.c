/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers requests of operators for the list of grants. */
#include "manager/internal.h"

#include <string.h>

#include <dxp/status.h>

#include "wire/grants.h"

/* Returns the index of the first present row from index `first` on. Returns g->count if there is
 * none. */
static size_t row_next(const struct grants *g, size_t first)
{
	while (first < g->count && !g->rows[first].present)
		first++;
	return first;
}

/* Adds present rows to the page. page->first counts only present rows, so the same row has another
 * number in another version. */
static void rows_add(const struct grants *g, struct grants_page *page)
{
	size_t at = row_next(g, 0);

	for (uint16_t skipped = 0; skipped < page->first && at < g->count; skipped++)
		at = row_next(g, at + 1);
	for (; at < g->count && page->count < GRANTS_PAGE_ROWS; at = row_next(g, at + 1)) {
		struct grants_row *row = &page->rows[page->count++];
		memcpy(row->host, g->rows[at].host, sizeof(row->host));
		memcpy(row->xpu, g->rows[at].xpu, sizeof(row->xpu));
	}
	page->next = at < g->count ? (uint16_t)(page->first + page->count) : 0;
}

void manager_requests_grants(struct registry *r, const struct udp_address *from,
			     struct manage_body body)
{
	struct grants_request request;

	if (grants_request_decode(body, &request) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	struct outbox_entry *out = manager_read_begin(r, from, request.request, request.nonce);
	if (!out)
		return;
	struct grants_page page = {.request = request.request,
				   .nonce = request.nonce,
				   .epoch = r->epoch,
				   .version = r->grants.version,
				   .rule = r->grants.policy == GRANTS_ANY ? GRANTS_RULE_ANY
									  : GRANTS_RULE_EXPLICIT,
				   .first = request.first};
	rows_add(&r->grants, &page);
	registry_outbox_commit(r, out, from,
			       grants_page_encode(&page, registry_sender_mac(r), out->data));
}
