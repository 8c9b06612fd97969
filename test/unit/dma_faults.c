/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/dma.h with failing and stalling DMAs, and reset and close with outstanding
 * transfers. */
#include "test/unit/dma_rig.h"

/* Repeats a move until none of its DMAs is a 30th one. */
static void move_until_ok(struct world *w, struct dxp_dma_order o)
{
	int status;

	o.piece_bytes = BUFFER_BYTES;
	while ((status = dxp_dma_move(w->dma, &o)) != DXP_OK)
		assert_int_equal(status, DXP_EDEVICE);
}

/* Fills the places that an order writes with zeros, and device memory that it reads with `from`. */
static void places_prepare(struct world *w, const struct dxp_dma_order *o)
{
	memset(w->to, 0, DATA_BYTES);
	move_until_ok(w, (struct dxp_dma_order){.kind = DXP_DMA_TO_DEVICE,
						.from = w->to,
						.device_to = o->device_to,
						.bytes = o->bytes});
	move_until_ok(w, (struct dxp_dma_order){.kind = DXP_DMA_TO_DEVICE,
						.from = w->from,
						.device_to = o->device_from,
						.bytes = o->bytes});
}

static void assert_moved(struct world *w, const struct dxp_dma_order *o)
{
	if (o->kind == DXP_DMA_THROUGH) {
		assert_added(w->from, w->to, o->bytes);
		return;
	}
	if (o->kind != DXP_DMA_FROM_DEVICE)
		move_until_ok(w, (struct dxp_dma_order){.kind = DXP_DMA_FROM_DEVICE,
							.to = w->to,
							.device_from = o->device_to,
							.bytes = o->bytes});
	assert_memory_equal(w->to, w->from, o->bytes);
}

/* Every 30th DMA of the board fails. A transfer with a failed DMA returns EDEVICE. Every other
 * transfer moves its data. */
static void fails(int kind, bool in_place)
{
	struct world *w = world_of("preset = fast\ncompute = none\nfail = 30\n");
	struct dxp_dma_order o = order_of(w, kind, in_place);
	int failed = 0, moved = 0;

	o.piece_bytes = BUFFER_BYTES;
	for (int i = 0; i < 100 && (failed < 3 || moved < 3); i++) {
		/* Another length each time moves the 30th DMA to another transfer. */
		o.bytes = DATA_BYTES / 2 - (uint64_t)(i % 9) * BUFFER_BYTES;
		places_prepare(w, &o);
		int status = dxp_dma_move(w->dma, &o);
		if (status == DXP_OK) {
			moved++;
			assert_moved(w, &o);
		} else {
			assert_int_equal(status, DXP_EDEVICE);
			failed++;
		}
	}
	assert_true(failed >= 3 && moved >= 3);
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
	/* DMA number 20 stalls. On a busy machine it may be part of this transfer, which may then
	 * fail. */
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
