/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the measurement of buffer sizes: a rate for each, and unchanged device memory. */
#include "test/unit/pump_rig.h"

#include "engine/limits.h"

static struct device *device;

static int setup(void **state)
{
	device = device_open();
	mapped_bytes = 0;
	return 0;
}

static int teardown(void **state)
{
	device_close(device);
	assert_int_equal(mapped_bytes, 0);
	return 0;
}

static void pump_measure__leaves_memory_as_it_was(void **state)
{
	uint8_t *expected = __real_malloc(DEVICE_BYTES);
	struct bridge_rate rows[16];
	int64_t before = mapped_bytes;

	fill(device->memory, DEVICE_BYTES, 6);
	memcpy(expected, device->memory, DEVICE_BYTES);
	size_t n = pump_measure(&device->engine, DEVICE_BYTES, 20 * MS_NS, rows, 16);
	assert_int_equal(n, 9); /* 16 KiB, 32 KiB, ..., 4 MiB */
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].buffer_bytes, 16384u << i);
		assert_true(rows[i].in_bytes_per_s > 0 && rows[i].out_bytes_per_s > 0);
	}
	assert_memory_equal(device->memory, expected, DEVICE_BYTES);
	assert_int_equal(mapped_bytes, before);
	assert_int_equal(pump_measure(&device->engine, 16383, MS_NS, rows, 16), 0);
	assert_int_equal(pump_measure(&device->engine, DEVICE_BYTES, MS_NS, rows, 2), 2);
	device->fail_at = device->started + 1;
	assert_int_equal(pump_measure(&device->engine, DEVICE_BYTES, MS_NS, rows, 16), 0);
	device->fail_at = device->started + 3;
	assert_int_equal(pump_measure(&device->engine, DEVICE_BYTES, MS_NS, rows, 16), 0);
	assert_memory_equal(device->memory, expected, DEVICE_BYTES);
	assert_int_equal(mapped_bytes, before);
	free(expected);
}

/* Sizes that take seconds are skipped, so that a start is quick. */
static void pump_measure__a_slow_device(void **state)
{
	uint8_t *expected = __real_malloc(DEVICE_BYTES);
	struct bridge_rate rows[16];

	fill(device->memory, DEVICE_BYTES, 7);
	memcpy(expected, device->memory, DEVICE_BYTES);
	device->slow_above = 65536;
	size_t n = pump_measure(&device->engine, DEVICE_BYTES, MS_NS, rows, 16);
	device->slow_above = 0;
	/* of 9 sizes, those from 128 KiB on would take seconds */
	assert_in_range(n, 2, 6);
	assert_memory_equal(device->memory, expected, DEVICE_BYTES);
	free(expected);
}

static void pump_create__measures(void **state)
{
	struct pump_options o = {.engine = &device->engine, .memory_bytes = DEVICE_BYTES};
	struct pump *p = NULL;

	assert_int_equal(pump_create(&o, &p), DXP_OK);
	assert_true(bridge_buffer_bytes(pump_bridge(p)) >= 16384);
	assert_true(bridge_buffer_bytes(pump_bridge(p)) <= DEVICE_BYTES);
	pump_destroy(p, DXP_ECLOSED);
	o.memory_bytes = 0;
	assert_int_equal(pump_create(&o, &p), DXP_OK);
	assert_int_equal(bridge_buffer_bytes(pump_bridge(p)), PUMP_BUFFER_BYTES);
	pump_destroy(p, DXP_ECLOSED);
}

/* The network needs PUMP_BUFFER_BYTES, even if DMA is as fast with less. */
static void pump_choose__no_less_than_the_network_needs(void **state)
{
	static const struct bridge_rate rows[] = {
		{65536, 9000, 9000},
		{PUMP_BUFFER_BYTES / 2, 9000, 9000},
		{PUMP_BUFFER_BYTES, 8000, 8000},
		{2 * PUMP_BUFFER_BYTES, 9001, 9001},
	};
	static const struct bridge_rate slow_short[] = {
		{PUMP_BUFFER_BYTES, 10, 10},
		{2 * PUMP_BUFFER_BYTES, 9000, 9000},
	};

	(void)state;
	assert_int_equal(pump_choose(rows, 4), 2);
	/* if all are too short, the longest */
	assert_int_equal(pump_choose(rows, 2), 1);
	assert_int_equal(pump_choose(slow_short, 2), 1);
	assert_int_equal(pump_choose(rows, 0), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pump_measure__leaves_memory_as_it_was),
		CASE(pump_measure__a_slow_device),
		CASE(pump_create__measures),
		cmocka_unit_test(pump_choose__no_less_than_the_network_needs),
	};

	return cmocka_run_group_tests_name("pump_measure", tests, NULL, NULL);
}
