/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentence that explains a failing call to the program that made it: one per thread, so that
 * nobody reads another thread's. What dxp_fabric_error() shows. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/util.h"

/* Returns `status`. */
int error_set(int status, const char *format, ...) PRINTF_LIKE(2, 3);
/* Never NULL; valid until this thread's next error. */
const char *error_text(void);

#endif
