/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/stats_serve.h"

#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"

#define REQUEST_NS (S_NS / STATS_REQUESTS_PER_S)

static bool request_allowed(struct stats_serve *s, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - s->credit_at_ns;

	s->credit_at_ns = now_ns;
	s->credit_ns =
		min_u64(s->credit_ns + min_u64(passed_ns, S_NS), STATS_REQUESTS_BURST * REQUEST_NS);
	if (s->credit_ns < REQUEST_NS)
		return false;
	s->credit_ns -= REQUEST_NS;
	return true;
}

static bool qp_used(const struct stats_qp *q)
{
	return q->sent_messages || q->failed || q->received_messages || q->refused ||
	       q->waits_for_credit;
}

static void qps_fill(const struct stats_file *file, struct stats_page *page)
{
	for (uint16_t i = page->first; i < STATS_QPS; i++) {
		if (!qp_used(&file->node.qps[i]))
			continue;
		if (page->count == STATS_PAGE_ROWS) {
			page->next = i;
			return;
		}
		page->qps[page->count++] = (struct stats_qp_row){i, file->node.qps[i]};
	}
}

/* Collects the sessions with the lowest node ids, from id `first` on. They must be selected,
 * because the file has the sessions in another order. */
static void sessions_fill(const struct stats_file *file, struct stats_page *page)
{
	const struct stats_session *lowest[STATS_PAGE_ROWS + 1];
	uint32_t count = 0;

	for (uint32_t i = 0; i < file->node.session_rows; i++) {
		const struct stats_session *s = stats_file_row(file, i);
		uint32_t at = count;
		if (s->node < page->first ||
		    (count == ARRAY_COUNT(lowest) && s->node > lowest[count - 1]->node))
			continue;
		if (count < ARRAY_COUNT(lowest))
			count++;
		else
			at--;
		for (; at > 0 && lowest[at - 1]->node > s->node; at--)
			lowest[at] = lowest[at - 1];
		lowest[at] = s;
	}
	if (count == ARRAY_COUNT(lowest))
		page->next = lowest[--count]->node;
	for (uint32_t i = 0; i < count; i++)
		page->sessions[i] = *lowest[i];
	page->count = (uint8_t)count;
}

static void page_fill(const struct stats_file *file, struct stats_page *page, uint64_t now_ns)
{
	if (!file)
		return;
	page->published = true;
	switch (page->part) {
	case STATS_PART_NODE:
		page->pid = file->pid;
		page->node = file->node;
		page->age_ns = now_ns - file->node.published_ns;
		page->count = 1;
		break;
	case STATS_PART_QPS: qps_fill(file, page); break;
	case STATS_PART_SESSIONS: sessions_fill(file, page); break;
	}
}

size_t stats_serve_receive(struct stats_serve *s, const struct stats_served *served,
			   const struct datagram_arrival *a, struct datagram *out, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	struct stats_request request;

	if (!request_allowed(s, now_ns)) {
		s->counters.stats_limited++;
		return 0;
	}
	int status = manage_open(a->data, a->bytes, served->mac, &header, &body);
	if (status == DXP_EAUTH) {
		s->counters.stats_unauthentic++;
		return 0;
	}
	if (status != DXP_OK || header.type != WIRE_STATS || header.dst_node != served->node ||
	    stats_request_decode(body, &request) != DXP_OK) {
		s->counters.stats_malformed++;
		return 0;
	}
	struct stats_page page = {.request = request.request,
				  .nonce = request.nonce,
				  .part = request.part,
				  .first = request.first};
	if (page.part != STATS_PART_PATHS)
		page_fill(served->file, &page, now_ns);
	else if (served->probe)
		probe_page_fill(served->probe, &page, now_ns);
	size_t bytes = stats_page_encode(&page, served->node, served->mac, s->frame);
	datagram_place(out, &a->from, s->frame, bytes);
	s->counters.stats_answered++;
	return 1;
}
