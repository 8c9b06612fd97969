/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that seals of program binaries detect any change. */
#include "engine/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#define BINARY_BYTES 100

static struct mac *own, *other;

static int keys_open(void **state)
{
	const uint8_t a[FABRIC_KEY_BYTES] = {1}, b[FABRIC_KEY_BYTES] = {2};

	return mac_create(a, &own) == DXP_OK && mac_create(b, &other) == DXP_OK ? 0 : -1;
}

static int keys_close(void **state)
{
	mac_destroy(own);
	mac_destroy(other);
	return 0;
}

/* The caller frees them. */
static uint8_t *sealed_make(size_t bytes)
{
	uint8_t *data = malloc(bytes + SEAL_BYTES);

	assert_non_null(data);
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(3 * i);
	seal_make(own, data, bytes, data + bytes);
	return data;
}

static void seal__of_its_node_is_accepted(void **state)
{
	const size_t lengths[] = {0, 1, SEAL_BYTES, BINARY_BYTES};

	for (size_t i = 0; i < 4; i++) {
		size_t bytes = SIZE_MAX;
		uint8_t *data = sealed_make(lengths[i]);
		assert_null(seal_check(own, data, lengths[i] + SEAL_BYTES, &bytes));
		assert_int_equal(bytes, lengths[i]);
		assert_int_equal(seal_skip(data, lengths[i] + SEAL_BYTES), lengths[i]);
		free(data);
	}
}

static void seal__of_another_node_is_rejected(void **state)
{
	size_t bytes = 7;
	uint8_t *data = sealed_make(BINARY_BYTES);

	assert_non_null(seal_check(other, data, BINARY_BYTES + SEAL_BYTES, &bytes));
	assert_int_equal(bytes, 7);
	free(data);
}

static void seal__any_changed_bit_is_rejected(void **state)
{
	size_t bytes = 7;
	uint8_t *data = sealed_make(BINARY_BYTES);

	for (size_t bit = 0; bit < 8 * (BINARY_BYTES + SEAL_BYTES); bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_non_null(seal_check(own, data, BINARY_BYTES + SEAL_BYTES, &bytes));
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(bytes, 7);
	free(data);
}

static void seal__any_shorter_length_is_rejected(void **state)
{
	size_t bytes;
	uint8_t *data = sealed_make(BINARY_BYTES);

	for (size_t cut = 0; cut < BINARY_BYTES + SEAL_BYTES; cut++) {
		/* exact, so that a sanitizer detects reads behind it */
		uint8_t *copy = malloc(cut + 1);
		assert_non_null(copy);
		memcpy(copy, data, cut);
		assert_non_null(seal_check(own, copy, cut, &bytes));
		assert_int_equal(seal_skip(copy, cut), cut);
		free(copy);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seal__of_its_node_is_accepted),
		cmocka_unit_test(seal__of_another_node_is_rejected),
		cmocka_unit_test(seal__any_changed_bit_is_rejected),
		cmocka_unit_test(seal__any_shorter_length_is_rejected),
	};

	return cmocka_run_group_tests(tests, keys_open, keys_close);
}
