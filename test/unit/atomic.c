/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fetch-and-op: each operation, its rejections, and no lost update between two threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "nic/atomic.h"
#include "nic/window.h"

static void atomic__each_operation(void **state)
{
	const struct {
		uint8_t op;
		uint64_t value, operand, swap, after;
	} table[] = {
		{DXP_OP_FETCH_ADD, 5, 7, 0, 12},   {DXP_OP_FETCH_ADD, UINT64_MAX, 2, 0, 1},
		{DXP_OP_COMPARE_SWAP, 5, 5, 9, 9}, {DXP_OP_COMPARE_SWAP, 5, 6, 9, 5},
		{DXP_OP_FETCH_MIN, 5, 3, 0, 3},    {DXP_OP_FETCH_MIN, 1, 1ull << 63, 0, 1},
		{DXP_OP_FETCH_MAX, 5, 3, 0, 5},    {DXP_OP_FETCH_MAX, 1, 1ull << 63, 0, 1ull << 63},
		{DXP_OP_FETCH_AND, 12, 10, 0, 8},  {DXP_OP_FETCH_OR, 12, 10, 0, 14},
		{DXP_OP_FETCH_XOR, 12, 10, 0, 6},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t word[3] = {1, table[i].value, 2}, old = 0;
		assert_true(atomic_known(table[i].op));
		assert_int_equal(atomic_execute(table[i].op, (uint8_t *)&word[1], table[i].operand,
						table[i].swap, &old),
				 DXP_OK);
		assert_int_equal(old, table[i].value);
		assert_int_equal(word[1], table[i].after);
		assert_int_equal(word[0], 1);
		assert_int_equal(word[2], 2);
	}
}

static void atomic__others_change_nothing(void **state)
{
	for (int op = 0; op <= UINT8_MAX; op++) {
		uint64_t word[2] = {5, 6}, old = 99;
		bool known = op >= DXP_OP_FETCH_ADD && op <= DXP_OP_FETCH_XOR;
		assert_int_equal(atomic_known((uint8_t)op), known);
		if (!known)
			assert_int_equal(atomic_execute((uint8_t)op, (uint8_t *)word, 1, 1, &old),
					 DXP_EINVAL);
		for (int shift = 1; shift < 8; shift++)
			assert_int_equal(
				atomic_execute((uint8_t)op, (uint8_t *)word + shift, 1, 1, &old),
				DXP_EINVAL);
		assert_int_equal(old, 99);
		assert_int_equal(word[0], 5);
		assert_int_equal(word[1], 6);
	}
}

#define ROUNDS 100000

static void *adder(void *word)
{
	uint64_t done = 0;

	while (done < ROUNDS) {
		uint64_t old;
		done += atomic_execute(DXP_OP_FETCH_ADD, word, 1, 0, &old) == DXP_OK;
	}
	return NULL;
}

static void atomic__two_threads(void **state)
{
	uint64_t word = 0;
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, adder, &word), 0);
	adder(&word);
	pthread_join(other, NULL);
	assert_int_equal(word, 2 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomic__each_operation),
		cmocka_unit_test(atomic__others_change_nothing),
		cmocka_unit_test(atomic__two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
