/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which packets have a checksum over their payload. DXP_SEED=n changes the network's
 * faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "test/sim/rig.h"

#define MACHINE 0x1234567800000001

/* Restarts both nodes, as processes on these machines whose packets to their own machine need no
 * checksum over the payload. */
static struct rig *rig_on(uint64_t first, uint64_t second)
{
	struct rig *r = rig_make(2, 1408);

	for (uint32_t i = 0; i < 2; i++) {
		r->nodes[i].machine = i == 0 ? first : second;
		r->nodes[i].wireless = RLTP_PATH_INTACT;
		assert_int_equal(rig_restart(r, i, true), DXP_OK);
	}
	return r;
}

struct seen {
	uint32_t covered, bare; /* frames with payload by the flag CRCP */
};

/* Sends a message and returns what its packets were. All control frames have the flag. */
static struct seen message_send(struct rig *r)
{
	struct seen seen = {0};

	r->keep = true;
	r->kept_count = 0;
	messages_work(r, 0, 1);
	r->keep = false;
	for (uint32_t i = 0; i < r->kept_count; i++) {
		bool flag = get_be16(r->kept[i] + WIRE_OFF_FLAGS) & WIRE_FLAG_CRCP;
		if (r->kept[i][WIRE_OFF_TYPE] != WIRE_PUT)
			assert_true(flag);
		else if (flag)
			seen.covered++;
		else
			seen.bare++;
	}
	assert_true(seen.covered + seen.bare >= 4);
	return seen;
}

static void expect(struct rig *r, bool covered)
{
	struct seen seen = message_send(r);
	struct rltp_view view;

	assert_int_equal(covered ? seen.bare : seen.covered, 0);
	rltp_session_view(rig_session(r, 0, 1), &view);
	assert_true(view.payload_crc == covered);
}

static void payload_check__none_on_one_machine(void **state)
{
	struct rig *r = rig_on(MACHINE, MACHINE);

	expect(r, false);
	rig_destroy(r);
}

static void payload_check__between_machines(void **state)
{
	/* two nodes on unknown machines (0) count as on different ones */
	const uint64_t pairs[][2] = {
		{MACHINE, MACHINE + 1}, {MACHINE, MACHINE ^ 1ull << 63}, {MACHINE, 0}, {0, 0}};

	for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
		struct rig *r = rig_on(pairs[i][0], pairs[i][1]);
		expect(r, true);
		rig_destroy(r);
	}
}

/* The policy decides anew if an address changes. */
static void payload_check__after_a_move(void **state)
{
	struct rig *r = rig_on(MACHINE, MACHINE);

	expect(r, false);
	r->nodes[0].wireless = 0;
	rig_introduce(r, 0, 1); /* at the same address */
	expect(r, false);
	rig_move(r, 1, 5);
	rig_introduce(r, 0, 1);
	expect(r, true);
	r->nodes[0].wireless = RLTP_PATH_INTACT;
	rltp_endpoint_moved(r->nodes[0].endpoint, net_now(r->net));
	expect(r, false);
	rig_destroy(r);
}

static void payload_check__a_tag_replaces_it(void **state)
{
	rig_protect = WIRE_PROTECT_INTEGRITY;
	struct rig *r = rig_on(MACHINE, MACHINE + 1);
	struct rltp_view view;

	rig_protect = WIRE_PROTECT_NONE;
	messages_work(r, 0, 1);
	rltp_session_view(rig_session(r, 0, 1), &view);
	assert_int_equal(view.protect, WIRE_PROTECT_INTEGRITY);
	assert_false(view.payload_crc);
	rig_destroy(r);
}

/* Each bit of the header stays covered. */
static void payload_check__header_stays_covered(void **state)
{
	struct rig *r = rig_on(MACHINE, MACHINE);
	const struct rltp_endpoint_counters *c = rltp_endpoint_counters(r->nodes[1].endpoint);
	uint8_t frame[2048];
	uint32_t put = 0;

	message_send(r);
	while (r->kept[put][WIRE_OFF_TYPE] != WIRE_PUT)
		put++;
	struct datagram_arrival a = {.data = frame, .bytes = r->kept_bytes[put]};
	net_address(0, &a.from);
	uint64_t delivered = r->nodes[1].delivered_bytes, caught = c->corrupt + c->malformed;
	for (uint32_t bit = 0; bit < 8 * WIRE_DATA_BYTES; bit++) {
		memcpy(frame, r->kept[put], a.bytes);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		rltp_endpoint_receive(r->nodes[1].endpoint, &a, net_now(r->net));
		assert_true(c->corrupt + c->malformed == ++caught);
	}
	assert_true(r->nodes[1].delivered_bytes == delivered);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_check__none_on_one_machine),
		cmocka_unit_test(payload_check__between_machines),
		cmocka_unit_test(payload_check__after_a_move),
		cmocka_unit_test(payload_check__a_tag_replaces_it),
		cmocka_unit_test(payload_check__header_stays_covered),
	};

	return cmocka_run_group_tests_name("payload check", tests, NULL, NULL);
}
