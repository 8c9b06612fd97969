/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the DMA controllers of a board: faults, resets and timing. Only lower bounds of time are
 * tested, because the machine may be busy. */
#include "test/unit/board_rig.h"

#include <dirent.h>

#include "base/clock.h"
#include "engine/board_internal.h"

/* ---- faults ---- */

static void engine_dma__every_nth_fails(void **state)
{
	for (unsigned n = 1; n <= 7; n++) {
		char lines[80];
		snprintf(lines, sizeof(lines), "preset = fast\ncompute = none\nfail = %u\n", n);
		reopen(lines);
		for (unsigned k = 1; k <= 3 * n; k++) {
			struct engine_dma d = k % 3 == 0   ? dma_through(sink, source, k)
					      : k % 3 == 1 ? dma_in(0, source, k)
							   : dma_out(sink, 0, k);
			assert_int_equal(run(&d), k % n == 0 ? DXP_EDEVICE : DXP_OK);
		}
	}
}

/* A failed DMA has moved the first half of its bytes. */
static void engine_dma__fails_part_way(void **state)
{
	struct engine_dma d = dma_through(sink, source, 1000);

	reopen("preset = fast\ncompute = none\nfail = 1\n");
	assert_int_equal(run(&d), DXP_EDEVICE);
	assert_memory_equal(sink, source, 500);
	for (int i = 500; i < 1000; i++)
		assert_int_equal(sink[i], 0xee);
}

/* The n-th DMA stalls, for each n. Later DMAs wait behind it, and a reset completes all of them. */
static void engine_dma__stall_and_reset(void **state)
{
	for (unsigned n = 1; n <= 6; n++) {
		char lines[80];
		struct engine_dma_end end;
		unsigned ended = 0, lost = 0;

		snprintf(lines, sizeof(lines), "preset = fast\ncompute = none\nstall = %u\n", n);
		reopen(lines);
		for (unsigned k = 1; k <= 6; k++) {
			struct engine_dma d = k % 3 == 0   ? dma_in(0, source, 70000)
					      : k % 3 == 1 ? dma_through(sink, source, 70000)
							   : dma_out(sink + 70000, 200000, 70000);
			start(&d);
		}
		usleep(2000);
		while (engine_dma_dequeue(board, &end, 1)) {
			assert_int_equal(end.status, DXP_OK);
			ended++;
		}
		assert_true(ended < 6);
		engine_dma_reset(board);
		for (; ended < 6; ended++)
			lost += end_wait().status == DXP_EDEVICE;
		assert_true(lost > 0);
		RUN(dma_in(5, source + 5, 70000));
		RUN(dma_out(sink, 5, 70000));
		assert_memory_equal(sink, source + 5, 70000);
		RUN(dma_through(sink, source, 70000));
		assert_memory_equal(sink, source, 70000);
	}
}

/* After a reset, the board does not access host memory. */
static void engine_dma_reset__host_memory_is_free(void **state)
{
	struct engine_dma d[3];

	reopen("compute = none\nto_device = 1\nfrom_device = 1\n");
	d[0] = dma_in(0, source, HOST);
	d[1] = dma_out(sink, HOST, HOST / 2);
	d[2] = dma_through(sink, source, HOST);
	for (int i = 0; i < 3; i++)
		start(&d[i]);
	usleep(1000);
	engine_dma_reset(board);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end_wait().status, DXP_EDEVICE);
	struct board_dma *dma = engine_board_of(board)->dma;
	pthread_mutex_lock(&dma->lock);
	uint64_t clock_ns = max_u64(dma->tx.clock_ns, dma->rx.clock_ns);
	pthread_mutex_unlock(&dma->lock);
	assert_true(clock_ns < clock_now_ns()); /* cancelled DMAs do not delay later ones */
	memset(sink, 0x11, HOST);
	usleep(5000);
	for (uint32_t i = 0; i < HOST; i++)
		assert_int_equal(sink[i], 0x11);
}

/* ---- a core whose step the test can block ---- */

int __real_board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes);
int __wrap_board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes);

bool __wrap_board_core_has_kernel(const struct board_core *c);

static atomic_bool held, inside, kernel, by_starter;
static pthread_t starter;

bool __wrap_board_core_has_kernel(const struct board_core *c)
{
	return atomic_load(&kernel);
}

int __wrap_board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes)
{
	atomic_store(&by_starter, pthread_equal(pthread_self(), starter));
	atomic_store(&inside, true);
	while (atomic_load(&held))
		usleep(50);
	return __real_board_core_step(c, out, in, bytes);
}

/* After a reset, the completion of a stream is reported only when its last byte is written. */
static void engine_dma_reset__a_stream_ends_when_its_bytes_have(void **state)
{
	/* Longer than BOARD_SHORT_BYTES, so the caller's thread does not move it. */
	struct engine_dma d = dma_through(sink, source, 2 * BOARD_SHORT_BYTES);
	struct engine_dma_end end;

	atomic_store(&inside, false);
	atomic_store(&held, true);
	start(&d);
	while (!atomic_load(&inside))
		usleep(50);
	engine_dma_reset(board);
	uint32_t reported = 0;
	for (int i = 0; i < 100; i++, usleep(100))
		reported += engine_dma_dequeue(board, &end, 1);
	atomic_store(&held, false);
	assert_int_equal(reported, 0);
	assert_int_equal(end_wait().status, DXP_EDEVICE);
	RUN(dma_through(sink, source, 4096));
}

/* A stream needs both controllers, so it waits for a stalled DMA of controller Rx. */
static void engine_dma__through_waits_for_rx(void **state)
{
	struct engine_dma d[2] = {dma_out(sink, 0, 100), dma_through(sink + 100, source, 100)};

	reopen("preset = fast\ncompute = none\nstall = 1\n");
	for (int i = 0; i < 2; i++)
		start(&d[i]);
	usleep(20000);
	engine_dma_reset(board);
	for (int i = 0; i < 2; i++)
		assert_int_equal(end_wait().status, DXP_EDEVICE);
	for (int i = 100; i < 200; i++)
		assert_int_equal(sink[i], 0xee);
}

static unsigned threads_now(void)
{
	unsigned count = 0;
	DIR *tasks = opendir("/proc/self/task");

	assert_non_null(tasks);
	for (const struct dirent *d; (d = readdir(tasks));)
		count += d->d_name[0] != '.';
	closedir(tasks);
	return count;
}

static unsigned threads_alone;

/* The kernel may list a joined thread for a short time. */
static void threads_end(void)
{
	uint64_t until_ns = clock_now_ns() + LONGEST;

	while (threads_now() > threads_alone) {
		assert_true(clock_now_ns() < until_ns);
		usleep(50);
	}
	assert_int_equal(threads_now(), threads_alone);
}

/* After engine_close, even of a stalled DMA, no thread accesses host memory and no completion is
 * reported. */
static void engine_close__with_all_outstanding(void **state)
{
	enum { WHOLE_NS = 1000000000 }; /* HOST bytes at 1 MB/s */

	engine_close(board);
	board = NULL;
	threads_end();
	for (unsigned n = 1; n <= 6; n++) {
		board = open_lines("compute = none\nto_device = 1\nfrom_device = 1\nstall = 4\n");
		assert_true(threads_now() > threads_alone);
		memset(sink, 0xee, HOST);
		atomic_store(&interrupts, 0);
		uint64_t start_ns = clock_now_ns();
		for (unsigned k = 1; k <= n; k++) {
			struct engine_dma d =
				k % 2 ? dma_through(sink, source, HOST) : dma_out(sink, 0, HOST);
			start(&d);
		}
		engine_close(board);
		board = NULL;
		bool early = clock_now_ns() - start_ns < WHOLE_NS;
		threads_end();
		if (early) { /* unless the machine delayed this thread */
			assert_int_equal(atomic_load(&interrupts), 0);
			assert_int_equal(sink[HOST - 1], 0xee);
		}
	}
	board = open_lines("preset = fast\ncompute = none\n");
	RUN(dma_through(sink, source, HOST));
	assert_memory_equal(sink, source, HOST);
}

/* ---- timing ---- */

/* Returns ns from the first start to the last completion. */
static uint64_t time_all(const struct engine_dma *d, uint32_t count)
{
	uint64_t start_ns = clock_now_ns();

	for (uint32_t i = 0; i < count; i++)
		start(&d[i]);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(end_wait().status, DXP_OK);
	return clock_now_ns() - start_ns;
}

static void lasts_at_least(uint64_t least_ns, const struct engine_dma *d, uint32_t count)
{
	uint64_t elapsed_ns = time_all(d, count);

	if (elapsed_ns < least_ns)
		fail_msg("took %llu ns, at least %llu are needed", (unsigned long long)elapsed_ns,
			 (unsigned long long)least_ns);
}

/* 1 MB/s is 1000 ns per byte. */
static void engine_dma__not_faster_than_the_controllers(void **state)
{
	struct engine_dma d[3];

	reopen("preset = fast\ncompute = none\nto_device = 100\nfrom_device = 50\n");
	d[0] = dma_in(0, source, 100000);
	lasts_at_least(1000000, d, 1);
	d[0] = dma_out(sink, 0, 100000);
	lasts_at_least(2000000, d, 1);
	d[0] = dma_through(sink, source, 100000);
	lasts_at_least(2000000, d, 1);
	for (int i = 0; i < 3; i++)
		d[i] = dma_in(0, source, 100000 + (unsigned)i);
	lasts_at_least(3000030, d, 3);
	for (int i = 0; i < 3; i++)
		d[i] = dma_out(sink, 0, 1 + 100000 * (unsigned)i);
	lasts_at_least(6000060, d, 3);
	/* Controller Rx is busy with d[0], so d[1] waits. */
	d[0] = dma_out(sink, 0, 100000);
	d[1] = dma_through(sink + 500000, source, 100000);
	lasts_at_least(4000000, d, 2);
}

static void engine_dma__not_faster_than_the_memory(void **state)
{
	struct engine_dma d[3] = {dma_in(0, source, 100000), dma_out(sink, 200000, 100000),
				  dma_copy(400000, 300000, 100000)};

	reopen("preset = fast\ncompute = none\nmemory = 100\n");
	lasts_at_least(3000000, d, 3);
	lasts_at_least(1000000, d + 2, 1);
}

static void engine_dma__latency_and_interrupt(void **state)
{
	struct engine_dma d[2] = {dma_in(0, source, 1), dma_through(sink, source, 1)};

	reopen("preset = fast\ncompute = none\nlatency = 2000000\ninterrupt = 3000000\n");
	lasts_at_least(5000000, d, 1);
	lasts_at_least(5000000, d + 1, 1);
}

/* The option `control` adds ns before each DMA, which concurrent DMAs do not hide. */
static void engine_dma__control_before_each(void **state)
{
	struct engine_dma d[3];

	reopen("preset = fast\ncompute = none\ncontrol = 3000000\n");
	for (int i = 0; i < 3; i++)
		d[i] = dma_in(0, source, 1);
	lasts_at_least(9000000, d, 3);
	for (int i = 0; i < 3; i++)
		d[i] = dma_out(sink, 0, 1);
	lasts_at_least(9000000, d, 3);
	for (int i = 0; i < 3; i++)
		d[i] = dma_through(sink, source, 4);
	lasts_at_least(9000000, d, 3);
}

static void engine_dma__streams_not_faster_than_through(void **state)
{
	struct engine_dma d = dma_through(sink, source, 100000);

	reopen("preset = fast\ncompute = none\nthrough = 50\n");
	lasts_at_least(2000000, &d, 1);
}

/* A controller does not exceed its speed to make up for a delay. */
static void engine_dma__no_burst_after_a_delay(void **state)
{
	struct engine_dma d = dma_in(0, source, HOST);
	const uint64_t byte_ns = 20, margin_ns = MS_NS;

	reopen("preset = fast\ncompute = none\nto_device = 50\n");
	struct board_dma *dma = engine_board_of(board)->dma;
	start(&d);
	pthread_mutex_lock(&dma->lock);
	uint64_t moved =
		/* one more slice may be moving */
		dma->tx.jobs[0].moved + BOARD_SLICE_BYTES;
	usleep(50000);
	uint64_t start_ns = clock_now_ns();
	pthread_mutex_unlock(&dma->lock);
	assert_int_equal(end_wait().status, DXP_OK);
	/* else all bytes have moved */
	if (moved < HOST)
		assert_true(clock_now_ns() - start_ns + margin_ns >= (HOST - moved) * byte_ns);
}

/* DMAs that controller Rx has moved but not reported; -1: all are reported. */
static int rx_passed(void)
{
	struct board_dma *d = engine_board_of(board)->dma;

	pthread_mutex_lock(&d->lock);
	int count = d->rx.head == d->rx.tail ? -1 : (int)(d->rx.next - d->rx.head);
	pthread_mutex_unlock(&d->lock);
	return count;
}

/* A DMA moves bytes while the previous interrupt is pending. A busy machine may miss that interval,
 * so the test tries again. */
static void engine_dma__interrupts_hide(void **state)
{
	struct engine_dma d[3] = {dma_out(sink, 0, 50), dma_out(sink + 50, 50, 50),
				  dma_through(sink + 100, source, 50)};
	int passed = 0;

	for (int again = 0; again < 10 && passed < 3; again++) {
		reopen("preset = fast\ncompute = none\ninterrupt = 1000000000\n");
		for (int i = 0; i < 3; i++)
			start(&d[i]);
		while ((passed = rx_passed()) >= 0 && passed < 3)
			usleep(50);
	}
	assert_int_equal(passed, 3);
}

static struct board_dma *at_rest(void)
{
	struct board_dma *d = engine_board_of(board)->dma;
	uint64_t until_ns = clock_now_ns() + LONGEST;
	bool sleeping = false;

	while (!sleeping) {
		assert_true(clock_now_ns() < until_ns);
		pthread_mutex_lock(&d->lock);
		sleeping = d->tx.sleeping && d->rx.sleeping;
		pthread_mutex_unlock(&d->lock);
	}
	return d;
}

/* The call that starts a short DMA completes it without an interrupt. */
static void engine_dma__short_ones_end_at_once(void **state)
{
	struct engine_dma d[] = {dma_in(0, source, BOARD_SHORT_BYTES),
				 dma_out(sink, 0, BOARD_SHORT_BYTES),
				 dma_copy(HOST, 0, BOARD_SHORT_BYTES),
				 dma_through(sink + HOST / 2, source, BOARD_SHORT_BYTES)};
	struct engine_dma_end end;

	for (size_t i = 0; i < ARRAY_COUNT(d); i++) {
		at_rest();
		start(&d[i]);
		assert_int_equal(engine_dma_dequeue(board, &end, 1), 1);
		assert_int_equal(end.id, d[i].id);
		assert_int_equal(end.status, DXP_OK);
	}
	assert_memory_equal(sink, source, BOARD_SHORT_BYTES);
	assert_memory_equal(sink + HOST / 2, source, BOARD_SHORT_BYTES);
	assert_int_equal(atomic_load(&interrupts), 0);
}

/* Only a controller's thread runs kernels, because a kernel may never return. */
static void engine_dma_help__no_kernels(void **state)
{
	struct engine_dma d = dma_through(sink, source, 100);

	starter = pthread_self();
	at_rest();
	RUN(d);
	assert_true(atomic_load(&by_starter));
	atomic_store(&kernel, true);
	at_rest();
	start(&d);
	for (int i = 0; i < 100; i++)
		engine_dma_help(board);
	assert_int_equal(end_wait().status, DXP_OK);
	assert_false(atomic_load(&by_starter));
	atomic_store(&kernel, false);
}

/* The controller's thread is not scheduled. Each call of the helper moves one slice of the DMA. */
static void engine_dma_help__slice_by_slice(void **state)
{
	struct board_dma *d = at_rest();
	const struct board_job job = {.dma = dma_in(0, source, 3 * BOARD_SLICE_BYTES),
				      .last = 3 * BOARD_SLICE_BYTES};
	struct engine_dma_end end;

	pthread_mutex_lock(&d->lock);
	*board_job_at(&d->tx, d->tx.tail++) = job;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(engine_dma_dequeue(board, &end, 1), 0);
		assert_true(engine_dma_help(board));
	}
	assert_false(engine_dma_help(board));
	assert_int_equal(engine_dma_dequeue(board, &end, 1), 1);
	assert_int_equal(end.status, DXP_OK);
	RUN(dma_out(sink, 0, 3 * BOARD_SLICE_BYTES));
	assert_memory_equal(sink, source, 3 * BOARD_SLICE_BYTES);
}

/* The helper and the controllers' threads together lose no DMA, even during resets. */
static void engine_dma_help__beside_the_threads(void **state)
{
	enum { COUNT = 300, BYTES = BOARD_SLICE_BYTES + 5000 };
	struct engine_dma_end end;
	uint64_t until_ns = clock_now_ns() + LONGEST;

	for (int i = 0; i < COUNT; i++) {
		struct engine_dma d[] = {dma_in(0, source, BYTES), dma_through(sink, source, BYTES),
					 dma_out(sink + HOST / 2, HOST, BYTES)};
		uint32_t ended = 0;
		for (size_t k = 0; k < ARRAY_COUNT(d); k++)
			start(&d[k]);
		if (i % 10 == 9)
			engine_dma_reset(board);
		while (ended < ARRAY_COUNT(d)) {
			assert_true(clock_now_ns() < until_ns);
			if (i % 3 > 0)
				engine_dma_help(board);
			uint32_t count = engine_dma_dequeue(board, &end, 1);
			ended += count;
			assert_true(count == 0 || end.status == DXP_OK || i % 10 == 9);
		}
	}
	RUN(dma_in(0, source, BYTES));
	RUN(dma_out(sink, 0, BYTES));
	assert_memory_equal(sink, source, BYTES);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(engine_dma__every_nth_fails),
		TEST(engine_dma__fails_part_way),
		TEST(engine_dma__stall_and_reset),
		TEST(engine_dma_reset__host_memory_is_free),
		TEST(engine_dma_reset__a_stream_ends_when_its_bytes_have),
		TEST(engine_dma__through_waits_for_rx),
		TEST(engine_close__with_all_outstanding),
		TEST(engine_dma__not_faster_than_the_controllers),
		TEST(engine_dma__not_faster_than_the_memory),
		TEST(engine_dma__latency_and_interrupt),
		TEST(engine_dma__control_before_each),
		TEST(engine_dma__streams_not_faster_than_through),
		TEST(engine_dma__no_burst_after_a_delay),
		TEST(engine_dma__interrupts_hide),
		TEST(engine_dma__short_ones_end_at_once),
		TEST(engine_dma_help__no_kernels),
		TEST(engine_dma_help__slice_by_slice),
		TEST(engine_dma_help__beside_the_threads),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	threads_alone = threads_now();
	return rig_main(run_all);
}
