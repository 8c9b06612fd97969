/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on standard error: "dxpd: error: ...". The function that detects an error logs it once,
 * with the next step. DXP_LOG=error|warn|info|debug (default warn). Control characters except tab
 * and newline are replaced (base/text.h). */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* `name` must stay valid until exit. */
void log_program_set(const char *name);
void log_level_set(enum log_level level);
int log_enabled(enum log_level level);
/* While on, logs this thread's errors and warnings as `info`, for an attempt that has an
 * alternative. */
void log_soften(bool soft);
/* Copies this thread's last error to `out`, without newline, and logs errors as `info`, for a
 * caller that reports them. NULL ends this. */
void log_divert(char *out, size_t bytes);
void log_write(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
