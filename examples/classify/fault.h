/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares an error message for the user. The function that detects an error writes it; main prints
 * it once. */
#ifndef CLASSIFY_FAULT_H
#define CLASSIFY_FAULT_H

#include "base/util.h"

struct fault {
	char text[1024];
};

/* Writes the message and returns `status`, so that a check with its error needs one statement. */
int fault_set(struct fault *fault, int status, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
