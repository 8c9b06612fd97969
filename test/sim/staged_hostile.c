/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile peer PUTs into staged memory. Its packets overlap, differ in length, repeat, or have an
 * address that does not fit the message's first address. The owner of staged memory only counts the
 * bytes that fill a buffer, so missing bytes would expose another tenant's data. None of these
 * packets may reach the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rltp/internal.h"
#include "test/sim/staged.h"

#define U     100 /* payload bytes per packet */
#define BYTES 350 /* bytes of the message */
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

/* Opens the scene and starts a message: packet 1 of it arrives first, on a new queue pair. */
static void begin(void)
{
	const struct staged_plan plan = {
		.sim = {.seed = 1},
		.device = {.buffers = 4, .buffer_bytes = 4096, .latency_ns = US_NS},
		.senders = 1,
		.puts = 1,
		.one_flow = true, /* uses only queue pair 0, so that queue pair 1 is new */
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
		{1, U, U, 0}, /* packet 1 a second time */
		/* packet 2, too short: overlaps packet 1 */
		{2, 50, 100, 0},
		{2, 120, 240, 0}, /* packet 2, too long */
		/* the last packet, too long for the message */
		{2, 150, 200, WIRE_FLAG_LAST},
		/* packet 1 with all remaining bytes, overlaps packet 1 */
		{1, 250, 100, WIRE_FLAG_LAST},
		/* packet 0, claims to be the whole message */
		{0, 50, 300, WIRE_FLAG_FIRST | WIRE_FLAG_LAST},
		/* packet 7 of a message of 4 packets */
		{7, 50, 300, WIRE_FLAG_LAST},
		/* packet 2, 8 bytes behind its offset */
		{2, U, 2 * U + 8, 0},
		{2, 0, 2 * U, 0}, /* packet 2, empty */
		/* packet 3, ends behind the end of the message */
		{3, U, 3 * U, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		begin();
		if (give(bad[i].sub, bad[i].bytes, bad[i].at, bad[i].flags) != WIRE_NACK_BOUNDS)
			fail_msg("case %zu is not refused", i);
		/* packets that fit the message are still accepted */
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
