/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests counters over a simulated network: STATS frames, the node that answers, and the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "node/limits.h"
#include "node/stats_query.h"
#include "node/stats_serve.h"

#define NODE     7
#define SESSIONS 100
#define NODES    200 /* more than a query has outstanding (STATS_QUERY_READINGS) */

struct rig {
	struct mac *mac;
	struct stats_file *file;
	struct stats_serve serve;
	uint64_t now_ns;
	uint8_t frame[FABRIC_DATAGRAM_BYTES], answer[FABRIC_DATAGRAM_BYTES];
	struct rng rng;
};

/* Fills a file with sessions to nodes 2, 4, 6, ..., in descending order. */
static void file_fill(struct stats_file *f)
{
	f->pid = 4711;
	f->node.xpu = 1;
	f->node.started_ns = 1;
	f->node.published_ns = 2;
	f->node.session_rows = f->node.session_count = SESSIONS;
	strcpy(f->node.name, "xpu7");
	strcpy(f->node.program, "dx\npd");
	f->node.qps[3] = (struct stats_qp){1, 2, 3, 4, 5, 6, 7};
	for (unsigned i = 0; i < STATS_NODE_FIELDS; i++)
		f->node.values[i] = i;
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct stats_session *s = (struct stats_session *)stats_file_row(f, i);
		s->node = (uint16_t)(2 * (SESSIONS - i));
		s->active = i % 2;
		s->values[0] = UINT64_MAX - i;
		snprintf(s->peer, sizeof(s->peer), "peer%u", s->node);
	}
}

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	uint8_t key[FABRIC_KEY_BYTES] = {0};

	r->now_ns = 1000 * S_NS;
	r->rng = (struct rng){1};
	r->file = calloc(1, stats_file_bytes(SESSIONS));
	file_fill(r->file);
	*state = r;
	return mac_create(key, &r->mac);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	mac_destroy(r->mac);
	free(r->file);
	free(r);
	return 0;
}

/* Returns the bytes in r->answer; 0: no answer. */
static size_t serve(struct rig *r, uint16_t id, const uint8_t *frame, size_t bytes)
{
	const struct stats_served served = {.file = r->file, .mac = r->mac, .node = id};
	const struct datagram_arrival a = {.data = (uint8_t *)frame, .bytes = bytes};
	struct datagram out;

	if (!stats_serve_receive(&r->serve, &served, &a, &out, r->now_ns))
		return 0;
	memcpy(r->answer, out.header, out.header_bytes);
	memcpy(r->answer + out.header_bytes, out.slices[0].base, out.slices[0].bytes);
	return out.header_bytes + out.slices[0].bytes;
}

static size_t request_make(struct rig *r, uint8_t part, uint16_t first)
{
	const struct stats_request q = {.request = 5, .nonce = 6, .part = part, .first = first};

	return stats_request_encode(&q, NODE, r->mac, r->frame);
}

static void page_get(struct rig *r, uint8_t part, uint16_t first, struct stats_page *page)
{
	struct wire_header header;
	struct manage_body body;

	r->now_ns += S_NS;
	size_t bytes = serve(r, NODE, r->frame, request_make(r, part, first));
	assert_true(bytes > 0 && bytes <= FABRIC_DATAGRAM_BYTES);
	assert_int_equal(manage_open(r->answer, bytes, r->mac, &header, &body), DXP_OK);
	assert_int_equal(header.type, WIRE_STATS_PAGE);
	assert_int_equal(header.src_node, NODE);
	assert_int_equal(stats_page_decode(body, page), DXP_OK);
	assert_int_equal(page->request, 5);
	assert_int_equal(page->nonce, 6);
	assert_int_equal(page->part, part);
	assert_int_equal(page->first, first);
}

static void stats_serve__answers_with_the_counters(void **state)
{
	struct rig *r = *state;
	struct stats_page page;

	page_get(r, STATS_PART_NODE, 0, &page);
	assert_true(page.published);
	assert_int_equal(page.pid, 4711);
	assert_string_equal(page.node.name, "xpu7");
	assert_string_equal(page.node.program, "dx?pd");
	assert_int_equal(page.age_ns, r->now_ns - 2);
	assert_memory_equal(page.node.values, r->file->node.values, sizeof(page.node.values));
	assert_memory_equal(page.node.totals, r->file->node.totals, sizeof(page.node.totals));
	page_get(r, STATS_PART_QPS, 0, &page);
	assert_int_equal(page.count, 1);
	assert_int_equal(page.qps[0].index, 3);
	assert_memory_equal(&page.qps[0].counts, &r->file->node.qps[3], sizeof(struct stats_qp));
}

static void stats_serve__pages_hold_every_session_once_in_order(void **state)
{
	struct rig *r = *state;
	struct stats_page page;
	uint16_t first = 0, wanted = 2;
	unsigned pages = 0;

	do {
		page_get(r, STATS_PART_SESSIONS, first, &page);
		assert_true(page.count > 0);
		for (unsigned i = 0; i < page.count; i++, wanted += 2) {
			const struct stats_session *s = &page.sessions[i];
			assert_int_equal(s->node, wanted);
			const struct stats_session *row =
				stats_file_row(r->file, SESSIONS - wanted / 2u);
			assert_memory_equal(s, row, sizeof(*s));
		}
		first = page.next;
		pages++;
	} while (first != 0);
	assert_int_equal(wanted, 2 * SESSIONS + 2);
	assert_true(pages > 1 && pages < SESSIONS);
}

/* The row of a node with the largest values and the longest names fits into one page. */
static void stats_serve__the_longest_node_fits_a_page(void **state)
{
	struct rig *r = *state;
	struct stats_node *n = &r->file->node;
	struct stats_page page;

	for (int i = 0; i < STATS_NODE_FIELDS; i++)
		n->values[i] = INT64_MAX;
	memset(n->totals, 0xff, sizeof(n->totals));
	memset(n->name, 'n', sizeof(n->name) - 1);
	memset(n->program, 'p', sizeof(n->program) - 1);
	memset(n->address, 'a', sizeof(n->address) - 1);
	page_get(r, STATS_PART_NODE, 0, &page);
	assert_true(page.node.values[STATS_NODE_FIELDS - 1] == INT64_MAX);
	assert_int_equal(page.node.totals[STATS_SESSION_FIELDS - 1], UINT64_MAX);
	assert_string_equal(page.node.address, n->address);
}

static void stats_serve__states_that_it_publishes_nothing(void **state)
{
	struct rig *r = *state;
	struct stats_page page;

	free(r->file);
	r->file = NULL;
	page_get(r, STATS_PART_NODE, 0, &page);
	assert_false(page.published);
	assert_int_equal(page.count, 0);
}

static void stats_serve__counts_what_it_rejects(void **state)
{
	struct rig *r = *state;
	const struct stats_serve_counters *c = &r->serve.counters;
	uint8_t key[FABRIC_KEY_BYTES] = {1};
	struct mac *right = r->mac;

	r->now_ns += S_NS;
	size_t bytes = request_make(r, STATS_PART_NODE, 0);
	assert_int_equal(serve(r, NODE, r->frame, bytes - 1), 0);
	/* addressed to another node */
	assert_int_equal(serve(r, NODE + 1, r->frame, bytes), 0);
	bytes = request_make(r, STATS_PART_SESSIONS + 1, 0);
	assert_int_equal(serve(r, NODE, r->frame, bytes), 0);
	bytes = request_make(r, STATS_PART_NODE, 1);
	assert_int_equal(serve(r, NODE, r->frame, bytes), 0);
	assert_int_equal(c->stats_malformed, 4);
	assert_int_equal(mac_create(key, &r->mac), DXP_OK);
	bytes = request_make(r, STATS_PART_NODE, 0);
	mac_destroy(r->mac);
	r->mac = right;
	assert_int_equal(serve(r, NODE, r->frame, bytes), 0);
	assert_int_equal(c->stats_unauthentic, 1);
	assert_int_equal(c->stats_answered, 0);
}

/* A burst, then the limited rate, for right and for wrong keys. */
static void stats_serve__limits_the_rate(void **state)
{
	struct rig *r = *state;
	size_t bytes = request_make(r, STATS_PART_NODE, 0);
	uint64_t answered = 0, sent = 0;

	for (uint64_t end_ns = r->now_ns + 10 * S_NS; r->now_ns < end_ns; r->now_ns += MS_NS)
		for (int i = 0; i < 3; i++, sent++)
			answered += serve(r, NODE, r->frame, bytes) > 0;
	assert_true(answered <= STATS_REQUESTS_BURST + 10 * STATS_REQUESTS_PER_S);
	assert_true(answered >= 10 * STATS_REQUESTS_PER_S - 1);
	assert_int_equal(r->serve.counters.stats_limited, sent - answered);
	bytes = request_make(r, STATS_PART_SESSIONS + 1, 0);
	for (int i = 0; i < 1000; i++)
		serve(r, NODE, r->frame, bytes);
	assert_true(r->serve.counters.stats_malformed <= 1);
}

static int body_of(const struct stats_page *page, struct mac *mac, uint8_t *frame)
{
	struct wire_header header;
	struct manage_body body;
	static struct stats_page out;
	size_t bytes = stats_page_encode(page, NODE, mac, frame);

	assert_int_equal(manage_open(frame, bytes, mac, &header, &body), DXP_OK);
	return stats_page_decode(body, &out);
}

static void stats_page_decode__rejects_unsound_pages(void **state)
{
	struct rig *r = *state;
	const struct stats_page sound = {.part = STATS_PART_SESSIONS,
					 .published = true,
					 .first = 2,
					 .next = 9,
					 .count = 2,
					 .sessions = {{.node = 2}, {.node = 8}}};
	struct stats_page page = sound;

	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_OK);
	page.sessions[0].node = 1; /* before the first requested one */
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page.sessions[0].node = 8; /* twice */
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page = sound;
	page.next = 8; /* not behind the last row */
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page = sound;
	page.count = 0; /* a reader would request pages for ever */
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page = sound;
	page.published = false;
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page = sound;
	page.sessions[1].node = WIRE_NODE_MANAGER;
	page.next = 0;
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
	page = (struct stats_page){.part = STATS_PART_QPS, .published = true, .count = 1};
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_OK);
	page.qps[0].index = STATS_QPS;
	assert_int_equal(body_of(&page, r->mac, r->frame), DXP_EMALFORMED);
}

static void stats_page_decode__names_another_version(void **state)
{
	struct rig *r = *state;
	static struct stats_page out;
	const struct stats_page page = {.part = STATS_PART_NODE};
	size_t bytes = stats_page_encode(&page, NODE, r->mac, r->frame);
	struct manage_body body = {r->frame + WIRE_COMMON_BYTES,
				   bytes - WIRE_COMMON_BYTES - MAC_BYTES};

	assert_int_equal(stats_page_decode(body, &out), DXP_OK);
	r->frame[WIRE_COMMON_BYTES + 17]++; /* version */
	assert_int_equal(stats_page_decode(body, &out), DXP_EUNSUPPORTED);
}

/* Nodes with a multiple of `silent` as id do not answer (0: all answer). */
static void query_run(struct rig *r, struct stats_query *q, unsigned silent, unsigned lost_percent)
{
	struct datagram out[DATAGRAM_BATCH];
	struct wire_header header;

	while (!stats_query_done(q)) {
		size_t count = stats_query_send(q, out, DATAGRAM_BATCH, r->now_ns);
		for (size_t i = 0; i < count; i++) {
			size_t bytes = out[i].header_bytes + out[i].slices[0].bytes;
			memcpy(r->frame, out[i].header, out[i].header_bytes);
			memcpy(r->frame + out[i].header_bytes, out[i].slices[0].base,
			       out[i].slices[0].bytes);
			assert_int_equal(wire_header_decode(r->frame, bytes, &header), DXP_OK);
			assert_int_equal(header.dst_node, out[i].to.port);
			/* the simulated nodes share the limit */
			r->serve.credit_ns = S_NS;
			size_t back = serve(r, header.dst_node, r->frame, bytes);
			if ((silent && header.dst_node % silent == 0) ||
			    rng_next(&r->rng) % 100 < lost_percent)
				continue;
			stats_query_receive(q, r->answer, back, r->now_ns);
		}
		if (!stats_query_done(q) && count == 0) {
			assert_true(stats_query_deadline(q) != UINT64_MAX);
			r->now_ns = max_u64(r->now_ns, stats_query_deadline(q));
		}
	}
}

/* The node at index `dead` is not alive. */
static struct stats_query *query_new(struct rig *r, struct node_entry *nodes, bool details,
				     size_t dead)
{
	const struct stats_query_options options = {.nodes = nodes,
						    .count = NODES,
						    .details = details,
						    .entropy = rng_entropy_rng,
						    .entropy_context = &r->rng};
	struct stats_query *q;

	for (uint16_t i = 0; i < NODES; i++) {
		nodes[i] = (struct node_entry){
			.id = i + 1, .kind = MANAGE_XPU, .alive = true, .address.port = i + 1};
		snprintf(nodes[i].name, sizeof(nodes[i].name), "n%u", i + 1);
	}
	if (dead < NODES)
		nodes[dead].alive = false;
	assert_int_equal(stats_query_create(&options, r->now_ns, &q), DXP_OK);
	return q;
}

static void stats_query__reads_all_nodes_despite_loss(void **state)
{
	struct rig *r = *state;
	static struct node_entry nodes[NODES];
	struct stats_query *q = query_new(r, nodes, true, NODES);
	struct stats_list list;

	query_run(r, q, 0, 10);
	stats_query_finish(q, &list);
	stats_query_destroy(q);
	assert_int_equal(list.count, NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		const struct stats_view *v = &list.views[i];
		assert_null(v->missing);
		assert_int_equal(v->node.id, i + 1);
		assert_int_equal(v->pid, 4711);
		assert_int_equal(v->node.session_rows, SESSIONS);
		assert_int_equal(v->sessions[SESSIONS - 1].node, 2 * SESSIONS);
		assert_int_equal(v->node.qps[3].sent_bytes, 2);
	}
	stats_list_free(&list);
}

/* STATS_QUERY_READINGS silent nodes cost STATS_QUERY_NS, and are reported like the dead. */
static void stats_query__names_silent_and_dead_nodes_within_a_bound(void **state)
{
	struct rig *r = *state;
	static struct node_entry nodes[NODES];
	struct stats_query *q = query_new(r, nodes, false, NODES - 1);
	uint64_t begin_ns = r->now_ns;
	struct stats_list list;

	query_run(r, q, 3, 0);
	stats_query_finish(q, &list);
	stats_query_destroy(q);
	for (uint32_t i = 0; i < NODES; i++) {
		const char *missing = list.views[i].missing;
		if (!nodes[i].alive)
			assert_string_equal(missing, "dead");
		else if ((i + 1) % 3 == 0)
			assert_string_equal(missing, "no answer");
		else
			assert_null(missing);
	}
	assert_string_equal(list.views[2].node.name, "n3");
	assert_true(r->now_ns - begin_ns <=
		    (NODES / 3 / STATS_QUERY_READINGS + 1) * STATS_QUERY_NS);
	stats_list_free(&list);
}

static void stats_query__accepts_only_answers_to_its_requests(void **state)
{
	struct rig *r = *state;
	static struct node_entry nodes[NODES];
	struct stats_query *q = query_new(r, nodes, false, NODES);
	struct datagram out[DATAGRAM_BATCH];
	struct stats_page page = {.request = 1, .part = STATS_PART_NODE, .published = true};
	struct stats_list list;
	struct rng same = {1};

	page.count = 1;
	page.nonce = rng_next(&same);
	assert_true(stats_query_send(q, out, DATAGRAM_BATCH, r->now_ns) > 0);
	/* from node 2 instead of node 1 */
	size_t bytes = stats_page_encode(&page, 2, r->mac, r->frame);
	stats_query_receive(q, r->frame, bytes, r->now_ns);
	page.nonce++;
	bytes = stats_page_encode(&page, 1, r->mac, r->frame);
	stats_query_receive(q, r->frame, bytes, r->now_ns);
	page.nonce--;
	page.request = NODES + 1;
	bytes = stats_page_encode(&page, 1, r->mac, r->frame);
	stats_query_receive(q, r->frame, bytes, r->now_ns);
	query_run(r, q, 1, 0);
	stats_query_finish(q, &list);
	stats_query_destroy(q);
	for (uint32_t i = 0; i < NODES; i++)
		assert_string_equal(list.views[i].missing, "no answer");
	stats_list_free(&list);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		TEST(stats_serve__answers_with_the_counters),
		TEST(stats_serve__pages_hold_every_session_once_in_order),
		TEST(stats_serve__the_longest_node_fits_a_page),
		TEST(stats_serve__states_that_it_publishes_nothing),
		TEST(stats_serve__counts_what_it_rejects),
		TEST(stats_serve__limits_the_rate),
		TEST(stats_page_decode__rejects_unsound_pages),
		TEST(stats_page_decode__names_another_version),
		TEST(stats_query__reads_all_nodes_despite_loss),
		TEST(stats_query__names_silent_and_dead_nodes_within_a_bound),
		TEST(stats_query__accepts_only_answers_to_its_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
