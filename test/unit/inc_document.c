/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that docs/reference/wire.md "In-network computing" has exactly the fields, kinds,
 * operations, types and causes of the code. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "wire/inc.h"
#include "wire/inc_compat.h"
#include "wire/inc_fields.h"

static char text[128 << 10];

/* Up to the next heading or the end of the page. */
struct section {
	const char *at;
	size_t bytes;
	size_t rows; /* rows found so far */
};

static struct section section_find(const char *heading)
{
	const char *at = strstr(text, heading);

	if (!at) {
		fail_msg("docs/reference/wire.md has no '%s'", heading + 1);
		return (struct section){"", 0, 0};
	}
	const char *end = strstr(at + 1, "\n###");
	return (struct section){at, end ? (size_t)(end - at) : strlen(at), 0};
}

static void row_expect(struct section *s, const char *row)
{
	const char *found = memmem(s->at, s->bytes, row, strlen(row));

	if (!found)
		fail_msg("docs/reference/wire.md has no row '%s'", row + 1);
	s->rows++;
}

/* A table row starts with a digit. */
static void rows_are_all(const struct section *s)
{
	size_t rows = 0;

	for (const char *p = s->at; p + 3 < s->at + s->bytes; p++)
		rows += memcmp(p, "\n| ", 3) == 0 && isdigit((unsigned char)p[3]);
	if (rows != s->rows)
		fail_msg("%.30s: %zu rows, not %zu", s->at + 1, rows, s->rows);
}

static void field_expect(struct section *s, size_t offset, size_t bytes, const char *field)
{
	char row[96], name[64];

	snprintf(name, sizeof(name), "%s", field);
	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	snprintf(row, sizeof(row), "\n| %zu | %zu | `%s` |", offset, bytes, name);
	row_expect(s, row);
}

static int document_read(void **state)
{
	FILE *f = fopen(DXP_SOURCE_DIR "/docs/reference/wire.md", "r");

	if (!f)
		return -1;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return 0;
}

#define AT_OFFSET(name, offset, bytes) field_expect(&s, offset, bytes, #name);
#define NEXT(bits, name)                         \
	field_expect(&s, at, (bits) / 8, #name); \
	at += (bits) / 8;

static void inc_document__headers(void **state)
{
	struct section s = section_find("\n### RoCEv2\n");

	ROCE_FIELDS(AT_OFFSET)
	rows_are_all(&s);
	s = section_find("\n### MPI header\n");
	INC_FIELDS(AT_OFFSET)
	rows_are_all(&s);
}

static void inc_document__payloads(void **state)
{
	struct section s = section_find("\n### Control payload\n");
	size_t at = 0;

	INC_CONTROL_FIELDS(NEXT)
	field_expect(&s, at, 2, "zero");
	at = 0;
	INC_HOP_FIELDS(NEXT)
	rows_are_all(&s);
	s = section_find("\n### Peer\n");
	field_expect(&s, 0, 4, "member");
	field_expect(&s, 4, 4, "next");
	rows_are_all(&s);
	s = section_find("\n### Inquiry and answer\n");
	/* headers of inquiry and answer, which are not compared */
	s.rows = 8;
	field_expect(&s, 0, INC_NAME_BYTES, "name");
	at = INC_NAME_BYTES;
	INC_SWITCH_ROW_FIELDS(NEXT)
	at = 0;
	INC_GROUP_ROW_FIELDS(NEXT)
	at = 0;
	INC_REFUSAL_ROW_FIELDS(NEXT)
	rows_are_all(&s);
}

static void inc_document__compatible(void **state)
{
	struct section s = section_find("\n### Compatible format\n");
	size_t at = 0;

	INC_COMPAT_FIELDS(AT_OFFSET)
	INC_COMPAT_CONTROL_FIELDS(NEXT)
	assert_int_equal(at, INC_COMPAT_CONTROL_BYTES);
	INC_COMPAT_EXTENSION_FIELDS(NEXT)
	assert_int_equal(at, INC_COMPAT_CONTROL_BYTES + INC_COMPAT_EXTENSION_BYTES);
	rows_are_all(&s);
}

static void inc_document__lists(void **state)
{
	char row[96];
	struct section s = section_find("\n### Kinds\n");

#define NAMED(name, value, what)                                  \
	snprintf(row, sizeof(row), "\n| %d | %s |", value, what); \
	row_expect(&s, row);
	INC_KIND_LIST(NAMED)
	rows_are_all(&s);
	s = section_find("\n### Causes\n");
	INC_CAUSE_LIST(NAMED)
	rows_are_all(&s);
	s = section_find("\n### Operations and types\n");
	DXP_INC_OP_LIST(NAMED)
#undef NAMED
#define TYPED(name, value, bytes, what)                                       \
	snprintf(row, sizeof(row), "\n| %d | %d | %s |", value, bytes, what); \
	row_expect(&s, row);
	DXP_INC_TYPE_LIST(TYPED)
#undef TYPED
	rows_are_all(&s);
}

static void inc_document__flags(void **state)
{
	static const char *const names[] = {"RESULT", "SWITCH", "REPEAT", "SHORT", "TRAIN", "LAST"};
	static const unsigned values[] = {INC_FLAG_RESULT, INC_FLAG_SWITCH, INC_FLAG_REPEAT,
					  INC_FLAG_SHORT,  INC_FLAG_TRAIN,  INC_FLAG_LAST};
	struct section s = section_find("\n### Flags of a segment\n");
	char row[96];

	assert_int_equal((1u << ARRAY_COUNT(names)) - 1, INC_FLAGS_KNOWN);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_int_equal(values[i], 1u << i);
		snprintf(row, sizeof(row), "\n| %zu | %s |", i, names[i]);
		row_expect(&s, row);
	}
	rows_are_all(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_document__headers),
		cmocka_unit_test(inc_document__payloads),
		cmocka_unit_test(inc_document__compatible),
		cmocka_unit_test(inc_document__lists),
		cmocka_unit_test(inc_document__flags),
	};

	return cmocka_run_group_tests(tests, document_read, NULL);
}
