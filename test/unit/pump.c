/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pump: every path, and a failure at every buffer. The test's clock advances while
 * nothing happens. */
#include "test/unit/pump_rig.h"

#include <sched.h>

#include "bridge/limits.h"

#define BUFFER_BYTES 16384u
#define BUFFERS      4
#define HUNDRED      100

/* ---- a clock that can run fast ---- */

uint64_t __real_clock_now_ns(void);
uint64_t __wrap_clock_now_ns(void);

/* ns per read of the clock; ns ahead */
static uint64_t hurry_ns, ahead_ns;

uint64_t __wrap_clock_now_ns(void)
{
	ahead_ns += hurry_ns;
	return __real_clock_now_ns() + ahead_ns;
}

/* ---- transfers ---- */

enum manner { AT_ONCE, LATER, REJECTED_FIRST, MANNERS };

struct mover {
	struct pump_transfer t; /* must be first */
	struct bridge_order order;
	enum manner manner;
	uint8_t *from, *to; /* in host memory */
	uint64_t bytes;
	uint32_t rejections;
	int fill_status; /* of each network step */
	uint32_t ended;
	struct bridge_end end;
};

static struct device *device;
static struct pump *pump;
static uint64_t now_ns;
/* network steps to complete at the next poll */
static struct bridge_action waiting[BRIDGE_BUFFERS_MAX];
static uint32_t waiting_count;

static void network(struct mover *m, const struct bridge_action *a)
{
	if (a->step == BRIDGE_FILL)
		memcpy(a->in, m->from + a->at, a->bytes);
	else
		memcpy(m->to + a->at, a->out, a->bytes);
	pump_done(pump, a->id, m->fill_status, now_ns);
}

static int mover_step(struct pump_transfer *t, const struct bridge_action *a)
{
	struct mover *m = CONTAINER_OF(t, struct mover, t);

	if (m->manner == REJECTED_FIRST && m->rejections++ % 2 == 0)
		return DXP_EAGAIN;
	if (m->manner == LATER) {
		assert_true(waiting_count < ARRAY_COUNT(waiting));
		waiting[waiting_count++] = *a;
	} else {
		network(m, a);
	}
	return DXP_OK;
}

static void mover_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct mover *m = CONTAINER_OF(t, struct mover, t);

	m->ended++;
	m->end = *end;
}

static void mover_init(struct mover *m, enum bridge_path path, uint64_t bytes, enum manner manner)
{
	*m = (struct mover){
		.t = {.step = mover_step, .ended = mover_ended},
		.order = {.path = (uint8_t)path, .bytes = bytes},
		.manner = manner,
		.bytes = bytes,
		.from = __real_malloc(bytes + 1),
		.to = __real_calloc(1, bytes + 1),
	};
	fill(m->from, bytes, bytes + path);
}

static void mover_begin(struct mover *m)
{
	assert_int_equal(pump_begin(pump, &m->t, &m->order, now_ns), DXP_OK);
}

static void mover_free(struct mover *m)
{
	free(m->from);
	free(m->to);
}

/* The clock advances while nothing happens. */
static void poll_until_ended(struct mover *movers, uint32_t count)
{
	for (;;) {
		uint32_t ended = 0, happened = pump_poll(pump, now_ns);
		while (waiting_count > 0) {
			struct bridge_action a = waiting[--waiting_count];
			network(CONTAINER_OF(a.context, struct mover, t), &a);
			happened++;
		}
		for (uint32_t i = 0; i < count; i++)
			ended += movers[i].ended;
		if (ended == count)
			return;
		if (happened)
			continue;
		/* small steps unless it hangs, as a slow device must not time out */
		now_ns = device_hangs(device) ? max_u64(now_ns, pump_deadline(pump))
					      : now_ns + US_NS;
		sched_yield();
	}
}

static void open_with(uint32_t buffers)
{
	struct pump_options o = {
		.engine = &device->engine, .buffers = buffers, .buffer_bytes = BUFFER_BYTES};

	assert_int_equal(pump_create(&o, &pump), DXP_OK);
}

static int setup(void **state)
{
	device = device_open();
	now_ns = 1;
	mapped_bytes = 0;
	open_with(BUFFERS);
	return 0;
}

static void rings_are_empty(void)
{
	uint32_t to, from;

	bridge_buffers_used(pump_bridge(pump), &to, &from);
	assert_int_equal(to, 0);
	assert_int_equal(from, 0);
	assert_int_equal(bridge_transfers(pump_bridge(pump)), 0);
	assert_int_equal(waiting_count, 0);
}

static int teardown(void **state)
{
	pump_destroy(pump, DXP_ECLOSED);
	device_close(device);
	assert_int_equal(mapped_bytes, 0);
	return 0;
}

static void mover_is_right(const struct mover *m, uint64_t bytes)
{
	switch (m->order.path) {
	case BRIDGE_IN: assert_memory_equal(device->memory + m->t.device_to, m->from, bytes); break;
	case BRIDGE_OUT:
		assert_memory_equal(m->to, device->memory + m->t.device_from, bytes);
		break;
	default:
		for (uint64_t i = 0; i < bytes; i++)
			assert_int_equal(m->to[i], (uint8_t)(m->from[i] + 1));
	}
}

static int move(enum bridge_path path, uint64_t bytes, enum bridge_mode mode, enum manner manner)
{
	struct mover m;

	mover_init(&m, path, bytes, manner);
	m.order.mode = (uint8_t)mode;
	m.t.device_from = 3;
	m.t.device_to = (2u << 20) + 1;
	fill(device->memory, DEVICE_BYTES, 9);
	mover_begin(&m);
	poll_until_ended(&m, 1);
	assert_int_equal(m.ended, 1);
	mover_is_right(&m, m.end.bytes);
	rings_are_empty();
	mover_free(&m);
	return m.end.status;
}

static void pump__moves_on_all_paths(void **state)
{
	static const uint64_t sizes[] = {0, 1, 2, 4095, 16384, 16385, 70001, 8 * 16384, 400000};

	for (enum bridge_path path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			enum manner manner = i % MANNERS;
			assert_int_equal(move(path, sizes[i], BRIDGE_PIPELINED, manner), DXP_OK);
			assert_int_equal(move(path, sizes[i], BRIDGE_SEQUENTIAL, manner), DXP_OK);
		}
	}
}

static void pump__dma_fails_at_each_buffer(void **state)
{
	for (enum bridge_path path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
		int status = DXP_EDEVICE;
		for (uint32_t k = 1; status != DXP_OK; k++) {
			device->fail_at = device->started + k;
			status = move(path, 200000, BRIDGE_PIPELINED, LATER);
			assert_true(status == DXP_OK || status == DXP_EDEVICE);
			assert_true(k < 30 && (status == DXP_EDEVICE || k > 12));
			device->fail_at = 0;
			assert_int_equal(move(path, 50000, BRIDGE_PIPELINED, AT_ONCE), DXP_OK);
		}
	}
}

static void pump__stalled_dma_is_reset_at_each_buffer(void **state)
{
	for (enum bridge_path path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++) {
		for (uint32_t k = 1; k <= 12; k++) {
			uint32_t resets = device->reset_count;
			device->hang_at = device->started + k;
			int status = move(path, 200000, BRIDGE_PIPELINED, AT_ONCE);
			assert_true(status == DXP_ETIMEDOUT || status == DXP_EDEVICE);
			assert_true(device->reset_count > resets);
			device->hang_at = 0;
			assert_int_equal(move(path, 50000, BRIDGE_PIPELINED, AT_ONCE), DXP_OK);
		}
	}
}

static void pump__network_fails(void **state)
{
	struct mover m;

	mover_init(&m, BRIDGE_THROUGH, 300000, LATER);
	m.fill_status = DXP_EPEERLOST;
	mover_begin(&m);
	poll_until_ended(&m, 1);
	assert_int_equal(m.end.status, DXP_EPEERLOST);
	assert_int_equal(m.end.bytes, 0);
	rings_are_empty();
	mover_free(&m);
}

static void pump__device_queue_is_full(void **state)
{
	device->space = 1;
	for (enum bridge_path path = BRIDGE_IN; path <= BRIDGE_THROUGH; path++)
		assert_int_equal(move(path, 300000, BRIDGE_PIPELINED, AT_ONCE), DXP_OK);
	assert_true(device->refused > 0);
}

static void pump__outside_of_device_memory(void **state)
{
	struct mover m;

	mover_init(&m, BRIDGE_IN, 100001, AT_ONCE);
	m.t.device_to = DEVICE_BYTES - 100000;
	mover_begin(&m);
	poll_until_ended(&m, 1);
	assert_int_equal(m.end.status, DXP_ERANGE);
	rings_are_empty();
	mover_free(&m);
}

static void pump__hundred_at_once(void **state)
{
	static struct mover movers[HUNDRED];

	fill(device->memory, DEVICE_BYTES, 4);
	for (uint32_t i = 0; i < HUNDRED; i++) {
		struct mover *m = &movers[i];
		mover_init(m, i % 3, min_u64(1000 + i * 613, 40000), i % MANNERS);
		m->t.device_to = (uint64_t)(i / 3) * 40000; /* each its own range */
		m->t.device_from = DEVICE_BYTES / 2 + i;
		mover_begin(m);
	}
	poll_until_ended(movers, HUNDRED);
	for (uint32_t i = 0; i < HUNDRED; i++) {
		assert_int_equal(movers[i].end.status, DXP_OK);
		assert_int_equal(movers[i].ended, 1);
		mover_is_right(&movers[i], movers[i].bytes);
		mover_free(&movers[i]);
	}
	rings_are_empty();
}

/* Runs a transfer that uses no buffers: within the device, or directly between host and device. */
static int direct(struct mover *m, uint64_t from, uint64_t to)
{
	m->t.device_from = from;
	m->t.device_to = to;
	m->ended = 0;
	mover_begin(m);
	poll_until_ended(m, 1);
	rings_are_empty();
	return m->end.status;
}

static void pump__copies_that_overlap(void **state)
{
	static const uint64_t offsets[][2] = {{0, 5000}, {5000, 0}, {0, 200001}, {7, 7}};
	uint8_t *expected = __real_malloc(DEVICE_BYTES);
	struct mover m;

	mover_init(&m, BRIDGE_DIRECT, 200000, AT_ONCE);
	m.order.piece_bytes = 4096;
	for (size_t i = 0; i < ARRAY_COUNT(offsets); i++) {
		fill(device->memory, DEVICE_BYTES, i);
		memcpy(expected, device->memory, DEVICE_BYTES);
		memmove(expected + offsets[i][1], expected + offsets[i][0], 200000);
		assert_int_equal(direct(&m, offsets[i][0], offsets[i][1]), DXP_OK);
		assert_memory_equal(device->memory, expected, DEVICE_BYTES);
	}
	free(expected);
	mover_free(&m);
}

static void pump__user_memory_in_place(void **state)
{
	struct mover m;

	mover_init(&m, BRIDGE_DIRECT, 100003, AT_ONCE);
	m.order.piece_bytes = 8192;
	m.t.source = m.from;
	assert_int_equal(direct(&m, 0, 17), DXP_OK);
	assert_memory_equal(device->memory + 17, m.from, m.bytes);

	m.t.source = NULL;
	m.t.sink = m.to;
	assert_int_equal(direct(&m, 17, 0), DXP_OK);
	assert_memory_equal(m.to, m.from, m.bytes);

	m.t.source = m.from;
	assert_int_equal(direct(&m, 0, 0), DXP_OK);
	mover_is_right(&m, m.bytes);
	assert_int_equal(device->streams, 1);
	assert_int_equal(device->stream_bytes, m.bytes);
	mover_free(&m);
}

static void pump__streams_alternate_on_the_core(void **state)
{
	struct mover m[6];

	for (uint32_t i = 0; i < ARRAY_COUNT(m); i++) {
		mover_init(&m[i], i % 2 ? BRIDGE_DIRECT : BRIDGE_THROUGH, 150000 + i, i % MANNERS);
		if (i % 2) {
			m[i].t.source = m[i].from;
			m[i].t.sink = m[i].to;
			m[i].order.piece_bytes = 4096;
		}
		mover_begin(&m[i]);
	}
	poll_until_ended(m, ARRAY_COUNT(m));
	assert_int_equal(device->streams, ARRAY_COUNT(m));
	assert_int_equal(device->stream_bytes, m[5].bytes);
	for (uint32_t i = 0; i < ARRAY_COUNT(m); i++) {
		mover_is_right(&m[i], m[i].bytes);
		mover_free(&m[i]);
	}
}

static void pump_cancel__ends_when_the_dma_has(void **state)
{
	struct mover m;

	mover_init(&m, BRIDGE_IN, 300000, AT_ONCE);
	device->hang_at = 2;
	mover_begin(&m);
	while (bridge_counters(pump_bridge(pump))->pieces[BRIDGE_DMA_IN] < 1)
		pump_poll(pump, now_ns);
	pump_cancel(pump, &m.t, DXP_ECANCELED);
	pump_poll(pump, now_ns);
	assert_int_equal(m.ended, 0);
	poll_until_ended(&m, 1);
	assert_int_equal(m.end.status, DXP_ECANCELED);
	assert_true(m.end.bytes > 0 && m.end.bytes < m.bytes);
	mover_free(&m);
}

static void pump_destroy__ends_what_is_outstanding(void **state)
{
	struct mover m[3];

	for (uint32_t hang = 1; hang <= 6; hang++) {
		device->hang_at = device->started + hang;
		for (int i = 0; i < 3; i++) {
			mover_init(&m[i], (enum bridge_path)i, 300000, AT_ONCE);
			mover_begin(&m[i]);
		}
		for (int i = 0; i < 50; i++)
			pump_poll(pump, now_ns);
		pump_destroy(pump, DXP_ECLOSED);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(m[i].ended, 1);
			mover_free(&m[i]);
		}
		assert_int_equal(mapped_bytes, 0);
		device->hang_at = 0;
		open_with(BUFFERS);
		assert_int_equal(move(BRIDGE_THROUGH, 50000, BRIDGE_PIPELINED, AT_ONCE), DXP_OK);
	}
	pump_destroy(NULL, DXP_ECLOSED);
}

static void pump_destroy__leaves_rings_to_a_broken_device(void **state)
{
	uint8_t *to, *from;
	uint64_t bytes;
	struct mover m;

	pump_rings(pump, &to, &from, &bytes);
	assert_int_equal(bytes, BUFFERS * BUFFER_BYTES);
	device->resets = false;
	device->hang_at = 1;
	mover_init(&m, BRIDGE_IN, 100, AT_ONCE);
	mover_begin(&m);
	while (!device_hangs(device))
		pump_poll(pump, now_ns);
	hurry_ns = 100 * MS_NS;
	pump_destroy(pump, DXP_ECLOSED);
	hurry_ns = 0;
	assert_int_equal(m.ended, 1);
	assert_int_equal(m.end.status, DXP_ECLOSED);
	assert_int_equal(device->reset_count, 1);
	assert_int_equal(mapped_bytes, 2 * bytes);
	assert_int_equal(device->unpins, 0);
	mover_free(&m);

	/* the pump leaves memory that the hanging device may use */
	pump = NULL;
	__wrap_munmap(to, bytes);
	__wrap_munmap(from, bytes);
	device->unpins = device->pins;
}

static void pump_create__rejections(void **state)
{
	struct pump_options o = {.engine = &device->engine, .buffers = BRIDGE_BUFFERS_MAX + 1};
	struct pump *none = NULL;

	assert_int_equal(pump_create(&o, &none), DXP_EINVAL);
	o.buffers = 0;
	o.buffer_bytes = 2048;
	assert_int_equal(pump_create(&o, &none), DXP_EINVAL);
	o.buffer_bytes = 4097;
	assert_int_equal(pump_create(&o, &none), DXP_EINVAL);
	o.buffer_bytes = 32u << 20;
	assert_int_equal(pump_create(&o, &none), DXP_EINVAL);
	o.buffer_bytes = 4096;
	device->pin_status = DXP_EIO;
	assert_int_equal(pump_create(&o, &none), DXP_EIO);
	assert_null(none);
	device->pin_status = DXP_EUNSUPPORTED;
	assert_int_equal(pump_create(&o, &none), DXP_OK);
	pump_destroy(none, DXP_ECLOSED);
}

static void pump__each_allocation_fails_once(void **state)
{
	int status = DXP_ENOMEM;

	for (uint32_t n = 1; status != DXP_OK; n++) {
		struct pump_options o = {.engine = &device->engine, .buffer_bytes = 1u << 20};
		int64_t before = mapped_bytes;
		struct pump *p = NULL;
		struct mover m;
		mover_init(&m, BRIDGE_IN, 5000, AT_ONCE);
		countdown = n;
		status = pump_create(&o, &p);
		if (status == DXP_OK)
			status = pump_begin(p, &m.t, &m.order, now_ns);
		countdown = 0;
		assert_true(status == DXP_OK || status == DXP_ENOMEM);
		assert_true(n < 20 && (n > 3 || status != DXP_OK));
		pump_destroy(p, DXP_ECLOSED);
		assert_int_equal(mapped_bytes, before);
		mover_free(&m);
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pump__moves_on_all_paths),
		CASE(pump__dma_fails_at_each_buffer),
		CASE(pump__stalled_dma_is_reset_at_each_buffer),
		CASE(pump__network_fails),
		CASE(pump__device_queue_is_full),
		CASE(pump__outside_of_device_memory),
		CASE(pump__hundred_at_once),
		CASE(pump__copies_that_overlap),
		CASE(pump__user_memory_in_place),
		CASE(pump__streams_alternate_on_the_core),
		CASE(pump_cancel__ends_when_the_dma_has),
		CASE(pump_destroy__ends_what_is_outstanding),
		CASE(pump_destroy__leaves_rings_to_a_broken_device),
		CASE(pump_create__rejections),
		CASE(pump__each_allocation_fails_once),
	};

	return cmocka_run_group_tests_name("pump", tests, NULL, NULL);
}
