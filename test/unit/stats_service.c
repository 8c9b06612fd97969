/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests counters of managers and switches over a simulated network: frames, the manager that
 * answers, and the reader. */
#include <limits.h>
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
#include "manager/registry.h"
#include "node/limits.h"
#include "node/service_query.h"
#include "wire/manage_entry.h"

#define VALUES 100 /* of the switch: several pages */

enum { MANAGER_PORT = 1, SWITCH_PORT, SILENT_PORT };

struct rig {
	struct mac *mac;
	struct registry *registry;
	struct rng rng;
	uint64_t now_ns;
	uint64_t switch_up_ns; /* of its first page; smaller in later ones: it has restarted */
	uint64_t answer_ns;    /* delay of the switch */
	unsigned children;     /* of the tree of switches; 0: no tree */
	bool last_first;       /* the children that exist are the last ones */
	unsigned restarts, lost_percent;
	struct stats_value values[VALUES];
	uint8_t frame[FABRIC_DATAGRAM_BYTES], answer[FABRIC_DATAGRAM_BYTES];
	struct stats_service_page page;
};

static void registry_new(struct rig *r, enum admission admission)
{
	struct registry_options options = {.entropy = rng_entropy_rng,
					   .entropy_context = &r->rng,
					   .admission = admission,
					   .name = "host-a",
					   .pid = 4711};

	memset(options.private_key, 7, sizeof(options.private_key));
	registry_destroy(r->registry);
	assert_int_equal(registry_create(&options, &r->registry), DXP_OK);
	registry_start(r->registry, r->now_ns);
}

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	uint8_t key[FABRIC_KEY_BYTES] = {0};

	r->now_ns = 1000 * S_NS;
	r->switch_up_ns = 50 * S_NS;
	r->rng = (struct rng){1};
	for (unsigned i = 0; i < VALUES; i++) {
		snprintf(r->values[i].name, sizeof(r->values[i].name), "value_%u", i);
		r->values[i].level = i % 2;
		r->values[i].value = UINT64_MAX - i;
	}
	registry_new(r, ADMIT_KEY);
	*state = r;
	return mac_create(key, &r->mac);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	registry_destroy(r->registry);
	mac_destroy(r->mac);
	free(r);
	return 0;
}

static size_t datagram_copy(const struct datagram *d, uint8_t *out)
{
	memcpy(out, d->header, d->header_bytes);
	memcpy(out + d->header_bytes, d->slices[0].base, d->slices[0].bytes);
	return d->header_bytes + d->slices[0].bytes;
}

/* Returns the bytes in r->answer; 0: none. */
static size_t manager_serve(struct rig *r, size_t bytes)
{
	const struct udp_address from = address_v4(0x0a000009, 9);
	struct datagram out;

	registry_receive(r->registry, &from, r->frame, bytes, r->now_ns);
	if (registry_send(r->registry, &out, 1, r->now_ns) == 0)
		return 0;
	assert_true(address_equal(&out.to, &from));
	return datagram_copy(&out, r->answer);
}

static size_t request_make(struct rig *r, uint16_t node, uint16_t first)
{
	const struct stats_request q = {.request = 5, .nonce = 6, .first = first};

	return stats_service_request_encode(&q, node, NULL, r->mac, r->frame);
}

static int page_open(struct rig *r, size_t bytes, struct wire_header *header)
{
	struct manage_body body;

	assert_int_equal(manage_open(r->answer, bytes, r->mac, header, &body), DXP_OK);
	return stats_service_page_decode(body, &r->page);
}

static struct stats_value *page_value(struct rig *r, const char *name)
{
	for (unsigned i = 0; i < r->page.count; i++)
		if (strcmp(r->page.values[i].name, name) == 0)
			return &r->page.values[i];
	return NULL;
}

static void manager__answers_with_its_counters(void **state)
{
	struct rig *r = *state;
	struct wire_header header;

	r->now_ns += 3 * S_NS;
	assert_int_equal(
		page_open(r, manager_serve(r, request_make(r, WIRE_NODE_MANAGER, 0)), &header),
		DXP_OK);
	assert_int_equal(header.src_node, WIRE_NODE_MANAGER);
	assert_int_equal(r->page.request, 5);
	assert_int_equal(r->page.nonce, 6);
	assert_int_equal(r->page.service.role, STATS_ROLE_MANAGER);
	assert_int_equal(r->page.service.pid, 4711);
	assert_int_equal(r->page.service.up_ns, 3 * S_NS);
	assert_string_equal(r->page.service.name, "host-a");
	assert_string_equal(r->page.service.program, "dxp-manager");
	assert_true(page_value(r, "nodes_alive")->level);
	assert_false(page_value(r, "stats_answered")->level);
	assert_int_equal(page_value(r, "stats_answered")->value, 1);
}

static void manager__counts_what_it_does_not_answer(void **state)
{
	struct rig *r = *state;
	uint8_t key[FABRIC_KEY_BYTES] = {1};
	struct mac *right = r->mac;
	struct wire_header header;
	struct manage_body body;

	/* for a node; for a switch */
	const struct stats_request node = {5, 6, STATS_PART_NODE, 0};
	assert_int_equal(
		manager_serve(r, stats_request_encode(&node, WIRE_NODE_MANAGER, r->mac, r->frame)),
		0);
	assert_int_equal(registry_counters(r->registry)->malformed, 1);
	assert_int_equal(manager_serve(r, request_make(r, WIRE_NODE_NONE, 0)), 0);
	assert_int_equal(registry_counters(r->registry)->unexpected, 1);
	assert_int_equal(mac_create(key, &r->mac), DXP_OK);
	const size_t bytes = request_make(r, WIRE_NODE_MANAGER, 0);
	mac_destroy(r->mac);
	r->mac = right;
	const size_t back = manager_serve(r, bytes); /* REFUSE, not longer than the request */
	assert_true(back > 0 && back <= bytes);
	assert_int_equal(manage_parse(r->answer, back, &header, &body), DXP_OK);
	assert_int_equal(header.type, WIRE_REFUSE);
	assert_int_equal(registry_counters(r->registry)->unauthentic, 1);
	assert_int_equal(registry_counters(r->registry)->stats_answered, 0);
}

/* A burst, then the limited rate; beyond it the MAC is not even checked. */
static void manager__limits_the_rate(void **state)
{
	struct rig *r = *state;
	const size_t bytes = request_make(r, WIRE_NODE_MANAGER, 0);
	uint64_t answered = 0, sent = 0;

	for (uint64_t end_ns = r->now_ns + 10 * S_NS; r->now_ns < end_ns; r->now_ns += MS_NS)
		for (int i = 0; i < 3; i++, sent++)
			answered += manager_serve(r, bytes) > 0;
	assert_true(answered <= STATS_SERVICE_BURST + 1 + 10 * STATS_SERVICE_PER_S);
	assert_true(answered >= 10 * STATS_SERVICE_PER_S - 1);
	assert_int_equal(registry_counters(r->registry)->stats_limited, sent - answered);
	r->frame[bytes - 1] ^= 1;
	for (int i = 0; i < 1000; i++)
		manager_serve(r, bytes);
	assert_true(registry_counters(r->registry)->unauthentic <= 1);
}

/* ---- the frames ---- */

static int page_recode(struct rig *r, const struct stats_service_page *page)
{
	struct wire_header header;
	const size_t bytes = stats_service_page_encode(page, WIRE_NODE_NONE, r->mac, r->answer);

	return page_open(r, bytes, &header);
}

static void page__rejects_unsound_fields_and_every_other_length(void **state)
{
	struct rig *r = *state;
	const struct stats_service_page sound = {
		.first = 2,
		.next = 4,
		.count = 2,
		.service = {.role = STATS_ROLE_SWITCH, .name = "s", .program = "dxp-switch"},
		.values = {{"a", false, 1}, {"b_2", true, UINT64_MAX}}};
	static const char *const names[] = {"", "A", "2", "_a", "a b", "a\"", "a-b"};
	struct stats_service_page page = sound;

	assert_int_equal(page_recode(r, &page), DXP_OK);
	assert_memory_equal(&r->page.values, &page.values, 2 * sizeof(page.values[0]));
	page.next = 5; /* leaves out a value */
	assert_int_equal(page_recode(r, &page), DXP_EMALFORMED);
	page = sound;
	page.count = 0;
	page.next = 2; /* a reader would request it for ever */
	assert_int_equal(page_recode(r, &page), DXP_EMALFORMED);
	page = sound;
	page.service.role = STATS_ROLE_SWITCH + 1;
	assert_int_equal(page_recode(r, &page), DXP_EMALFORMED);
	page = sound;
	strcpy(page.service.name, "\033[2J");
	assert_int_equal(page_recode(r, &page), DXP_OK);
	assert_string_equal(r->page.service.name, "?[2J"); /* the encoder replaces controls */
	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		page = sound;
		strcpy(page.values[1].name, names[i]);
		assert_int_equal(page_recode(r, &page), DXP_EMALFORMED);
	}
	size_t bytes = stats_service_page_encode(&sound, WIRE_NODE_NONE, r->mac, r->answer) -
		       WIRE_COMMON_BYTES - MAC_BYTES;
	r->answer[WIRE_COMMON_BYTES + bytes] = 0;
	for (size_t i = 0; i <= bytes + 1; i++) {
		const struct manage_body body = {.data = r->answer + WIRE_COMMON_BYTES, .bytes = i};
		assert_int_equal(stats_service_page_decode(body, &r->page),
				 i == bytes ? DXP_OK : DXP_EMALFORMED);
	}
	r->answer[WIRE_COMMON_BYTES + 39] = '\033'; /* only letter of the name */
	const struct manage_body control = {.data = r->answer + WIRE_COMMON_BYTES, .bytes = bytes};
	assert_int_equal(stats_service_page_decode(control, &r->page), DXP_EMALFORMED);
	r->answer[WIRE_COMMON_BYTES + 39] = 's';
	assert_int_equal(stats_service_page_decode(control, &r->page), DXP_OK);
	r->answer[WIRE_COMMON_BYTES + 17]++; /* version */
	const struct manage_body body = {.data = r->answer + WIRE_COMMON_BYTES, .bytes = bytes};
	assert_int_equal(stats_service_page_decode(body, &r->page), DXP_EUNSUPPORTED);
}

static void request__rejects_other_lengths_and_parts(void **state)
{
	struct rig *r = *state;
	const size_t bytes = request_make(r, WIRE_NODE_NONE, 9) - WIRE_COMMON_BYTES - MAC_BYTES;
	struct stats_request out;

	for (size_t i = 0; i <= bytes + 1; i++) {
		const struct manage_body body = {.data = r->frame + WIRE_COMMON_BYTES, .bytes = i};
		assert_int_equal(stats_service_request_decode(body, &out),
				 i == bytes ? DXP_OK : DXP_EMALFORMED);
	}
	assert_int_equal(out.first, 9);
	const struct manage_body body = {.data = r->frame + WIRE_COMMON_BYTES, .bytes = bytes};
	r->frame[WIRE_COMMON_BYTES + bytes - 1] = 1; /* padding */
	assert_int_equal(stats_service_request_decode(body, &out), DXP_EMALFORMED);
	r->frame[WIRE_COMMON_BYTES + bytes - 1] = 0;
	r->frame[WIRE_COMMON_BYTES + 16] = STATS_PART_NODE;
	assert_int_equal(stats_service_request_decode(body, &out), DXP_EMALFORMED);
}

/* ---- the reader ---- */

/* Answers a request as a switch, which restarts r->restarts times after its first page. */
static size_t switch_serve(struct rig *r, size_t bytes)
{
	struct stats_request request;
	struct wire_header header;
	struct manage_body body;

	assert_int_equal(manage_open(r->frame, bytes, r->mac, &header, &body), DXP_OK);
	assert_int_equal(header.dst_node, WIRE_NODE_NONE);
	assert_int_equal(stats_service_request_decode(body, &request), DXP_OK);
	r->now_ns += r->answer_ns;
	struct stats_service_page page = {
		.request = request.request,
		.nonce = request.nonce,
		.first = request.first,
		.service = {.role = STATS_ROLE_SWITCH, .up_ns = r->switch_up_ns, .pid = 1}};
	if (request.first > 0 && r->restarts > 0) {
		r->restarts--;
		page.service.up_ns = --r->switch_up_ns;
	}
	stats_service_page_fill(&page, r->values, VALUES);
	return stats_service_page_encode(&page, WIRE_NODE_NONE, r->mac, r->answer);
}

/* A tree of switches: 10.0.0.2 is below 10.0.0.4, which is above 10.0.0.2, 10.0.0.5 and many more.
 */
static size_t tree_serve(struct rig *r, size_t bytes, uint8_t last)
{
	struct stats_value values[1 + STATS_SERVICE_NEIGHBOURS];
	struct stats_request request;
	struct wire_header header;
	struct manage_body body;
	size_t count = 0;

	assert_int_equal(manage_open(r->frame, bytes, r->mac, &header, &body), DXP_OK);
	assert_int_equal(stats_service_request_decode(body, &request), DXP_OK);
	struct stats_service_page page = {.request = request.request,
					  .nonce = request.nonce,
					  .first = request.first,
					  .service = {.role = STATS_ROLE_SWITCH, .pid = last}};
	stats_value_add(values, &count, "groups", true, last);
	if (last != 4)
		stats_neighbour_add(values, &count, true, 0, 0x0a000004);
	for (unsigned i = 0; last == 4 && i < r->children; i++) {
		const unsigned child = r->last_first ? r->children - 1 - i : i;
		stats_neighbour_add(values, &count, false, i,
				    child == 0   ? 0x0a000002
				    : child == 1 ? 0x0a000005
						 : 0x0a000006 + child);
	}
	stats_service_page_fill(&page, values, count);
	return stats_service_page_encode(&page, WIRE_NODE_NONE, r->mac, r->answer);
}

static size_t serve(struct rig *r, const struct datagram *d)
{
	const size_t bytes = datagram_copy(d, r->frame);

	if (r->children > 0 && d->to.port == SWITCH_PORT)
		return d->to.ip[15] < 6 ? tree_serve(r, bytes, d->to.ip[15]) : 0;

	switch (d->to.port) {
	case MANAGER_PORT: return manager_serve(r, bytes);
	case SWITCH_PORT: return switch_serve(r, bytes);
	default: return 0;
	}
}

static void query_run(struct rig *r, struct service_query *q)
{
	const uint64_t begin_ns = r->now_ns;
	struct datagram out[4];

	while (!service_query_done(q)) {
		assert_true(r->now_ns - begin_ns < 10 * S_NS);
		const size_t count = service_query_send(q, out, ARRAY_COUNT(out), r->now_ns);
		for (size_t i = 0; i < count; i++) {
			const size_t back = serve(r, &out[i]);
			if (back > 0 && rng_next(&r->rng) % 100 >= r->lost_percent)
				service_query_receive(q, r->answer, back, r->now_ns);
		}
		if (count == 0 && !service_query_done(q))
			r->now_ns = max_u64(r->now_ns, service_query_deadline(q));
	}
}

static struct service_query *query_new(struct rig *r, const struct identity *identity)
{
	const struct service_target targets[] = {
		{address_v4(0x0a000001, MANAGER_PORT), STATS_ROLE_MANAGER},
		{address_v4(0x0a000002, SWITCH_PORT), STATS_ROLE_SWITCH},
		{address_v4(0x0a000003, SILENT_PORT), STATS_ROLE_SWITCH}};
	const struct service_query_options options = {.targets = targets,
						      .count = ARRAY_COUNT(targets),
						      .identity = identity,
						      .entropy = rng_entropy_rng,
						      .entropy_context = &r->rng};
	struct service_query *q;

	assert_int_equal(service_query_create(&options, r->now_ns, &q), DXP_OK);
	return q;
}

static void service_query__reads_all_values_in_spite_of_losses(void **state)
{
	struct rig *r = *state;

	for (r->lost_percent = 0; r->lost_percent <= 30; r->lost_percent += 30) {
		struct service_query *q = query_new(r, NULL);
		query_run(r, q);
		const struct service_view *v = service_query_views(q);
		assert_null(v[0].missing);
		assert_string_equal(v[0].values[0].name, "nodes_alive");
		assert_null(v[1].missing);
		assert_int_equal(v[1].count, VALUES);
		assert_memory_equal(v[1].values, r->values, sizeof(r->values));
		assert_string_equal(v[2].missing, "no answer");
		service_query_destroy(q);
	}
}

static void service_query__starts_again_after_a_restart(void **state)
{
	struct rig *r = *state;
	struct service_query *q = query_new(r, NULL);

	r->restarts = 2;
	query_run(r, q);
	const struct service_view *v = service_query_views(q);
	assert_int_equal(r->restarts, 0);
	assert_int_equal(v[1].count, VALUES);
	assert_memory_equal(v[1].values, r->values, sizeof(r->values));
	service_query_destroy(q);
}

/* One switch is known; its parent, and the parent's other child, are found. */
static void service_query__follows_the_tree(void **state)
{
	const struct service_target known = {address_v4(0x0a000002, SWITCH_PORT),
					     STATS_ROLE_SWITCH};
	struct rig *r = *state;
	struct service_query_options options = {.targets = &known,
						.count = 1,
						.follow = true,
						.entropy = rng_entropy_rng,
						.entropy_context = &r->rng};
	struct service_query *q;

	/* 64 children: all except two are silent */
	for (r->children = 2; r->children <= STATS_SERVICE_NEIGHBOURS; r->children += 62) {
		assert_int_equal(service_query_create(&options, r->now_ns, &q), DXP_OK);
		query_run(r, q);
		const struct service_view *v = service_query_views(q);
		assert_int_equal(service_query_count(q), 3);
		for (unsigned i = 0; i < 3; i++) {
			assert_null(v[i].missing);
			assert_int_equal(v[i].count, 1);
		}
		assert_int_equal(v[1].target.address.ip[15], 4);
		assert_int_equal(v[1].above, 0);
		assert_int_equal(v[1].neighbour_count, r->children);
		assert_int_equal(v[2].target.address.ip[15], 5);
		assert_int_equal(v[2].above, 1);
		service_query_destroy(q);
	}
	options.follow = false;
	assert_int_equal(service_query_create(&options, r->now_ns, &q), DXP_OK);
	query_run(r, q);
	assert_int_equal(service_query_count(q), 1);
	service_query_destroy(q);
	r->children = 0;
}

/* A switch names two others that do not exist, and then two that do. There is space for two. */
static void service_query__finds_switches_behind_silent_ones(void **state)
{
	struct service_target known[SERVICE_QUERY_MAX - 2];
	struct rig *r = *state;
	struct service_query_options options = {.targets = known,
						.count = ARRAY_COUNT(known),
						.follow = true,
						.entropy = rng_entropy_rng,
						.entropy_context = &r->rng};
	struct service_query *q;

	for (unsigned i = 0; i < ARRAY_COUNT(known); i++)
		known[i] = (struct service_target){address_v4(0x0a000100 + i, SILENT_PORT),
						   STATS_ROLE_SWITCH};
	known[0].address = address_v4(0x0a000004, SWITCH_PORT);
	r->children = 4;
	r->last_first = true;
	assert_int_equal(service_query_create(&options, r->now_ns, &q), DXP_OK);
	query_run(r, q);
	const struct service_view *v = service_query_views(q) + ARRAY_COUNT(known);
	assert_int_equal(service_query_count(q), ARRAY_COUNT(known) + 2);
	assert_null(v[0].missing);
	assert_null(v[1].missing);
	assert_int_equal(v[0].target.address.ip[15], 5);
	assert_int_equal(v[1].target.address.ip[15], 2);
	service_query_destroy(q);
}

static void neighbours__have_usable_addresses(void **state)
{
	static const uint64_t wrong[] = {0, 0xe0000000u, UINT32_MAX, 1ull << 32, UINT64_MAX};
	struct stats_value v[2];
	size_t count = 0;
	uint32_t ip;
	bool above;

	stats_neighbour_add(v, &count, true, 3, 0x0a000001);
	assert_true(stats_neighbour_get(&v[0], &above, &ip) && above && ip == 0x0a000001);
	v[0].level = false;
	assert_false(stats_neighbour_get(&v[0], &above, &ip));
	v[0].level = true;
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		v[0].value = wrong[i];
		assert_false(stats_neighbour_get(&v[0], &above, &ip));
	}
	stats_value_add(v, &count, "groups", true, 1);
	assert_false(stats_neighbour_get(&v[1], &above, &ip));
}

/* The switch answers each request, so it is never silent, but its list never ends. */
static void service_query__ends_although_answers_do_not(void **state)
{
	struct rig *r = *state;
	struct service_query *q = query_new(r, NULL);
	const uint64_t begin_ns = r->now_ns;

	r->restarts = UINT_MAX;
	r->answer_ns = 70 * MS_NS;
	query_run(r, q);
	const struct service_view *v = service_query_views(q);
	assert_null(v[0].missing);
	assert_string_equal(v[1].missing, "incomplete answer");
	assert_true(r->now_ns - begin_ns <= STATS_QUERY_WHOLE_NS + r->answer_ns);
	service_query_destroy(q);
}

/* Where tokens admit, the fabric key does not suffice. */
static void service_query__names_a_refusal(void **state)
{
	struct rig *r = *state;

	registry_new(r, ADMIT_TOKEN);
	struct service_query *q = query_new(r, NULL);
	query_run(r, q);
	const struct service_view *v = service_query_views(q);
	assert_non_null(strstr(v[0].missing, "refused"));
	assert_null(v[1].missing);
	assert_int_equal(registry_counters(r->registry)->key_needed, 1);
	service_query_destroy(q);
}

/* Admitted by a token. */
static void service_query__uses_the_key_pair_for_the_manager(void **state)
{
	struct rig *r = *state;
	struct store_op op = {.kind = STORE_KEY_PUT, .key = {.name = "reader", .role = ROLE_HOST}};
	uint8_t private_key[KEYS_BYTES];
	struct identity identity;

	registry_new(r, ADMIT_TOKEN);
	memset(private_key, 9, sizeof(private_key));
	assert_true(identity_make(private_key, registry_public_key(r->registry), &identity));
	memcpy(op.key.key, identity.public_key, KEYS_BYTES);
	assert_int_equal(registry_load(r->registry, &op), DXP_OK);
	struct service_query *q = query_new(r, &identity);
	query_run(r, q);
	const struct service_view *v = service_query_views(q);
	assert_null(v[0].missing);
	assert_null(v[1].missing);
	service_query_destroy(q);
}

static void service_query__ignores_answers_that_are_not_for_it(void **state)
{
	struct rig *r = *state;
	struct service_query *q = query_new(r, NULL);
	struct datagram out[4];

	assert_int_equal(service_query_send(q, out, ARRAY_COUNT(out), r->now_ns), 3);
	size_t bytes = serve(r, &out[0]);
	r->answer[bytes - 1] ^= 1; /* MAC */
	service_query_receive(q, r->answer, bytes, r->now_ns);
	bytes = serve(r, &out[1]);
	r->answer[WIRE_COMMON_BYTES + 15] ^= 1; /* nonce */
	service_query_receive(q, r->answer, bytes, r->now_ns);
	for (size_t i = 0; i < bytes; i++)
		service_query_receive(q, r->answer, i, r->now_ns);
	r->lost_percent = 100;
	query_run(r, q);
	const struct service_view *v = service_query_views(q);
	assert_string_equal(v[0].missing, "no answer");
	assert_string_equal(v[1].missing, "no answer");
	service_query_destroy(q);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(manager__answers_with_its_counters),
		TEST(manager__counts_what_it_does_not_answer),
		TEST(manager__limits_the_rate),
		TEST(page__rejects_unsound_fields_and_every_other_length),
		TEST(request__rejects_other_lengths_and_parts),
		TEST(service_query__reads_all_values_in_spite_of_losses),
		TEST(service_query__starts_again_after_a_restart),
		TEST(service_query__follows_the_tree),
		TEST(service_query__finds_switches_behind_silent_ones),
		TEST(neighbours__have_usable_addresses),
		TEST(service_query__ends_although_answers_do_not),
		TEST(service_query__names_a_refusal),
		TEST(service_query__uses_the_key_pair_for_the_manager),
		TEST(service_query__ignores_answers_that_are_not_for_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
