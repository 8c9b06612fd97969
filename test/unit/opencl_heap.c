/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests allocation of device memory in blocks, against the owner of every byte, and large parts of
 * a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plugins/opencl/node/blocks.h"
#include "plugins/opencl/node/device.h"
#include "test/support/opencl/fake_fabric.h"

const cl_icd_dispatch opencl_dispatch;

#define PART   (1u << 16)
#define OWNERS 200

struct owner {
	uint64_t offset, bytes;
};

static void model_allocate(uint8_t *owned, uint64_t offset, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		assert_int_equal(owned[offset + i], 0);
		owned[offset + i] = 1;
	}
}

static bool model_has(const uint8_t *owned, uint64_t bytes, uint32_t align)
{
	uint64_t rounded = (bytes + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;

	for (uint64_t at = 0; at + rounded <= PART; at += align)
		if (!memchr(owned + at, 1, rounded))
			return true;
	return false;
}

static void blocks__random_against_a_model(void **state)
{
	static uint8_t owned[PART];
	struct owner owners[OWNERS] = {0};
	struct blocks b;
	struct rng rng = {.state = 7};

	assert_true(blocks_create(&b, PART));
	for (int i = 0; i < 20000; i++) {
		struct owner *o = &owners[rng_below(&rng, OWNERS)];
		if (o->bytes) {
			assert_true(blocks_give(&b, o->offset));
			uint64_t rounded = (o->bytes + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
			memset(owned + o->offset, 0, rounded);
			assert_false(blocks_give(&b, o->offset));
			o->bytes = 0;
			continue;
		}
		uint64_t bytes = 1 + rng_below(&rng, rng_below(&rng, 8) ? 900 : 9000);
		uint32_t align = BLOCK_UNIT << rng_below(&rng, 4);
		bool could = model_has(owned, bytes, align);
		bool did = blocks_allocate(&b, bytes, align, &o->offset);
		assert_int_equal(did, could);
		if (!did)
			continue;
		o->bytes = bytes;
		assert_int_equal(o->offset % align, 0);
		model_allocate(owned, o->offset,
			       (bytes + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT);
	}
	for (int i = 0; i < OWNERS; i++)
		if (owners[i].bytes)
			assert_true(blocks_give(&b, owners[i].offset));
	assert_true(blocks_unused(&b));
	uint64_t offset;
	assert_true(blocks_allocate(&b, PART, BLOCK_UNIT, &offset));
	blocks_destroy(&b);
}

static void blocks__rejects_what_was_not_allocated(void **state)
{
	struct blocks b;
	uint64_t offset = 1;

	assert_true(blocks_create(&b, PART));
	assert_false(blocks_allocate(&b, PART + 1, BLOCK_UNIT, &offset));
	assert_false(blocks_allocate(&b, UINT64_MAX, BLOCK_UNIT, &offset));
	assert_true(blocks_allocate(&b, 1000, BLOCK_UNIT, &offset));
	assert_false(blocks_give(&b, offset + 1));
	assert_false(blocks_give(&b, offset + BLOCK_UNIT));
	assert_false(blocks_give(&b, PART));
	assert_false(blocks_give(&b, UINT64_MAX - 127));
	assert_true(blocks_give(&b, offset));
	blocks_destroy(&b);
}

static cl_device_id device;

static int setup(void **state)
{
	cl_device_id *list = NULL;
	cl_uint count = 0;

	opencl_enter();
	assert_int_equal(devices_find(&list, &count), CL_SUCCESS);
	opencl_leave();
	device = list[0];
	return 0;
}

static uint64_t allocate(uint64_t bytes)
{
	uint64_t address = 0;

	opencl_enter();
	assert_int_equal(heap_allocate(device, bytes, &address), CL_SUCCESS);
	opencl_leave();
	return address;
}

static void give(uint64_t address)
{
	opencl_enter();
	heap_give(device, device->generation, address);
	opencl_leave();
}

static void heap__small_ones_cost_no_message(void **state)
{
	uint64_t first = allocate(100);
	uint32_t calls = fake_alloc_calls();

	for (int i = 0; i < 1000; i++) {
		uint64_t address = allocate(1 + (uint64_t)i);
		assert_int_equal(address % 128, 0);
		give(address);
	}
	assert_int_equal(fake_alloc_calls(), calls);
	give(first);
}

static void heap__large_ones_are_used_again(void **state)
{
	uint64_t a = allocate(3u << 19);
	uint32_t calls = fake_alloc_calls();

	give(a);
	assert_int_equal(allocate(3u << 19), a);
	give(a);
	assert_int_equal(fake_alloc_calls(), calls);
}

/* After all blocks are freed, at most a sixteenth of the node's 32 MiB and one part stay allocated
 * on the node. */
static void heap__gives_back(void **state)
{
	uint64_t at[6];

	for (int i = 0; i < 6; i++)
		at[i] = allocate(4u << 20);
	assert_true(fake_allocated(0) >= 24u << 20);
	for (int i = 0; i < 6; i++)
		give(at[i]);
	assert_true(fake_allocated(0) <= (32u << 20) / 16 + (4u << 20));
}

/* Unused parts are freed before a node counts as full; small blocks use the rest. */
static void heap__full_node(void **state)
{
	uint64_t kept = allocate(2u << 20), address;

	give(kept);
	uint64_t most = allocate(31u << 20);
	uint64_t small = allocate(1000);
	opencl_enter();
	assert_int_equal(heap_allocate(device, 2u << 20, &address),
			 CL_MEM_OBJECT_ALLOCATION_FAILURE);
	assert_int_equal(heap_allocate(device, UINT64_MAX, &address),
			 CL_MEM_OBJECT_ALLOCATION_FAILURE);
	opencl_leave();
	give(small);
	give(most);
}

static void heap__after_a_loss(void **state)
{
	uint64_t address = allocate(1000);
	uint32_t generation = device->generation;

	fake_lose(0);
	opencl_enter();
	device_judge(device, DXP_EPEERLOST);
	assert_int_equal(heap_allocate(device, 1000, &address), CL_DEVICE_NOT_AVAILABLE);
	heap_give(device, generation, address);
	opencl_leave();
	fake_return(0);
	device->retry_ns = 0;
	uint64_t again = allocate(1000);
	assert_int_equal(device->generation, generation + 1);
	/* no effect, as the address is of an earlier generation */
	opencl_enter();
	heap_give(device, generation, again);
	opencl_leave();
	assert_int_not_equal(allocate(1000), again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks__random_against_a_model),
		cmocka_unit_test(blocks__rejects_what_was_not_allocated),
		cmocka_unit_test_setup(heap__small_ones_cost_no_message, setup),
		cmocka_unit_test_setup(heap__large_ones_are_used_again, setup),
		cmocka_unit_test_setup(heap__gives_back, setup),
		cmocka_unit_test_setup(heap__full_node, setup),
		cmocka_unit_test_setup(heap__after_a_loss, setup),
	};

	fake_node(32u << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
