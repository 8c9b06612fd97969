/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory keys: no repeats, no predictions, and revoked keys, whose running requests keep the
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"

#define SECRETS (1u << 20)

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static struct nic *nic_of(uint64_t seed)
{
	static struct rng secrets;
	const struct nic_options o = {.node = 1,
				      .incarnation = 1,
				      .entropy = rng_entropy_rng,
				      .entropy_context = &secrets,
				      .token = token};
	struct nic *n;

	secrets.state = seed;
	assert_int_equal(nic_create(&o, &n), DXP_OK);
	return n;
}

/* Each of an index' 2^20 secrets is used once before one repeats; key 0 is never used. */
static void region__keys_do_not_repeat(void **state)
{
	static const uint32_t indices[] = {0, 1, NIC_REGIONS_MAX - 1};
	uint8_t *seen = malloc(SECRETS);
	struct nic *n = nic_of(1);

	assert_non_null(seen);
	for (uint32_t i = 0; i < ARRAY_COUNT(indices); i++) {
		/* so that the 32-bit count wraps */
		uint32_t generation = 0xfff00000;
		memset(seen, 0, SECRETS);
		for (uint32_t k = 0; k < SECRETS - (indices[i] == 0); k++) {
			uint32_t key = key_next(n, indices[i], &generation);
			assert_int_not_equal(key, 0);
			assert_int_equal(key % NIC_REGIONS_MAX, indices[i]);
			assert_false(seen[key / NIC_REGIONS_MAX]++);
		}
	}
	nic_destroy(n);
	free(seen);
}

/* Successive differences must be nearly all distinct; those of an affine, predictable permutation
 * are few. */
static void region__keys_reveal_nothing_of_the_next(void **state)
{
	enum { KEYS = 1000 };
	static uint8_t seen[SECRETS];
	struct nic *a = nic_of(1), *b = nic_of(2);
	uint32_t generation[3] = {0}, before = 0, equal = 0, repeated = 0;

	for (uint32_t k = 0; k < KEYS; k++) {
		uint32_t key = key_next(a, 5, &generation[0]) / NIC_REGIONS_MAX;
		equal += key == key_next(b, 5, &generation[1]) / NIC_REGIONS_MAX;
		equal += key == key_next(a, 6, &generation[2]) / NIC_REGIONS_MAX;
		repeated += seen[(key - before) % SECRETS]++ > 0;
		before = key;
	}
	assert_in_range(equal, 0, 3);
	assert_in_range(repeated, 0, 10);
	nic_destroy(a);
	nic_destroy(b);
}

static void region__rejects_what_makes_no_sense(void **state)
{
	static uint8_t memory[64];
	struct nic *n = nic_of(3);
	uint32_t key;

	assert_int_equal(nic_region_register(n, NIC_USERS, memory, 64, 0, &key), DXP_EINVAL);
	assert_int_equal(nic_region_register(n, 0, NULL, 64, 0, &key), DXP_EINVAL);
	assert_int_equal(nic_region_register(n, 0, memory, 0, 0, &key), DXP_EINVAL);
	assert_int_equal(nic_region_register(n, 0, memory, UINT64_MAX, 0, &key), DXP_EINVAL);
	assert_int_equal(nic_region_register(n, 0, memory, 64, 8, &key), DXP_EINVAL);
	assert_int_equal(nic_region_deregister(n, 0), DXP_ENOENT);
	assert_int_equal(nic_region_revoke(n, 0), DXP_ENOENT);
	assert_false(nic_region_busy(n, 0));
	nic_destroy(n);
}

static void region__is_found_by_its_key_and_function(void **state)
{
	static uint8_t memory[64];
	struct nic *n = nic_of(4);
	uint32_t key;

	assert_int_equal(nic_region_register(n, 2, memory, 64, NIC_LOCAL, &key), DXP_OK);
	assert_ptr_equal(region_find(&n->users[2], key)->base, memory);
	assert_null(region_find(&n->users[1], key));
	for (uint32_t bit = 0; bit < 32; bit++)
		assert_null(region_find(&n->users[2], key ^ 1u << bit));
	assert_int_equal(nic_region_deregister(n, key), DXP_OK);
	assert_null(region_find(&n->users[2], key));
	nic_destroy(n);
}

/* The entry is not reused before the last request has completed. */
static void region__revoked_waits_for_its_uses(void **state)
{
	static uint8_t memory[64];
	struct nic *n = nic_of(5);
	uint32_t key, other;

	assert_int_equal(nic_region_register(n, 0, memory, 64, NIC_REMOTE_READ, &key), DXP_OK);
	struct nic_region *region = region_find(&n->users[0], key);
	region->uses = 1;
	assert_int_equal(nic_region_deregister(n, key), DXP_EBUSY);
	assert_int_equal(nic_region_revoke(n, key), DXP_OK);
	assert_null(region_find(&n->users[0], key));
	assert_true(nic_region_busy(n, key));
	for (uint32_t i = 1; i < NIC_REGIONS_MAX; i++)
		assert_int_equal(nic_region_register(n, 0, memory, 64, 0, &other), DXP_OK);
	assert_int_equal(nic_region_register(n, 0, memory, 64, 0, &other), DXP_EBUSY);
	region->uses = 0;
	assert_false(nic_region_busy(n, key));
	assert_int_equal(nic_region_register(n, 0, memory, 64, 0, &other), DXP_OK);
	assert_ptr_equal(region_find(&n->users[0], other), region);
	assert_int_not_equal(other, key);
	assert_null(region_find(&n->users[0], key));
	nic_destroy(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(region__keys_do_not_repeat),
		cmocka_unit_test(region__keys_reveal_nothing_of_the_next),
		cmocka_unit_test(region__rejects_what_makes_no_sense),
		cmocka_unit_test(region__is_found_by_its_key_and_function),
		cmocka_unit_test(region__revoked_waits_for_its_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
