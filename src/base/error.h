/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains a thread's last failed call, for dxp_fabric_error(). */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/util.h"

int error_set(int status, const char *format, ...) PRINTF_LIKE(2, 3);
/* Never returns NULL; the text is valid until this thread's next error. */
const char *error_text(void);

#endif
