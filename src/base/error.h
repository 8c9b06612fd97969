/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that explains a thread's last failed call. dxp_fabric_error() returns it. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/util.h"

int error_set(int status, const char *format, ...) PRINTF_LIKE(2, 3);
/* Returns the text, never NULL; valid until this thread's next error. */
const char *error_text(void);

#endif
