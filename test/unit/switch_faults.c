/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a switch's n-th failed allocation, n = 1, 2, ..., is reported or counted and leaks
 * nothing, and that the next try succeeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/sim/memory.h"
#include "test/support/switch_net.h"

#define SWITCH_IP 0x0a000001u

static struct switch_net net;
static struct swnet_group group;

/* The `n`-th allocation fails. */
static void receive(uint64_t *n)
{
	for (size_t i = 0; i < net.wire.count; i++) {
		struct swnet_packet *p = net.wire.packets[i];

		countdown = *n;
		switch_receive(net.switches[0], p->data, p->bytes, &p->path, net.now_ns);
		*n = countdown;
		countdown = 0;
		free(p);
	}
	net.wire.count = 0;
}

static void inquire(void)
{
	static const uint8_t payload[INC_INQUIRY_BYTES] = {INC_SECTION_SWITCH};
	struct swnet_send what = {.path = {1, SWITCH_IP, 1234, ROCE_PORT},
				  .header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY,
				  .payload = payload,
				  .bytes = sizeof(payload)};

	swnet_send(&net, &what);
}

/* Runs a switch with a group, an answer, and more messages than its initial capacity. The `n`-th
 * allocation fails. Returns true if there were fewer allocations. */
static bool lifetime(uint64_t n)
{
	struct sw_options options = {.ip = SWITCH_IP};
	struct sw_counters c;
	struct swnet_packet *p;
	unsigned causes = 0;

	swnet_open(&net);
	countdown = n;
	if (switch_create(&options, net.now_ns, &net.switches[0]) != DXP_OK) {
		countdown = 0;
		return false;
	}
	n = countdown;
	countdown = 0;
	net.ips[net.count++] = SWITCH_IP;
	swnet_group_plan(&group, 100, NULL, 0, SWITCH_IP);
	swnet_notify_all(&net, &group, INC_NOTIFY);
	inquire();
	receive(&n);
	inquire();
	receive(&n);
	inquire(); /* succeeds, and sends all waiting messages */
	swnet_run(&net);
	switch_counters(net.switches[0], &c);
	while ((p = swnet_dequeue(&net, group.members[0].ip, group.members[0].port,
				  INC_NOTIFIED))) {
		struct inc_control control;

		assert_int_equal(
			inc_control_decode(p->decoded.payload, p->decoded.payload_bytes, &control),
			DXP_OK);
		assert_int_equal(control.fail_cause, INC_CAUSE_MEMORY);
		free(p);
		causes++;
	}
	assert_true(causes <= 1);
	swnet_forget(&net);
	assert_true(swnet_group_make(&net, &group));
	assert_string_equal(net.wrong, "");
	swnet_close(&net);
	return causes == 0 && c.limited == 0 && n > 0;
}

static void faults__each_allocation(void **state)
{
	uint64_t n = 1;

	while (!lifetime(n))
		assert_true(n++ < 100);
	assert_in_range(n, 10, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults__each_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
