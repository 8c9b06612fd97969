/* SPDX-License-Identifier: BSD-3-Clause */
/* Error message for the user. The detecting function writes it; main prints it once. */
#ifndef CLASSIFY_FAULT_H
#define CLASSIFY_FAULT_H

#include "base/util.h"

struct fault {
	char text[1024];
};

/* Returns `status`. */
int fault_set(struct fault *fault, int status, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
