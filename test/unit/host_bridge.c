/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests dxp/bridge.h with a real manager and fake devices: paths, rejections, and registered memory
 * after failures and early closes. */
#include <dxp/bridge.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "nic/limits.h"
#include "test/support/fake_bridge.h"
#include "test/unit/host_rig.h"
#include "xpu/cfg.h"

#define OPERAND 5

_Static_assert((int)DXP_CORE_KERNEL == (int)ENGINE_CORE_KERNEL, "CORE holds either's numbers");

static int world_open(void **state)
{
	struct world *w = world_of(fake_fabric_open(2));

	ok(dxp_core_set(w->one, DXP_CORE_ADD, OPERAND));
	world_data(w);
	*state = w;
	return 0;
}

static void assert_added(const uint8_t *was, const uint8_t *is, uint64_t bytes)
{
	for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
		uint32_t a, b;
		memcpy(&a, was + i, 4);
		memcpy(&b, is + i, 4);
		assert_int_equal(a + OPERAND, b);
	}
	assert_memory_equal(was + bytes / 4 * 4, is + bytes / 4 * 4, bytes % 4);
}

static struct dxp_bridge_transfer in(const struct world *w, uint64_t bytes)
{
	return (struct dxp_bridge_transfer){
		.path = DXP_BRIDGE_TO_DEVICE, .from = w->from, .bytes = bytes};
}

static struct dxp_bridge *start(struct world *w, const struct dxp_bridge_transfer *t)
{
	struct dxp_bridge *b = NULL;

	ok(dxp_bridge_start(w->one, t, &b));
	return b;
}

/* Moves `bytes` bytes to the device, from the device and through it, at odd addresses. */
static void all_paths(struct world *w, uint64_t bytes, enum dxp_bridge_mode mode, uint32_t piece)
{
	struct dxp_event_times times = {0};
	struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_TO_DEVICE,
					.mode = mode,
					.from = w->from + 3,
					.to = w->to + 1,
					.device_to = 12345,
					.device_from = 12345,
					.bytes = bytes,
					.piece_bytes = piece};

	memset(w->to, 0xa5, DATA_BYTES + 8);
	ok(dxp_bridge_move(w->one, &t, &times));
	assert_true(times.ended_ns >= times.started_ns && times.started_ns);
	assert_memory_equal(fake_xpu_memory(w->fake, 0) + 12345, w->from + 3, bytes);
	t.path = DXP_BRIDGE_FROM_DEVICE;
	ok(dxp_bridge_move(w->one, &t, NULL));
	assert_memory_equal(w->to + 1, w->from + 3, bytes);
	assert_int_equal(w->to[0], 0xa5);
	assert_int_equal(w->to[bytes + 1], 0xa5);
	t.path = DXP_BRIDGE_THROUGH;
	ok(dxp_bridge_move(w->one, &t, NULL));
	assert_added(w->from + 3, w->to + 1, bytes);
	assert_int_equal(w->to[bytes + 1], 0xa5);
}

static void move__every_path(void **state)
{
	static const uint64_t sizes[] = {0, 1, 3, 4096, 65537, (1u << 20) + 1, DATA_BYTES - 5};
	static const uint32_t pieces[] = {0, 4096, 1u << 20};

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
		for (size_t p = 0; p < ARRAY_COUNT(pieces); p++)
			all_paths(*state, sizes[s],
				  p % 2 ? DXP_BRIDGE_SEQUENTIAL : DXP_BRIDGE_PIPELINED, pieces[p]);
}

static void move__through_in_place(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_THROUGH,
					      .from = w->to + 1,
					      .to = w->to + 1,
					      .bytes = DATA_BYTES - 1};

	memcpy(w->to, w->from, DATA_BYTES);
	ok(dxp_bridge_move(w->one, &t, NULL));
	assert_added(w->from + 1, w->to + 1, t.bytes);
}

static void move__from_another_xpu(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
					      .peer = w->two,
					      .device_from = 777,
					      .device_to = 4242,
					      .bytes = DATA_BYTES - 3};

	memcpy(fake_xpu_memory(w->fake, 1) + 777, w->from, t.bytes);
	ok(dxp_bridge_move(w->one, &t, NULL));
	assert_memory_equal(fake_xpu_memory(w->fake, 0) + 4242, w->from, t.bytes);
}

static void refused(struct world *w, const struct dxp_bridge_transfer *t, int status,
		    const char *part)
{
	struct dxp_bridge *b = NULL;
	unsigned before = fake_xpu_commands(w->fake, 0);
	int got = dxp_bridge_start(w->one, t, &b);

	if (got != status)
		fail_msg("%s for `%s`", dxp_status_name(got), part);
	assert_null(b);
	has_text(part);
	assert_int_equal(fake_xpu_commands(w->fake, 0), before);
}

#define REFUSED(status, part, ...)                                              \
	do {                                                                    \
		struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_FROM_DEVICE, \
						.from = w->from,                \
						.to = w->to,                    \
						.bytes = 8192};                 \
		__VA_ARGS__;                                                    \
		refused(w, &t, status, part);                                   \
	} while (0)

static void start__bad_input(void **state)
{
	struct world *w = *state;

	REFUSED(DXP_EINVAL, "`path` 4", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE + 1);
	REFUSED(DXP_EINVAL, "`mode` 2", t.mode = DXP_BRIDGE_SEQUENTIAL + 1);
	REFUSED(DXP_EINVAL, "`to`", t.to = NULL);
	REFUSED(DXP_EINVAL, "`from`", t.path = DXP_BRIDGE_TO_DEVICE; t.from = NULL);
	REFUSED(DXP_EINVAL, "`from`", t.path = DXP_BRIDGE_THROUGH; t.from = NULL);
	REFUSED(DXP_EINVAL, "`to`", t.path = DXP_BRIDGE_THROUGH; t.to = NULL);
	REFUSED(DXP_EINVAL, "exceeds the address space", t.bytes = UINT64_MAX);
	REFUSED(DXP_ERANGE, "`device_from`", t.device_from = FAKE_MEMORY_BYTES - 8191);
	REFUSED(DXP_ERANGE, "xpu1", t.device_from = UINT64_MAX);
	REFUSED(DXP_ERANGE, "`device_from`", t.bytes = 0; t.device_from = FAKE_MEMORY_BYTES + 1);
	REFUSED(DXP_ERANGE, "`device_to`", t.path = DXP_BRIDGE_TO_DEVICE;
		t.device_to = FAKE_MEMORY_BYTES - 8191);
	REFUSED(DXP_EINVAL, "4096 to 1048576", t.piece_bytes = 4095);
	REFUSED(DXP_EINVAL, "`piece_bytes`", t.piece_bytes = (1u << 20) + 1);
	REFUSED(DXP_EINVAL, "overlap", t.path = DXP_BRIDGE_THROUGH; t.from = w->to + 8191);
	REFUSED(DXP_EINVAL, "overlap", t.path = DXP_BRIDGE_THROUGH; t.to = w->from + 1);
	REFUSED(DXP_EINVAL, "`peer`", t.peer = w->two);
	REFUSED(DXP_EINVAL, "`peer`", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE);
	REFUSED(DXP_EINVAL, "itself", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE; t.peer = w->one);
	REFUSED(DXP_ERANGE, "xpu2", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE; t.peer = w->two;
		t.device_from = FAKE_MEMORY_BYTES - 8191);
	REFUSED(DXP_ERANGE, "xpu1", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE; t.peer = w->two;
		t.device_to = FAKE_MEMORY_BYTES - 8191);
	REFUSED(DXP_ENOENT, "unknown", dxp_event gone = 77; t.wait = &gone; t.wait_count = 1);
	REFUSED(DXP_EINVAL, "the list is NULL", t.wait_count = 1);
	all_paths(w, 4096, DXP_BRIDGE_PIPELINED, 0);
}

static void start__peer_of_another_fabric(void **state)
{
	struct world *w = *state;
	const struct dxp_fabric_options options = {.directory = fake_fabric_folder(w->fake),
						   .name = "other"};
	struct dxp_fabric *other;
	struct dxp_xpu *peer;

	ok(dxp_fabric_open(&options, &other));
	ok(dxp_xpu_open(other, "xpu2", &peer));
	REFUSED(DXP_EINVAL, "different fabrics", t.path = DXP_BRIDGE_DEVICE_TO_DEVICE;
		t.peer = peer);
	dxp_xpu_close(peer);
	dxp_fabric_close(other);
}

static void pieces_await(struct world *w, unsigned count)
{
	const struct timespec pause = {.tv_nsec = MS_NS};
	uint64_t until = clock_now_ns() + WAIT_NS;

	while (fake_xpu_pieces(w->fake, 0) < count) {
		if (clock_now_ns() > until)
			fail_msg("%u pieces in %llu s", fake_xpu_pieces(w->fake, 0),
				 (unsigned long long)(WAIT_NS / S_NS));
		nanosleep(&pause, NULL);
	}
}

/* The xPU reads all of the memory without another call of the program. */
static void start__while_the_program_computes(void **state)
{
	struct world *w = *state;
	struct dxp_bridge_transfer t = in(w, DATA_BYTES);

	t.piece_bytes = 64u << 10;
	struct dxp_bridge *b = start(w, &t);
	pieces_await(w, DATA_BYTES / t.piece_bytes);
	assert_memory_equal(fake_xpu_memory(w->fake, 0), w->from, DATA_BYTES);
	ok(dxp_bridge_wait(b, WAIT_NS, NULL));
}

static void start__100_at_once(void **state)
{
	enum { COUNT = 100, BYTES = 65537 };
	struct world *w = *state;
	struct dxp_bridge *b[COUNT];

	for (int i = 0; i < COUNT; i++) {
		struct dxp_bridge_transfer t = in(w, BYTES);
		t.from = w->from + i * 1001;
		t.device_to = (uint64_t)i * BYTES;
		b[i] = start(w, &t);
	}
	for (int i = COUNT; i-- > 0;)
		ok(dxp_bridge_wait(b[i], WAIT_NS, NULL));
	for (int i = 0; i < COUNT; i++)
		assert_memory_equal(fake_xpu_memory(w->fake, 0) + i * BYTES, w->from + i * 1001,
				    BYTES);
}

struct mover {
	struct world *w;
	uint32_t index;
};

static void *move_often(void *context)
{
	const struct mover *m = context;
	uint8_t *back = malloc(300000);
	uint64_t offset = m->index * 1000000ull;
	struct dxp_bridge_transfer t = {.from = m->w->from + m->index,
					.to = back,
					.device_to = offset,
					.device_from = offset,
					.bytes = 299999};

	for (int i = 0; i < 10; i++) {
		t.path = DXP_BRIDGE_TO_DEVICE;
		ok(dxp_bridge_move(m->w->one, &t, NULL));
		t.path = DXP_BRIDGE_FROM_DEVICE;
		ok(dxp_bridge_move(m->w->one, &t, NULL));
		assert_memory_equal(back, t.from, t.bytes);
	}
	free(back);
	return NULL;
}

static void move__from_threads(void **state)
{
	pthread_t threads[4];
	struct mover movers[4];

	for (uint32_t i = 0; i < ARRAY_COUNT(threads); i++) {
		movers[i] = (struct mover){*state, i};
		assert_int_equal(pthread_create(&threads[i], NULL, move_often, &movers[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}

static void wait__not_yet(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = in(w, DATA_BYTES);

	atomic_store(&fake_xpu_faults(w->fake, 0)->hold_after, 2);
	struct dxp_bridge *b = start(w, &t);
	pieces_await(w, 2);
	assert_int_equal(dxp_bridge_wait(b, MS_NS, NULL), DXP_ETIMEDOUT);
	has_text("not complete yet");
	assert_int_equal(dxp_bridge_wait(b, 0, NULL), DXP_ETIMEDOUT);
	atomic_store(&fake_xpu_faults(w->fake, 0)->hold_after, 0);
	ok(dxp_bridge_wait(b, WAIT_NS, NULL));
	assert_memory_equal(fake_xpu_memory(w->fake, 0), w->from, DATA_BYTES);
}

static void fails(struct world *w, int fault, int status, const char *part)
{
	const struct dxp_bridge_transfer t = in(w, DATA_BYTES);
	struct fake_bridge_faults *faults = fake_xpu_faults(w->fake, 0);

	atomic_store(&faults->fail_status, fault);
	atomic_store(&faults->fail_after, 3);
	assert_int_equal(dxp_bridge_move(w->one, &t, NULL), status);
	has_text(part);
	has_text("xpu1");
	atomic_store(&faults->fail_after, 0);
	all_paths(w, 65537, DXP_BRIDGE_PIPELINED, 0);
}

static void move__device_fails(void **state)
{
	fails(*state, DXP_EDEVICE, DXP_EDEVICE, "device");
	/* ETIMEDOUT of the xPU becomes EDEVICE, because from dxp_bridge_wait it means that the
	 * transfer continues. */
	fails(*state, DXP_ETIMEDOUT, DXP_EDEVICE, "stalled");
	fails(*state, DXP_EPEERLOST, DXP_EPEERLOST, "this host");
	fails(*state, DXP_ERANGE, DXP_ERANGE, "dxp_mem_alloc()");
}

/* After a failed transfer, memory is not registered, so later writes of the xPU do not reach it. */
static void move__xpu_goes_on_after_the_end(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_FROM_DEVICE, .to = w->to, .bytes = DATA_BYTES};

	memset(fake_xpu_memory(w->fake, 0), 0x77, DATA_BYTES);
	atomic_store(&fake_xpu_faults(w->fake, 0)->lie_after, 3);
	assert_int_equal(dxp_bridge_move(w->one, &t, NULL), DXP_EDEVICE);
	memset(w->to, 0, DATA_BYTES);
	pieces_await(w, 4);
	for (uint32_t i = 0; i < DATA_BYTES; i++)
		assert_int_equal(w->to[i], 0);
}

static void move__xpu_dies(void **state)
{
	struct world *w = *state;
	struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_THROUGH, .from = w->from, .to = w->to, .bytes = DATA_BYTES};

	atomic_store(&fake_xpu_faults(w->fake, 0)->freeze_after, 4);
	assert_int_equal(dxp_bridge_move(w->one, &t, NULL), DXP_EPEERLOST);
	has_text("xpu1");
	refused(w, &t, DXP_EPEERLOST, "xpu1");
	ok(dxp_core_set(w->two, DXP_CORE_ADD, OPERAND));
	ok(dxp_bridge_move(w->two, &t, NULL));
	assert_added(w->from, w->to, DATA_BYTES);
}

static void move__peer_dies(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_DEVICE_TO_DEVICE, .peer = w->two, .bytes = DATA_BYTES};

	fake_xpu_freeze(w->fake, 1);
	assert_int_equal(dxp_bridge_move(w->one, &t, NULL), DXP_EPEERLOST);
	has_text("xpu2");
	all_paths(w, 65537, DXP_BRIDGE_PIPELINED, 0);
}

/* Handles stay valid when xPU and fabric close. */
static void close__with_transfers(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = in(w, DATA_BYTES);
	struct dxp_bridge *b[3];

	b[0] = start(w, &t);
	pieces_await(w, DATA_BYTES / (256u << 10));
	/* The last piece has started. */
	for (int i = 0; i < 10000 && dxp_event_done(w->fabric, dxp_bridge_event(b[0])) != 1; i++)
		usleep(1000);
	assert_int_equal(dxp_event_done(w->fabric, dxp_bridge_event(b[0])), 1);
	atomic_store(&fake_xpu_faults(w->fake, 0)->hold_after, 2);
	b[1] = start(w, &t);
	b[2] = start(w, &t);
	dxp_xpu_close(w->one);
	assert_int_equal(dxp_bridge_wait(b[2], WAIT_NS, NULL), DXP_ECLOSED);
	has_text("closed");
	dxp_xpu_close(w->two);
	dxp_fabric_close(w->fabric);
	assert_int_equal(dxp_bridge_wait(b[1], WAIT_NS, NULL), DXP_ECLOSED);
	ok(dxp_bridge_wait(b[0], WAIT_NS, NULL));
	w->one = w->two = NULL;
	w->fabric = NULL;
}

static void *wait_long(void *bridge)
{
	return (void *)(intptr_t)dxp_bridge_wait(bridge, WAIT_NS, NULL);
}

static void close__while_a_thread_waits(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = in(w, DATA_BYTES);
	pthread_t waiter;
	void *status;

	atomic_store(&fake_xpu_faults(w->fake, 0)->hold_after, 2);
	assert_int_equal(pthread_create(&waiter, NULL, wait_long, start(w, &t)), 0);
	pieces_await(w, 2);
	dxp_xpu_close(w->one);
	pthread_join(waiter, &status);
	assert_int_equal((intptr_t)status, DXP_ECLOSED);
	w->one = NULL;
}

static void event__in_wait_lists(void **state)
{
	struct world *w = *state;
	struct dxp_bridge_transfer first = in(w, DATA_BYTES), second;
	struct dxp_bridge *b = start(w, &first), *after;
	dxp_event event = dxp_bridge_event(b);

	second = (struct dxp_bridge_transfer){.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
					      .peer = w->one,
					      .device_to = 99,
					      .bytes = DATA_BYTES,
					      .wait = &event,
					      .wait_count = 1};
	ok(dxp_bridge_start(w->two, &second, &after));
	ok(dxp_bridge_wait(after, WAIT_NS, NULL));
	ok(dxp_bridge_wait(b, WAIT_NS, NULL));
	assert_memory_equal(fake_xpu_memory(w->fake, 1) + 99, w->from, DATA_BYTES);
}

static void event__waited_for_failed(void **state)
{
	struct world *w = *state;
	struct dxp_bridge_transfer first = in(w, DATA_BYTES), second = in(w, 1);
	struct fake_bridge_faults *faults = fake_xpu_faults(w->fake, 0);

	atomic_store(&faults->fail_status, DXP_EDEVICE);
	atomic_store(&faults->fail_after, 2);
	struct dxp_bridge *b = start(w, &first);
	dxp_event event = dxp_bridge_event(b);
	second.wait = &event;
	second.wait_count = 1;
	assert_int_equal(dxp_bridge_move(w->one, &second, NULL), DXP_ECANCELED);
	assert_int_equal(dxp_bridge_wait(b, WAIT_NS, NULL), DXP_EDEVICE);
}

/* More transfers than regions, so each, even if rejected, must release its own. */
static void move__nothing_is_kept(void **state)
{
	struct world *w = *state;
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_THROUGH, .from = w->from, .to = w->to, .bytes = 64};
	const struct dxp_bridge_transfer bad = {
		.path = DXP_BRIDGE_THROUGH, .from = w->from, .to = w->from + 1, .bytes = 64};

	for (int i = 0; i < NIC_REGIONS_MAX + 100; i++) {
		ok(dxp_bridge_move(w->one, &t, NULL));
		assert_int_equal(dxp_bridge_move(w->one, &bad, NULL), DXP_EINVAL);
	}
}

static void core__set_and_get(void **state)
{
	struct world *w = *state;
	const uint32_t sum[] = {0x89abcdef, 0x01234567};
	enum dxp_core core;
	uint32_t operand;
	uint64_t result;

	ok(dxp_core_set(w->one, DXP_CORE_CHECKSUM, 42));
	ok(dxp_reg_write(w->one, 46, sum, 2));
	ok(dxp_core_get(w->one, &core, &operand, &result));
	assert_int_equal(core, DXP_CORE_CHECKSUM);
	assert_int_equal(operand, 42);
	assert_int_equal(result, 0x0123456789abcdef);
	assert_int_equal(dxp_core_set(w->one, DXP_CORE_KERNEL + 1, 0), DXP_EINVAL);
	has_text("unknown core 4");
}

static void caps__of_the_bridge(void **state)
{
	struct world *w = *state;
	struct dxp_xpu_caps caps;

	ok(dxp_xpu_caps(w->one, &caps));
	assert_int_equal(caps.memory_kind, DXP_MEMORY_BRIDGED);
	assert_true(caps.streams);
	assert_int_equal(caps.buffers, 8);
	assert_int_equal(caps.buffer_bytes, 1u << 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(move__every_path),
		TEST(move__through_in_place),
		TEST(move__from_another_xpu),
		TEST(start__bad_input),
		TEST(start__peer_of_another_fabric),
		TEST(start__while_the_program_computes),
		TEST(start__100_at_once),
		TEST(move__from_threads),
		TEST(wait__not_yet),
		TEST(move__device_fails),
		TEST(move__xpu_goes_on_after_the_end),
		TEST(move__xpu_dies),
		TEST(move__peer_dies),
		TEST(close__with_transfers),
		TEST(close__while_a_thread_waits),
		TEST(event__in_wait_lists),
		TEST(event__waited_for_failed),
		TEST(move__nothing_is_kept),
		TEST(core__set_and_get),
		TEST(caps__of_the_bridge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
