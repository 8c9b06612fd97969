/* SPDX-License-Identifier: BSD-3-Clause */
/* Each node with an outstanding request has an entry of `readings`. The entry sends its request
 * again, with the same number, until the page arrives or the time is over. Then it requests the
 * next page or part, or is free for the next node. */
#include "node/stats_query.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"
#include "node/limits.h"

#define RETRY_FIRST_NS (100 * MS_NS)
#define RETRY_MAX_NS   (400 * MS_NS)

struct reading {
	bool busy;
	size_t node; /* index in options.nodes */
	struct stats_request request;
	uint64_t send_ns, retry_ns;
	uint64_t silent_ns; /* time in ns at which the node counts as silent */
	uint64_t until_ns;  /* time in ns at which the node counts as too slow */
	uint8_t frame[MANAGE_FRAME_BYTES];
};

struct stats_query {
	struct stats_query_options options;
	struct mac *mac;
	uint64_t nonce, request; /* random number of this query; number of the last request */
	/* index of the first node that has not had an entry of `readings` yet */
	size_t next;
	uint32_t busy; /* number of entries of `readings` in use */
	struct stats_list list;
	struct reading readings[STATS_QUERY_READINGS];
	struct stats_page page; /* page decoded from the last frame */
};

static void view_begin(struct stats_view *v, const struct node_entry *node)
{
	*v = (struct stats_view){.missing = node->alive ? "no answer" : "dead"};
	v->node.id = node->id;
	v->node.xpu = node->kind == MANAGE_XPU;
	snprintf(v->node.name, sizeof(v->node.name), "%s", node->name);
	snprintf(v->path, sizeof(v->path), "node %u", node->id);
	address_format(&node->address, v->node.address);
}

int stats_query_create(const struct stats_query_options *options, uint64_t now_ns,
		       struct stats_query **out)
{
	struct stats_query *q = calloc(1, sizeof(*q));

	if (!q)
		return DXP_ENOMEM;
	q->options = *options;
	int status = mac_create(options->key, &q->mac);
	q->list.views = calloc(options->count + 1, sizeof(*q->list.views));
	if (status == DXP_OK && !q->list.views)
		status = DXP_ENOMEM;
	if (status != DXP_OK) {
		stats_query_destroy(q);
		return status;
	}
	q->list.count = (uint32_t)options->count;
	for (size_t i = 0; i < options->count; i++)
		view_begin(&q->list.views[i], &options->nodes[i]);
	options->entropy(options->entropy_context, &q->nonce, sizeof(q->nonce));
	*out = q;
	return DXP_OK;
}

void stats_query_destroy(struct stats_query *q)
{
	if (!q)
		return;
	stats_list_free(&q->list);
	mac_destroy(q->mac);
	free(q);
}

static void reading_request(struct stats_query *q, struct reading *s, uint8_t part, uint16_t first,
			    uint64_t now_ns)
{
	s->request = (struct stats_request){
		.request = ++q->request, .nonce = q->nonce, .part = part, .first = first};
	s->send_ns = now_ns;
	s->retry_ns = RETRY_FIRST_NS;
	s->silent_ns = now_ns + STATS_QUERY_NS;
}

static void reading_end(struct stats_query *q, struct reading *s, const char *missing)
{
	q->list.views[s->node].missing = missing;
	s->busy = false;
	q->busy--;
}

/* Gives each free entry of `readings` the next node that is alive. */
static void readings_fill(struct stats_query *q, uint64_t now_ns)
{
	for (size_t i = 0; i < STATS_QUERY_READINGS; i++) {
		struct reading *s = &q->readings[i];
		if (s->busy)
			continue;
		while (q->next < q->options.count && !q->options.nodes[q->next].alive)
			q->next++;
		if (q->next == q->options.count)
			return;
		*s = (struct reading){
			.busy = true, .node = q->next++, .until_ns = now_ns + STATS_QUERY_WHOLE_NS};
		reading_request(q, s, q->options.paths ? STATS_PART_PATHS : STATS_PART_NODE, 0,
				now_ns);
		q->busy++;
	}
}

static void node_store(struct stats_view *v, const struct stats_page *page)
{
	const struct stats_node before = v->node;

	v->node = page->node;
	v->node.id = before.id;
	/* Shows the name from the node table, so that a node has the same name whether it answers
	 * or not. */
	memcpy(v->node.name, before.name, sizeof(before.name));
	memcpy(v->node.address, before.address, sizeof(before.address));
	v->pid = page->pid;
	v->age_ns = page->age_ns;
}

static bool sessions_add(struct stats_view *v, const struct stats_page *page)
{
	uint32_t rows = v->node.session_rows + page->count;

	if (rows > STATS_SESSIONS_MAX)
		return false;
	struct stats_session *all = realloc(v->sessions, (rows + 1) * sizeof(*all));
	if (!all)
		return false;
	memcpy(all + v->node.session_rows, page->sessions, page->count * sizeof(*all));
	v->sessions = all;
	v->node.session_rows = rows;
	return true;
}

static bool paths_add(struct stats_view *v, const struct stats_page *page)
{
	const uint32_t rows = v->path_count + page->count;

	if (rows > STATS_PATHS_MAX)
		return false;
	struct stats_path *all = realloc(v->paths, (rows + 1) * sizeof(*all));
	if (!all)
		return false;
	memcpy(all + v->path_count, page->paths, page->count * sizeof(*all));
	v->paths = all;
	v->path_count = rows;
	return true;
}

/* Requests the page that follows this one, or frees the entry. */
static void reading_continue(struct stats_query *q, struct reading *s,
			     const struct stats_page *page, uint64_t now_ns)
{
	if (page->next != 0)
		reading_request(q, s, page->part, page->next, now_ns);
	else if (q->options.details && page->part < STATS_PART_SESSIONS)
		reading_request(q, s, page->part + 1, 0, now_ns);
	else
		reading_end(q, s, NULL);
}

static void page_process(struct stats_query *q, struct reading *s, const struct stats_page *page,
			 uint64_t now_ns)
{
	struct stats_view *v = &q->list.views[s->node];

	if (!page->published) {
		reading_end(q, s, "publishes nothing");
		return;
	}
	switch (page->part) {
	case STATS_PART_NODE: node_store(v, page); break;
	case STATS_PART_QPS:
		for (unsigned i = 0; i < page->count; i++)
			v->node.qps[page->qps[i].index] = page->qps[i].counts;
		break;
	case STATS_PART_SESSIONS:
		if (!sessions_add(v, page)) {
			/* too many rows, or no memory; `session_count` lets the reader see that
			 * rows are missing */
			reading_end(q, s, NULL);
			return;
		}
		break;
	case STATS_PART_PATHS:
		if (!paths_add(v, page)) {
			reading_end(q, s, NULL);
			return;
		}
		break;
	}
	reading_continue(q, s, page, now_ns);
}

static struct reading *reading_find(struct stats_query *q, uint64_t request)
{
	for (size_t i = 0; i < STATS_QUERY_READINGS; i++)
		if (q->readings[i].busy && q->readings[i].request.request == request)
			return &q->readings[i];
	return NULL;
}

void stats_query_receive(struct stats_query *q, const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	struct wire_header header;
	struct manage_body body;
	uint64_t request, nonce;

	if (manage_open(data, bytes, q->mac, &header, &body) != DXP_OK ||
	    header.type != WIRE_STATS_PAGE || !manage_prefix(body, &request, &nonce) ||
	    nonce != q->nonce)
		return;
	struct reading *s = reading_find(q, request);
	if (!s || header.src_node != q->options.nodes[s->node].id)
		return;
	int status = stats_page_decode(body, &q->page);
	if (status == DXP_EUNSUPPORTED)
		reading_end(q, s, "another version of Direct xPU");
	else if (status == DXP_OK && q->page.part == s->request.part &&
		 q->page.first == s->request.first)
		page_process(q, s, &q->page, now_ns);
}

static size_t reading_send(struct stats_query *q, struct reading *s, struct datagram *out,
			   uint64_t now_ns)
{
	const struct node_entry *node = &q->options.nodes[s->node];

	if (now_ns >= s->silent_ns || now_ns >= s->until_ns) {
		/* If a slow node has sent some pages, keeps these instead of "no answer". */
		bool some = s->request.part > STATS_PART_NODE && !q->options.paths;
		reading_end(q, s, some ? NULL : "no answer");
		return 0;
	}
	if (now_ns < s->send_ns)
		return 0;
	size_t bytes = stats_request_encode(&s->request, node->id, q->mac, s->frame);
	datagram_place(out, &node->address, s->frame, bytes);
	s->send_ns = now_ns + s->retry_ns;
	s->retry_ns = min_u64(s->retry_ns + s->retry_ns / 2, RETRY_MAX_NS);
	return 1;
}

size_t stats_query_send(struct stats_query *q, struct datagram *out, size_t count, uint64_t now_ns)
{
	size_t sent = 0;

	readings_fill(q, now_ns);
	for (size_t i = 0; i < STATS_QUERY_READINGS && sent < count; i++)
		if (q->readings[i].busy)
			sent += reading_send(q, &q->readings[i], &out[sent], now_ns);
	return sent;
}

uint64_t stats_query_deadline(const struct stats_query *q)
{
	uint64_t deadline_ns = UINT64_MAX;

	if (stats_query_done(q))
		return deadline_ns;
	for (size_t i = 0; i < STATS_QUERY_READINGS; i++) {
		const struct reading *s = &q->readings[i];
		if (s->busy)
			deadline_ns =
				min_u64(deadline_ns,
					min_u64(min_u64(s->send_ns, s->silent_ns), s->until_ns));
		else if (q->next < q->options.count)
			return 0;
	}
	return deadline_ns;
}

bool stats_query_done(const struct stats_query *q)
{
	return q->busy == 0 && q->next == q->options.count;
}

void stats_query_finish(struct stats_query *q, struct stats_list *out)
{
	assert(stats_query_done(q));
	*out = q->list;
	q->list = (struct stats_list){0};
}
