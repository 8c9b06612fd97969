/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the store in etcd on a fake etcd: rows come back, one manager is active, a manager without
 * its lease cannot write, and lost answers, garbage and silence lose and repeat nothing. */
#include "test/unit/etcd_rig.h"

/* More rows than a transaction and a page have. */
static void store_save__comes_back_in_several_transactions(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	struct registry *before = registry_make(), *after = registry_make();

	assert_false(store_term(s));
	assert_true(becomes_active(&c, s, S_NS));
	registry_fill(before, 300);
	const unsigned transactions = e->transactions;
	assert_int_equal(store_save(s, before), DXP_OK);
	assert_int_equal(e->transactions - transactions, 4);
	assert_string_equal(fake_value(e, VERSION_KEY), "4");
	assert_int_equal(store_save(s, before), DXP_OK); /* nothing to write */
	assert_string_equal(fake_value(e, VERSION_KEY), "4");
	for (size_t i = 0; i < e->count; i++) { /* neither names nor secrets can be read in etcd */
		assert_null(strstr(e->keys[i].value, "machine"));
		assert_null(strstr(e->keys[i].value, "abcdefabcdef"));
	}
	assert_int_equal(store_load(s, after), DXP_OK);
	char *a = registry_text(before), *b = registry_text(after);
	assert_string_equal(a, b);
	assert_int_equal(store_save(s, after), DXP_OK);
	free(a);
	free(b);
	registry_destroy(before);
	registry_destroy(after);
	store_close(s);
	etcd_free(e);
}

/* A manager that stops gives up its lease, so that the others need not wait for it. */
static void store_close__ends_the_lease(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);

	assert_true(becomes_active(&c, s, S_NS));
	assert_string_equal(fake_value(e, "/dxp/dxp/active"), "10.0.0.1:4795");
	store_close(s);
	assert_null(fake_value(e, "/dxp/dxp/active"));
	etcd_free(e);
}

/* Two managers; the second becomes active when the lease of the first ends, and they share the
 * private key. */
static void store_step__elects_one_manager(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client a = {.etcd = e}, b = {.etcd = e};
	struct store *first = manager_open(&a), *second = manager_open(&b);
	uint8_t keys[2][KEYS_BYTES];

	assert_int_equal(store_private_key(first, keys[0]), DXP_OK);
	assert_int_equal(store_private_key(second, keys[1]), DXP_OK);
	assert_memory_equal(keys[0], keys[1], KEYS_BYTES);
	assert_true(becomes_active(&a, first, S_NS));
	for (int i = 0; i < 1000; i++) { /* 10 s */
		store_step(first);
		store_step(second);
		assert_true(store_term(first));
		assert_false(store_term(second));
		e->now_ns += 10 * MS_NS;
	}
	assert_string_equal(store_other(second), "10.0.0.1:4795");
	assert_string_equal(store_other(first), "");
	const uint64_t killed_ns = e->now_ns; /* the first one makes no step from now on */
	assert_true(becomes_active(&b, second, 2 * LEASE_NS));
	assert_true(e->now_ns - killed_ns <= LEASE_NS + S_NS);
	assert_false(store_term(first)); /* by its own clock */
	store_step(first);
	assert_false(store_term(first));
	store_close(first);
	store_close(second);
	etcd_free(e);
}

/* A manager that was stopped, for longer than its lease, still takes itself for the active one. */
static void store_save__without_the_lease_writes_nothing(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client a = {.etcd = e}, b = {.etcd = e};
	struct store *first = manager_open(&a), *second = manager_open(&b);
	struct registry *r = registry_make();

	assert_true(becomes_active(&a, first, S_NS));
	a.stopped = true;
	a.stopped_ns = e->now_ns;
	assert_true(becomes_active(&b, second, 2 * LEASE_NS));
	assert_true(store_term(first));
	registry_fill(r, 1);
	assert_int_equal(store_save(first, r), DXP_EIO);
	assert_false(store_term(first));
	assert_string_equal(fake_value(e, VERSION_KEY), "0");
	assert_null(fake_value(e, "/dxp/dxp/node/00001"));
	assert_true(store_term(second));
	registry_store_again(r);
	assert_int_equal(store_save(second, r), DXP_OK);
	registry_destroy(r);
	store_close(first);
	store_close(second);
	etcd_free(e);
}

/* A transaction whose answer did not come can be executed after its repetition. */
static void store_save__a_late_transaction_changes_nothing(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client a = {.etcd = e, .fault = fake_once}, b = {.etcd = e};
	struct store *first = manager_open(&a), *second = manager_open(&b);
	struct registry *r = registry_make();

	assert_true(becomes_active(&a, first, S_NS));
	registry_fill(r, 1);
	a.next = FAKE_LATE;
	const unsigned transactions = e->transactions;
	assert_int_equal(store_save(first, r), DXP_OK); /* the second try was executed first */
	assert_string_equal(fake_value(e, VERSION_KEY), "1");
	fake_late_run(e);
	assert_int_equal(e->transactions - transactions, 1);
	assert_string_equal(fake_value(e, VERSION_KEY), "1");
	registry_destroy(r);
	store_close(first);
	store_close(second);
	etcd_free(e);
}

/* Each fault of one transaction: the change is written once. */
static void store_save__survives_each_fault(void **state)
{
	for (enum fake_fault fault = FAKE_LOST; fault < FAKE_FAULTS; fault++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e, .fault = fake_once};
		struct store *s = manager_open(&c);
		struct registry *r = registry_make();
		assert_true(becomes_active(&c, s, S_NS));
		registry_fill(r, 1);
		c.next = fault;
		assert_int_equal(store_save(s, r), DXP_OK);
		assert_string_equal(fake_value(e, VERSION_KEY), "1");
		assert_non_null(fake_value(e, "/dxp/dxp/node/00001"));
		assert_true(store_term(s));
		registry_destroy(r);
		store_close(s);
		etcd_free(e);
	}
}

/* An etcd that executes nothing: the manager gives up in a bounded time, and is not active. */
static void store_save__ends_if_etcd_does_not_answer(void **state)
{
	enum fake_fault (*const faults[])(struct fake_client *, const char *) = {no_transactions,
										 nothing, garbage};

	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e};
		struct store *s = manager_open(&c);
		struct registry *r = registry_make();
		assert_true(becomes_active(&c, s, S_NS));
		registry_fill(r, 1);
		c.fault = faults[i];
		const uint64_t begin_ns = e->now_ns;
		assert_int_equal(store_save(s, r), DXP_EIO);
		assert_false(store_term(s));
		assert_true(e->now_ns - begin_ns < LEASE_NS + 3 * S_NS);
		c.fault = NULL; /* etcd works again: so does the manager */
		assert_true(becomes_active(&c, s, 2 * LEASE_NS));
		registry_store_again(r);
		assert_int_equal(store_save(s, r), DXP_OK);
		registry_destroy(r);
		store_close(s);
		etcd_free(e);
	}
}

static void store_etcd_open__without_a_usable_etcd(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client silent = {.etcd = e, .fault = nothing};
	struct fake_client wrong = {.etcd = e, .fault = garbage};
	struct store *s;

	assert_int_equal(manager_try(&silent, "etcd://a:1", 7, &s), DXP_EIO);
	assert_int_equal(manager_try(&wrong, "etcd://a:1", 7, &s), DXP_EIO);
	etcd_free(e);
}

static void store_etcd_open__of_another_version_or_key(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);

	store_close(s);
	assert_int_equal(manager_try(&c, "etcd://a:1", 8, &s), DXP_EMALFORMED);
	fake_put(e, "/dxp/dxp/format", "2 anything", 0);
	assert_int_equal(manager_try(&c, "etcd://a:1", 7, &s), DXP_EUNSUPPORTED);
	fake_put(e, "/dxp/dxp/format", "rubbish", 0);
	assert_int_equal(manager_try(&c, "etcd://a:1", 7, &s), DXP_EMALFORMED);
	etcd_free(e);
}

/* A fabric whose key "format" was deleted keeps its identity and version. */
static void store_etcd_open__of_a_fabric_without_format(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	char identity[256];

	store_close(s);
	snprintf(identity, sizeof(identity), "%s", fake_find(e, "/dxp/dxp/identity")->value);
	fake_delete(e, fake_find(e, "/dxp/dxp/format"));
	assert_int_equal(manager_try(&c, "etcd://a:1", 7, &s), DXP_EMALFORMED);
	assert_string_equal(fake_find(e, "/dxp/dxp/identity")->value, identity);
	etcd_free(e);
}

static void store_load__rejects_what_it_did_not_write(void **state)
{
	static const char *const keys[] = {"/dxp/dxp/node/00001", "/dxp/dxp/other",
					   "/dxp/dxp/version", "/dxp/dxp/identity"};

	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		struct fake_etcd *e = etcd_make();
		struct fake_client c = {.etcd = e};
		struct store *s = manager_open(&c);
		struct registry *r = registry_make();
		assert_true(becomes_active(&c, s, S_NS));
		registry_fill(r, 2);
		assert_int_equal(store_save(s, r), DXP_OK);
		/* a row of another key, which is sealed for that key */
		char *moved = strdup(fake_value(e, "/dxp/dxp/node/00002"));
		fake_put(e, keys[i], moved, 0);
		free(moved);
		registry_destroy(r);
		r = registry_make();
		if (i < 3)
			assert_int_equal(store_load(s, r), DXP_EMALFORMED);
		store_close(s);
		if (i == 3)
			assert_int_equal(manager_try(&c, "etcd://a:1", 7, &s), DXP_EMALFORMED);
		registry_destroy(r);
		etcd_free(e);
	}
}

static void store_load__without_a_version(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client c = {.etcd = e};
	struct store *s = manager_open(&c);
	struct registry *r = registry_make();

	assert_true(becomes_active(&c, s, S_NS));
	fake_delete(e, fake_find(e, VERSION_KEY));
	assert_int_equal(store_load(s, r), DXP_EMALFORMED);
	registry_destroy(r);
	store_close(s);
	etcd_free(e);
}

/* One name is the beginning of the other. */
static void store_etcd__keeps_two_fabrics_apart(void **state)
{
	struct fake_etcd *e = etcd_make();
	struct fake_client a = {.etcd = e}, b = {.etcd = e};
	struct store *one, *two;
	struct registry *r = registry_make(), *other = registry_make();
	struct store_op op;

	assert_int_equal(manager_try(&a, "etcd://a:1/lab", 7, &one), DXP_OK);
	assert_int_equal(manager_try(&b, "etcd://a:1/lab2", 8, &two), DXP_OK);
	assert_true(becomes_active(&a, one, S_NS));
	assert_true(becomes_active(&b, two, S_NS));
	registry_fill(r, 1);
	assert_int_equal(store_save(one, r), DXP_OK);
	assert_int_equal(store_load(two, other), DXP_OK);
	registry_store_again(other);
	assert_false(registry_next_store(other, &op));
	registry_destroy(r);
	registry_destroy(other);
	store_close(one);
	store_close(two);
	etcd_free(e);
}

static void etcd_place_parse__texts(void **state)
{
	static const char *const bad[] = {"",
					  "etcd://",
					  "etcd://a",
					  "etcd://:1",
					  "etcd://a:",
					  "etcd://a:1,",
					  "etcd://a:1,,b:2",
					  "etcd://a:x",
					  "etcd://a:1/",
					  "etcd://a:1/x/y",
					  "etcd://u@a:1",
					  "http://a:1",
					  "etcd://a:1/a b",
					  "etcd://a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9"};
	struct etcd_place p;

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(etcd_place_parse(bad[i], &p), DXP_EINVAL);
	assert_int_equal(etcd_place_parse("etcd://a:1,[::1]:23/lab-1", &p), DXP_OK);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.endpoints[1], "[::1]:23");
	assert_string_equal(p.fabric, "lab-1");
	assert_false(p.tls);
	assert_int_equal(etcd_place_parse("etcds://a:1", &p), DXP_OK);
	assert_string_equal(p.fabric, "dxp");
	assert_true(p.tls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_save__comes_back_in_several_transactions),
		cmocka_unit_test(store_close__ends_the_lease),
		cmocka_unit_test(store_step__elects_one_manager),
		cmocka_unit_test(store_save__without_the_lease_writes_nothing),
		cmocka_unit_test(store_save__a_late_transaction_changes_nothing),
		cmocka_unit_test(store_save__survives_each_fault),
		cmocka_unit_test(store_save__ends_if_etcd_does_not_answer),
		cmocka_unit_test(store_etcd_open__without_a_usable_etcd),
		cmocka_unit_test(store_etcd_open__of_another_version_or_key),
		cmocka_unit_test(store_etcd_open__of_a_fabric_without_format),
		cmocka_unit_test(store_load__rejects_what_it_did_not_write),
		cmocka_unit_test(store_load__without_a_version),
		cmocka_unit_test(store_etcd__keeps_two_fabrics_apart),
		cmocka_unit_test(etcd_place_parse__texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
