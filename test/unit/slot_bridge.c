/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests BRIDGE on boards and on an xPU with direct memory: data of the requesting host and of
 * another xPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "base/util.h"
#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define BUFFER  (64u << 10)
#define WAIT_NS DAEMONS_WAIT_NS
#define LARGE   (8 * BUFFER + 1)
#define WORDS   (LARGE / 4)

static struct daemons w;
static struct test_daemon boards, plain;
static struct dxp_xpu *one, *two, *direct;
static uint8_t *out, *in;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static uint64_t allocate(struct dxp_xpu *x, uint64_t bytes)
{
	uint64_t address;

	ok(dxp_mem_alloc(x, bytes, &address));
	return address;
}

static void noise(uint8_t *to, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
}

static void there_and_back(struct dxp_xpu *x, uint64_t bytes, enum dxp_bridge_mode mode,
			   uint32_t piece_bytes)
{
	uint64_t a = allocate(x, LARGE + 7);
	struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_TO_DEVICE,
					.mode = mode,
					.from = out + 1,
					.device_to = a + 7,
					.bytes = bytes,
					.piece_bytes = piece_bytes};

	noise(out, LARGE + 1, (uint32_t)bytes);
	memset(in, 0, LARGE + 7);
	ok(dxp_bridge_move(x, &t, NULL));
	ok(dxp_mem_read(x, in, a + 7, bytes));
	assert_memory_equal(in, out + 1, bytes);
	memset(in, 0, LARGE + 7);
	t = (struct dxp_bridge_transfer){.path = DXP_BRIDGE_FROM_DEVICE,
					 .mode = mode,
					 .to = in + 3,
					 .device_from = a + 7,
					 .bytes = bytes,
					 .piece_bytes = piece_bytes};
	ok(dxp_bridge_move(x, &t, NULL));
	assert_memory_equal(in + 3, out + 1, bytes);
	assert_true(in[0] == 0 && in[3 + bytes] == 0);
	ok(dxp_mem_free(x, a));
}

static void bridge__to_device_and_from_it(void **state)
{
	static const uint64_t sizes[] = {0, 1, 4097, BUFFER, BUFFER + 1, LARGE};
	struct dxp_xpu *const both[] = {one, direct};

	for (size_t k = 0; k < ARRAY_COUNT(both); k++)
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			there_and_back(both[k], sizes[i], DXP_BRIDGE_PIPELINED, 0);
			there_and_back(both[k], sizes[i], DXP_BRIDGE_SEQUENTIAL, 0);
			there_and_back(both[k], sizes[i], DXP_BRIDGE_PIPELINED, 4096);
		}
}

static void bridge__through_the_core(void **state)
{
	struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_THROUGH, .from = out, .to = in, .bytes = WORDS * 4};
	const uint32_t *from = (const uint32_t *)(const void *)out;
	const uint32_t *to = (const uint32_t *)(const void *)in;
	enum dxp_core core;
	uint32_t operand;
	uint64_t result, sum = 0;

	noise(out, LARGE, 3);
	ok(dxp_core_set(one, DXP_CORE_ADD, 1000));
	ok(dxp_bridge_move(one, &t, NULL));
	for (uint32_t i = 0; i < WORDS; i++) {
		assert_int_equal(to[i], from[i] + 1000);
		sum += from[i];
	}
	ok(dxp_core_set(one, DXP_CORE_CHECKSUM, 0));
	t.mode = DXP_BRIDGE_SEQUENTIAL;
	ok(dxp_bridge_move(one, &t, NULL));
	assert_memory_equal(in, out, WORDS * 4);
	ok(dxp_core_get(one, &core, &operand, &result));
	assert_true(core == DXP_CORE_CHECKSUM && result == sum);
	ok(dxp_core_set(one, DXP_CORE_PASS, 0));
	/* equal source and destination; an xPU without a core */
	noise(in, LARGE, 3);
	t.from = t.to;
	t.bytes = LARGE; /* not a multiple of a word */
	ok(dxp_bridge_move(one, &t, NULL));
	assert_memory_equal(in, out, LARGE);
	assert_int_equal(dxp_bridge_move(direct, &t, NULL), DXP_EUNSUPPORTED);
	assert_int_equal(dxp_core_set(direct, DXP_CORE_ADD, 1), DXP_EUNSUPPORTED);
}

static void pull_from(struct dxp_xpu *from, struct dxp_xpu *to)
{
	uint64_t a = allocate(from, LARGE), b = allocate(to, LARGE);
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
					      .peer = from,
					      .device_from = a + 1,
					      .device_to = b + 2,
					      .bytes = LARGE - 2};

	noise(out, LARGE, 9);
	ok(dxp_mem_write(from, a, out, LARGE));
	ok(dxp_bridge_move(to, &t, NULL));
	ok(dxp_mem_read(to, in, b + 2, LARGE - 2));
	assert_memory_equal(in, out + 1, LARGE - 2);
	ok(dxp_mem_free(from, a));
	ok(dxp_mem_free(to, b));
}

static void bridge__from_another_xpu(void **state)
{
	struct dxp_xpu *const all[] = {one, two, direct};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		for (size_t k = 0; k < ARRAY_COUNT(all); k++)
			if (i != k)
				pull_from(all[i], all[k]);
}

/* Half of 200 transfers write; each other one waits for one and reads it back. */
static void bridge__a_hundred_at_once(void **state)
{
	enum { COUNT = 100, BYTES = 40000 };
	struct dxp_bridge *to[COUNT], *from[COUNT];
	struct dxp_xpu *const both[] = {one, direct};

	for (size_t k = 0; k < ARRAY_COUNT(both); k++) {
		uint64_t a = allocate(both[k], COUNT * BYTES);
		noise(out, COUNT * BYTES, 77);
		memset(in, 0, COUNT * BYTES);
		for (uint64_t i = 0; i < COUNT; i++) {
			struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_TO_DEVICE,
							.from = out + i * BYTES,
							.device_to = a + i * BYTES,
							.bytes = BYTES};
			ok(dxp_bridge_start(both[k], &t, &to[i]));
			dxp_event after = dxp_bridge_event(to[i]);
			t = (struct dxp_bridge_transfer){.path = DXP_BRIDGE_FROM_DEVICE,
							 .to = in + i * BYTES,
							 .device_from = a + i * BYTES,
							 .bytes = BYTES,
							 .wait = &after,
							 .wait_count = 1};
			ok(dxp_bridge_start(both[k], &t, &from[i]));
		}
		for (int i = 0; i < COUNT; i++) {
			ok(dxp_bridge_wait(to[i], WAIT_NS, NULL));
			ok(dxp_bridge_wait(from[i], WAIT_NS, NULL));
		}
		assert_memory_equal(in, out, COUNT * BYTES);
		ok(dxp_mem_free(both[k], a));
	}
}

/* An xPU has as many reads outstanding as it may, and no more (S-06). */
static void bridge__reads_at_once(void **state)
{
	static const uint32_t reads[] = {1, 2, 0};
	char name[160];

	snprintf(name, sizeof(name), "board:%s/plain.board", w.folder);
	for (size_t i = 0; i < ARRAY_COUNT(reads); i++) {
		struct daemon_options options = {.slots = 1,
						 .first = 4,
						 .engine = name,
						 .buffers = 4,
						 .buffer_bytes = BUFFER,
						 .reads = reads[i]};
		struct test_daemon d = {0};
		struct bridged_state after;
		ok(test_daemon_open(&w, &d, &options));
		struct dxp_xpu *x = daemons_xpu(w.fabric, "xpu4");
		there_and_back(x, LARGE, DXP_BRIDGE_PIPELINED, 4096);
		dxp_xpu_close(x);
		test_daemon_rest(&d);
		slot_bridged_state(daemon_slot(d.daemon, 0), &after);
		assert_int_equal(after.reads_most, reads[i] ? reads[i] : options.buffers);
		test_daemon_close(&d);
		options.reads = options.buffers + 1;
		assert_int_equal(test_daemon_open(&w, &d, &options), DXP_EINVAL);
	}
}

/* A transfer reaches neither memory of another host nor unallocated memory. */
static void bridge__hosts_are_kept_apart(void **state)
{
	struct dxp_fabric *other;
	uint64_t own = allocate(one, LARGE);
	struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_TO_DEVICE, .from = out, .device_to = own, .bytes = 4096};

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "other"},
			   &other));
	struct dxp_xpu *x = daemons_xpu(other, "xpu1");
	noise(out, LARGE, 1);
	assert_int_equal(dxp_bridge_move(x, &t, NULL), DXP_ERANGE);
	t = (struct dxp_bridge_transfer){
		.path = DXP_BRIDGE_FROM_DEVICE, .to = in, .device_from = own, .bytes = 4096};
	assert_int_equal(dxp_bridge_move(x, &t, NULL), DXP_ERANGE);
	t.bytes = LARGE;
	memset(in, 0xff, LARGE);
	ok(dxp_bridge_move(one, &t, NULL));
	for (uint32_t i = 0; i < LARGE; i++)
		assert_int_equal(in[i], 0);
	t.device_from = DAEMONS_MEMORY - 4095;
	t.bytes = 4096;
	assert_int_equal(dxp_bridge_move(one, &t, NULL), DXP_ERANGE);
	dxp_xpu_close(x);
	dxp_fabric_close(other);
	ok(dxp_mem_free(one, own));
}

/* Transfers of other hosts continue. */
static void bridge__host_leaves(void **state)
{
	enum { COUNT = 40, BYTES = 400000 };
	struct dxp_fabric *other;
	struct dxp_bridge *all[COUNT];
	struct dxp_xpu_caps before, after;

	ok(dxp_xpu_caps(one, &before));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "leaver"},
			   &other));
	struct dxp_xpu *x = daemons_xpu(other, "xpu1");
	uint64_t a = allocate(x, BYTES);
	for (int i = 0; i < COUNT; i++) {
		struct dxp_bridge_transfer t = {.path = i % 2 ? DXP_BRIDGE_FROM_DEVICE
							      : DXP_BRIDGE_TO_DEVICE,
						.from = i % 2 ? NULL : out,
						.to = i % 2 ? in : NULL,
						.device_to = i % 2 ? 0 : a,
						.device_from = i % 2 ? a : 0,
						.bytes = BYTES};
		ok(dxp_bridge_start(x, &t, &all[i]));
	}
	dxp_xpu_close(x);
	for (int i = 0; i < COUNT; i++)
		assert_int_not_equal(dxp_bridge_wait(all[i], 0, NULL), DXP_ETIMEDOUT);
	dxp_fabric_close(other);
	there_and_back(one, LARGE, DXP_BRIDGE_PIPELINED, 0);
	ok(dxp_xpu_caps(one, &after));
	assert_int_equal(after.free_bytes, before.free_bytes);
}

static int world_open(void **state)
{
	char name[160];
	const struct daemon_options none = {.slots = 1, .first = 3, .engine = "none"};
	const struct daemon_options board = {
		.slots = 2, .first = 1, .engine = name, .buffers = 4, .buffer_bytes = BUFFER};

	out = calloc(1, DAEMONS_MEMORY);
	in = calloc(1, DAEMONS_MEMORY);
	daemons_begin(&w);
	daemons_file(&w, "plain.board", "preset = fast\ncompute = none\n");
	snprintf(name, sizeof(name), "board:%s/plain.board", w.folder);
	ok(test_daemon_open(&w, &boards, &board));
	ok(test_daemon_open(&w, &plain, &none));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	one = daemons_xpu(w.fabric, "xpu1");
	two = daemons_xpu(w.fabric, "xpu2");
	direct = daemons_xpu(w.fabric, "xpu3");
	return 0;
}

static int world_close(void **state)
{
	dxp_xpu_close(one);
	dxp_xpu_close(two);
	dxp_xpu_close(direct);
	dxp_fabric_close(w.fabric);
	test_daemon_rest(&boards);
	test_daemon_close(&boards);
	test_daemon_close(&plain);
	free(in);
	free(out);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge__to_device_and_from_it),
		cmocka_unit_test(bridge__through_the_core),
		cmocka_unit_test(bridge__from_another_xpu),
		cmocka_unit_test(bridge__a_hundred_at_once),
		cmocka_unit_test(bridge__reads_at_once),
		cmocka_unit_test(bridge__hosts_are_kept_apart),
		cmocka_unit_test(bridge__host_leaves),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
