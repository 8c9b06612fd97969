/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how text is cleaned for logs and terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"
#include "base/util.h"

static void clean__table(void **state)
{
	static const struct {
		enum text_keep keep;
		const char *text, *cleaned;
	} rows[] = {
		{TEXT_LINE, "", ""},
		{TEXT_LINE, "plain", "plain"},
		{TEXT_LINE, "a\tb\nc", "a?b?c"},
		{TEXT_LINES, "a\tb\nc\rd", "a\tb\nc?d"},
		{TEXT_LINES, "\033[2Jgone\x7f", "?[2Jgone?"},
		{TEXT_OUTPUT, "\a\b\t\n\v\f\r\033\x0e\x1f", "\a\b\t\n\v\f\r???"},
		{TEXT_OUTPUT,
		 "\xc2\x9b"
		 "31m",
		 "\xc2?31m"},
		{TEXT_LINE, "caf\xc3\xa9 \xc2\xa9 \xe2\x82\xac",
		 "caf\xc3\xa9 \xc2\xa9 \xe2\x82\xac"},
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s", rows[i].text);
		text_clean(text, strlen(text), rows[i].keep, NULL);
		assert_string_equal(text, rows[i].cleaned);
	}
}

/* A character may be split between two calls. */
static void clean__in_parts(void **state)
{
	char first[] = "a\xc2",
	     second[] = "\x9b"
			"31m",
	     harmless[] = "\xa9";
	uint8_t last = 0;

	text_clean(first, 2, TEXT_OUTPUT, &last);
	text_clean(second, 4, TEXT_OUTPUT, &last);
	assert_string_equal(first, "a\xc2");
	assert_string_equal(second, "?31m");
	last = 0xc2;
	text_clean(harmless, 1, TEXT_OUTPUT, &last);
	assert_string_equal(harmless, "\xa9");
	assert_int_equal(last, 0xa9);
}

static void log__has_no_escapes(void **state)
{
	char line[256];
	int fds[2], before = dup(STDERR_FILENO);

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	log_error("kernel '%s'", "\033]0;title\a");
	dup2(before, STDERR_FILENO);
	ssize_t bytes = read(fds[0], line, sizeof(line) - 1);
	assert_true(bytes > 0);
	line[bytes] = '\0';
	assert_string_equal(line, "dxp: error: kernel '?]0;title?'\n");
	close(before);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean__table),
		cmocka_unit_test(clean__in_parts),
		cmocka_unit_test(log__has_no_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
