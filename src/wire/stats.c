/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that read counters. Values are LEB128: most are small, so a page holds several
 * sessions. */
#include "wire/stats.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/leb128.h"
#include "wire/printable.h"
#include "wire/manage_entry.h"

#define HEAD_BYTES    25 /* before the rows */
#define ADDRESS_BYTES (STATS_ADDRESS - 1)
/* as LEB128, of a counter below 2^63; with 10^9 a second it stays below for 292 years */
#define COUNT_BYTES 9
/* longest row of STATS_PART_NODE: 6 plain fields, 3 texts, values */
#define NODE_BYTES                                                       \
	(1 + 4 + 3 * 8 + 4 + 2 * FABRIC_NAME_BYTES + 1 + ADDRESS_BYTES + \
	 STATS_NODE_FIELDS * COUNT_BYTES + STATS_SESSION_FIELDS * LEB128_BYTES)

_Static_assert(WIRE_COMMON_BYTES + HEAD_BYTES + NODE_BYTES + MAC_BYTES <= FABRIC_DATAGRAM_BYTES,
	       "the row of a node always fits a page");

static void values_put(struct put_cursor *c, const uint64_t *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		leb128_put(c, values[i]);
}

static void values_get(struct get_cursor *c, uint64_t *values, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		values[i] = leb128_get(c);
}

static void node_put(struct put_cursor *c, const struct stats_page *page)
{
	const struct stats_node *n = &page->node;

	put_8(c, n->xpu != 0);
	put_32(c, page->pid);
	put_64(c, n->started_ns);
	put_64(c, n->published_ns);
	put_64(c, page->age_ns);
	put_32(c, n->session_count);
	printable_put(c, n->name, sizeof(n->name));
	printable_put(c, n->program, sizeof(n->program));
	printable_put(c, n->address, sizeof(n->address));
	values_put(c, n->values, STATS_NODE_FIELDS);
	values_put(c, n->totals, STATS_SESSION_FIELDS);
}

static void node_get(struct get_cursor *c, struct stats_page *page)
{
	struct stats_node *n = &page->node;

	n->xpu = get_8(c);
	page->pid = get_32(c);
	n->started_ns = get_64(c);
	n->published_ns = get_64(c);
	page->age_ns = get_64(c);
	n->session_count = get_32(c);
	printable_get(c, n->name, sizeof(n->name));
	printable_get(c, n->program, sizeof(n->program));
	printable_get(c, n->address, sizeof(n->address));
	values_get(c, n->values, STATS_NODE_FIELDS);
	values_get(c, n->totals, STATS_SESSION_FIELDS);
	c->bad |= n->xpu > 1 || n->started_ns > n->published_ns;
}

static void qp_put(struct put_cursor *c, const struct stats_qp_row *row)
{
	const struct stats_qp *q = &row->counts;

	put_16(c, row->index);
	leb128_put(c, q->sent_messages);
	leb128_put(c, q->sent_bytes);
	leb128_put(c, q->failed);
	leb128_put(c, q->received_messages);
	leb128_put(c, q->received_bytes);
	leb128_put(c, q->refused);
	leb128_put(c, q->waits_for_credit);
}

static void qp_get(struct get_cursor *c, struct stats_qp_row *row)
{
	struct stats_qp *q = &row->counts;

	row->index = get_16(c);
	q->sent_messages = leb128_get(c);
	q->sent_bytes = leb128_get(c);
	q->failed = leb128_get(c);
	q->received_messages = leb128_get(c);
	q->received_bytes = leb128_get(c);
	q->refused = leb128_get(c);
	q->waits_for_credit = leb128_get(c);
	c->bad |= row->index >= STATS_QPS;
}

static void session_put(struct put_cursor *c, const struct stats_session *s)
{
	put_16(c, s->node);
	put_8(c, s->active != 0);
	printable_put(c, s->peer, sizeof(s->peer));
	values_put(c, s->values, STATS_SESSION_FIELDS);
}

static void session_get(struct get_cursor *c, struct stats_session *s)
{
	s->node = get_16(c);
	s->active = get_8(c);
	printable_get(c, s->peer, sizeof(s->peer));
	values_get(c, s->values, STATS_SESSION_FIELDS);
	c->bad |= s->active > 1 || s->node < WIRE_NODE_FIRST || s->node > WIRE_NODE_LAST;
}

static void path_put(struct put_cursor *c, const struct stats_path *p)
{
	const uint64_t values[] = {p->sent,   p->answered,       p->srtt_ns,    p->min_rtt_ns,
				   p->age_ns, p->answered_bytes, p->limit_bytes};

	put_16(c, p->node);
	put_8(c, p->state);
	printable_put(c, p->peer, sizeof(p->peer));
	values_put(c, values, sizeof(values) / sizeof(*values));
}

static void path_get(struct get_cursor *c, struct stats_path *p)
{
	p->node = get_16(c);
	p->state = get_8(c);
	printable_get(c, p->peer, sizeof(p->peer));
	p->sent = leb128_get(c);
	p->answered = leb128_get(c);
	p->srtt_ns = leb128_get(c);
	p->min_rtt_ns = leb128_get(c);
	p->age_ns = leb128_get(c);
	p->answered_bytes = leb128_get(c);
	p->limit_bytes = leb128_get(c);
	c->bad |= p->state > STATS_PATH_BLOCKED || p->node < WIRE_NODE_FIRST ||
		  p->node > WIRE_NODE_LAST;
}

/* Index of a queue pair, or node id; 0 for STATS_PART_NODE, which has one row. */
static uint16_t row_number(const struct stats_page *page, unsigned i)
{
	switch (page->part) {
	case STATS_PART_QPS: return page->qps[i].index;
	case STATS_PART_SESSIONS: return page->sessions[i].node;
	case STATS_PART_PATHS: return page->paths[i].node;
	default: return 0;
	}
}

static void row_put(struct put_cursor *c, const struct stats_page *page, unsigned i)
{
	switch (page->part) {
	case STATS_PART_NODE: node_put(c, page); break;
	case STATS_PART_QPS: qp_put(c, &page->qps[i]); break;
	case STATS_PART_SESSIONS: session_put(c, &page->sessions[i]); break;
	case STATS_PART_PATHS: path_put(c, &page->paths[i]); break;
	}
}

static void row_get(struct get_cursor *c, struct stats_page *page, unsigned i)
{
	switch (page->part) {
	case STATS_PART_NODE: node_get(c, page); break;
	case STATS_PART_QPS: qp_get(c, &page->qps[i]); break;
	case STATS_PART_SESSIONS: session_get(c, &page->sessions[i]); break;
	case STATS_PART_PATHS: path_get(c, &page->paths[i]); break;
	}
}

size_t stats_request_encode(const struct stats_request *request, uint16_t node, struct mac *mac,
			    uint8_t *out)
{
	struct put_cursor c = {out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
			       false};

	put_64(&c, request->request);
	put_64(&c, request->nonce);
	put_8(&c, request->part);
	put_16(&c, request->first);
	assert(!c.bad);
	return manage_seal(WIRE_STATS, WIRE_NODE_NONE, node,
			   (size_t)(c.at - out) - WIRE_COMMON_BYTES, mac, out);
}

static bool part_known(uint8_t part)
{
	return (part >= STATS_PART_NODE && part <= STATS_PART_SESSIONS) || part == STATS_PART_PATHS;
}

int stats_request_decode(struct manage_body body, struct stats_request *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct stats_request request = {
		.request = get_64(&c), .nonce = get_64(&c), .part = get_8(&c), .first = get_16(&c)};

	if (!get_done(&c) || !part_known(request.part) ||
	    (request.part == STATS_PART_NODE && request.first != 0))
		return DXP_EMALFORMED;
	*out = request;
	return DXP_OK;
}

size_t stats_page_encode(const struct stats_page *page, uint16_t node, struct mac *mac,
			 uint8_t *out)
{
	uint8_t *body = out + WIRE_COMMON_BYTES;
	struct put_cursor head = {body, body + HEAD_BYTES, false};
	struct put_cursor c = {head.end, out + FABRIC_DATAGRAM_BYTES - MAC_BYTES, false};
	uint16_t next = page->next;
	uint8_t count = 0;

	while (count < page->count) {
		struct put_cursor row = c;
		row_put(&row, page, count);
		if (row.bad) {
			next = row_number(page, count);
			break;
		}
		c = row;
		count++;
	}
	put_64(&head, page->request);
	put_64(&head, page->nonce);
	put_16(&head, STATS_VERSION);
	put_8(&head, page->part);
	put_8(&head, page->published);
	put_16(&head, page->first);
	put_16(&head, next);
	put_8(&head, count);
	assert(!head.bad && head.at == head.end);
	return manage_seal(WIRE_STATS_PAGE, node, WIRE_NODE_NONE, (size_t)(c.at - body), mac, out);
}

static bool head_sound(const struct stats_page *page)
{
	if (!part_known(page->part) || page->count > STATS_PAGE_ROWS)
		return false;
	if (!page->published)
		return page->count == 0 && page->next == 0;
	if (page->part == STATS_PART_NODE)
		return page->count == 1 && page->first == 0 && page->next == 0;
	return page->next == 0 || (page->next > page->first && page->count > 0);
}

/* Numbers grow within [`first`, `next`). */
static bool order_sound(const struct stats_page *page)
{
	uint32_t at_least = page->first;

	for (unsigned i = 0; i < page->count; i++) {
		if (row_number(page, i) < at_least)
			return false;
		at_least = row_number(page, i) + 1u;
	}
	return page->next == 0 || page->next >= at_least;
}

int stats_page_decode(struct manage_body body, struct stats_page *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct stats_page page = {.request = get_64(&c), .nonce = get_64(&c)};
	uint16_t version = get_16(&c);

	page.part = get_8(&c);
	uint8_t published = get_8(&c);
	page.published = published;
	page.first = get_16(&c);
	page.next = get_16(&c);
	page.count = get_8(&c);
	if (c.bad)
		return DXP_EMALFORMED;
	if (version != STATS_VERSION)
		return DXP_EUNSUPPORTED;
	if (published > 1 || !head_sound(&page))
		return DXP_EMALFORMED;
	for (unsigned i = 0; i < page.count && !c.bad; i++)
		row_get(&c, &page, i);
	if (!get_done(&c) || (page.part != STATS_PART_NODE && !order_sound(&page)))
		return DXP_EMALFORMED;
	*out = page;
	return DXP_OK;
}
