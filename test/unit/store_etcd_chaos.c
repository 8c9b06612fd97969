/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests three managers on a fake etcd with random faults: they are killed, stopped and cut off. */
#include "test/unit/etcd_rig.h"

#define SEEDS    100
#define GRANTS   40
#define MANAGERS 3

struct chaos {
	struct rng rng;
	struct fake_etcd *etcd;
	struct fake_client clients[MANAGERS];
	struct store *stores[MANAGERS];
	struct registry *registries[MANAGERS]; /* NULL: it stands by */
	uint64_t terms[MANAGERS];
	bool confirmed[GRANTS], open[GRANTS]; /* a save succeeded; its outcome is open */
	unsigned next, faults;
	uint64_t version;
	uint64_t logged; /* events up to this number are saved, and have their number as text */
};

static enum fake_fault chaos_fault(struct fake_client *c, const char *path)
{
	struct chaos *all = c->context;

	if (all->faults && rng_next(&all->rng) % 100 < all->faults)
		return (enum fake_fault)(rng_next(&all->rng) % FAKE_FAULTS);
	return FAKE_NONE;
}

/* Checks etcd against the results of the saves: nothing confirmed is lost, nothing is new. */
static void chaos_check(struct chaos *c)
{
	char name[64];
	const char *text = fake_value(c->etcd, VERSION_KEY);
	const uint64_t version = text ? strtoull(text, NULL, 10) : 0;

	assert_true(version >= c->version);
	c->version = version;
	for (unsigned i = 0; i < GRANTS; i++) {
		snprintf(name, sizeof(name), "/dxp/dxp/grant/host-%u/*", i);
		const bool there = fake_value(c->etcd, name) != NULL;
		if (c->confirmed[i])
			assert_true(there);
		else if (!c->open[i])
			assert_false(there);
	}
}

/* Checks a log that was loaded: no saved event is lost or replaced. */
static void events_check(const struct chaos *c, const struct event_journal *l)
{
	uint64_t count = 0;

	for (const struct event_row *e = event_journal_next(l, 0); e;
	     e = event_journal_next(l, e->sequence + 1)) {
		assert_int_equal(strtoull(e->text, NULL, 10), e->sequence);
		count += e->sequence <= c->logged;
	}
	assert_int_equal(count, c->logged);
}

/* Ends what a manager had in memory, as the server does when its term ends. */
static void chaos_follow(struct chaos *c, unsigned i)
{
	const uint64_t term = store_term(c->stores[i]);

	if (c->registries[i] && term == c->terms[i])
		return;
	registry_destroy(c->registries[i]);
	c->registries[i] = term ? registry_make() : NULL;
	c->terms[i] = term;
	if (term && store_load(c->stores[i], c->registries[i]) != DXP_OK) {
		registry_destroy(c->registries[i]);
		c->registries[i] = NULL;
		store_resign(c->stores[i]);
	} else if (term) {
		events_check(c, registry_events(c->registries[i]));
	}
}

static void chaos_log(struct chaos *c, unsigned i)
{
	struct event_journal *l = c->registries[i] ? registry_events(c->registries[i]) : NULL;

	if (!l || c->terms[i] != store_term(c->stores[i]))
		return;
	event_journal_add(l, 1, EVENT_JOINED, "a", "%llu", (unsigned long long)l->next);
	store_log_save(c->stores[i], c->registries[i], rng_next(&c->rng) % 4 == 0);
	c->logged = max_u64(c->logged, l->unsaved - 1);
}

static void chaos_write(struct chaos *c, unsigned i)
{
	const unsigned number = c->next;

	if (!c->registries[i] || c->terms[i] != store_term(c->stores[i]) || number == GRANTS)
		return;
	c->next++;
	if (grant_load(c->registries[i], number) != DXP_OK)
		return;
	registry_store_again(c->registries[i]);
	if (store_save(c->stores[i], c->registries[i]) == DXP_OK)
		c->confirmed[number] = true;
	else
		c->open[number] = true;
}

static void chaos_step(struct chaos *c)
{
	const unsigned i = (unsigned)(rng_next(&c->rng) % MANAGERS);
	struct fake_client *client = &c->clients[i];

	if (rng_next(&c->rng) % 40 == 0) { /* kill -9, and a new start */
		fake_late_run(c->etcd);
		registry_destroy(c->registries[i]);
		c->registries[i] = NULL;
		client->stopped = false;
		client->fault = nothing; /* it revokes no lease */
		store_close(c->stores[i]);
		client->fault = NULL;
		c->stores[i] = manager_open(client);
		client->fault = chaos_fault;
	} else if (!client->stopped && rng_next(&c->rng) % 50 == 0) {
		client->stopped = true;
		client->stopped_ns = c->etcd->now_ns;
	} else if (rng_next(&c->rng) % 20 == 0) {
		client->stopped = false;
	}
	store_step(c->stores[i]);
	chaos_follow(c, i);
	if (rng_next(&c->rng) % 4 == 0)
		chaos_write(c, i);
	if (rng_next(&c->rng) % 16 == 0)
		chaos_log(c, i);
	c->etcd->now_ns += rng_next(&c->rng) % (200 * MS_NS);
	chaos_check(c);
}

static void chaos_run(uint64_t seed)
{
	struct chaos c = {.rng = {seed}, .etcd = etcd_make(), .faults = 10 + seed % 40};
	unsigned active = 0;

	for (unsigned i = 0; i < MANAGERS; i++) {
		c.clients[i] = (struct fake_client){.etcd = c.etcd, .context = &c};
		c.stores[i] = manager_open(&c.clients[i]);
		c.clients[i].fault = chaos_fault;
	}
	for (int i = 0; i < 1500 && c.next < GRANTS; i++)
		chaos_step(&c);
	c.faults = 0;
	for (unsigned i = 0; i < MANAGERS; i++)
		c.clients[i].stopped = false;
	for (int i = 0; i < 2000; i++) { /* 20 s without faults */
		for (unsigned k = 0; k < MANAGERS; k++) {
			store_step(c.stores[k]);
			chaos_follow(&c, k);
		}
		c.etcd->now_ns += 10 * MS_NS;
	}
	for (unsigned i = 0; i < MANAGERS; i++)
		active += store_term(c.stores[i]) != 0;
	assert_int_equal(active, 1);
	chaos_check(&c);
	for (unsigned i = 0; i < MANAGERS; i++) {
		registry_destroy(c.registries[i]);
		store_close(c.stores[i]);
	}
	etcd_free(c.etcd);
}

/* Three managers that are killed, stopped and cut off, with faults in a tenth to half of all
 * requests. DXP_SEED repeats one seed. */
static void store_etcd__loses_and_invents_nothing(void **state)
{
	const char *seed = getenv("DXP_SEED");

	if (seed) {
		chaos_run(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 1; i <= SEEDS; i++) {
		print_message("seed %llu\n", (unsigned long long)i);
		chaos_run(i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_etcd__loses_and_invents_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
