/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the outbox with the test as the NIC: order per node, no loss in a full window, and
 * completions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "nic/limits.h"
#include "xpu/limits.h"
#include "xpu/outbox.h"

#define HOST 2
#define PEER 4

static struct dxp_window *window;
static struct outbox *outbox;
/* as the NIC: read doorbells, written completions */
static uint32_t dequeued, completed;
static uint64_t contexts[4096];
static int ended, ended_badly;

static int setup(void **state)
{
	window = aligned_alloc(4096, sizeof(*window));
	memset(window, 0, sizeof(*window));
	dequeued = completed = 0;
	ended = ended_badly = 0;
	return outbox_create(window, &outbox);
}

static int teardown(void **state)
{
	outbox_destroy(outbox);
	free(window);
	return 0;
}

static void done(void *context, int status)
{
	ended++;
	ended_badly += status != DXP_OK;
}

/* NULL: there is none. */
static const struct dxp_descriptor *read_one(void)
{
	uint32_t at = dequeued % NIC_DOORBELLS;

	const struct dxp_descriptor *d = &window->slots[at].head;
	if (dxp_load_acquire(&d->lap) != dxp_lap(dequeued, NIC_DOORBELLS))
		return NULL;
	contexts[dequeued++] = d->context;
	dxp_store_release(&window->consumer, dequeued);
	return d;
}

static void complete(int status)
{
	struct dxp_nic_event *slot = &window->sent[completed % NIC_EVENTS];

	slot->context = contexts[completed];
	slot->status = (int8_t)status;
	dxp_store_release(&slot->lap, dxp_lap(completed, NIC_EVENTS));
	completed++;
}

static struct dxp_target to(uint16_t node)
{
	return (struct dxp_target){.node = node, .magic = 7};
}

static void nap(uint16_t node, uint32_t number)
{
	const struct dxp_target target = to(node);
	enum outbox_kind kind = node == PEER ? OUTBOX_PEER : OUTBOX_HOST;

	assert_int_equal(outbox_nap(outbox, kind, &target, &number, sizeof(number), done, NULL),
			 DXP_OK);
}

static uint32_t number_of(const struct dxp_descriptor *d)
{
	uint32_t number;

	/* inline in the descriptor */
	memcpy(&number, d->data, sizeof(number));
	return number;
}

static void outbox_service__order_and_bound(void **state)
{
	for (uint32_t i = 0; i < 100; i++)
		nap(HOST, i);
	assert_int_equal(outbox_count(outbox, HOST), 100);
	for (uint32_t i = 0; i < 100;) {
		outbox_service(outbox);
		const struct dxp_descriptor *d;
		uint32_t flight = 0;
		for (; (d = read_one()); flight++, i++) {
			assert_int_equal(number_of(d), i);
			assert_int_equal(d->dst_node, HOST);
		}
		assert_true(flight > 0 && flight <= XPU_OUTBOX_FLIGHT);
		while (completed < dequeued)
			complete(DXP_OK);
	}
	outbox_service(outbox);
	assert_int_equal(ended, 100);
	assert_int_equal(ended_badly, 0);
	assert_int_equal(outbox_count(outbox, HOST), 0);
}

/* A completed message frees its memory, whatever its status. */
static void outbox_bytes__what_waits_and_is_outstanding(void **state)
{
	static const uint8_t data[1536];
	const struct dxp_target target = to(HOST);

	nap(HOST, 0);
	const uint64_t one = outbox_bytes(outbox, HOST);
	assert_true(one > sizeof(uint32_t) && one < 512);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(
			outbox_nap(outbox, OUTBOX_HOST, &target, data, sizeof(data), done, NULL),
			DXP_OK);
	const uint64_t all = one + 40 * (one - sizeof(uint32_t) + sizeof(data));
	assert_int_equal(outbox_bytes(outbox, HOST), all);
	assert_int_equal(outbox_bytes(outbox, PEER), 0);
	outbox_service(outbox);
	assert_int_equal(outbox_bytes(outbox, HOST), all);
	assert_non_null(read_one());
	complete(DXP_OK);
	outbox_service(outbox);
	assert_int_equal(outbox_bytes(outbox, HOST), all - one);
	outbox_drop(outbox, HOST, DXP_EPEERLOST);
	assert_true(outbox_bytes(outbox, HOST) <=
		    XPU_OUTBOX_FLIGHT * (one - sizeof(uint32_t) + sizeof(data)));
	while (read_one())
		complete(DXP_OK);
	outbox_service(outbox);
	assert_int_equal(outbox_bytes(outbox, HOST), 0);
}

/* Only messages to a silent node wait. A transfer and its event share a queue pair, and hosts use
 * none of these. */
static void outbox_service__silent_node(void **state)
{
	const struct dxp_target target = to(PEER);
	const struct outbox_piece piece = {{.bytes = 8, .key = 1}, {.bytes = 8, .key = 2}};
	const struct dxp_descriptor *d;
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < 50; i++)
		nap(HOST, i);
	outbox_service(outbox);
	while (read_one())
		hosts++;
	assert_int_equal(hosts, XPU_OUTBOX_FLIGHT);
	assert_int_equal(outbox_put(outbox, OUTBOX_PEER, &target, &piece, done, NULL), DXP_OK);
	nap(PEER, 1);
	outbox_service(outbox);
	d = read_one();
	assert_non_null(d);
	assert_int_equal(d->op, DXP_OP_PUT);
	uint8_t qp = d->qp;
	d = read_one();
	assert_non_null(d);
	assert_int_equal(d->op, DXP_OP_NAP);
	assert_int_equal(d->qp, qp);
	assert_int_equal(qp % 2, 1);
	assert_null(read_one());
}

/* Each has its own limit, so a reply never waits for data. */
static void outbox_service__bridge_beside_replies(void **state)
{
	const struct dxp_target target = to(HOST);
	const struct outbox_piece piece = {{.bytes = 8, .key = 1}, {.bytes = 8, .key = 2}};
	const struct dxp_descriptor *d;
	uint32_t gets = 0, puts = 0, naps = 0;

	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(outbox_get(outbox, &target, &piece, done, NULL), DXP_OK);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(outbox_put(outbox, OUTBOX_PUSH, &target, &piece, done, NULL),
				 DXP_OK);
	nap(HOST, 1);
	assert_int_equal(outbox_count(outbox, HOST), 59);
	outbox_service(outbox);
	while ((d = read_one())) {
		gets += d->op == DXP_OP_GET && d->qp == 1;
		puts += d->op == DXP_OP_PUT && d->qp == 3;
		naps += d->op == DXP_OP_NAP && d->qp == 0;
	}
	assert_int_equal(gets, XPU_OUTBOX_BULK);
	assert_int_equal(puts, 8);
	assert_int_equal(naps, 1);
	outbox_drop(outbox, HOST, DXP_EPEERLOST);
	assert_int_equal(ended, 50 - XPU_OUTBOX_BULK);
}

/* There are more nodes than doorbells; the rest is sent later. */
static void outbox_service__full_window(void **state)
{
	uint32_t seen = 0;

	for (uint16_t node = 100; node < 180; node++)
		nap(node, node);
	for (int poll = 0; poll < 10; poll++) {
		outbox_service(outbox);
		while (read_one())
			seen++;
		while (completed < dequeued)
			complete(DXP_OK);
	}
	assert_int_equal(seen, 80);
	assert_int_equal(ended, 80);
}

static void outbox_drop__what_waits(void **state)
{
	for (uint32_t i = 0; i < 20; i++)
		nap(HOST, i);
	nap(PEER, 0);
	outbox_service(outbox);
	while (read_one())
		;
	outbox_drop(outbox, HOST, DXP_EPEERLOST);
	assert_int_equal(ended, 20 - XPU_OUTBOX_FLIGHT);
	assert_int_equal(ended_badly, ended);
	while (completed < dequeued)
		complete(DXP_EPEERLOST);
	outbox_service(outbox);
	assert_int_equal(ended, 21);
	outbox_drop(outbox, 999, DXP_EPEERLOST);
}

static void outbox_end__everything(void **state)
{
	for (uint32_t i = 0; i < 20; i++)
		nap(HOST, i);
	outbox_service(outbox);
	outbox_end(outbox, DXP_ECLOSED);
	assert_int_equal(ended, 20);
	assert_int_equal(ended_badly, 20);
	assert_int_equal(outbox_count(outbox, HOST), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(outbox_service__order_and_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(outbox_bytes__what_waits_and_is_outstanding, setup,
						teardown),
		cmocka_unit_test_setup_teardown(outbox_service__silent_node, setup, teardown),
		cmocka_unit_test_setup_teardown(outbox_service__bridge_beside_replies, setup,
						teardown),
		cmocka_unit_test_setup_teardown(outbox_service__full_window, setup, teardown),
		cmocka_unit_test_setup_teardown(outbox_drop__what_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(outbox_end__everything, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
