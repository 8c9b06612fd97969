/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures standard error of the code under test. */
#ifndef TEST_UNIT_CAPTURE_H
#define TEST_UNIT_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Tests use it for messages that users rely on. */
struct stderr_capture {
	FILE *file;
	int saved;
};

static inline void stderr_capture_begin(struct stderr_capture *c)
{
	fflush(stderr);
	c->file = tmpfile();
	assert_non_null(c->file);
	c->saved = dup(STDERR_FILENO);
	dup2(fileno(c->file), STDERR_FILENO);
}

static inline void stderr_capture_end(struct stderr_capture *c, char *text, size_t bytes)
{
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	rewind(c->file);
	size_t got = fread(text, 1, bytes - 1, c->file);
	text[got] = '\0';
	fclose(c->file);
}

#endif
