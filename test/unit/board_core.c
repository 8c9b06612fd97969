/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stream core: any division of a stream into steps gives the same result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "engine/board_core.h"
#include "engine/limits.h"

#define BYTES 4099

static struct board_core *core;
static uint8_t in[BYTES], out[BYTES], wanted[BYTES];

static int setup(void **state)
{
	struct board_config config = {.core = ENGINE_CORE_PASS};
	struct rng rng = {.state = 5};

	for (uint32_t i = 0; i < BYTES; i++)
		in[i] = (uint8_t)rng_below(&rng, 256);
	memset(in + 100, 0xff, 50); /* carries cross whole words */
	return board_core_create(&config, NULL, engine_open, &core);
}

static int teardown(void **state)
{
	board_core_destroy(core);
	return 0;
}

/* Computes the result of the core as the header board_core.h defines it: word by word, the last
 * word padded with zeros. */
static uint64_t reference(uint32_t operand, uint32_t bytes)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < bytes; i += 4) {
		uint32_t n = (uint32_t)min_u64(4, bytes - i), word = 0;
		memcpy(&word, in + i, n);
		sum += word;
		word += operand;
		memcpy(wanted + i, &word, n);
	}
	return sum;
}

static int set_core(uint32_t owner, uint32_t kind, uint32_t operand)
{
	return board_core_set(core, owner, &(struct board_core_task){kind, operand});
}

static uint64_t result_get(void)
{
	struct board_core_task set;
	uint64_t result;

	board_core_get(core, 7, &set, &result);
	return result;
}

static void pass(uint32_t kind, uint32_t operand, uint32_t bytes, uint32_t longest, uint64_t seed)
{
	struct board_core_task task = {kind, operand};
	struct rng rng = {.state = seed};

	memset(out, 0xee, sizeof(out));
	board_core_begin(core, 7, &task);
	for (uint32_t at = 0; at < bytes;) {
		uint32_t step = (uint32_t)min_u64(1 + rng_below(&rng, longest), bytes - at);
		assert_int_equal(board_core_step(core, out + at, in + at, step), DXP_OK);
		at += step;
	}
}

static void board_core__add_whatever_the_cut(void **state)
{
	static const uint32_t operands[] = {0, 1, 0xff, 0x100, 0x01020304, 0x80000000, UINT32_MAX};

	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint32_t operand = operands[seed % ARRAY_COUNT(operands)];
		uint32_t bytes = seed % 2 ? BYTES : (uint32_t)seed;
		reference(operand, bytes);
		pass(ENGINE_CORE_ADD, operand, bytes, 1 + (uint32_t)seed % 9, seed);
		if (memcmp(out, wanted, bytes) != 0)
			fail_msg("seed %llu", (unsigned long long)seed);
		if (bytes < BYTES)
			assert_int_equal(out[bytes], 0xee);
	}
}

static void board_core__checksum_whatever_the_cut(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint32_t bytes = seed % 2 ? BYTES : (uint32_t)seed;
		uint64_t sum = reference(0, bytes);
		pass(ENGINE_CORE_CHECKSUM, 0, bytes, 1 + (uint32_t)seed % 9, seed);
		assert_true(result_get() == sum);
		assert_memory_equal(out, in, bytes);
	}
}

static void board_core__in_place(void **state)
{
	struct board_core_task task = {ENGINE_CORE_ADD, 77};

	reference(77, BYTES);
	memcpy(out, in, BYTES);
	board_core_begin(core, 7, &task);
	assert_int_equal(board_core_step(core, out, out, BYTES), DXP_OK);
	assert_memory_equal(out, wanted, BYTES);
}

static void board_core_begin__starts_afresh(void **state)
{
	pass(ENGINE_CORE_CHECKSUM, 0, 5, 5, 1);
	assert_true(result_get() != 0);
	pass(ENGINE_CORE_CHECKSUM, 0, 0, 1, 1);
	assert_true(result_get() == 0);
	/* leaves a carry that the next stream must not use */
	pass(ENGINE_CORE_ADD, UINT32_MAX, 3, 3, 1);
	reference(1, 8);
	pass(ENGINE_CORE_ADD, 1, 8, 3, 1);
	assert_memory_equal(out, wanted, 8);
}

/* Owners neither read nor change each other's core setting. */
static void board_core_set__of_one_owner(void **state)
{
	struct board_core_task set;
	uint64_t result;
	uint8_t word[4] = {5};

	assert_int_equal(set_core(1, ENGINE_CORE_CHECKSUM, 0), DXP_OK);
	assert_int_equal(set_core(2, ENGINE_CORE_ADD, 9), DXP_OK);
	board_core_get(core, 1, &set, &result);
	assert_int_equal(set.core, ENGINE_CORE_CHECKSUM);
	board_core_begin(core, 1, &set);
	assert_int_equal(board_core_step(core, word, word, sizeof(word)), DXP_OK);
	board_core_get(core, 2, &set, &result);
	assert_true(set.core == ENGINE_CORE_ADD && set.operand == 9 && result == 0);
	board_core_begin(core, 2, &set);
	assert_int_equal(board_core_step(core, word, word, sizeof(word)), DXP_OK);
	board_core_get(core, 1, &set, &result);
	assert_true(set.core == ENGINE_CORE_CHECKSUM && result == 5);
	board_core_get(core, 3, &set, &result);
	assert_true(set.core == ENGINE_CORE_PASS && result == 0);
	board_core_drop(core, 1);
	board_core_drop(core, 3);
	board_core_get(core, 1, &set, &result);
	assert_true(set.core == ENGINE_CORE_PASS && result == 0);
	board_core_get(core, 2, &set, &result);
	assert_true(set.core == ENGINE_CORE_ADD);
}

static void board_core_set__checks(void **state)
{
	struct board_core_task set;
	uint64_t result;

	assert_int_equal(set_core(7, ENGINE_CORE_KERNEL + 1, 0), DXP_EINVAL);
	assert_int_equal(set_core(7, ENGINE_CORE_PASS, 1), DXP_EINVAL);
	assert_int_equal(set_core(7, ENGINE_CORE_CHECKSUM, 1), DXP_EINVAL);
	assert_int_equal(set_core(7, ENGINE_CORE_KERNEL, 0), DXP_EUNSUPPORTED);
	board_core_get(core, 7, &set, &result);
	assert_int_equal(set.core, ENGINE_CORE_PASS);
	assert_int_equal(set_core(7, ENGINE_CORE_ADD, 9), DXP_OK);
	board_core_get(core, 7, &set, &result);
	assert_int_equal(set.core, ENGINE_CORE_ADD);
	assert_int_equal(set.operand, 9);
}

/* ---- a kernel ---- */

static struct board_config kernel_config(const char *text, const char *name)
{
	struct board_config config = {.core = ENGINE_CORE_KERNEL};

	snprintf(config.core_file, sizeof(config.core_file), "core-%d.cl", (int)getpid());
	snprintf(config.core_kernel, sizeof(config.core_kernel), "%s", name);
	FILE *file = fopen(config.core_file, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return config;
}

static int kernel_open(const char *text, const char *name, struct board_core **c)
{
	struct board_config config = kernel_config(text, name);
	int status = board_core_create(&config, NULL, engine_open, c);

	unlink(config.core_file);
	return status;
}

#define SIGNATURE "(global const uchar *in, global uchar *out, uint bytes, ulong at)\n"

/* Mixes each byte with its position, to detect chunks at wrong positions. */
static const char stir[] =
	"kernel void stir" SIGNATURE
	"{ size_t i = get_global_id(0) * 64, end = min(i + 64, (size_t)bytes);\n"
	"  for (; i < end; i++) out[i] = (uchar)(in[i] ^ (uchar)((at + i) * 7)); }\n";

static void board_core__kernel(void **state)
{
	uint32_t bytes = 2 * BOARD_CHUNK_BYTES + 77;
	uint8_t *from = malloc(bytes), *to = malloc(bytes + 1);
	struct board_core_task task = {ENGINE_CORE_KERNEL, 0};
	struct board_core *c;

	assert_non_null(from);
	assert_non_null(to);
	assert_int_equal(kernel_open(stir, "stir", &c), DXP_OK);
	for (uint32_t i = 0; i < bytes; i++)
		from[i] = (uint8_t)(i / 3);
	for (uint32_t longest = 1000; longest <= bytes; longest = longest * 9 + 1) {
		memset(to, 0xee, bytes + 1);
		board_core_begin(c, 7, &task);
		for (uint32_t at = 0; at < bytes;) {
			uint64_t step = board_core_step_bytes(c, min_u64(longest, bytes - at));
			assert_true(step > 0 && step <= longest);
			assert_int_equal(board_core_step(c, to + at, from + at, step), DXP_OK);
			at += (uint32_t)step;
		}
		for (uint32_t i = 0; i < bytes; i++)
			assert_int_equal(to[i], (uint8_t)(from[i] ^ (i * 7)));
		assert_int_equal(to[bytes], 0xee);
	}
	board_core_destroy(c);
	free(from);
	free(to);
}

static void board_core_create__wrong_kernels(void **state)
{
	struct board_config config = kernel_config(stir, "stir");
	struct board_core *c;

	assert_int_equal(kernel_open("kernel void k" SIGNATURE "{ nonsense; }", "k", &c),
			 DXP_EBUILD);
	assert_int_equal(kernel_open(stir, "shake", &c), DXP_ENOENT);
	assert_int_equal(kernel_open("kernel void k(global uchar *in) { in[0] = 0; }", "k", &c),
			 DXP_EINVAL);
	assert_int_equal(kernel_open("kernel void k(global const uchar *in, global uchar *out, "
				     "ulong bytes, ulong at) { }",
				     "k", &c),
			 DXP_EINVAL);
	snprintf(config.compute, sizeof(config.compute), "none");
	assert_int_equal(board_core_create(&config, NULL, engine_open, &c), DXP_EINVAL);
	config.compute[0] = '\0';
	unlink(config.core_file);
	assert_int_equal(board_core_create(&config, NULL, engine_open, &c), DXP_EINVAL);
	config.core_file[0] = '\0';
	assert_int_equal(board_core_create(&config, NULL, engine_open, &c), DXP_EINVAL);
}

static bool runs_kernels(void)
{
	struct board_core *c;

	if (kernel_open(stir, "stir", &c) != DXP_OK)
		return false;
	board_core_destroy(c);
	return true;
}

int main(void)
{
	const struct CMUnitTest plain[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(board_core__add_whatever_the_cut),
		TEST(board_core__checksum_whatever_the_cut),
		TEST(board_core__in_place),
		TEST(board_core_begin__starts_afresh),
		TEST(board_core_set__of_one_owner),
		TEST(board_core_set__checks),
#undef TEST
	};
	const struct CMUnitTest kernels[] = {
		cmocka_unit_test(board_core__kernel),
		cmocka_unit_test(board_core_create__wrong_kernels),
	};
	int failed = cmocka_run_group_tests(plain, NULL, NULL);

	if (runs_kernels())
		return failed + cmocka_run_group_tests(kernels, NULL, NULL);
	printf("skipped: stream cores that are kernels: no OpenCL device works in host memory\n");
	return failed;
}
