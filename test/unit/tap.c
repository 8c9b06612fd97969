/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the tap: its ring, dropped records, rights, failures of node and tracer. */
#include "test/unit/tap_rig.h"

static void tap_ring__hands_over_what_passes(void **state)
{
	struct rig *r = *state;
	struct datagram d = {.to = address("10.0.0.3:7"),
			     .header_bytes = 64,
			     .slice_count = 1,
			     .cause = DATAGRAM_CAUSE_PROBE,
			     .ecn = 1,
			     .slices = {{r->data, 1000}}};
	char comment[PCAPNG_TEXT_BYTES];
	struct pcapng_packet p;
	bool broken = false;

	attach(r, 100);
	const struct link_tap *link = tap_link(r->tap);
	link->sent(link->context, &d, 0, 5000);
	put_be16(d.header + WIRE_OFF_FLAGS, WIRE_FLAG_RTX);
	link->sent(link->context, &d, LINK_FATE_LOST, 6000);
	link->sent(link->context, &d, LINK_FATE_TWICE | LINK_FATE_LATE, 7000);
	pass(r, 30, 8000);
	static const char *const comments[] = {
		"", "retransmission: tail probe; DXP_FAULT: dropped, never on the wire",
		"retransmission: tail probe; DXP_FAULT: sent twice; DXP_FAULT: delayed", ""};
	uint64_t first_ns = 0;
	for (unsigned i = 0; i < 4; i++) {
		const struct tap_record *record = tap_next(r->reader, &broken);
		assert_non_null(record);
		tap_packet(record, &p, comment);
		first_ns = i == 0 ? p.time_ns : first_ns;
		assert_int_equal(p.time_ns, first_ns + 1000 * i);
		assert_string_equal(comment, comments[i]);
		assert_int_equal(p.outbound, i < 3);
		assert_int_equal(p.ecn, i < 3);
		assert_int_equal(p.bytes, i < 3 ? 1064 : 30);
		assert_int_equal(p.captured_bytes, i < 3 ? 100 : 30);
		assert_memory_equal(p.data + (i < 3 ? 64 : 0), r->data, i < 3 ? 36 : 30);
		assert_int_equal(p.from.port, i < 3 ? 4795 : 9);
		assert_int_equal(p.to.port, i < 3 ? 7 : 4795);
		tap_release(r->reader);
	}
	assert_null(tap_next(r->reader, &broken));
	assert_false(broken);
	tap_detach(r->reader);
	r->reader = NULL;
	look(r);
	assert_null(tap_link(r->tap));
}

/* The ring stays correct when the writer wraps around many times while the reader lags behind. */
static void tap_ring__survives_its_end(void **state)
{
	struct rig *r = *state;
	struct rng rng = {.state = 11};
	uint64_t sent = 0, seen = 0, next_size = 0;
	uint32_t sizes[4096];
	bool broken = false;

	attach(r, DATAGRAM_BYTES_MAX);
	while (seen < 4000) {
		for (uint64_t n = rng_below(&rng, 20); n > 0 && sent < 4000 && sent < seen + 25;
		     n--) {
			sizes[sent] = (uint32_t)rng_below(&rng, sizeof(r->data));
			pass(r, sizes[sent], sent);
			sent++;
		}
		for (uint64_t n = rng_below(&rng, 30); n > 0; n--) {
			const struct tap_record *record = tap_next(r->reader, &broken);
			if (!record)
				break;
			assert_int_equal(record->datagram_bytes, sizes[seen]);
			assert_int_equal(record->captured_bytes, sizes[seen]);
			assert_memory_equal(record + 1, r->data, sizes[seen]);
			next_size += sizes[seen++];
			tap_release(r->reader);
		}
		assert_false(broken);
	}
	assert_int_equal(tap_dropped(r->reader), 0);
	assert_true(next_size > 50ull * TAP_RING_BYTES_MIN);
}

static void tap_ring__counts_what_finds_no_space(void **state)
{
	struct rig *r = *state;
	const uint32_t sent = 1000;
	uint32_t seen = 0;
	bool broken = false;

	attach(r, DATAGRAM_BYTES_MAX);
	for (uint32_t i = 0; i < sent; i++)
		pass(r, 5000, i);
	while (tap_next(r->reader, &broken)) {
		tap_release(r->reader);
		seen++;
	}
	assert_false(broken);
	assert_in_range(seen, 40, TAP_RING_BYTES_MIN / 5000);
	assert_int_equal(tap_dropped(r->reader), sent - seen);
	/* it has the number of dropped records */
	pass(r, 10, 0);
	const struct tap_record *record = tap_next(r->reader, &broken);
	assert_non_null(record);
	assert_int_equal(record->dropped, sent - seen);
}

static void tap_attach__rejects_a_second_tracer(void **state)
{
	struct rig *r = *state;
	struct tap_reader *second;
	uint32_t other;

	attach(r, 100);
	assert_int_equal(tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, 100, &second, &other),
			 DXP_EBUSY);
	assert_int_equal(other, getpid());
	/* the first tracer stays */
	look(r);
	bool broken = false;
	pass(r, 10, 0);
	assert_non_null(tap_next(r->reader, &broken));
}

static void tap_attach__reports_that_the_node_is_gone(void **state)
{
	struct rig *r = *state;
	struct tap_reader *late;
	uint32_t other;

	attach(r, 100);
	stats_close(r->stats);
	r->stats = NULL;
	assert_int_equal(tap_answered(r->reader), TAP_GONE);
	assert_int_equal(tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, 100, &late, &other),
			 DXP_ENOENT);
}

/* The node removes the full ring and continues. */
static void tap_look__notices_a_dead_tracer(void **state)
{
	struct rig *r = *state;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		uint32_t other;
		tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, 100, &r->reader, &other);
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	look(r);
	assert_non_null(tap_link(r->tap));
	assert_true(tap_deadline(r->tap) != UINT64_MAX);
	for (int i = 0; i < 10000; i++)
		pass(r, 100, 0);
	look(r);
	assert_non_null(tap_link(r->tap));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* this process still has the ring mapped */
	pass(r, 100, 0);
	look(r);
	assert_null(tap_link(r->tap));
	assert_true(tap_deadline(r->tap) == UINT64_MAX);
	assert_int_not_equal(faccessat(stats_folder(r->stats), stats_tap_name(r->stats), F_OK, 0),
			     0);
	attach(r, 100);
	close(ready[0]);
	close(ready[1]);
}

static void tap_file__is_written_from_the_first_datagram_on(void **state)
{
	struct rig *r = *state;
	char pattern[64], path[80];
	struct capture c;

	snprintf(pattern, sizeof(pattern), "%s/%%p.pcapng", r->folder);
	snprintf(path, sizeof(path), "%s/%d.pcapng", r->folder, (int)getpid());
	setenv("DXP_TRACE", pattern, 1);
	setenv("DXP_TRACE_SNAP", "50", 1);
	tap_close(r->tap);
	r->tap = tap_new();
	assert_non_null(tap_link(r->tap));
	/* one tap per file */
	struct tap *second = tap_new();
	assert_null(tap_link(second));
	tap_close(second);
	for (uint32_t i = 0; i < 200; i++)
		pass(r, i, i);
	tap_flush(r->tap);
	tap_close(r->tap);
	setenv("DXP_TRACE_SNAP", "0", 1);
	r->tap = tap_new();
	/* out of bounds, so rejected and reported */
	assert_null(tap_link(r->tap));
	unsetenv("DXP_TRACE_SNAP");
	unsetenv("DXP_TRACE");
	if (!capture_load(&c, path))
		fail_msg("%s", c.wrong);
	assert_int_equal(c.packet_count, 200);
	assert_string_equal(c.interfaces[0].name, "it");
	assert_int_equal(c.interfaces[0].seen, 200);
	assert_int_equal(c.interfaces[0].dropped, 0);
	assert_int_equal(c.packets[199].bytes, 199);
	assert_int_equal(c.packets[199].captured_bytes, 50);
	capture_free(&c);
}

static void tap_look__leaves_a_node_with_its_own_file(void **state)
{
	struct rig *r = *state;
	char path[64];
	uint32_t other;

	snprintf(path, sizeof(path), "%s/own.pcapng", r->folder);
	setenv("DXP_TRACE", path, 1);
	tap_close(r->tap);
	r->tap = tap_new();
	unsetenv("DXP_TRACE");
	assert_int_equal(tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, 100, &r->reader, &other),
			 DXP_OK);
	look(r);
	assert_int_equal(tap_answered(r->reader), TAP_REFUSED);
	assert_non_null(tap_link(r->tap));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		TEST(tap_ring__hands_over_what_passes),
		TEST(tap_ring__survives_its_end),
		TEST(tap_ring__counts_what_finds_no_space),
		TEST(tap_attach__rejects_a_second_tracer),
		TEST(tap_attach__reports_that_the_node_is_gone),
		TEST(tap_look__notices_a_dead_tracer),
		TEST(tap_file__is_written_from_the_first_datagram_on),
		TEST(tap_look__leaves_a_node_with_its_own_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
