/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the list of grants: its codec, and the manager's answers to `dxp grants`. */
#include "test/sim/fabric.h"

#include "wire/grants.h"
#include "wire/manage_entry.h"

static const uint8_t key[FABRIC_KEY_BYTES] = {1};

/* Opens and decodes a page, which must be sealed with this key. */
static int page_open(const uint8_t *frame, size_t bytes, struct mac *mac, struct grants_page *out)
{
	struct wire_header header;
	struct manage_body body;

	assert_int_equal(manage_open(frame, bytes, mac, &header, &body), DXP_OK);
	assert_int_equal(header.type, WIRE_GRANTS_PAGE);
	return grants_page_decode(body, out);
}

static void grants_page__full(void **state)
{
	struct grants_page page = {
		.request = 1, .nonce = 2, .epoch = 3, .version = 4, .rule = 2, .first = 10};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct grants_page got;
	struct mac *mac;

	assert_int_equal(mac_create(key, &mac), DXP_OK);
	for (unsigned i = 0; i < GRANTS_PAGE_ROWS; i++) {
		snprintf(page.rows[i].host, FABRIC_NAME_BYTES, "h%030u", i);
		snprintf(page.rows[i].xpu, FABRIC_NAME_BYTES, i % 2 ? "*" : "x%030u", i);
	}
	page.count = GRANTS_PAGE_ROWS;
	size_t bytes = grants_page_encode(&page, mac, frame);
	assert_in_range(bytes, 1, FABRIC_DATAGRAM_BYTES);
	assert_int_equal(page_open(frame, bytes, mac, &got), DXP_OK);
	/* not full, because names are long */
	assert_in_range(got.count, 20, GRANTS_PAGE_ROWS - 1);
	assert_int_equal(got.next, 10 + got.count);
	for (unsigned i = 0; i < got.count; i++) {
		assert_string_equal(got.rows[i].host, page.rows[i].host);
		assert_string_equal(got.rows[i].xpu, page.rows[i].xpu);
	}
	assert_int_equal(got.epoch, 3);
	assert_int_equal(got.version, 4);
	mac_destroy(mac);
}

static void grants_page__malformed(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} rows[] = {
		{32, 0},   {32, 3},             /* rule */
		{35, 1},   {36, 7},             /* next */
		{37, 0},   {37, 2},  {37, 255}, /* number of rows */
		{38, 0},   {38, 32}, {38, 200}, /* length of a name */
		{39, ' '}, {39, 0},
	};
	const struct grants_page page = {
		.rule = 1, .count = 1, .rows = {{.host = "a", .xpu = "*"}}};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct grants_page got;
	struct mac *mac;

	assert_int_equal(mac_create(key, &mac), DXP_OK);
	const size_t bytes = grants_page_encode(&page, mac, frame);
	uint8_t *body = frame + WIRE_COMMON_BYTES;
	const size_t body_bytes = bytes - WIRE_COMMON_BYTES - MAC_BYTES;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		const uint8_t good = body[rows[i].at];
		body[rows[i].at] = rows[i].value;
		assert_int_equal(grants_page_decode((struct manage_body){body, body_bytes}, &got),
				 DXP_EMALFORMED);
		body[rows[i].at] = good;
	}
	for (size_t n = 0; n < body_bytes; n++)
		assert_int_equal(grants_page_decode((struct manage_body){body, n}, &got),
				 DXP_EMALFORMED);
	assert_int_equal(grants_page_decode((struct manage_body){body, body_bytes + 1}, &got),
			 DXP_EMALFORMED);
	assert_int_equal(grants_page_decode((struct manage_body){body, body_bytes}, &got), DXP_OK);
	mac_destroy(mac);
}

static void grants_request__lengths(void **state)
{
	const struct grants_request request = {1, 2, 3, NULL};
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct grants_request got;
	struct mac *mac;

	assert_int_equal(mac_create(key, &mac), DXP_OK);
	const size_t bytes = grants_request_encode(&request, mac, frame);
	uint8_t *body = frame + WIRE_COMMON_BYTES;
	const size_t body_bytes = bytes - WIRE_COMMON_BYTES - MAC_BYTES;
	assert_true(bytes >= MANAGE_ANSWER_MIN);
	for (size_t n = 0; n <= body_bytes; n++)
		assert_int_equal(grants_request_decode((struct manage_body){body, n}, &got),
				 n == body_bytes ? DXP_OK : DXP_EMALFORMED);
	assert_int_equal(got.first, 3);
	body[body_bytes - 1] = 1;
	assert_int_equal(grants_request_decode((struct manage_body){body, body_bytes}, &got),
			 DXP_EMALFORMED);
	mac_destroy(mac);
}

static struct fabric *world(enum grants_policy policy)
{
	struct fabric *f = fabric_create(1, policy);

	fabric_manager_start(f);
	fabric_run(f, 10 * MS_NS);
	return f;
}

#define GRANTS 60 /* 17 of these names fit in a page */
static const char xpu[] = "an-xpu-with-a-name-as-long-as-x";

static void name_make(char name[FABRIC_NAME_BYTES], unsigned number)
{
	snprintf(name, FABRIC_NAME_BYTES, "host-with-a-name-as-long-as-%03u", number);
}

static void grants_list__many(void **state)
{
	struct fabric *f = world(GRANTS_EXPLICIT);
	const struct grants_row *rows;
	char name[FABRIC_NAME_BYTES];

	for (unsigned i = 0; i < GRANTS; i++) {
		name_make(name, i);
		assert_int_equal(fabric_request(f, QUERY_GRANT, name, xpu), DXP_OK);
	}
	for (unsigned i = 0; i < GRANTS; i += 3) {
		name_make(name, i);
		assert_int_equal(fabric_request(f, QUERY_REVOKE, name, xpu), DXP_OK);
	}
	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_OK);
	assert_true(query_explicit(f->query));
	assert_int_equal(query_grants(f->query, &rows), GRANTS * 2 / 3);
	for (unsigned i = 0; i < GRANTS * 2 / 3; i++) {
		name_make(name, i / 2 * 3 + 1 + i % 2);
		assert_string_equal(rows[i].host, name);
		assert_string_equal(rows[i].xpu, xpu);
	}
	fabric_destroy(f);
}

static void grants_list__none(void **state)
{
	struct fabric *f = world(GRANTS_ANY);
	const struct grants_row *rows;

	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_OK);
	assert_false(query_explicit(f->query));
	assert_int_equal(query_grants(f->query, &rows), 0);
	f->options.key[0] ^= 1;
	assert_int_equal(fabric_request(f, QUERY_GRANTS, NULL, NULL), DXP_EAUTH);
	fabric_destroy(f);
}

/* Returns the number of accepted rows. */
static size_t page_give(struct query *q, struct mac *mac, const struct grants_page *page,
			uint64_t now_ns)
{
	const struct udp_address manager = address_v4(1, 1);
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	const struct grants_row *rows;

	query_receive(q, &manager, frame, grants_page_encode(page, mac, frame), now_ns);
	return query_grants(q, &rows);
}

/* The query starts again, so all rows are of one version. */
static void grants_list__changes_meanwhile(void **state)
{
	struct rng rng = {1}, same = {1};
	const struct query_options options = {
		.kind = QUERY_GRANTS, .entropy = rng_entropy_rng, .entropy_context = &rng};
	struct grants_page page = {.request = 1,
				   .epoch = 5,
				   .version = 6,
				   .rule = 2,
				   .next = 2,
				   .count = 2,
				   .rows = {{"a", "x"}, {"b", "x"}}};
	struct datagram out;
	struct query *q;
	struct mac *mac;

	assert_int_equal(mac_create(options.key, &mac), DXP_OK);
	assert_int_equal(query_create(&options, 0, &q), DXP_OK);
	rng_entropy_rng(&same, &page.nonce, sizeof(page.nonce));
	assert_int_equal(query_send(q, &out, 0), 1);
	assert_int_equal(page_give(q, mac, &page, 0), 2);
	assert_int_equal(query_send(q, &out, 0), 1);
	/* the answer to an old request */
	assert_int_equal(page_give(q, mac, &page, 0), 2);
	page.request = 2;
	page.first = 2;
	page.next = 0;
	page.version = 7;
	assert_int_equal(page_give(q, mac, &page, 0), 0);
	assert_false(query_done(q));
	assert_int_equal(query_send(q, &out, 0), 1);
	page.request = 3;
	page.first = 0;
	assert_int_equal(page_give(q, mac, &page, 0), 2);
	assert_true(query_done(q));
	query_destroy(q);
	mac_destroy(mac);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grants_page__full),
		cmocka_unit_test(grants_page__malformed),
		cmocka_unit_test(grants_request__lengths),
		cmocka_unit_test(grants_list__many),
		cmocka_unit_test(grants_list__none),
		cmocka_unit_test(grants_list__changes_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
