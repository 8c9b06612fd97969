/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event graph: order, cascades of failures, bounds. */
#include "test/unit/graph_rig.h"

static void graph_next__posting_order(void **state)
{
	struct graph_command c[4];

	assert_int_equal(ADD(&c[0], GRAPH_NETWORK, OWN(1), FAR(1)), DXP_OK);
	assert_int_equal(ADD0(&c[1], GRAPH_NETWORK, OWN(2)), DXP_OK);
	assert_int_equal(ADD(&c[2], GRAPH_NETWORK, 0, FAR(1)), DXP_OK);
	assert_int_equal(ADD0(&c[3], GRAPH_ENGINE, 0), DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_NETWORK), &c[1]);
	assert_null(graph_next(g, GRAPH_NETWORK));
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[3]);
	assert_int_equal(graph_event(g, FAR(1), DXP_OK), DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_NETWORK), &c[0]);
	assert_ptr_equal(graph_next(g, GRAPH_NETWORK), &c[2]);
	assert_int_equal(graph_count(g), 4);
	for (int i = 0; i < 4; i++)
		graph_done(g, &c[i], DXP_OK);
	assert_int_equal(graph_count(g), 0);
}

/* An engine command need not wait for engine commands before it; graph_unfinished() lists those
 * that have not completed. */
static void graph_next__chain_of_kernels(void **state)
{
	struct graph_command c[4];
	uint64_t events[COMMAND_WAITS_MAX];

	ADD0(&c[0], GRAPH_ENGINE, OWN(1));
	ADD(&c[1], GRAPH_ENGINE, OWN(2), OWN(1));
	ADD(&c[2], GRAPH_NETWORK, OWN(3), OWN(2));
	ADD(&c[3], GRAPH_ENGINE, OWN(4), OWN(2), FAR(1));
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[0]);
	assert_int_equal(graph_unfinished(g, &c[0], events), 0);
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[1]);
	assert_int_equal(graph_unfinished(g, &c[1], events), 1);
	assert_true(events[0] == OWN(1));
	assert_false(graph_ready(g, GRAPH_NETWORK));
	assert_false(graph_ready(g, GRAPH_ENGINE));
	graph_event(g, FAR(1), DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[3]);
	graph_done(g, &c[0], DXP_OK);
	assert_false(graph_ready(g, GRAPH_NETWORK));
	graph_done(g, &c[1], DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_NETWORK), &c[2]);
	graph_done(g, &c[3], DXP_OK);
	graph_done(g, &c[2], DXP_OK);
}

static void graph_failed__cascade(void **state)
{
	struct graph_command c[4], late;

	ADD0(&c[0], GRAPH_ENGINE, OWN(1));
	ADD(&c[1], GRAPH_NETWORK, OWN(2), OWN(1), FAR(9));
	ADD(&c[2], GRAPH_ENGINE, OWN(3), OWN(2));
	ADD(&c[3], GRAPH_ENGINE, 0, OWN(3), OWN(1));
	graph_done(g, graph_next(g, GRAPH_ENGINE), DXP_EDEVICE);
	uint32_t cancelled = 0;
	for (struct graph_command *f; (f = graph_failed(g)); cancelled++)
		assert_int_equal(f->status, DXP_ECANCELED);
	assert_int_equal(cancelled, 3);
	/* even if added later */
	assert_int_equal(ADD(&late, GRAPH_ENGINE, OWN(4), OWN(3)), DXP_OK);
	assert_ptr_equal(graph_failed(g), &late);
	assert_int_equal(graph_count(g), 0);
	/* even if no command waits any more */
	assert_int_equal(graph_event(g, FAR(9), DXP_OK), DXP_OK);
}

/* An engine command is ready once its engine predecessor is issued, and is cancelled if that fails
 * first. */
static void graph_failed__ready_behind_issued(void **state)
{
	struct graph_command c[2];

	ADD0(&c[0], GRAPH_ENGINE, OWN(1));
	ADD(&c[1], GRAPH_ENGINE, OWN(2), OWN(1));
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[0]);
	assert_true(graph_ready(g, GRAPH_ENGINE));
	graph_done(g, &c[0], DXP_EDEVICE);
	assert_false(graph_ready(g, GRAPH_ENGINE));
	assert_ptr_equal(graph_failed(g), &c[1]);
}

static void graph_lost__names_the_loss(void **state)
{
	struct graph_command c[3];

	ADD(&c[0], GRAPH_NETWORK, OWN(1), FAR(1));
	ADD(&c[1], GRAPH_NETWORK, OWN(2), OWN(1));
	ADD(&c[2], GRAPH_NETWORK, OWN(3), EVENT_NAME(HOST, PEER + 1, 1));
	graph_lost(g, PEER);
	assert_ptr_equal(graph_failed(g), &c[0]);
	assert_int_equal(c[0].status, DXP_EPEERLOST);
	assert_ptr_equal(graph_failed(g), &c[1]);
	assert_int_equal(c[1].status, DXP_ECANCELED);
	assert_null(graph_failed(g));
	graph_lost(g, PEER + 7);
	graph_cancel(g, DXP_ECLOSED);
	assert_ptr_equal(graph_failed(g), &c[2]);
}

static void graph_cancel__all_but_issued(void **state)
{
	struct graph_command c[3];

	ADD0(&c[0], GRAPH_ENGINE, OWN(1));
	ADD0(&c[1], GRAPH_ENGINE, OWN(2));
	ADD(&c[2], GRAPH_ENGINE, OWN(3), FAR(1));
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &c[0]);
	graph_cancel(g, DXP_EPEERLOST);
	for (int i = 0; i < 2; i++)
		assert_int_equal(graph_failed(g)->status, DXP_EPEERLOST);
	assert_null(graph_failed(g));
	assert_int_equal(graph_count(g), 1);
	graph_done(g, &c[0], DXP_OK);
}

static void graph_add__rejections(void **state)
{
	struct graph_command c;

	assert_int_equal(ADD0(&c, GRAPH_ENGINE, EVENT_NAME(HOST + 1, XPU, 1)), DXP_EINVAL);
	assert_int_equal(ADD0(&c, GRAPH_ENGINE, EVENT_NAME(HOST, PEER, 1)), DXP_EINVAL);
	assert_int_equal(ADD(&c, GRAPH_ENGINE, OWN(5), OWN(5)), DXP_EINVAL);
	assert_int_equal(ADD(&c, GRAPH_ENGINE, OWN(6), OWN(9)), DXP_EINVAL);
	assert_int_equal(ADD(&c, GRAPH_ENGINE, OWN(7), EVENT_NAME(HOST + 1, PEER, 9)), DXP_EINVAL);
	assert_int_equal(ADD(&c, GRAPH_ENGINE, OWN(8), OWN(2)), DXP_ENOENT);
	assert_int_equal(ADD0(&c, GRAPH_ENGINE, OWN(8)), DXP_EINVAL);
	assert_int_equal(graph_count(g), 0);
	assert_int_equal(ADD(&c, GRAPH_ENGINE, OWN(10), OWN(7)), DXP_OK);
	assert_ptr_equal(graph_failed(g), &c);
	assert_int_equal(c.status, DXP_ECANCELED);
	assert_int_equal(graph_event(g, EVENT_NAME(HOST + 1, PEER, 1), 0), DXP_EINVAL);
	assert_int_equal(graph_event(g, OWN(10), 0), DXP_EINVAL);
}

static void graph_add__bounded_by_bytes(void **state)
{
	const uint32_t bytes = COMMAND_KEPT_BYTES(100), most = WIRE_COMMANDS_BYTES / bytes;
	struct graph_command *c = calloc(most + 1, sizeof(*c)), *f;
	const uint64_t wait = FAR(1);
	struct graph_posting p = {
		.queue = GRAPH_ENGINE, .waits = &wait, .wait_count = 1, .bytes = bytes};

	assert_true(most > 65536);
	for (uint32_t i = 0; i < most; i++) {
		p.event = OWN(i + 1);
		assert_int_equal(graph_add(g, &c[i], &p), DXP_OK);
	}
	assert_int_equal(graph_bytes(g), (uint64_t)most * bytes);
	p.event = OWN(most + 1);
	assert_int_equal(graph_add(g, &c[most], &p), DXP_EAGAIN);
	/* The ring of events has no entries left for the first commands, but the graph finds
	 * them. */
	assert_int_equal(graph_event(g, wait, DXP_OK), DXP_OK);
	for (uint32_t i = 0; i < most; i++) {
		f = graph_next(g, GRAPH_ENGINE);
		assert_ptr_equal(f, &c[i]);
		graph_done(g, f, DXP_OK);
	}
	assert_int_equal(graph_bytes(g), 0);
	p.event = OWN(most + 2);
	p.wait_count = 0;
	assert_int_equal(graph_add(g, &c[0], &p), DXP_OK);
	graph_done(g, graph_next(g, GRAPH_ENGINE), DXP_OK);
	free(c);
}

/* There are more commands than the ring of events has entries. A new command may still wait for the
 * oldest one. */
static void graph_add__waits_for_a_predecessor(void **state)
{
	const uint32_t most = 3 * XPU_EVENTS_KEPT;
	struct graph_command *c = calloc(most, sizeof(*c)), late, *f;
	const uint64_t gate[] = {FAR(1)};
	uint32_t ended = 0;

	for (uint32_t i = 0; i < most; i++)
		assert_int_equal(add(&c[i], GRAPH_NETWORK, OWN(i + 1), 1, gate), DXP_OK);
	assert_int_equal(ADD(&late, GRAPH_NETWORK, OWN(most + 1), OWN(1), OWN(most / 2)), DXP_OK);
	graph_lost(g, PEER);
	while ((f = graph_failed(g))) {
		assert_int_equal(f->status, f == &late ? DXP_ECANCELED : DXP_EPEERLOST);
		ended++;
	}
	assert_int_equal(ended, most + 1);
	free(c);
}

static void graph_add__bounds(void **state)
{
	struct graph_command c[1], late;

	/* Completed events are forgotten to make space; waits for them are rejected. */
	for (uint32_t i = 0; i < 3 * XPU_EVENTS_KEPT; i++) {
		assert_int_equal(ADD0(&c[0], GRAPH_ENGINE, OWN(100000 + i)), DXP_OK);
		graph_done(g, graph_next(g, GRAPH_ENGINE), DXP_OK);
		assert_int_equal(graph_event(g, FAR(i + 2), DXP_OK), DXP_OK);
	}
	assert_int_equal(ADD(&late, GRAPH_ENGINE, 0, OWN(100001)), DXP_ENOENT);
	assert_int_equal(ADD(&late, GRAPH_ENGINE, 0, FAR(3)), DXP_ENOENT);
	assert_int_equal(ADD(&late, GRAPH_ENGINE, 0, FAR(3 * XPU_EVENTS_KEPT),
			     OWN(100000 + 3 * XPU_EVENTS_KEPT - 1)),
			 DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &late);
	graph_done(g, &late, DXP_OK);
	/* from at most XPU_SOURCES_MAX xPUs */
	for (uint32_t i = 0; i < XPU_SOURCES_MAX - 1; i++)
		assert_int_equal(graph_event(g, EVENT_NAME(HOST, 100 + i, 1), DXP_OK), DXP_OK);
	assert_int_equal(graph_event(g, EVENT_NAME(HOST, 99, 1), DXP_OK), DXP_EAGAIN);
}

/* An awaited event is not forgotten. Events of the host may come in any order. */
static void graph_add__old_events_of_others(void **state)
{
	struct graph_command old, newer[2], of_host;

	assert_int_equal(ADD(&old, GRAPH_ENGINE, OWN(1), FAR(1)), DXP_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ADD(&newer[i], GRAPH_ENGINE, OWN(2 + i),
				     FAR(1 + (i + 1) * WIRE_PEER_EVENTS_KEPT)),
				 DXP_OK);
	for (uint32_t i = 2; i < 3 * WIRE_PEER_EVENTS_KEPT; i++) {
		assert_int_equal(graph_event(g, FAR(i), DXP_OK), DXP_OK);
		assert_int_equal(graph_event(g, EVENT_NAME(HOST, HOST, i), DXP_OK), DXP_OK);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &newer[i]);
		graph_done(g, &newer[i], DXP_OK);
	}
	assert_int_equal(ADD(&of_host, GRAPH_ENGINE, OWN(4), EVENT_NAME(HOST, HOST, 1)), DXP_OK);
	assert_null(graph_next(g, GRAPH_ENGINE));
	assert_int_equal(graph_event(g, EVENT_NAME(HOST, HOST, 1), DXP_OK), DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &of_host);
	graph_done(g, &of_host, DXP_OK);
	assert_int_equal(graph_event(g, FAR(1), DXP_OK), DXP_OK);
	assert_ptr_equal(graph_next(g, GRAPH_ENGINE), &old);
	graph_done(g, &old, DXP_OK);
}

static void graph_add__counts_wrap(void **state)
{
	struct graph_command c[2];

	assert_int_equal(ADD0(&c[0], GRAPH_ENGINE, OWN(0xffffffff)), DXP_OK);
	assert_int_equal(ADD(&c[1], GRAPH_ENGINE, OWN(0x100000000), OWN(0xffffffff)), DXP_OK);
	graph_done(g, graph_next(g, GRAPH_ENGINE), DXP_OK);
	graph_done(g, graph_next(g, GRAPH_ENGINE), DXP_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(graph_next__posting_order, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_next__chain_of_kernels, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_failed__cascade, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_failed__ready_behind_issued, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_lost__names_the_loss, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_cancel__all_but_issued, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_add__rejections, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_add__bounded_by_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_add__waits_for_a_predecessor, setup,
						teardown),
		cmocka_unit_test_setup_teardown(graph_add__bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_add__old_events_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_add__counts_wrap, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
