/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile peer's packets overlap, repeat or do not fit their message. Staged memory only counts
 * bytes of a buffer, so a gap would expose another tenant's; none may reach it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rltp/internal.h"
#include "test/sim/staged.h"

#define U     100 /* payload per packet */
#define BYTES 350 /* of the message */
#define BASE  4096

static struct staged_scene scene;
static const uint8_t payload[BYTES];

/* Passes one packet to the NIC, as RLTP's receiver does. It is packet number `sub` of a message to
 * address BASE, with `bytes` for the offset `at` of the message. Returns the NACK code, or 0. */
static uint8_t give(uint32_t sub, uint16_t bytes, uint64_t at, uint16_t flags)
{
	struct nic *n = sim_nic(scene.sim, STAGED_HOST);
	struct rltp_session *s = rltp_endpoint_session(nic_endpoint(n), 1);
	const struct rx_stream *stream = stream_rx_get(nic_peer_of(s), 1);
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

	uint8_t code = receive_packet_deliver(n, s, &h, payload).code;
	assert_null(scene.device.broken);
	assert_null(invariants_broken(n));
	return code;
}

/* Packet 1 comes first, on a new queue pair. */
static void begin(void)
{
	const struct staged_plan plan = {
		.sim = {.seed = 1},
		.device = {.buffers = 4, .buffer_bytes = 4096, .latency_ns = US_NS},
		.senders = 1,
		.puts = 1,
		.one_flow = true, /* so that queue pair 1 is new */
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
		{1, U, U, 0}, /* packet 1 again */
		/* too short: overlaps packet 1 */
		{2, 50, 100, 0},
		{2, 120, 240, 0}, /* too long */
		/* last, too long for the message */
		{2, 150, 200, WIRE_FLAG_LAST},
		/* all remaining bytes: overlaps packet 1 */
		{1, 250, 100, WIRE_FLAG_LAST},
		/* claims to be the whole message */
		{0, 50, 300, WIRE_FLAG_FIRST | WIRE_FLAG_LAST},
		/* there are 4 packets */
		{7, 50, 300, WIRE_FLAG_LAST},
		/* 8 bytes behind its offset */
		{2, U, 2 * U + 8, 0},
		{2, 0, 2 * U, 0}, /* empty */
		/* behind the end of the message */
		{3, U, 3 * U, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		begin();
		if (give(bad[i].sub, bad[i].bytes, bad[i].at, bad[i].flags) != WIRE_NACK_BOUNDS)
			fail_msg("case %zu is not refused", i);
		/* these fit */
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
