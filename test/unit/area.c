/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the lookup table of register mode: accepted entries, lookups, and revoked keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "nic/internal.h"

#define MEMORY 65536

struct rig {
	struct nic *nic;
	struct dxp_window *window;
	uint8_t memory[MEMORY];
	uint32_t key;
};

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static int rig_open(void **state)
{
	static struct rng secrets = {7};
	struct rig *r = calloc(1, sizeof(*r));
	struct nic_options o = {.node = 1,
				.incarnation = 1,
				.entropy = rng_entropy_rng,
				.entropy_context = &secrets,
				.token = token};

	r->window = aligned_alloc(4096, sizeof(*r->window));
	memset(r->window, 0, sizeof(*r->window));
	*state = r;
	if (nic_create(&o, &r->nic) != DXP_OK || nic_function_open(r->nic, 0, r->window) != DXP_OK)
		return -1;
	return nic_region_register(r->nic, 0, r->memory, MEMORY, NIC_LOCAL, &r->key);
}

static int rig_close(void **state)
{
	struct rig *r = *state;

	nic_destroy(r->nic);
	free(r->window);
	free(r);
	return 0;
}

static int add(struct rig *r, uint64_t vaddr, uint64_t bytes, uint64_t offset)
{
	struct nic_area area = {vaddr, bytes, offset, r->key};

	return nic_area_add(r->nic, 0, &area);
}

/* Returns an offset in the region, or UINT64_MAX. */
static uint64_t find(struct rig *r, uint64_t vaddr, uint64_t bytes)
{
	uint32_t key;
	uint64_t offset;

	if (area_find(&r->nic->users[0], vaddr, bytes, &key, &offset) != DXP_OK)
		return UINT64_MAX;
	assert_int_equal(key, r->key);
	return offset;
}

static void area__rejected(void **state)
{
	struct rig *r = *state;
	struct nic_area area = {0x1000, 16, 0, r->key ^ 0x100000};

	assert_int_equal(add(r, 0x1000, 0, 0), DXP_EINVAL);
	assert_int_equal(add(r, UINT64_MAX, 2, 0), DXP_EINVAL);
	assert_int_equal(add(r, 1, UINT64_MAX, 0), DXP_ERANGE);
	assert_int_equal(add(r, 0x1000, 1, MEMORY), DXP_ERANGE);
	assert_int_equal(add(r, 0x1000, 2, UINT64_MAX), DXP_ERANGE);
	assert_int_equal(add(r, 0x1000, MEMORY, 1), DXP_ERANGE);
	assert_int_equal(nic_area_add(r->nic, 0, &area), DXP_EACCESS);
	area.key = r->key;
	assert_int_equal(nic_area_add(r->nic, 1, &area), DXP_ENOENT); /* user 1 is not open */
	assert_int_equal(nic_area_add(r->nic, 8, &area), DXP_ENOENT);
	assert_int_equal(nic_areas(r->nic, 0, &area, 1), 0);
}

static void area__of_another_function(void **state)
{
	struct rig *r = *state;
	static _Alignas(4096) struct dxp_window window;
	struct nic_area area = {0x1000, 16, 0, r->key};

	assert_int_equal(nic_function_open(r->nic, 1, &window), DXP_OK);
	assert_int_equal(nic_area_add(r->nic, 1, &area), DXP_EACCESS);
}

static void area__overlaps(void **state)
{
	struct rig *r = *state;

	assert_int_equal(add(r, 0x1000, 0x1000, 0), DXP_OK);
	assert_int_equal(add(r, 0x1fff, 1, 0), DXP_EEXIST);
	assert_int_equal(add(r, 0xfff, 2, 0), DXP_EEXIST);
	assert_int_equal(add(r, 0, 0x8000, 0), DXP_EEXIST);
	assert_int_equal(add(r, 0x2000, 1, 0), DXP_OK);
	assert_int_equal(add(r, 0xfff, 1, 0), DXP_OK);
	assert_int_equal(add(r, UINT64_MAX - 15, 16, 0), DXP_OK);
	assert_int_equal(add(r, UINT64_MAX, 1, 0), DXP_EEXIST);
}

static void area__found_in_one_area(void **state)
{
	struct rig *r = *state;

	add(r, 0x1000, 0x1000, 0x100);
	add(r, 0x2000, 0x1000, 0x8000);
	add(r, UINT64_MAX - 15, 16, 0x40);
	assert_int_equal(find(r, 0x1000, 0x1000), 0x100);
	assert_int_equal(find(r, 0x1fff, 1), 0x10ff);
	assert_int_equal(find(r, 0x2000, 1), 0x8000);
	assert_int_equal(find(r, UINT64_MAX, 1), 0x4f);
	assert_true(find(r, 0xfff, 1) == UINT64_MAX);
	assert_true(find(r, 0x1fff, 2) == UINT64_MAX); /* crosses into the next area */
	assert_true(find(r, UINT64_MAX, 2) == UINT64_MAX);
	assert_true(find(r, 0x1800, UINT64_MAX) == UINT64_MAX);
	assert_true(find(r, 0x3000, 1) == UINT64_MAX);
}

static void area__goes_with_its_key(void **state)
{
	struct rig *r = *state;
	struct nic_area areas[NIC_AREAS_MAX];

	for (uint32_t i = 0; i < NIC_AREAS_MAX; i++)
		assert_int_equal(add(r, 0x1000 * (i + 1ull), 0x1000, 0), DXP_OK);
	assert_int_equal(add(r, 0x100000, 1, 0), DXP_EBUSY);
	assert_int_equal(nic_areas(r->nic, 0, areas, 3), 3);
	assert_int_equal(nic_areas(r->nic, 0, areas, NIC_AREAS_MAX), NIC_AREAS_MAX);
	assert_int_equal(areas[2].vaddr, 0x3000);
	assert_int_equal(nic_region_deregister(r->nic, r->key), DXP_OK);
	assert_true(find(r, 0x1000, 1) == UINT64_MAX);
	assert_int_equal(nic_areas(r->nic, 0, areas, NIC_AREAS_MAX), 0);
	assert_int_equal(nic_region_register(r->nic, 0, r->memory, MEMORY, NIC_LOCAL, &r->key),
			 DXP_OK);
	assert_int_equal(add(r, 0x1000, 0x1000, 0), DXP_OK);
	assert_int_equal(nic_areas(r->nic, 0, areas, NIC_AREAS_MAX), 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(area__rejected),          CASE(area__of_another_function),
		CASE(area__overlaps),          CASE(area__found_in_one_area),
		CASE(area__goes_with_its_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
