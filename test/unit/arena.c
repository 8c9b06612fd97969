/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the allocator of device memory: owners, ranges, and memory that is freed while in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "xpu/arena.h"
#include "xpu/limits.h"

#define BYTES (1u << 20)
#define A     1
#define B     2

static struct arena *arena;

static int setup(void **state)
{
	return arena_create(BYTES, &arena);
}

static int teardown(void **state)
{
	arena_destroy(arena);
	return 0;
}

static void arena_alloc__aligned_and_apart(void **state)
{
	uint64_t a, b;

	assert_int_equal(arena_alloc(arena, A, 1, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, A, XPU_ALIGN + 1, &b), DXP_OK);
	assert_int_equal(a % XPU_ALIGN, 0);
	assert_int_equal(b, a + XPU_ALIGN);
	assert_int_equal(arena_free_bytes(arena), BYTES - 3 * XPU_ALIGN);
	memset(arena_base(arena) + b, 0xff, XPU_ALIGN + 1);
	arena_clear(arena, b, XPU_ALIGN + 1);
	for (int i = 0; i < XPU_ALIGN + 1; i++)
		assert_int_equal(arena_base(arena)[b + (uint64_t)i], 0);
}

static void arena_alloc__rejections(void **state)
{
	uint64_t a = 7;

	assert_int_equal(arena_alloc(arena, A, 0, &a), DXP_EINVAL);
	assert_int_equal(arena_alloc(arena, A, BYTES + 1, &a), DXP_ENOMEM);
	assert_int_equal(arena_alloc(arena, A, UINT64_MAX, &a), DXP_ENOMEM);
	assert_int_equal(a, 7);
	assert_int_equal(arena_alloc(arena, A, BYTES, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, A, 1, &a), DXP_ENOMEM);
	assert_int_equal(arena_free(arena, B, 0), DXP_ENOENT);
	assert_int_equal(arena_free(arena, A, 256), DXP_ENOENT);
	assert_int_equal(arena_free(arena, A, UINT64_MAX), DXP_ENOENT);
	assert_int_equal(arena_free(arena, A, 0), DXP_OK);
	assert_int_equal(arena_free(arena, A, 0), DXP_ENOENT);
}

/* Each allocation takes the same time; if it searched all others, this test would take seconds. */
static void arena_alloc__as_many_as_fit(void **state)
{
	const uint64_t many = 200000;
	struct arena *large;
	struct range reached;
	uint64_t a, bytes;

	assert_int_equal(arena_create((many + 2) * XPU_ALIGN, &large), DXP_OK);
	for (uint64_t i = 0; i < many; i++) {
		assert_int_equal(arena_alloc(large, A, 1, &a), DXP_OK);
		assert_int_equal(a, i * XPU_ALIGN);
		assert_int_equal(arena_owned_bytes(large, A), (i + 1) * XPU_ALIGN);
		assert_int_equal(arena_reach(large, A, true, a, 1, &reached), DXP_OK);
	}
	assert_int_equal(arena_reach(large, A, false, 0, many * XPU_ALIGN, &reached), DXP_OK);
	assert_true(reached.start == 0 && reached.end == many * XPU_ALIGN);
	assert_int_equal(arena_alloc(large, B, 1, &a), DXP_OK);
	for (uint64_t i = 0; i < many; i += 2)
		assert_int_equal(arena_free(large, A, i * XPU_ALIGN), DXP_OK);
	for (a = 0, bytes = 0; arena_next(large, A, &a, &bytes); a += bytes)
		assert_int_equal(a % (2 * XPU_ALIGN), XPU_ALIGN);
	/* Best fit; of several blocks of one size, the lowest address. */
	assert_int_equal(arena_alloc(large, B, 1, &a), DXP_OK);
	assert_int_equal(a, 0);
	arena_free_owner(large, A);
	assert_int_equal(arena_owned_bytes(large, A), 0);
	assert_int_equal(arena_owned_bytes(large, B), 2 * XPU_ALIGN);
	assert_int_equal(arena_free_bytes(large), arena_bytes(large) - 2 * XPU_ALIGN);
	arena_destroy(large);
}

static void arena_free__neighbours_join(void **state)
{
	uint64_t a[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(arena_alloc(arena, A, BYTES / 4, &a[i]), DXP_OK);
	arena_free(arena, A, a[0]);
	arena_free(arena, A, a[2]);
	assert_int_equal(arena_alloc(arena, B, BYTES / 2, &a[0]), DXP_ENOMEM);
	arena_free(arena, A, a[1]);
	assert_int_equal(arena_alloc(arena, B, 3 * (BYTES / 4), &a[0]), DXP_OK);
	arena_free(arena, A, a[3]);
	arena_free_owner(arena, B);
	assert_int_equal(arena_alloc(arena, A, BYTES, &a[0]), DXP_OK);
}

static void arena_hold__range_of_the_owner(void **state)
{
	uint64_t a, rest;

	arena_alloc(arena, A, 1000, &a);
	assert_int_equal(arena_hold(arena, A, a + 10, 900, &rest), DXP_OK);
	assert_int_equal(rest, 1000 - 10);
	arena_drop(arena, a + 10);
	assert_int_equal(arena_hold(arena, A, a + 999, 1, &rest), DXP_OK);
	assert_int_equal(rest, 1);
	arena_drop(arena, a + 999);
	assert_int_equal(arena_hold(arena, A, a + 1000, 0, &rest), DXP_ERANGE);
	assert_int_equal(arena_hold(arena, A, a + 1000, 24, NULL), DXP_OK);
	arena_drop(arena, a + 1000);
	assert_int_equal(arena_hold(arena, B, a, 1, NULL), DXP_ERANGE);
	assert_int_equal(arena_hold(arena, A, a, 1025, NULL), DXP_ERANGE);
	assert_int_equal(arena_hold(arena, A, a + 1024, 1, NULL), DXP_ERANGE);
	assert_int_equal(arena_hold(arena, A, BYTES, 0, NULL), DXP_ERANGE);
	assert_int_equal(arena_hold(arena, A, UINT64_MAX, 2, NULL), DXP_ERANGE);
}

static void arena_drop__gives_back_what_was_freed(void **state)
{
	uint64_t a, b;

	arena_alloc(arena, A, BYTES, &a);
	assert_int_equal(arena_hold(arena, A, a, 1, NULL), DXP_OK);
	assert_int_equal(arena_hold(arena, A, a + 5, 1, NULL), DXP_OK);
	assert_int_equal(arena_free(arena, A, a), DXP_OK);
	assert_int_equal(arena_free(arena, A, a), DXP_ENOENT);
	assert_int_equal(arena_hold(arena, A, a, 1, NULL), DXP_ERANGE);
	assert_int_equal(arena_alloc(arena, B, 1, &b), DXP_ENOMEM);
	arena_free_owner(arena, A);
	arena_drop(arena, a);
	assert_int_equal(arena_alloc(arena, B, 1, &b), DXP_ENOMEM);
	arena_drop(arena, a + 5);
	assert_int_equal(arena_free_bytes(arena), BYTES);
	assert_int_equal(arena_alloc(arena, B, 1, &b), DXP_OK);
}

/* Ranges never overlap; freeing everything leaves one block. */
static void arena__random(void **state)
{
	static uint8_t owner_of[BYTES / XPU_ALIGN];
	struct rng r = {getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1};
	struct {
		uint64_t address, units;
		uint16_t owner;
	} live[64] = {0};
	uint64_t address;

	print_message("DXP_SEED=%llu\n", (unsigned long long)r.state);
	for (int step = 0; step < 20000; step++) {
		uint32_t i = (uint32_t)rng_below(&r, 64);
		uint64_t bytes = 1 + rng_below(&r, 60000);
		if (live[i].units) {
			assert_int_equal(arena_free(arena, live[i].owner, live[i].address), DXP_OK);
			memset(owner_of + live[i].address / XPU_ALIGN, 0, live[i].units);
			live[i].units = 0;
		} else if (arena_alloc(arena, (uint16_t)(1 + i % 2), bytes, &address) == DXP_OK) {
			live[i].units = (bytes + XPU_ALIGN - 1) / XPU_ALIGN;
			live[i].address = address;
			live[i].owner = (uint16_t)(1 + i % 2);
			for (uint64_t k = 0; k < live[i].units; k++)
				assert_int_equal(owner_of[address / XPU_ALIGN + k]++, 0);
		}
	}
	arena_free_owner(arena, 1);
	arena_free_owner(arena, 2);
	assert_int_equal(arena_alloc(arena, A, BYTES, &address), DXP_OK);
}

/* After arena_unmap the arena manages addresses without memory of its own. It allocates, holds and
 * frees as before. */
static void arena_unmap__only_the_bytes_go(void **state)
{
	uint64_t a, b;

	arena_unmap(arena);
	assert_int_equal(arena_alloc(arena, 1, 1000, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, 1, 1000, &b), DXP_OK);
	assert_int_not_equal(a, b);
	assert_int_equal(arena_hold(arena, 1, a + 1, 999, NULL), DXP_OK);
	arena_drop(arena, a + 1);
	assert_int_equal(arena_free(arena, 1, a), DXP_OK);
	assert_int_equal(arena_free(arena, 1, b), DXP_OK);
}

static int reach(uint32_t owner, bool common, uint64_t address, uint64_t bytes, struct range *out)
{
	return arena_reach(arena, owner, common, address, bytes, out);
}

static void arena_reach__own_and_nobodys(void **state)
{
	struct range s;
	uint64_t a, b, c;

	assert_int_equal(arena_alloc(arena, A, 1024, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, B, 1024, &b), DXP_OK);
	assert_int_equal(arena_alloc(arena, A, 1024, &c), DXP_OK);
	assert_int_equal(reach(A, false, a, 1024, &s), DXP_OK);
	assert_true(s.start == a && s.end == b);
	assert_int_equal(reach(A, false, a + 1, 1024, &s), DXP_EACCESS);
	assert_int_equal(reach(A, true, b, 1, &s), DXP_EACCESS);
	assert_int_equal(reach(A, false, c + 1024, 1, &s), DXP_EACCESS);
	assert_int_equal(reach(A, true, c + 1000, 100, &s), DXP_OK);
	assert_true(s.start == c && s.end == BYTES);
	assert_int_equal(reach(B, true, c + 1024, BYTES - c - 1024, &s), DXP_OK);
	assert_true(s.start == c + 1024);
	assert_int_equal(reach(B, true, c + 1023, 2, &s), DXP_EACCESS);
}

/* Freed memory is out of reach while a hold lasts, and afterwards until it is cleared. */
static void arena_reach__not_what_was_left_there(void **state)
{
	uint64_t a, epoch = *arena_epoch(arena);
	struct range s;

	assert_int_equal(arena_alloc(arena, A, 4096, &a), DXP_OK);
	assert_int_not_equal(*arena_epoch(arena), epoch);
	epoch = *arena_epoch(arena);
	assert_int_equal(arena_hold(arena, A, a, 1, NULL), DXP_OK);
	assert_int_equal(arena_free(arena, A, a), DXP_OK);
	assert_int_not_equal(*arena_epoch(arena), epoch);
	assert_int_equal(reach(A, true, a, 1, &s), DXP_EACCESS);
	assert_false(arena_is_free(arena, a, 1));
	arena_drop(arena, a);
	assert_int_equal(reach(B, true, 8192, 4096, &s), DXP_OK);
	assert_true(s.start == 4096 && s.end == BYTES);
	assert_int_equal(reach(B, true, 100, 8192, &s), DXP_EAGAIN);
	assert_true(s.start == 100 && s.end == 4096);
	arena_cleared(arena, 100, 1000);
	assert_int_equal(reach(B, true, 100, 8192, &s), DXP_EAGAIN);
	assert_true(s.start == 1000 && s.end == 4096);
	assert_int_equal(reach(B, true, 200, 100, &s), DXP_OK);
	assert_true(s.start == 100 && s.end == 1000);
	arena_cleared(arena, 0, 4096);
	assert_int_equal(reach(B, true, 0, BYTES, &s), DXP_OK);
}

/* Freed memory holds no old bytes, so it need not be cleared. */
static void arena_separate__two_memories(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct range s;
	uint64_t a, b, c;

	arena_separate(arena);
	assert_int_equal(arena_alloc(arena, A, 1, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, A, 1, &b), DXP_OK);
	assert_int_equal(b, a + page);
	assert_int_equal(reach(A, true, a + page - 1, 2, &s), DXP_OK);
	assert_true(s.start == a && s.end == a + 2 * page);
	assert_int_equal(reach(A, true, a + 2 * page - 1, 2, &s), DXP_EACCESS);
	assert_int_equal(reach(A, true, a + 2 * page, 2, &s), DXP_OK);
	assert_true(s.start == a + 2 * page && s.end == BYTES);
	arena_free_owner(arena, A);
	assert_int_equal(reach(B, true, 0, BYTES, &s), DXP_OK);
	assert_int_equal(arena_alloc(arena, B, page + 1, &c), DXP_OK);
	assert_int_equal(arena_owned_bytes(arena, B), 2 * page);
}

static void arena_discard__pages_are_zero(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint8_t *base = arena_base(arena);
	struct stat full, less;

	memset(base, 0xff, BYTES);
	assert_int_equal(fstat(arena_fd(arena), &full), 0);
	arena_discard(arena, page, 2 * page);
	assert_int_equal(fstat(arena_fd(arena), &less), 0);
	assert_int_equal((uint64_t)(full.st_blocks - less.st_blocks) * 512, 2 * page);
	for (uint64_t i = 0; i < BYTES; i++)
		assert_int_equal(base[i], i < page || i >= 3 * page ? 0xff : 0);
}

static void arena_access_changed__changes_the_epoch(void **state)
{
	const uint64_t epoch = *arena_epoch(arena);

	arena_access_changed(arena);
	assert_int_not_equal(*arena_epoch(arena), epoch);
}

static void arena_owned_bytes__of_one_owner(void **state)
{
	uint64_t a, b;

	assert_int_equal(arena_alloc(arena, A, 1, &a), DXP_OK);
	assert_int_equal(arena_alloc(arena, B, 1025, &b), DXP_OK);
	assert_int_equal(arena_owned_bytes(arena, A), XPU_ALIGN);
	assert_int_equal(arena_owned_bytes(arena, B), arena_rounded(arena, 1025));
	assert_int_equal(arena_hold(arena, A, a, 1, NULL), DXP_OK);
	assert_int_equal(arena_free(arena, A, a), DXP_OK);
	assert_int_equal(arena_owned_bytes(arena, A), XPU_ALIGN);
	arena_drop(arena, a);
	assert_int_equal(arena_owned_bytes(arena, A), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arena_alloc__aligned_and_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_alloc__rejections, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_alloc__as_many_as_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_free__neighbours_join, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_hold__range_of_the_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_drop__gives_back_what_was_freed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arena_unmap__only_the_bytes_go, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_reach__own_and_nobodys, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_reach__not_what_was_left_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arena_owned_bytes__of_one_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_separate__two_memories, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_discard__pages_are_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(arena_access_changed__changes_the_epoch, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arena__random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
