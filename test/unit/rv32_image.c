/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the loader of rv32 objects from clang: two kernels, and the runtime's functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rv32/core.h"
#include "rv32/decode.h"
#include "rv32/image.h"

#define FILE_BYTES 65536

static uint8_t kernels[FILE_BYTES], support[FILE_BYTES];
static size_t kernels_bytes, support_bytes;
static char text[RV32_IMAGE_TEXT_BYTES];

static size_t file_read(const char *name, uint8_t *to)
{
	char path[512];

	snprintf(path, sizeof(path), DXP_SOURCE_DIR "/test/fuzz/corpus/rv32_image/%s", name);
	FILE *file = fopen(path, "re");
	size_t bytes = file ? fread(to, 1, FILE_BYTES, file) : 0;
	if (file)
		fclose(file);
	return bytes;
}

static int link_two(struct rv32_image **out)
{
	const struct rv32_object objects[] = {{kernels, kernels_bytes}, {support, support_bytes}};

	return rv32_image_link(objects, 2, out, text);
}

static void rv32_image_link__kernels(void **state)
{
	struct rv32_image *image;

	if (link_two(&image) != DXP_OK)
		fail_msg("%s", text);
	assert_int_equal(image->kernel_count, 2);
	const struct rv32_kernel *k = rv32_image_kernel(image, "small");
	assert_non_null(k);
	assert_null(rv32_image_kernel(image, "smal"));
	assert_int_equal(k->parameter_count, 3);
	assert_string_equal(k->parameters[0].type, "uint*");
	assert_string_equal(k->parameters[1].name, "n");
	assert_int_equal(k->parameters[0].space, RV32_SPACE_GLOBAL);
	assert_int_equal(k->parameters[1].space, RV32_SPACE_VALUE);
	assert_int_equal(k->parameters[2].space, RV32_SPACE_LOCAL);
	assert_int_equal(k->local_bytes, 32);
	/* both kernels use the same local addresses, because only one runs at a time */
	assert_int_equal(rv32_image_kernel(image, "other")->local_bytes, 4);
	assert_string_equal(rv32_image_symbol(image, k->entry)->name, "small");
	assert_int_equal(rv32_image_symbol(image, k->entry)->address, k->entry);
	/* the table of constants */
	static const uint32_t table[] = {3, 1, 4, 1};
	assert_non_null(memmem(image->constants, image->constant_bytes, table, sizeof(table)));
	rv32_image_destroy(image);
}

/* Calls reach starts of functions, and all words decode. */
static void rv32_image_link__calls(void **state)
{
	struct rv32_image *image;
	uint32_t calls = 0;

	assert_int_equal(link_two(&image), DXP_OK);
	for (size_t i = 0; i < image->code_words; i++) {
		const struct rv32_op op = rv32_decode(image->code[i]);
		assert_int_not_equal(op.code, RV32_ILLEGAL);
		const struct rv32_op next = rv32_decode(image->code[i + 1]);
		if (op.code != RV32_AUIPC || next.code != RV32_JALR || next.rs1 != op.rd)
			continue;
		uint32_t to =
			RV32_CODE_BASE + 4 * (uint32_t)i + (uint32_t)op.imm + (uint32_t)next.imm;
		assert_int_equal(rv32_image_symbol(image, to)->address, to);
		calls++;
	}
	assert_true(calls >= 2); /* each kernel calls __udivdi3 */
	rv32_image_destroy(image);
}

static void rv32_image_link__rejected(void **state)
{
	const struct rv32_object one[] = {{kernels, kernels_bytes}};
	const struct rv32_object twice[] = {
		{kernels, kernels_bytes}, {support, support_bytes}, {kernels, kernels_bytes}};
	struct rv32_image *image;

	assert_int_equal(rv32_image_link(one, 1, &image, text), DXP_ENOENT);
	assert_non_null(strstr(text, "'__udivdi3'"));
	assert_int_equal(rv32_image_link(twice, 3, &image, text), DXP_EEXIST);
	assert_non_null(strstr(text, "defined twice"));
}

/* Each cut gives a message. */
static void rv32_image_link__truncated(void **state)
{
	for (size_t bytes = 0; bytes < kernels_bytes; bytes++) {
		uint8_t *copy = malloc(bytes + 1);
		assert_non_null(copy);
		memcpy(copy, kernels, bytes);
		const struct rv32_object objects[] = {{copy, bytes}, {support, support_bytes}};
		struct rv32_image *image;
		text[0] = '\0';
		assert_int_equal(rv32_image_link(objects, 2, &image, text), DXP_EMALFORMED);
		assert_true(strlen(text) > 10);
		free(copy);
	}
}

/* An image or a message, for many bytes and values. */
static void rv32_image_link__flipped(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	uint32_t rejected = 0;

	for (size_t at = 0; at < kernels_bytes; at++)
		for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
			const uint8_t kept = kernels[at];
			struct rv32_image *image;
			kernels[at] = values[i];
			text[0] = '\0';
			if (link_two(&image) == DXP_OK) {
				rv32_image_destroy(image);
			} else {
				assert_true(strlen(text) > 10);
				rejected++;
			}
			kernels[at] = kept;
		}
	assert_true(rejected > 500);
}

/* A damaged line table still links; only lines may be wrong. */
static void rv32_image_link__lines(void **state)
{
	static uint8_t object[FILE_BYTES];
	const size_t bytes = file_read("lines", object);
	const struct rv32_object objects[] = {{object, bytes}};
	/* kernel, behind the function `deep` */
	const uint32_t k = RV32_CODE_BASE + 0xc;
	struct rv32_image *image;

	if (rv32_image_link(objects, 1, &image, text) != DXP_OK)
		fail_msg("%s", text);
	assert_int_equal(rv32_image_line(image, RV32_CODE_BASE - 4), 0);
	assert_int_equal(rv32_image_line(image, RV32_CODE_BASE), 1);
	assert_int_equal(rv32_image_line(image, RV32_CODE_BASE + 8), 1);
	assert_int_equal(rv32_image_line(image, k), 2);
	assert_int_equal(rv32_image_line(image, k + 0x14), 3);
	assert_int_equal(rv32_image_line(image, k + 0x18), 4);
	assert_int_equal(rv32_image_line(image, k + 0x20), 5);
	assert_int_equal(rv32_image_line(image, k + 0x28), 6);
	assert_int_equal(rv32_image_line(image, k + 0x2c), 0);
	rv32_image_destroy(image);
	const uint8_t *name = memmem(object, bytes, "program.cl", 11);
	for (const uint8_t *at = name - 32; at < name + 96; at++) {
		object[at - object] ^= 0xff;
		assert_int_equal(rv32_image_link(objects, 1, &image, text), DXP_OK);
		rv32_image_destroy(image);
		object[at - object] ^= 0xff;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_image_link__kernels),
		cmocka_unit_test(rv32_image_link__calls),
		cmocka_unit_test(rv32_image_link__rejected),
		cmocka_unit_test(rv32_image_link__truncated),
		cmocka_unit_test(rv32_image_link__flipped),
		cmocka_unit_test(rv32_image_link__lines),
	};

	kernels_bytes = file_read("kernels", kernels);
	support_bytes = file_read("support", support);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
