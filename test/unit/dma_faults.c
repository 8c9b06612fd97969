/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/dma.h with failing and stalling DMAs, and reset and close with outstanding
 * transfers. */
#include "test/unit/dma_rig.h"

/* A transfer with a failed DMA returns EDEVICE. Every 30th DMA fails; the data of other streams is
 * correct. */
static void fails(int kind, bool in_place)
{
	struct world *w = world_of("preset = fast\ncompute = none\nfail = 30\n");
	const struct dxp_dma_order o = order_of(w, kind, in_place);
	int failed = 0;

	for (int i = 0; i < 6; i++) {
		int status = dxp_dma_move(w->dma, &o);
		assert_true(status == DXP_OK || status == DXP_EDEVICE);
		failed += status == DXP_EDEVICE;
		if (status == DXP_OK && kind == DXP_DMA_THROUGH)
			assert_added(w->from, w->to, o.bytes);
	}
	assert_true(failed >= 3);
	/* It needs one DMA. If that is a 30th DMA, the next order succeeds. */
	struct dxp_dma_order small = o;
	small.bytes = 4096;
	if (dxp_dma_move(w->dma, &small) != DXP_OK)
		ok(dxp_dma_move(w->dma, &small));
	world_close((void **)&w);
}

static void move__dmas_fail(void **state)
{
	for (int kind = DXP_DMA_TO_DEVICE; kind <= DXP_DMA_DEVICE_TO_DEVICE; kind++) {
		fails(kind, false);
		fails(kind, true);
	}
}

static void stalls(int kind, bool in_place)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 20\n");
	const struct dxp_dma_order o = order_of(w, kind, in_place);
	struct dxp_dma_transfer *t[3];

	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(w->dma, &o, &t[i]));
	assert_int_equal(dxp_dma_wait(t[0], 100 * MS_NS), DXP_ETIMEDOUT);
	has_text("not complete yet");
	ok(dxp_dma_reset(w->dma));
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		assert_int_equal(dxp_dma_wait(t[i], WAIT_NS), DXP_EDEVICE);
	has_text("reset");
	/* On a busy machine, the stalled DMA may be part of this transfer, which may then fail. */
	dxp_dma_move(w->dma, &o);
	all_kinds(w, (struct dxp_dma_order){.bytes = 1234567});
	world_close((void **)&w);
}

static void reset__of_a_stalled_device(void **state)
{
	for (int kind = DXP_DMA_TO_DEVICE; kind <= DXP_DMA_DEVICE_TO_DEVICE; kind++) {
		stalls(kind, false);
		stalls(kind, true);
	}
}

static void *wait_long(void *transfer)
{
	return (void *)(intptr_t)dxp_dma_wait(transfer, UINT64_MAX);
}

/* The library detects the stall and resets the device itself. */
static void move__stalls(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 20\n");
	const struct dxp_dma_order o = order_of(w, DXP_DMA_FROM_DEVICE, false);

	assert_int_equal(dxp_dma_move(w->dma, &o), DXP_EDEVICE);
	has_text("stalled");
	ok(dxp_dma_move(w->dma, &o));
	world_close((void **)&w);
}

/* Handles stay valid; waits return ECLOSED. */
static void close__with_transfers(void **state)
{
	struct world *w = world_of("preset = fast\ncompute = none\nstall = 5\n");
	const struct dxp_dma_order o = order_of(w, DXP_DMA_THROUGH, false),
				   small = {.from = w->from, .bytes = 4096};
	struct dxp_dma_transfer *done, *t[3];
	pthread_t waiter;
	void *status;

	ok(dxp_dma_start(w->dma, &small, &done));
	ok(dxp_dma_move(w->dma, &small));
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(w->dma, &o, &t[i]));
	assert_int_equal(dxp_dma_wait(t[0], 20 * MS_NS), DXP_ETIMEDOUT);
	assert_int_equal(pthread_create(&waiter, NULL, wait_long, t[0]), 0);
	usleep(20000);
	dxp_dma_close(w->dma);
	w->dma = NULL;
	pthread_join(waiter, &status);
	assert_int_equal((intptr_t)status, DXP_ECLOSED);
	ok(dxp_dma_wait(done, WAIT_NS));
	assert_int_equal(dxp_dma_wait(t[1], WAIT_NS), DXP_ECLOSED);
	assert_int_equal(dxp_dma_wait(t[2], WAIT_NS), DXP_ECLOSED);
	has_text("closed");
	world_close((void **)&w);
}

static void *wait_often(void *transfer)
{
	int status;

	while ((status = dxp_dma_wait(transfer, 0)) == DXP_ETIMEDOUT)
		;
	return (void *)(intptr_t)status;
}

/* A wait returns whether it begins before or after the close. */
static void close__while_others_come_to_wait(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct world *w = world_of("preset = fast\ncompute = none\nstall = 2\n");
		const struct dxp_dma_order o = order_of(w, DXP_DMA_TO_DEVICE, i % 2);
		struct dxp_dma_transfer *t[2];
		pthread_t waiters[2];
		void *status;

		for (size_t k = 0; k < ARRAY_COUNT(t); k++) {
			ok(dxp_dma_start(w->dma, &o, &t[k]));
			assert_int_equal(pthread_create(&waiters[k], NULL, wait_often, t[k]), 0);
		}
		usleep((unsigned)i * 50);
		dxp_dma_close(w->dma);
		w->dma = NULL;
		for (size_t k = 0; k < ARRAY_COUNT(t); k++) {
			pthread_join(waiters[k], &status);
			assert_int_equal((intptr_t)status, DXP_ECLOSED);
		}
		world_close((void **)&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(move__dmas_fail),
		cmocka_unit_test(reset__of_a_stalled_device),
		cmocka_unit_test(move__stalls),
		cmocka_unit_test(close__with_transfers),
		cmocka_unit_test(close__while_others_come_to_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
