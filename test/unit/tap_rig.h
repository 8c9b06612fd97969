/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of the tap: a node's tap, and a tracer. */
#ifndef TEST_UNIT_TAP_RIG_H
#define TEST_UNIT_TAP_RIG_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/util.h"
#include "node/tap_read.h"
#include "test/support/capture.h"
#include "wire/frame.h"

struct rig {
	char folder[32];
	struct stats *stats;
	struct tap *tap;
	struct stats_list list;
	struct tap_reader *reader;
	uint8_t data[9000];
};

UNUSED static struct udp_address address(const char *text)
{
	struct udp_address a;

	assert_int_equal(address_parse(text, 1, &a), DXP_OK);
	return a;
}

UNUSED static struct tap *tap_new(void)
{
	const struct tap_options options = {
		.own = address("10.0.0.1:4795"), .name = "it", .number = 1};
	struct tap *t;

	assert_int_equal(tap_open(&options, &t), DXP_OK);
	return t;
}

UNUSED static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	const struct stats_options options = {.name = "it"};
	struct rng rng = {.state = 3};

	strcpy(r->folder, "tap-test-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	setenv("DXP_STATS", r->folder, 1);
	assert_int_equal(stats_open(&options, &r->stats), DXP_OK);
	assert_int_equal(stats_read(&r->list, NULL, NULL), DXP_OK);
	assert_int_equal(r->list.count, 1);
	r->tap = tap_new();
	rng_entropy_rng(&rng, r->data, sizeof(r->data));
	*state = r;
	return 0;
}

UNUSED static int rig_close(void **state)
{
	struct rig *r = *state;
	char command[64];

	tap_detach(r->reader);
	tap_close(r->tap);
	stats_close(r->stats);
	stats_list_free(&r->list);
	snprintf(command, sizeof(command), "rm -rf '%s'", r->folder);
	int status = system(command);
	unsetenv("DXP_STATS");
	free(r);
	return status;
}

/* Handles a notification of a tracer as the node does. */
UNUSED static void look(struct rig *r)
{
	struct stats_file *f = stats_map(r->stats);

	tap_look(r->tap, stats_folder(r->stats), stats_tap_name(r->stats));
	f->tap_seen = f->tap_wanted;
}

UNUSED static void attach(struct rig *r, uint32_t snap_bytes)
{
	uint32_t other;

	assert_int_equal(
		tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, snap_bytes, &r->reader, &other),
		DXP_OK);
	assert_int_equal(tap_answered(r->reader), TAP_REQUESTED);
	assert_null(tap_link(r->tap));
	look(r);
	assert_int_equal(tap_answered(r->reader), TAP_BUSY);
	assert_non_null(tap_link(r->tap));
}

UNUSED static void pass(struct rig *r, uint32_t bytes, uint64_t at_ns)
{
	const struct datagram_arrival a = {.from = address("10.0.0.2:9"),
					   .data = r->data,
					   .bytes = bytes,
					   .arrived_ns = at_ns};
	const struct link_tap *link = tap_link(r->tap);

	link->received(link->context, &a);
}

#endif
