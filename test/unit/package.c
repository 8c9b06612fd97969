/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of packages, and rejection of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/package.h"

static const struct dxp_file files[] = {
	{NULL, "kernel void k() {}", 18}, {"a/b.h", "x\0y", 3}, {"..c/d..", "", 0}, {"e", NULL, 0}};
static const uint32_t inputs[] = {7, UINT32_MAX};

static const struct package_source sources[] = {
	{DXP_PROGRAM_SOURCE, "-DX=1 \t-w", files, 4, NULL, 0},
	{DXP_PROGRAM_COMPILE, NULL, files, 1, NULL, 0},
	{DXP_PROGRAM_BINARY, "", files, 1, NULL, 0},
	{DXP_PROGRAM_LINK, "-create-library", NULL, 0, inputs, 2},
};

static uint8_t *encoded(const struct package_source *s, size_t *bytes)
{
	assert_null(package_fault(s));
	*bytes = (size_t)package_bytes(s);
	uint8_t *data = malloc(*bytes);
	assert_non_null(data);
	package_encode(s, data);
	return data;
}

static void assert_same(const struct package *p, const struct package_source *s)
{
	const uint8_t *at = NULL;
	struct dxp_file file;

	assert_int_equal(p->kind, s->kind);
	assert_string_equal(p->options, s->options ? s->options : "");
	assert_int_equal(p->file_count, s->file_count);
	assert_int_equal(p->input_count, s->input_count);
	for (uint32_t i = 0; i < s->file_count; i++) {
		assert_true(package_file(p, &at, &file));
		assert_string_equal(file.name, s->files[i].name ? s->files[i].name : "");
		assert_int_equal(file.bytes, s->files[i].bytes);
		if (file.bytes)
			assert_memory_equal(file.data, s->files[i].data, file.bytes);
	}
	assert_false(package_file(p, &at, &file));
	for (uint32_t i = 0; i < s->input_count; i++)
		assert_int_equal(package_input(p, i), s->inputs[i]);
}

static void package_decode__what_was_encoded(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
		size_t bytes;
		uint8_t *data = encoded(&sources[i], &bytes);
		struct package p;
		assert_int_equal(package_decode(data, bytes, &p), DXP_OK);
		assert_same(&p, &sources[i]);
		free(data);
	}
}

/* A package with any other length is rejected. Each input is in memory of exactly its size, so that
 * a sanitizer detects reads past its end. */
static void package_decode__every_other_length(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
		size_t bytes;
		uint8_t *data = encoded(&sources[i], &bytes);
		struct package p;
		for (size_t cut = 0; cut < bytes; cut++) {
			uint8_t *copy = malloc(cut ? cut : 1);
			assert_non_null(copy);
			memcpy(copy, data, cut);
			assert_int_equal(package_decode(copy, cut, &p), DXP_EMALFORMED);
			free(copy);
		}
		data = realloc(data, bytes + 1);
		data[bytes] = 0;
		assert_int_equal(package_decode(data, bytes + 1, &p), DXP_EMALFORMED);
		free(data);
	}
}

/* One byte of a package is changed. If it still decodes, all its content is within its bounds. */
static void package_decode__any_byte_changed(void **state)
{
	size_t bytes;
	uint8_t *data = encoded(&sources[0], &bytes);

	for (size_t i = 0; i < bytes; i++) {
		uint8_t was = data[i];
		for (unsigned value = 0; value < 256; value++) {
			const uint8_t *at = NULL;
			struct dxp_file file;
			struct package p;
			uint32_t count = 0;
			data[i] = (uint8_t)value;
			if (package_decode(data, bytes, &p) != DXP_OK)
				continue;
			while (package_file(&p, &at, &file))
				count++;
			assert_int_equal(count, p.file_count);
		}
		data[i] = was;
	}
	free(data);
}

static void package_fault__names_the_field(void **state)
{
	static char longest[PACKAGE_OPTIONS_BYTES + 1], name[PACKAGE_NAME_BYTES + 1];
	struct dxp_file two[2];
	struct package_source s;

	memset(longest, 'o', PACKAGE_OPTIONS_BYTES);
	memset(name, 'n', PACKAGE_NAME_BYTES);
#define FAULT(part, ...)                                          \
	do {                                                      \
		memcpy(two, files, sizeof(two));                  \
		s = sources[0];                                   \
		s.files = two;                                    \
		s.file_count = 2;                                 \
		assert_null(package_fault(&s));                   \
		__VA_ARGS__;                                      \
		assert_non_null(package_fault(&s));               \
		assert_non_null(strstr(package_fault(&s), part)); \
	} while (0)
	FAULT("unknown kind", s.kind = 4);
	FAULT("the source is missing", s.file_count = 0);
	FAULT("has inputs", s.input_count = 1);
	FAULT("binary", s.kind = DXP_PROGRAM_BINARY);
	FAULT("linking", s.kind = DXP_PROGRAM_LINK; s.input_count = 2);
	FAULT("linking", s.kind = DXP_PROGRAM_LINK; s.file_count = 0);
	FAULT("options", s.options = longest);
	FAULT("4096 files", s.file_count = PACKAGE_FILES_MAX + 1);
	FAULT("4096 inputs", s.kind = DXP_PROGRAM_LINK; s.file_count = 0;
	      s.input_count = PACKAGE_INPUTS_MAX + 1);
	FAULT("no data", two[0].data = NULL);
	FAULT("no name", two[1].name = NULL);
	FAULT("1023", two[1].name = name);
	FAULT("relative", two[1].name = "/etc/passwd");
	FAULT("relative", two[1].name = "..");
	FAULT("relative", two[1].name = "a/../b");
	FAULT("relative", two[1].name = "a/..");
	FAULT("relative", two[1].name = "");
	FAULT("printable", two[1].name = "a\nb");
#undef FAULT
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(package_decode__what_was_encoded),
		cmocka_unit_test(package_decode__every_other_length),
		cmocka_unit_test(package_decode__any_byte_changed),
		cmocka_unit_test(package_fault__names_the_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
