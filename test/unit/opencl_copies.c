/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which copy of a buffer is current, against a model that makes the returned transfers. Each
 * byte must have its last value or be reported lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plugins/opencl/memory/copies.h"

#define BYTES     48
#define DEVICES   4
#define TRANSFERS 8
#define STEPS     4000
#define ROUNDS    60

struct transfer {
	int status; /* for the callback `ended` */
	int holds;
};

struct model {
	struct copies copies;
	struct rng rng;
	uint32_t now; /* last write, from 1 on */
	/* per byte: its last write; 0: none */
	uint32_t truth[BYTES];
	bool lost[BYTES]; /* bytes that no copy has */
	/* per copy and byte: its write; copy 0 is the host */
	uint32_t held[1 + DEVICES][BYTES];
	bool there[1 + DEVICES];
	uint32_t generation;
	struct transfer transfers[TRANSFERS];
	struct {
		struct transfer *transfer;
		int to;
		uint64_t start, end;
		uint32_t before[BYTES];
	} pending[TRANSFERS];
};

/* Element i is the device handle of copy i. */
static char handles[1 + DEVICES];

static struct _cl_device_id *handle(int index)
{
	return index ? (void *)&handles[index] : NULL;
}

static int index_of(const struct copy *c)
{
	return c->device ? (int)((const char *)c->device - handles) : 0;
}

static int ended(const struct use *u)
{
	return u->transfer ? u->transfer->status : 1;
}

static void drop(struct transfer *t)
{
	assert_true(t->holds > 0);
	t->holds--;
}

static uint64_t pick(struct model *m, uint64_t n)
{
	return rng_below(&m->rng, n);
}

static void range(struct model *m, uint64_t *start, uint64_t *end)
{
	*start = pick(m, BYTES);
	*end = *start + 1 + pick(m, BYTES - *start);
}

static struct copy *copy_at(struct model *m, int index)
{
	struct copy *c = copies_of(&m->copies, handle(index));

	if (c)
		return c;
	m->there[index] = true;
	memset(m->held[index], 0xff, sizeof m->held[index]);
	return copies_add(&m->copies, handle(index), ++m->generation, 0);
}

static void check(struct model *m)
{
	for (const struct copy *c = &m->copies.host; c; c = c->next) {
		for (uint64_t i = 0; i < BYTES; i++) {
			if (!ranges_has(&c->latest, i, i + 1))
				continue;
			assert_false(ranges_has(&m->copies.lost, i, i + 1));
			bool pending = false;
			for (uint32_t u = 0; u < c->use_count; u++)
				pending |= c->uses[u].into && c->uses[u].start <= i &&
					   i < c->uses[u].end;
			if (!pending && !m->lost[i] && m->truth[i])
				assert_int_equal(m->held[index_of(c)][i], m->truth[i]);
		}
		/* sorted, disjoint, not empty */
		for (uint32_t r = 0; r < c->latest.count; r++) {
			assert_true(c->latest.at[r].start < c->latest.at[r].end);
			if (r)
				assert_true(c->latest.at[r - 1].end < c->latest.at[r].start);
		}
	}
	for (uint64_t i = 0; i < BYTES; i++)
		assert_int_equal(m->lost[i], ranges_has(&m->copies.lost, i, i + 1));
}

static void write_some(struct model *m)
{
	uint64_t start, end;
	int to = (int)pick(m, 1 + DEVICES);
	struct copy *c = copy_at(m, to);

	range(m, &start, &end);
	m->now++;
	assert_true(copies_reserve(&m->copies, 2));
	copies_wrote(&m->copies, c, start, end);
	for (uint64_t i = start; i < end; i++) {
		m->truth[i] = m->held[to][i] = m->now;
		m->lost[i] = false;
	}
}

static int free_transfer(const struct model *m)
{
	for (int i = 0; i < TRANSFERS; i++) {
		if (!m->transfers[i].holds && !m->pending[i].transfer)
			return i;
	}
	return -1;
}

/* Moves the bytes at once; a later failure restores the old ones. */
static void transfer(struct model *m, const struct piece *p, struct copy *to, int entry)
{
	struct transfer *t = &m->transfers[entry];
	struct use u = {.start = p->start, .end = p->end, .event = 1, .transfer = t};
	int index = index_of(to), from = index_of(p->from);

	*t = (struct transfer){.holds = 2};
	assert_true(copies_use(p->from, &u));
	u.into = u.makes = true;
	assert_true(copies_use(to, &u));
	assert_true(ranges_reserve(&to->latest, 1));
	copies_shared(to, p->start, p->end);
	m->pending[entry].transfer = t;
	m->pending[entry].to = index;
	m->pending[entry].start = p->start;
	m->pending[entry].end = p->end;
	memcpy(m->pending[entry].before, m->held[index], sizeof m->held[index]);
	for (uint64_t i = p->start; i < p->end; i++)
		m->held[index][i] = m->held[from][i];
}

/* A random range without its lost bytes. */
static void bring(struct model *m)
{
	uint64_t start, end;
	struct piece p;
	int entry;
	struct copy *to = copy_at(m, (int)pick(m, 1 + DEVICES));

	range(m, &start, &end);
	while ((entry = free_transfer(m)) >= 0) {
		enum copies_found found = copies_next(&m->copies, to, NULL, start, end, &p);
		if (found == COPIES_NONE) {
			for (uint64_t i = start; i < end; i++)
				assert_true(!m->truth[i] || m->lost[i] ||
					    ranges_has(&to->latest, i, i + 1));
			return;
		}
		assert_true(p.start >= start && p.start < p.end && p.end <= end);
		for (uint64_t i = p.start; i < p.end; i++) {
			assert_false(ranges_has(&to->latest, i, i + 1));
			assert_int_equal(m->lost[i], found == COPIES_LOST);
		}
		if (found == COPIES_PIECE) {
			assert_ptr_not_equal(p.from, to);
			assert_true(ranges_has(&p.from->latest, p.start, p.end));
			transfer(m, &p, to, entry);
		}
		start = p.end;
	}
}

static void lose_byte(struct model *m, uint64_t i)
{
	bool held = false;

	for (const struct copy *c = &m->copies.host; c; c = c->next)
		held |= ranges_has(&c->latest, i, i + 1);
	m->lost[i] |= !held && m->truth[i];
}

/* A failure restores old bytes, except where a later write has replaced them. */
static void end_one(struct model *m)
{
	int entry = (int)pick(m, TRANSFERS);
	struct transfer *t = m->pending[entry].transfer;

	if (!t)
		return;
	t->status = pick(m, 4) ? 1 : -1;
	int to = m->pending[entry].to;
	struct copy *c = copies_of(&m->copies, handle(to));
	bool makes[BYTES] = {false};
	for (uint32_t u = 0; c && u < c->use_count; u++) {
		for (uint64_t i = c->uses[u].start; i < c->uses[u].end; i++)
			makes[i] |= c->uses[u].transfer == t && c->uses[u].makes;
	}
	copies_settle(&m->copies, ended, drop);
	assert_int_equal(t->holds, 0);
	for (uint64_t i = 0; i < BYTES && t->status < 0; i++) {
		if (!makes[i])
			continue;
		assert_false(ranges_has(&c->latest, i, i + 1));
		m->held[to][i] = m->pending[entry].before[i];
		lose_byte(m, i);
	}
	m->pending[entry].transfer = NULL;
}

static void device_goes(struct model *m)
{
	int index = 1 + (int)pick(m, DEVICES);
	struct copy *c = copies_of(&m->copies, handle(index));

	if (!c)
		return;
	copies_forget(&m->copies, c, drop);
	m->there[index] = false;
	for (uint64_t i = 0; i < BYTES; i++)
		lose_byte(m, i);
}

static void undefine(struct model *m)
{
	uint64_t start, end;

	range(m, &start, &end);
	assert_true(copies_reserve(&m->copies, 2));
	copies_undefine(&m->copies, start, end);
	for (uint64_t i = start; i < end; i++) {
		m->truth[i] = 0;
		m->lost[i] = false;
	}
}

static void opencl_copies__random(void **state)
{
	static struct model m;

	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		m = (struct model){0};
		m.rng.state = seed;
		for (int i = 0; i < STEPS; i++) {
			uint64_t what = pick(&m, 100);
			if (what < 30)
				write_some(&m);
			else if (what < 65)
				bring(&m);
			else if (what < 95)
				end_one(&m);
			else if (what < 98)
				undefine(&m);
			else
				device_goes(&m);
			check(&m);
		}
		for (int i = 0; i < TRANSFERS; i++)
			m.transfers[i].status = 1;
		copies_free(&m.copies, drop);
	}
}

/* ---- cases ---- */

static void opencl_copies__never_written(void **state)
{
	struct copies c = {0};
	struct copy *a = copies_add(&c, handle(1), 1, 0);
	struct piece p;

	assert_int_equal(copies_next(&c, a, NULL, 0, 100, &p), COPIES_NONE);
	assert_int_equal(copies_next(&c, NULL, NULL, 0, 100, &p), COPIES_NONE);
	copies_free(&c, drop);
}

/* Preferred are `near`, then the device with the longest range, then the host. */
static void opencl_copies__source(void **state)
{
	struct copies c = {0};
	struct copy *a = copies_add(&c, handle(1), 1, 0), *b = copies_add(&c, handle(2), 2, 0);
	struct piece p;

	assert_true(copies_reserve(&c, 4));
	copies_wrote(&c, &c.host, 0, 100);
	copies_shared(a, 0, 50);
	copies_shared(b, 0, 60);
	assert_int_equal(copies_next(&c, NULL, NULL, 10, 100, &p), COPIES_PIECE);
	assert_ptr_equal(p.from, b);
	assert_int_equal(p.start, 10);
	assert_int_equal(p.end, 60);
	assert_int_equal(copies_next(&c, NULL, a, 10, 100, &p), COPIES_PIECE);
	assert_ptr_equal(p.from, a);
	assert_int_equal(p.end, 50);
	assert_int_equal(copies_next(&c, b, NULL, 10, 100, &p), COPIES_PIECE);
	assert_ptr_equal(p.from, &c.host);
	assert_int_equal(p.start, 60);
	assert_int_equal(p.end, 100);
	copies_free(&c, drop);
}

/* A device is lost. The bytes that only this device had are lost until they are written again. */
static void opencl_copies__lost(void **state)
{
	struct copies c = {0};
	struct copy *a = copies_add(&c, handle(1), 1, 0), *b = copies_add(&c, handle(2), 2, 0);
	struct piece p;

	assert_true(copies_reserve(&c, 4));
	copies_wrote(&c, a, 0, 100);
	copies_shared(b, 40, 60);
	copies_forget(&c, a, drop);
	assert_null(copies_of(&c, handle(1)));
	assert_int_equal(copies_next(&c, &c.host, NULL, 0, 100, &p), COPIES_LOST);
	assert_int_equal(copies_next(&c, &c.host, NULL, 40, 60, &p), COPIES_PIECE);
	copies_wrote(&c, b, 0, 40);
	assert_int_equal(copies_next(&c, &c.host, NULL, 0, 60, &p), COPIES_PIECE);
	assert_int_equal(copies_next(&c, b, NULL, 0, 100, &p), COPIES_LOST);
	assert_int_equal(p.start, 60);
	copies_free(&c, drop);
}

/* A transfer waits for earlier uses, and replaces one if it covers it with the same effect; a
 * remaining part is kept. */
static void opencl_copies__follow(void **state)
{
	struct copies c = {0};
	struct copy *a = copies_add(&c, handle(1), 1, 0);
	struct transfer read = {.holds = 1}, in = {.holds = 1}, made = {.holds = 1};
	const struct use by = {.start = 10, .end = 50, .event = 9, .into = true},
			 reader = {.start = 0, .end = 100, .event = 9};
	const struct use uses[] = {
		{.start = 20, .end = 40, .event = 1, .transfer = &read},
		{.start = 0, .end = 20, .event = 2, .transfer = &in, .into = true},
		{.start = 30,
		 .end = 60,
		 .event = 3,
		 .transfer = &made,
		 .into = true,
		 .makes = true},
		{.start = 10, .end = 50, .event = 4, .queue = &c},
	};
	const uint64_t all[] = {3, 4, 2, 1};

	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		assert_true(copies_use(a, &uses[i]));
	copies_follow(a, &by, all, 2, drop);
	assert_int_equal(a->use_count, 4);
	copies_follow(a, &reader, all, 3, drop);
	assert_int_equal(a->use_count, 4);
	copies_follow(a, &by, all, 4, drop);
	assert_int_equal(read.holds, 0);
	assert_int_equal(a->use_count, 3);
	assert_int_equal(a->uses[0].end, 10);
	/* two parts of the use remain */
	assert_true(copies_reserve(&c, 1));
	copies_wrote(&c, a, 40, 50);
	assert_int_equal(a->use_count, 5);
	copies_follow(a, &(struct use){.end = 100, .event = 9, .into = true}, all, 4, drop);
	assert_int_equal(in.holds, 0);
	assert_int_equal(made.holds, 1);
	assert_int_equal(a->use_count, 3);
	copies_free(&c, drop);
	assert_int_equal(made.holds, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opencl_copies__never_written),
		cmocka_unit_test(opencl_copies__source),
		cmocka_unit_test(opencl_copies__lost),
		cmocka_unit_test(opencl_copies__follow),
		cmocka_unit_test(opencl_copies__random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
