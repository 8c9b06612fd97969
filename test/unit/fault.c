/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the fault injector: the parser of its text, and its effect on datagrams before they form
 * batches. */
#include "test/unit/link_pair.h"

#include "base/clock.h"

#define COUNT 20000

static struct fault *fault_of(const char *text)
{
	struct fault_options options;
	struct fault *f = NULL;

	assert_int_equal(fault_parse(text, &options), DXP_OK);
	assert_int_equal(fault_open(&options, &f), DXP_OK);
	return f;
}

static void fault_parse__accepts_what_is_documented(void **state)
{
	struct fault_options o;

	assert_int_equal(fault_parse("loss=1%,dup=0.1%,corrupt=0.01%,reorder=100%,seed=7", &o),
			 DXP_OK);
	assert_int_equal(o.loss_ppm, 10000);
	assert_int_equal(o.dup_ppm, 1000);
	assert_int_equal(o.corrupt_ppm, 100);
	assert_int_equal(o.reorder_ppm, 1000000);
	assert_int_equal(o.seed, 7);
	assert_int_equal(fault_parse("loss=0.0001%", &o), DXP_OK);
	assert_int_equal(o.loss_ppm, 1);
	assert_int_equal(o.reorder_ppm, 0);
	assert_int_equal(fault_parse("seed=18446744073709551615", &o), DXP_OK);
	assert_true(o.seed == UINT64_MAX);
}

static void fault_parse__rejects_all_else(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"loss",
		"loss=",
		"loss=1",
		"loss=%",
		"loss=x%",
		"loss=-1%",
		"loss=101%",
		"loss=100.0001%",
		"loss=1%%",
		"loss=1%,",
		",loss=1%",
		"loss=0.00001%",
		"loss=1e1%",
		"loss =1%",
		"delay=1%",
		"seed=",
		"seed=x",
		"seed=-1",
		"seed=1%",
		"LOSS=1%",
		"loss=1%;dup=1%",
		"loss=99999999999999999999%",
		"seed=18446744073709551616",
		"loss=0000000000000000000000000000000000000000000000000000000000000000001%",
	};
	struct fault_options o = {.seed = 99};
	struct stderr_capture capture;
	char text[512];

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		stderr_capture_begin(&capture);
		int status = fault_parse(bad[i], &o);
		stderr_capture_end(&capture, text, sizeof(text));
		if (status != DXP_EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_non_null(strstr(text, "DXP_FAULT"));
		/* how to correct the text */
		assert_non_null(strstr(text, "write "));
	}
	assert_int_equal(o.seed, 99);
}

/* counts: unchanged copies of each; *changed: altered ones; *late: those after a higher number. */
static void run(struct fault *f, uint8_t *counts, size_t *changed, size_t *late)
{
	struct udp_address to = address_of("127.0.0.1:9");
	const struct datagram *out[FAULT_OUT_MAX];
	uint32_t highest = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t words[2] = {i, ~i}, got[2];
		struct datagram d = datagram_of(&to, 0, 4, &words[1], 4);
		memcpy(d.header, &words[0], 4);
		size_t n = fault_pass(f, &d, i, out);
		for (size_t k = 0; k < n; k++) {
			memcpy(&got[0], out[k]->header, 4);
			memcpy(&got[1], out[k]->slices[0].base, 4);
			assert_int_equal(batch_datagram_bytes(out[k]), 8);
			if (got[0] != ~got[1]) {
				assert_int_equal(__builtin_popcount(got[0] ^ ~got[1]), 1);
				++*changed;
				continue;
			}
			counts[got[0]]++;
			*late += got[0] < highest;
			highest = got[0] > highest ? got[0] : highest;
		}
		fault_settle(f, NULL, 0);
	}
}

static void fault_pass__does_each_fault_at_its_rate(void **state)
{
	static uint8_t counts[COUNT];
	size_t changed = 0, late = 0, seen[3] = {0};
	struct fault *f = fault_of("loss=10%,dup=5%,corrupt=2%,reorder=4%,seed=3");

	memset(counts, 0, sizeof(counts));
	run(f, counts, &changed, &late);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(counts[i] <= 2);
		seen[counts[i]]++;
	}
	/* 0.9 * 0.02 are altered, 5 % of these twice; bounds are five standard deviations wide. */
	assert_in_range(changed, 280, 480);
	assert_in_range(seen[0], 2130, 2600); /* missing: 0.1 + 0.9 * 0.02 */
	assert_in_range(seen[2], 730, 1040);  /* duplicated: 0.9 * 0.98 * 0.05 */
	assert_in_range(late, 560, 870);      /* delayed: 0.9 * 0.98 * 0.04 */
	assert_in_range(fault_count(f), 3600, 4300);
	fault_close(f);
}

static void fault_pass__is_decided_by_the_seed(void **state)
{
	static uint8_t counts[3][COUNT];
	size_t changed[3] = {0}, late[3] = {0};
	static const char *const texts[] = {"loss=5%,reorder=1%,seed=1",
					    "loss=5%,reorder=1%,seed=1",
					    "loss=5%,reorder=1%,seed=2"};

	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < 3; i++) {
		struct fault *f = fault_of(texts[i]);
		run(f, counts[i], &changed[i], &late[i]);
		fault_close(f);
	}
	assert_memory_equal(counts[0], counts[1], COUNT);
	assert_memory_not_equal(counts[0], counts[2], COUNT);
}

static void fault_pass__lets_a_held_one_go(void **state)
{
	struct udp_address to = address_of("127.0.0.1:9");
	struct fault *f = fault_of("reorder=100%");
	struct datagram d = datagram_of(&to, 1, 8, NULL, 0);
	const struct datagram *out[FAULT_OUT_MAX];

	assert_int_equal(fault_deadline(f), UINT64_MAX);
	assert_int_equal(fault_pass(f, &d, 1000, out), 0);
	assert_int_equal(fault_deadline(f), 1000 + LINK_FAULT_HOLD_NS);
	assert_int_equal(fault_release(f, 999 + LINK_FAULT_HOLD_NS, out), 0);
	assert_int_equal(fault_release(f, 1000 + LINK_FAULT_HOLD_NS, out), 1);
	assert_ptr_not_equal(out[0], &d);
	assert_memory_equal(out[0]->header, d.header, 8);
	/* The kernel had no space, so the injector returns it again, first. */
	fault_settle(f, out, 1);
	assert_true(fault_backlog(f));
	assert_int_equal(fault_release(f, 0, out), 1);
	fault_settle(f, NULL, 0);
	assert_false(fault_backlog(f));
	fault_close(f);
}

static void fault_settle__keeps_the_order_of_a_backlog(void **state)
{
	struct udp_address to = address_of("127.0.0.1:9");
	struct fault *f = fault_of("loss=0%");
	struct datagram d[LINK_FAULT_HELD + 10];
	const struct datagram *out[FAULT_OUT_MAX], *unsent[LINK_FAULT_HELD + 10];

	for (size_t i = 0; i < ARRAY_COUNT(d); i++) {
		d[i] = datagram_of(&to, (uint8_t)i, 1, NULL, 0);
		unsent[i] = &d[i];
	}
	fault_settle(f, unsent, ARRAY_COUNT(d));
	/* beyond LINK_FAULT_HELD, datagrams are dropped */
	assert_int_equal(fault_count(f), 10);
	assert_int_equal(fault_release(f, 0, out), LINK_FAULT_HELD);
	for (size_t i = 0; i < LINK_FAULT_HELD; i++)
		assert_int_equal(out[i]->header[0], (uint8_t)i);
	fault_close(f);
}

static void link_send__loses_single_datagrams_of_a_batch(void **state)
{
	static uint8_t payload[1000];
	struct datagram d[64];
	struct datagram_arrival arrivals[64];
	size_t received = 0, gaps = 0, longest_gap = 0;
	uint32_t expected = 0;

	setenv("DXP_FAULT", "loss=10%,seed=5", 1);
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	unsetenv("DXP_FAULT");
	for (uint32_t i = 0; i < 2048; i += 64) {
		for (uint32_t k = 0; k < 64; k++) {
			uint32_t number = i + k;
			d[k] = datagram_of(&p.to_b, 0, 4, payload, sizeof(payload));
			memcpy(d[k].header, &number, 4);
		}
		send_all(p.a, d, 64);
		for (size_t got; (got = link_receive(p.b, arrivals, 64)) > 0; received += got)
			for (size_t k = 0; k < got; k++) {
				uint32_t number;
				memcpy(&number, arrivals[k].data, 4);
				assert_true(number >= expected);
				gaps += number > expected;
				if (number - expected > longest_gap)
					longest_gap = number - expected;
				expected = number + 1;
			}
	}
	struct link_counters c = counters_of(p.a);
	/* expected: 205; the bounds are five standard deviations away */
	assert_in_range(c.faults, 137, 273);
	assert_int_equal(c.sent_datagrams, 2048 - c.faults);
	assert_int_equal(received, c.sent_datagrams);
	assert_true(gaps > c.faults / 2 && longest_gap < 8);
	if (p.a->limits.segments > 1)
		assert_true(c.send_calls < 200); /* batches remain */
	pair_close(&p);
}

static void link_wait__lets_held_datagrams_out(void **state)
{
	struct datagram_arrival arrival;

	setenv("DXP_FAULT", "reorder=100%", 1);
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	unsetenv("DXP_FAULT");
	struct datagram d = datagram_of(&p.to_b, 9, 5, NULL, 0);
	send_all(p.a, &d, 1);
	assert_int_equal(counters_of(p.a).sent_datagrams, 0);
	/* no datagram arrives, so each wait lasts until its deadline */
	uint64_t give_up = clock_now_ns() + PATIENCE_NS;
	while (counters_of(p.a).sent_datagrams == 0 && clock_now_ns() < give_up)
		link_wait(p.a, clock_now_ns() + 2 * LINK_FAULT_HOLD_NS);
	assert_int_equal(receive_some(p.b, &arrival, 1), 1);
	assert_int_equal(arrival.bytes, 5);
	pair_close(&p);
}

static void link_open__rejects_a_bad_fault_text(void **state)
{
	struct link_options options = {.bind = address_of("127.0.0.1")};
	struct link *l = NULL;

	log_level_set(LOG_LEVEL_ERROR);
	setenv("DXP_FAULT", "loss=1", 1);
	assert_int_equal(link_open(&options, &l), DXP_EINVAL);
	assert_null(l);
	unsetenv("DXP_FAULT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_parse__accepts_what_is_documented),
		cmocka_unit_test(fault_parse__rejects_all_else),
		cmocka_unit_test(fault_pass__does_each_fault_at_its_rate),
		cmocka_unit_test(fault_pass__is_decided_by_the_seed),
		cmocka_unit_test(fault_pass__lets_a_held_one_go),
		cmocka_unit_test(fault_settle__keeps_the_order_of_a_backlog),
		cmocka_unit_test(link_send__loses_single_datagrams_of_a_batch),
		cmocka_unit_test(link_wait__lets_held_datagrams_out),
		cmocka_unit_test(link_open__rejects_a_bad_fault_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
