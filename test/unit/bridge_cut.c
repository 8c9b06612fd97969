/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how transfers are cut into pieces, and which buffer size is chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "bridge/cut.h"
#include "bridge/tune.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

struct pieces {
	uint64_t count, bytes;
	uint32_t first, longest, last;
};

static struct pieces cut_all(const struct cut *c)
{
	struct pieces p = {0};

	while (p.bytes < c->bytes) {
		p.last = cut_next(c, p.bytes);
		assert_true(p.last > 0 && p.last <= c->piece);
		assert_true(p.bytes + p.last == c->bytes || p.last % 64 == 0);
		p.first = p.first ? p.first : p.last;
		p.longest = p.last > p.longest ? p.last : p.longest;
		p.bytes += p.last;
		p.count++;
	}
	assert_int_equal(p.bytes, c->bytes);
	return p;
}

static void cut_chosen__table(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t most;
		uint64_t count_least, count_most;
		uint32_t longest_least, longest_most;
	} rows[] = {
		{1, 1 << 20, 1, 1, 1, 1},
		{4096, 4096, 1, 1, 4096, 4096},
		{4097, 4096, 2, 2, 4096, 4096},
		{16 * KIB, 1 << 20, 1, 1, 16384, 16384},
		{16 * KIB + 1, 1 << 20, 1, 2, 8192, 20480},
		{64 * KIB, 1 << 20, 3, 4, 16384, 24576},
		{1 * MIB, 1 << 20, 7, 16, 96 << 10, 184 << 10},
		{32 * MIB, 16 << 20, 32, 48, 1 << 20, 1 << 20},
		{32 * MIB, 64 << 10, 512, 520, 64 << 10, 64 << 10},
		{512 * MIB, 16 << 20, 128, 145, 4 << 20, 4 << 20},
		{1024 * MIB, 16 << 20, 180, 205, 5 << 20, 6 << 20},
		{1024 * MIB + 1, 8 << 20, 180, 205, 5 << 20, 6 << 20},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct cut c;
		cut_chosen(&c, rows[i].bytes, rows[i].most);
		struct pieces p = cut_all(&c);
		if (p.count < rows[i].count_least || p.count > rows[i].count_most ||
		    p.longest < rows[i].longest_least || p.longest > rows[i].longest_most)
			fail_msg("row %zu: %llu pieces of up to %u", i, (unsigned long long)p.count,
				 p.longest);
	}
}

static void cut_chosen__ends_are_short(void **state)
{
	struct cut c;

	for (uint64_t bytes = 4 * MIB; bytes <= 1024 * MIB; bytes = bytes * 3 / 2 + 1) {
		cut_chosen(&c, bytes, 16 << 20);
		struct pieces p = cut_all(&c);
		assert_true(p.first <= p.longest / 4);
		assert_true(p.last <= p.longest / 3);
	}
}

static void cut_chosen__every_length(void **state)
{
	struct cut c;

	for (uint64_t bytes = 1; bytes < 300000; bytes += bytes < 20000 ? 1 : 97) {
		for (uint32_t most = 4096; most <= 65536; most *= 4) {
			cut_chosen(&c, bytes, most);
			cut_all(&c);
			cut_even(&c, bytes, 0, most);
			cut_all(&c);
			cut_joined(&c, bytes, bytes + 100000, most);
			cut_all(&c);
		}
	}
}

static void cut_chosen__immense(void **state)
{
	struct cut c;

	cut_chosen(&c, UINT64_MAX, 16 << 20);
	assert_int_equal(c.piece, 16 << 20);
	assert_int_equal(cut_next(&c, 1ull << 60), 16 << 20);
	assert_int_equal(cut_next(&c, UINT64_MAX - 1), 1);
}

/* A joined transfer is cut like the middle of the whole. */
static void cut_joined__as_the_whole(void **state)
{
	struct cut whole, one;

	cut_chosen(&whole, 16 * MIB, 16 << 20);
	cut_joined(&one, MIB, 16 * MIB, 16 << 20);
	assert_int_equal(one.piece, whole.piece);
	struct pieces p = cut_all(&one);
	assert_int_equal(p.first, whole.piece);
	assert_int_equal(p.last, MIB - whole.piece);
	cut_joined(&one, MIB, UINT64_MAX, 64 << 10);
	assert_int_equal(cut_all(&one).count, 16);
}

static void cut_even__all_alike_but_the_last(void **state)
{
	struct cut c;

	cut_even(&c, 100001, 8192, 16384);
	struct pieces p = cut_all(&c);
	assert_int_equal(p.count, 13);
	assert_int_equal(p.first, 8192);
	assert_int_equal(p.last, 100001 - 12 * 8192);
	cut_even(&c, 1ull << 40, 0, 64 << 10);
	assert_int_equal(cut_next(&c, 0), 64 << 10);
	cut_even(&c, 32 * MIB, 0, 16 << 20);
	assert_int_equal(cut_next(&c, 0), 512 << 10);
}

static void bridge_sizes__of_the_table(void **state)
{
	uint32_t sizes[16];

	assert_int_equal(bridge_sizes(sizes, 16), 11);
	assert_int_equal(sizes[0], 16 << 10);
	assert_int_equal(sizes[10], 16 << 20);
	assert_int_equal(bridge_sizes(sizes, 3), 3);
}

static void bridge_choose__smallest_that_is_good(void **state)
{
	static const struct bridge_rate rows[] = {
		{16384, 0, 900},    {32768, 500, 500},    {65536, 960, 2000},
		{131072, 970, 971}, {262144, 1000, 1200}, {524288, 990, 3000},
	};
	size_t count = ARRAY_COUNT(rows);

	assert_int_equal(bridge_choose(rows, count, 0), 3);
	assert_int_equal(bridge_choose(rows, count, 96), 2);
	assert_int_equal(bridge_choose(rows, count, 100), 4);
	assert_int_equal(bridge_choose(rows, count, 1), 1);
	assert_int_equal(bridge_choose(rows, 1, 0), 1);
	assert_int_equal(bridge_choose(rows, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_chosen__table),
		cmocka_unit_test(cut_chosen__ends_are_short),
		cmocka_unit_test(cut_chosen__every_length),
		cmocka_unit_test(cut_chosen__immense),
		cmocka_unit_test(cut_joined__as_the_whole),
		cmocka_unit_test(cut_even__all_alike_but_the_last),
		cmocka_unit_test(bridge_sizes__of_the_table),
		cmocka_unit_test(bridge_choose__smallest_that_is_good),
	};

	return cmocka_run_group_tests_name("bridge_cut", tests, NULL, NULL);
}
