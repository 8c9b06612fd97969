/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/opencl/program/binary.h"

#define DEVICE "one\n2\n3\n"

static uint8_t *make(size_t *bytes)
{
	const struct binary b = {.type = 4,
				 .device = DEVICE,
				 .device_bytes = strlen(DEVICE),
				 .data = "abcde",
				 .bytes = 5};

	*bytes = binary_size(&b);
	uint8_t *out = malloc(*bytes);
	binary_write(&b, out);
	return out;
}

static void binary__comes_back(void **state)
{
	size_t bytes;
	uint8_t *at = make(&bytes);
	struct binary b;

	assert_true(binary_read(&b, at, bytes));
	assert_int_equal(b.type, 4);
	assert_int_equal(b.device_bytes, strlen(DEVICE));
	assert_memory_equal(b.device, DEVICE, b.device_bytes);
	assert_int_equal(b.bytes, 5);
	assert_memory_equal(b.data, "abcde", 5);
	free(at);
}

/* Files of older versions must stay readable. */
static void binary__has_the_documented_layout(void **state)
{
	size_t bytes;
	uint8_t *at = make(&bytes);

	assert_int_equal(bytes, BINARY_HEAD_BYTES + 8 + 5);
	assert_memory_equal(at, "DXPCLBIN\1\0\0\0\4\0\0\0\10\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 32);
	assert_memory_equal(at + 32, "\x99\x30\x18\x0c\x19\xdb\x07\xa2", 8);
	assert_memory_equal(at + BINARY_HEAD_BYTES, DEVICE "abcde", 13);
	free(at);
}

static void read__rejects_every_cut_and_flip(void **state)
{
	size_t bytes;
	uint8_t *at = make(&bytes);
	struct binary b;

	for (size_t n = 0; n < bytes; n++) {
		/* exact, so that a sanitizer detects reads past the end */
		uint8_t *cut = malloc(n + 1);
		memcpy(cut, at, n);
		assert_false(binary_read(&b, cut, n));
		free(cut);
	}
	for (size_t n = 0; n < bytes; n++) {
		at[n] ^= 0x80;
		if (binary_read(&b, at, bytes))
			fail_msg("byte %zu may be anything", n);
		at[n] ^= 0x80;
	}
	free(at);
}

static void rehash(uint8_t *at, size_t bytes)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		if (i < 32 || i >= BINARY_HEAD_BYTES)
			h = (h ^ at[i]) * 0x100000001b3u;
	for (int i = 0; i < 8; i++)
		at[32 + i] = (uint8_t)(h >> (8 * i));
}

/* The checksum is valid. */
static void read__rejects_lengths_that_lie(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} lies[] = {{16, 9}, {16, 200}, {19, 0xff}, {24, 4}, {24, 6}, {31, 0xff}, {20, 1}, {8, 2}};
	struct binary b;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		size_t bytes;
		uint8_t *at = make(&bytes);
		rehash(at, bytes);
		assert_true(binary_read(&b, at, bytes));
		at[lies[i].at] = lies[i].value;
		rehash(at, bytes);
		if (binary_read(&b, at, bytes))
			fail_msg("%u at %zu is believed", lies[i].value, lies[i].at);
		free(at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary__comes_back),
		cmocka_unit_test(binary__has_the_documented_layout),
		cmocka_unit_test(read__rejects_every_cut_and_flip),
		cmocka_unit_test(read__rejects_lengths_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
