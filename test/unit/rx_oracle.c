/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the receiver's bitmap against a sorted list of numbers that never wrap, written from
 * docs/reference/wire.md alone. Verdicts, holes and reports must agree; DXP_SEED=n replays trace
 * n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/util.h"
#include "rltp/rx_map.h"

#define TRACES         600
#define STEPS          3000
#define SEED_DEFAULT   20261
#define REPORT_PACKETS (64 * WIRE_SACK_WORDS_MAX)

/* held[] ascends, above `next`. */
struct oracle {
	uint64_t next;    /* all below have arrived */
	uint64_t highest; /* 1 + highest arrived */
	uint64_t held[WIRE_WINDOW_MAX];
	uint32_t count;
};

static void oracle_init(struct oracle *o, uint64_t first)
{
	o->next = o->highest = first;
	o->count = 0;
}

/* Or where to insert it. */
static uint32_t index_of(const struct oracle *o, uint64_t number)
{
	uint32_t low = 0, high = o->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (o->held[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool holds(const struct oracle *o, uint64_t number)
{
	uint32_t i = index_of(o, number);

	return i < o->count && o->held[i] == number;
}

static enum rx_verdict oracle_test(const struct oracle *o, uint64_t number)
{
	if (number < o->next || holds(o, number))
		return RX_DUPLICATE;
	return number >= o->next + WIRE_WINDOW_MAX ? RX_BEYOND : RX_NEW;
}

/* true: a new hole. */
static bool oracle_insert(struct oracle *o, uint64_t number)
{
	uint32_t i = index_of(o, number);
	bool gap = number > o->highest;

	memmove(&o->held[i + 1], &o->held[i], (o->count - i) * sizeof(o->held[0]));
	o->held[i] = number;
	o->count++;
	o->highest = max_u64(o->highest, number + 1);
	for (i = 0; i < o->count && o->held[i] == o->next; i++)
		o->next++;
	o->count -= i;
	memmove(o->held, &o->held[i], o->count * sizeof(o->held[0]));
	return gap;
}

/* State of network and sender, and both receivers. */
struct trace {
	uint64_t seed;
	struct rng rng;
	struct oracle oracle;
	struct rx_map map;
	uint64_t sent; /* the sender's next */
	uint32_t loss_ppm, reach;
};

static void trace_fail(const struct trace *t, const char *what, uint64_t number)
{
	fail_msg("%s at packet %llu (next %llu); again: DXP_SEED=%llu", what,
		 (unsigned long long)number, (unsigned long long)t->oracle.next,
		 (unsigned long long)t->seed);
}

static void arrive(struct trace *t, uint64_t number)
{
	enum rx_verdict expected = oracle_test(&t->oracle, number);

	if (rx_map_test(&t->map, (uint32_t)number) != expected)
		trace_fail(t, "another verdict", number);
	if (expected == RX_NEW) {
		bool gap = oracle_insert(&t->oracle, number);
		if (rx_map_set(&t->map, (uint32_t)number) != gap)
			trace_fail(t, "another opinion about a gap", number);
	}
	if (t->map.cum != (uint32_t)t->oracle.next)
		trace_fail(t, "another next packet", number);
	if (rx_map_has_holes(&t->map) != (t->oracle.count > 0))
		trace_fail(t, "another opinion about holes", number);
}

/* New, oldest missing, late copy, or far beyond the window. */
static uint64_t number_draw(struct trace *t)
{
	const struct oracle *o = &t->oracle;

	switch (rng_below(&t->rng, 16)) {
	case 0: return o->next;
	case 1: return o->next + rng_below(&t->rng, WIRE_WINDOW_MAX + 2);
	case 2: return o->next - 1 - rng_below(&t->rng, 3 * WIRE_WINDOW_MAX);
	case 3: return o->next + WIRE_WINDOW_MAX - 1 + rng_below(&t->rng, 3);
	case 4: return o->next + rng_below(&t->rng, 1u << 31);
	case 5: return o->count ? o->held[rng_below(&t->rng, o->count)] : o->next;
	default:
		while (rng_chance_ppm(&t->rng, t->loss_ppm))
			t->sent++;
		t->sent = max_u64(t->sent, o->next);
		return t->sent++ - rng_below(&t->rng, t->reach + 1);
	}
}

/* Marks in seen[], by distance from the next expected number. true: it covers the whole list. */
static bool report_check(struct trace *t, uint8_t *seen)
{
	uint8_t words[8 * WIRE_SACK_WORDS_MAX];
	const struct oracle *o = &t->oracle;
	uint16_t offset = 0;
	uint32_t count = rx_map_report(&t->map, words, WIRE_SACK_WORDS_MAX, &offset);

	if (count > WIRE_SACK_WORDS_MAX)
		trace_fail(t, "too many words", count);
	for (uint32_t i = 0; i < 64 * count; i++) {
		bool reported = get_be64(words + i / 64 * 8) >> i % 64 & 1;
		if (reported != holds(o, o->next + offset + i))
			trace_fail(t, "a false report", o->next + offset + i);
		if (reported)
			seen[offset + i] = 1;
	}
	uint64_t span = o->count ? o->held[o->count - 1] + 1 - o->next : 0;
	return offset == 0 && 64 * count >= span;
}

static uint32_t seen_count(const uint8_t *seen)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < 2 * WIRE_WINDOW_MAX; i++)
		count += seen[i];
	return count;
}

/* A short list is reported completely. */
static void narrow_report_check(struct trace *t)
{
	uint8_t seen[2 * WIRE_WINDOW_MAX] = {0};
	const struct oracle *o = &t->oracle;
	bool whole = report_check(t, seen);

	if (o->count && o->held[o->count - 1] - o->next >= REPORT_PACKETS)
		return;
	if (!whole || seen_count(seen) != o->count)
		trace_fail(t, "a report that leaves something out", o->next);
}

/* A wide list needs successive reports: twice as many as parts, from any start. */
static void rotation_check(struct trace *t)
{
	uint8_t seen[2 * WIRE_WINDOW_MAX] = {0};

	for (uint32_t i = 0; i < 2 * (WIRE_WINDOW_MAX / REPORT_PACKETS); i++)
		report_check(t, seen);
	if (seen_count(seen) != t->oracle.count)
		trace_fail(t, "reports that never tell of something", t->oracle.next);
}

static void trace_begin(struct trace *t, uint64_t seed)
{
	static const uint64_t starts[] = {
		0, 1, 63, 64, (1ull << 31) - 100, (1ull << 32) - 1, (1ull << 32) - 5000};

	t->seed = seed;
	t->rng.state = seed;
	/* above 0, so that late copies exist; the wire has the low 32 bits */
	uint64_t first = (1ull << 40) + starts[rng_below(&t->rng, ARRAY_COUNT(starts))] +
			 rng_below(&t->rng, 64);
	oracle_init(&t->oracle, first);
	rx_map_init(&t->map, (uint32_t)first);
	t->sent = first;
	t->loss_ppm = (uint32_t)rng_below(&t->rng, 4) * 100000;
	t->reach = (uint32_t)rng_below(&t->rng, 2) * (uint32_t)rng_below(&t->rng, 200);
}

static void traces_run(void (*check)(struct trace *t), uint32_t steps_between)
{
	static struct trace t;
	const char *text = getenv("DXP_SEED");
	uint64_t first = text ? strtoull(text, NULL, 0) : SEED_DEFAULT;

	printf("rx_oracle: seeds %llu .. %llu\n", (unsigned long long)first,
	       (unsigned long long)(text ? first : first + TRACES - 1));
	for (uint64_t seed = first; seed < first + (text ? 1 : TRACES); seed++) {
		trace_begin(&t, seed);
		for (uint32_t step = 1; step <= STEPS; step++) {
			arrive(&t, number_draw(&t));
			if (step % steps_between == 0)
				check(&t);
		}
	}
}

static void rx_oracle__same_verdicts_and_reports(void **state)
{
	traces_run(narrow_report_check, 29);
}

static void rx_oracle__reports_cover_everything_cyclically(void **state)
{
	traces_run(rotation_check, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rx_oracle__same_verdicts_and_reports),
		cmocka_unit_test(rx_oracle__reports_cover_everything_cyclically),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
