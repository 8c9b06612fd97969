/* SPDX-License-Identifier: BSD-3-Clause */
/* One write(2) per message, so that lines of threads do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define LOG_LINE_BYTES 1024

static const char *program = "dxp";
static _Thread_local bool softened;
static _Thread_local struct {
	char *out; /* buffer for errors; NULL: errors are logged */
	size_t bytes;
} diverted;
/* highest level written; -1: not read from the environment yet */
static _Atomic int threshold = -1;

static const char *const level_names[] = {"error", "warning", "info", "debug"};

static int level_from_environment(void)
{
	static const char *const words[] = {"error", "warn", "info", "debug"};
	const char *value = getenv("DXP_LOG");

	for (int i = 0; value && i < 4; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return LOG_LEVEL_WARN;
}

void log_program_set(const char *name)
{
	program = name;
}

void log_level_set(enum log_level level)
{
	atomic_store(&threshold, (int)level);
}

void log_soften(bool soft)
{
	softened = soft;
}

void log_divert(char *out, size_t bytes)
{
	if (out)
		out[0] = '\0';
	diverted.out = out;
	diverted.bytes = bytes;
}

int log_enabled(enum log_level level)
{
	if (atomic_load(&threshold) < 0)
		atomic_store(&threshold, level_from_environment());
	return (int)level <= atomic_load(&threshold);
}

void log_write(enum log_level level, const char *format, ...)
{
	char line[LOG_LINE_BYTES];
	va_list arguments;

	if (softened && level < LOG_LEVEL_INFO)
		level = LOG_LEVEL_INFO;
	if (diverted.out && level == LOG_LEVEL_ERROR) {
		va_start(arguments, format);
		vsnprintf(diverted.out, diverted.bytes, format, arguments);
		va_end(arguments);
		text_clean(diverted.out, strlen(diverted.out), TEXT_LINES, NULL);
		level = LOG_LEVEL_INFO;
	}
	if (!log_enabled(level))
		return;
	int used = snprintf(line, sizeof(line), "%s: %s: ", program, level_names[level]);
	va_start(arguments, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
	va_end(arguments);
	if (used > (int)sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	text_clean(line, (size_t)used, TEXT_LINES, NULL);
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		return; /* it cannot be reported */
}
