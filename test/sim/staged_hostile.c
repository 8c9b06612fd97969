/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that sends PUTs into staged memory which no honest one would: packets that overlap, of
 * unequal length, twice the same, elsewhere than the first. The memory's owner fills a buffer by
 * counting bytes, and another's data would stand where none came: nothing of this may reach it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/staged.h"

#define U     100 /* payload of a packet */
#define BYTES 350 /* of the message */
#define BASE  4096

static struct staged_scene scene;
static const uint8_t payload[BYTES];

/* As the wire's receiver would hand it up: packet `sub`, of so many bytes, at `at` of the message
 * to BASE. Returns the refusal's code. */
static uint8_t give(uint32_t sub, uint16_t bytes, uint64_t at, uint16_t flags)
{
	struct nic *n = sim_nic(scene.sim, STAGED_HOST);
	struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n), 1);
	const struct rx_stream *stream = rx_stream_get(peer_of(s), 1);
	struct wire_header h = {
		.type = WIRE_PUT,
		.flags = flags,
		.src_node = 1,
		.dst_qp = 1,
		.qp_magic = nic_qp_magic(n, 0, 1),
		.msg_id = stream->next,
		.sub = sub,
		.psn = s->io->rx.cum + sub,
		.addr = BASE + at,
		.key = scene.key,
		.msg_bytes = BYTES,
		.payload_bytes = bytes,
	};

	uint8_t code = packet_deliver(n, s, &h, payload).code;
	assert_null(scene.device.broken);
	assert_null(invariants_broken(n));
	return code;
}

/* A message begun by its packet 1 on a queue pair that is as new each time. */
static void begin(void)
{
	const struct staged_plan plan = {
		.sim = {.seed = 1},
		.device = {.buffers = 4, .buffer_bytes = 4096, .latency_ns = US_NS},
		.senders = 1,
		.puts = 1,
		.one_flow = true, /* from and to queue pair 0 */
	};

	staged_open(&scene, &plan);
	assert_true(staged_run(&scene, S_NS));
	assert_int_equal(give(1, U, U, 0), 0);
}

static void staged_hostile__packets_that_do_not_fit(void **state)
{
	const struct {
		uint32_t sub;
		uint16_t bytes;
		uint64_t at;
		uint16_t flags;
	} bad[] = {
		{1, U, U, 0},                                   /* twice */
		{2, 50, 100, 0},                                /* shorter: over packet 1 */
		{2, 120, 240, 0},                               /* longer */
		{2, 150, 200, WIRE_FLAG_LAST},                  /* the last one, too long */
		{1, 250, 100, WIRE_FLAG_LAST},                  /* over packet 1 */
		{0, 50, 300, WIRE_FLAG_FIRST | WIRE_FLAG_LAST}, /* all of it, and is not */
		{7, 50, 300, WIRE_FLAG_LAST},                   /* with some left out */
		{2, U, 2 * U + 8, 0},                           /* to another place */
		{2, 0, 2 * U, 0},                               /* nothing */
		{3, U, 3 * U, 0},                               /* beyond the message */
	};

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		begin();
		if (give(bad[i].sub, bad[i].bytes, bad[i].at, bad[i].flags) != WIRE_NACK_BOUNDS)
			fail_msg("case %zu is not refused", i);
		/* What fits is still taken. */
		assert_int_equal(give(0, U, 0, WIRE_FLAG_FIRST), 0);
		assert_int_equal(give(3, 50, 300, WIRE_FLAG_LAST), 0);
		assert_int_equal(give(3, 50, 300, WIRE_FLAG_LAST), WIRE_NACK_BOUNDS);
		assert_int_equal(give(2, U, 2 * U, 0), WIRE_NACK_HELD);
		staged_close(&scene);
		assert_string_equal(scene.wrong, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_hostile__packets_that_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
