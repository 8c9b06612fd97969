/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that nodes which join, leave or die all the time do not replace the other events, and that
 * the log and the counters have the number of the events without a row. */
#include "test/unit/admission_rig.h"

#define ROUNDS 40
#define OTHERS 16 /* rows that the other steps of a test log at most */

static size_t event_count(struct fabric *f, uint8_t kind, const char *subject)
{
	const struct event_journal *l = registry_events(f->registry);
	size_t count = 0;

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		count += e->kind == kind && (!subject || strcmp(e->subject, subject) == 0);
	return count;
}

static const struct event_row *event_last(struct fabric *f, uint8_t kind)
{
	const struct event_journal *l = registry_events(f->registry);
	const struct event_row *found = NULL;

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		if (e->kind == kind)
			found = e;
	return found;
}

static void leave(struct fabric *f, struct fabric_member *member)
{
	member_leave(member->m, f->now_ns);
	member->deadline_ns = f->now_ns;
	fabric_run(f, 100 * MS_NS);
	fabric_member_kill(member);
}

static void join_and_leave(struct fabric *f, struct fabric_member *member, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		fabric_member_start(f, member);
		fabric_run(f, 100 * MS_NS);
		assert_true(JOINED(member));
		leave(f, member);
	}
}

/* A node of one key joins and leaves 400 times: the first events stay, and nodes of other keys are
 * logged as before. */
static void event_limits__one_key(void **state)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);

	f->options.admission = ADMIT_TOKEN;
	f->options.events = FABRIC_EVENTS_MIN;
	fabric_manager_start(f);
	struct identity noisy = admitted(f, 1, ROLE_HOST, "noisy");
	struct identity calm = admitted(f, 2, ROLE_HOST, "calm");
	struct fabric_member *member = keyed_start(f, MANAGE_HOST, &noisy);
	leave(f, member);
	join_and_leave(f, member, 10 * ROUNDS);
	const uint64_t unlogged = COUNTER(f, nodes_unlogged);
	const size_t joined = event_count(f, EVENT_JOINED, NULL);
	const size_t left = event_count(f, EVENT_LEFT, NULL);
	assert_int_equal(unlogged + joined + left, 2 * (10 * ROUNDS + 1));
	assert_in_range(joined + left, 2, 24);
	assert_int_equal(event_count(f, EVENT_STARTED, NULL), 1);
	keyed_start(f, MANAGE_HOST, &calm);
	assert_int_equal(event_count(f, EVENT_JOINED, "host-1"), 1);
	const uint64_t again = COUNTER(f, nodes_unlogged) - unlogged;
	assert_int_equal(again, 0);
	fabric_run(f, 61 * S_NS);
	const struct event_row *summary = event_last(f, EVENT_UNLOGGED);
	assert_non_null(summary);
	assert_string_equal(summary->subject, "noisy");
	uint64_t summed = 0;
	const struct event_journal *l = registry_events(f->registry);
	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1))
		if (e->kind == EVENT_UNLOGGED)
			summed += strtoull(e->text, NULL, 10);
	assert_int_equal(summed, unlogged);
	const size_t summaries = event_count(f, EVENT_UNLOGGED, NULL);
	fabric_run(f, 200 * S_NS); /* nothing more to report */
	assert_int_equal(event_count(f, EVENT_UNLOGGED, NULL), summaries);
	fabric_destroy(f);
}

/* With the fabric key a program chooses a new identity for each join, so all nodes together have a
 * limit. Deaths have limits of their own. */
static void event_limits__many_identities(void **state)
{
	struct fabric *f = fabric_create(2, GRANTS_ANY);
	struct fabric_member *victim;

	f->options.events = FABRIC_EVENTS_MIN;
	fabric_manager_start(f);
	for (unsigned i = 0; i < 3 * ROUNDS; i++)
		join_and_leave(f, fabric_member_add(f, MANAGE_HOST), 1);
	assert_in_range(event_count(f, EVENT_JOINED, NULL), 32, 33);
	assert_in_range(event_count(f, EVENT_LEFT, NULL), 32, 33);
	assert_int_equal(event_count(f, EVENT_STARTED, NULL), 1);
	victim = fabric_member_add(f, MANAGE_XPU);
	fabric_member_start(f, victim);
	fabric_run(f, S_NS);
	fabric_member_kill(victim);
	fabric_run(f, 2 * FABRIC_LEASE_NS);
	assert_int_equal(event_count(f, EVENT_DIED, victim->self.name), 1);
	fabric_destroy(f);
}

/* After an hour the full burst is left again. */
static void event_limits__recover(void **state)
{
	struct fabric *f = fabric_create(3, GRANTS_ANY);
	struct fabric_member *member = fabric_member_add(f, MANAGE_HOST);

	fabric_manager_start(f);
	join_and_leave(f, member, 400);
	const size_t before = event_count(f, EVENT_JOINED, NULL);
	assert_in_range(before, FABRIC_EVENTS / 32, FABRIC_EVENTS / 32 + OTHERS);
	fabric_run(f, 3600 * S_NS);
	join_and_leave(f, member, 100);
	assert_int_equal(event_count(f, EVENT_JOINED, NULL), before + 100);
	fabric_destroy(f);
}

/* A flood of OPENs with unknown tokens: each has its own text, and so few of them are logged that
 * the other events stay. */
static void event_limits__opens(void **state)
{
	const unsigned opens = 4 * FABRIC_EVENTS_MIN;
	struct fabric *f = fabric_create(4, GRANTS_ANY);

	f->options.admission = ADMIT_TOKEN;
	f->options.events = FABRIC_EVENTS_MIN;
	fabric_manager_start(f);
	struct identity unknown = identity_of(f, 9);
	struct token token = {.secret = {1}};
	memcpy(token.manager, unknown.manager, sizeof(token.manager));
	const uint64_t begin_ns = f->now_ns;
	for (unsigned i = 1; i <= opens; i++) {
		memcpy(token.id, &i, sizeof(i));
		assert_int_equal(admit(f, &unknown, &token, "x"), DXP_EACCESS);
	}
	const size_t logged = event_count(f, EVENT_REFUSED, NULL);
	const uint64_t passed_s = (f->now_ns - begin_ns) / S_NS;
	assert_in_range(logged, 32, 65 + passed_s);
	assert_true(logged < FABRIC_EVENTS_MIN);
	assert_int_equal(logged + COUNTER(f, refusals_unlogged), opens);
	assert_int_equal(COUNTER(f, token_unknown), opens);
	assert_int_equal(event_count(f, EVENT_STARTED, NULL), 1);
	for (unsigned i = 0; i < 10; i++) /* the same token: once a minute */
		assert_int_equal(admit(f, &unknown, &token, "x"), DXP_EACCESS);
	assert_true(event_count(f, EVENT_REFUSED, NULL) <= logged + 1);
	fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_limits__one_key),
		cmocka_unit_test(event_limits__many_identities),
		cmocka_unit_test(event_limits__recover),
		cmocka_unit_test(event_limits__opens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
