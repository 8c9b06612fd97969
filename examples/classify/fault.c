/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return status;
}
