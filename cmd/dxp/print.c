/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/program.h"
#include "cmd/dxp/command.h"

int print_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("dxp: error: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EXIT_FAILED;
}

int print_json_text(json_t *value)
{
	int written =
		value ? json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : -1;

	json_decref(value);
	if (written == 0)
		putchar('\n');
	if (!program_output_check())
		return EXIT_FAILED;
	return written == 0 ? EXIT_DONE : print_fail("cannot create the output: out of memory");
}
