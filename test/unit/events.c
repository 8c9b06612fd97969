/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event log: its frames, its order and bound, and which events a manager logs. */
#include "test/sim/fabric.h"

#include "manager/event_journal.h"

static struct mac *mac_make(void)
{
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	struct mac *mac;

	assert_int_equal(mac_create(key, &mac), DXP_OK);
	return mac;
}

/* Decodes each shorter and one longer body of a frame. */
#define LENGTHS_REJECTED(decode, frame, bytes, out)                                               \
	do {                                                                                      \
		const size_t whole = (bytes)-WIRE_COMMON_BYTES - MAC_BYTES;                       \
		const uint8_t *body = (frame) + WIRE_COMMON_BYTES;                                \
		for (size_t n = 0; n < whole; n++)                                                \
			assert_int_equal(decode((struct manage_body){body, n, NULL}, (out)),      \
					 DXP_EMALFORMED);                                         \
		assert_int_equal(decode((struct manage_body){body, whole + 1, NULL}, (out)),      \
				 DXP_EMALFORMED);                                                 \
		assert_int_equal(decode((struct manage_body){body, whole, NULL}, (out)), DXP_OK); \
	} while (0)

static void events_request__lengths(void **state)
{
	const struct events_request request = {1, 2, 3, 4, EVENT_DIED, NULL};
	uint8_t frame[MANAGE_FRAME_BYTES + 1] = {0};
	struct events_request got;
	struct mac *mac = mac_make();
	const size_t bytes = events_request_encode(&request, mac, frame);

	LENGTHS_REJECTED(events_request_decode, frame, bytes, &got);
	assert_int_equal(got.from, 3);
	assert_int_equal(got.since_ms, 4);
	assert_int_equal(got.kind, EVENT_DIED);
	frame[WIRE_COMMON_BYTES + 16] = 0xff; /* `from` too large */
	assert_int_equal(events_request_decode(
				 (struct manage_body){frame + WIRE_COMMON_BYTES,
						      bytes - WIRE_COMMON_BYTES - MAC_BYTES, NULL},
				 &got),
			 DXP_EMALFORMED);
	mac_destroy(mac);
}

static void event_report__lengths(void **state)
{
	const struct event_report report = {.base = {.request = 1, .nonce = 2, .run = 3},
					    .number = 4,
					    .kind = EVENT_PATH_SLOW,
					    .peer = "b",
					    .rtt_ns = 5,
					    .typical_ns = 6};
	uint8_t frame[MANAGE_FRAME_BYTES + 1] = {0};
	struct event_report got;
	struct mac *mac = mac_make();
	const size_t bytes = event_report_encode(7, &report, mac, frame);

	LENGTHS_REJECTED(event_report_decode, frame, bytes, &got);
	assert_int_equal(got.number, 4);
	assert_string_equal(got.peer, "b");
	assert_int_equal(got.typical_ns, 6);
	frame[WIRE_COMMON_BYTES + 52] = EVENT_JOINED; /* no change of a path */
	assert_int_equal(event_report_decode(
				 (struct manage_body){frame + WIRE_COMMON_BYTES,
						      bytes - WIRE_COMMON_BYTES - MAC_BYTES, NULL},
				 &got),
			 DXP_EMALFORMED);
	mac_destroy(mac);
}

static void events_page__lengths(void **state)
{
	struct events_page page = {.oldest = 1, .newest = 9, .from = 3, .next = 10, .count = 2};
	uint8_t frame[FABRIC_DATAGRAM_BYTES + 1] = {0};
	struct events_page got;
	struct mac *mac = mac_make();

	page.rows[0] = (struct event_row){3, 77, EVENT_JOINED, "a", "b"};
	page.rows[1] = (struct event_row){9, 78, 200, "c\x1b", "d"}; /* a kind of a later version */
	size_t bytes = events_page_encode(&page, mac, frame);
	LENGTHS_REJECTED(events_page_decode, frame, bytes, &got);
	assert_int_equal(got.count, 2);
	assert_string_equal(got.rows[1].subject, "c?");
	assert_string_equal(event_kind_name(got.rows[1].kind), "other");
	page.next = 3; /* does not advance */
	bytes = events_page_encode(&page, mac, frame);
	assert_int_equal(events_page_decode(
				 (struct manage_body){frame + WIRE_COMMON_BYTES,
						      bytes - WIRE_COMMON_BYTES - MAC_BYTES, NULL},
				 &got),
			 DXP_EMALFORMED);
	mac_destroy(mac);
}

static void event_kinds__names(void **state)
{
	assert_int_equal(event_kind_find("path-blocked"), EVENT_PATH_BLOCKED);
	assert_int_equal(event_kind_find("other"), 0);
	assert_int_equal(event_kind_severity(EVENT_DIED), EVENT_CRITICAL);
}

/* The log keeps the newest events. Pages end before a row that does not fit, and at most 4096
 * events are looked at for one. */
static void event_journal__bound_and_pages(void **state)
{
	struct events_request request = {0};
	struct events_page page;
	struct event_journal l;
	unsigned count = 0;

	assert_int_equal(event_journal_create(&l, 5000), DXP_OK);
	event_journal_page(&l, &request, &page);
	assert_int_equal(page.next, page.newest + 1);
	for (unsigned i = 1; i <= 12000; i++)
		event_journal_add(&l, i, i % 1000 ? EVENT_JOINED : EVENT_DIED, "n", "%u", i);
	for (page.next = 0; page.next <= page.newest || count == 0;) {
		request.from = page.next;
		event_journal_page(&l, &request, &page);
		assert_int_equal(page.oldest, 7001);
		assert_int_equal(page.newest, 12000);
		for (unsigned i = 0; i < page.count; i++)
			assert_int_equal(page.rows[i].sequence, 7001 + count++);
	}
	assert_int_equal(count, 5000);
	request = (struct events_request){.kind = EVENT_DIED, .since_ms = 8000};
	event_journal_page(&l, &request, &page);
	assert_int_equal(page.count, 4);
	assert_int_equal(page.next, 7001 + 4096);
	request.from = page.next;
	event_journal_page(&l, &request, &page);
	assert_int_equal(page.count, 1);
	assert_int_equal(page.next, 12001);
	event_journal_destroy(&l);
}

static const struct event_row *event_find(struct fabric *f, uint8_t kind, const char *subject)
{
	const struct event_journal *l = registry_events(f->registry);

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		if (e->kind == kind && strcmp(e->subject, subject) == 0)
			return e;
	return NULL;
}

static size_t event_count(struct fabric *f, uint8_t kind)
{
	const struct event_journal *l = registry_events(f->registry);
	size_t count = 0;

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		count += e->kind == kind;
	return count;
}

/* A node joins, gets a grant, reports a blocked path over a lossy network, and dies. Each is logged
 * once, in this order, and a reader gets all of it. */
static void registry__events_in_order(void **state)
{
	struct fabric *f = fabric_create(3, GRANTS_EXPLICIT);
	struct fabric_member *host = fabric_member_add(f, MANAGE_HOST);
	const struct path_change change = {EVENT_PATH_BLOCKED, "xpu-9", 0, 0};
	const struct events_page *last;
	const struct event_row *rows;

	fabric_manager_start(f);
	fabric_member_start(f, host);
	fabric_run(f, 2 * S_NS);
	assert_int_equal(fabric_request(f, QUERY_GRANT, "host-0", "xpu-1"), DXP_OK);
	assert_int_equal(fabric_request(f, QUERY_GRANT, "host-0", "xpu-1"), DXP_OK);
	f->loss_ppm = 300000;
	f->duplicate_ppm = 300000;
	member_report(host->m, &change);
	member_report(host->m, &(struct path_change){EVENT_PATH_SLOW, "xpu-8", 9 * MS_NS, MS_NS});
	host->deadline_ns = 0;
	fabric_run(f, 20 * S_NS);
	f->loss_ppm = f->duplicate_ppm = 0;
	fabric_member_kill(host);
	fabric_run(f, 20 * S_NS);
	assert_int_equal(fabric_request(f, QUERY_EVENTS, NULL, NULL), DXP_OK);
	const size_t count = query_events(f->query, &rows, &last);
	static const uint8_t expected[] = {EVENT_STARTED,      EVENT_JOINED,    EVENT_GRANTED,
					   EVENT_PATH_BLOCKED, EVENT_PATH_SLOW, EVENT_DIED};
	assert_int_equal(count, ARRAY_COUNT(expected));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].kind, expected[i]);
		assert_int_equal(rows[i].sequence, i + 1);
	}
	assert_non_null(strstr(rows[3].text, "xpu-9"));
	assert_non_null(strstr(rows[4].text, "9000 us"));
	assert_int_equal(last->next, last->newest + 1);
	fabric_destroy(f);
}

/* Requests with a wrong key are logged once, and cannot replace all other events. */
static void registry__refusals_are_limited(void **state)
{
	struct fabric *f = fabric_create(4, GRANTS_ANY);

	fabric_manager_start(f);
	fabric_run(f, 10 * MS_NS);
	f->options.key[0] ^= 1;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(fabric_request(f, QUERY_EVENTS, NULL, NULL), DXP_EAUTH);
	f->options.key[0] ^= 1;
	assert_int_equal(event_count(f, EVENT_REFUSED), 1);
	assert_null(event_find(f, EVENT_JOINED, "host-0"));
	f->now_ns += 61 * S_NS;
	f->options.key[0] ^= 1;
	assert_int_equal(fabric_request(f, QUERY_EVENTS, NULL, NULL), DXP_EAUTH);
	f->options.key[0] ^= 1;
	assert_int_equal(event_count(f, EVENT_REFUSED), 2);
	fabric_destroy(f);
}

/* Begins a term of a manager and returns the number in its EVENT_LOST; 0: there is none. `saved`:
 * the store then gets all events. */
static uint64_t term_report(struct event_losses *losses, unsigned unsaved, bool saved)
{
	static struct rng rng = {1};
	const struct registry_options options = {.policy = GRANTS_EXPLICIT,
						 .events = FABRIC_EVENTS_MIN,
						 .entropy = rng_entropy_rng,
						 .entropy_context = &rng};
	struct registry *r;
	struct datagram out[DATAGRAM_BATCH];
	uint64_t reported = 0;

	assert_int_equal(registry_create(&options, &r), DXP_OK);
	struct event_journal *l = registry_events(r);
	event_journal_begin(l, losses);
	registry_start(r, S_NS);
	registry_send(r, out, DATAGRAM_BATCH, S_NS);
	const struct event_row *last = event_journal_next(l, l->next - 1);
	if (last && last->kind == EVENT_LOST)
		reported = strtoull(last->text, NULL, 10);
	if (saved)
		l->unsaved = l->next;
	for (unsigned i = 0; i < unsaved; i++)
		event_journal_add(l, l->next, EVENT_JOINED, "a name", "a text");
	event_journal_end(l, losses);
	registry_destroy(r);
	return reported;
}

/* A loss is reported once, in the next term, and again if the store did not get the report. */
static void event_journal__losses_of_earlier_terms(void **state)
{
	struct event_losses losses = {0};

	assert_int_equal(term_report(&losses, 5, true), 0);
	assert_int_equal(losses.lost, 5);
	assert_int_equal(term_report(&losses, 0, false), 5);
	const uint64_t lost = losses.lost;
	assert_true(lost > 5);
	assert_int_equal(term_report(&losses, 0, true), lost);
	assert_int_equal(term_report(&losses, 0, true), 0);
	assert_int_equal(term_report(&losses, 2, true), 0);
	assert_int_equal(term_report(&losses, 0, true), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_request__lengths),
		cmocka_unit_test(event_report__lengths),
		cmocka_unit_test(events_page__lengths),
		cmocka_unit_test(event_kinds__names),
		cmocka_unit_test(event_journal__bound_and_pages),
		cmocka_unit_test(event_journal__losses_of_earlier_terms),
		cmocka_unit_test(registry__events_in_order),
		cmocka_unit_test(registry__refusals_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
