/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts hexadecimal digits to bytes, for tests with known answers. */
#ifndef TEST_SUPPORT_HEX_H
#define TEST_SUPPORT_HEX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void hex_read(const char *text, uint8_t *out, size_t bytes)
{
	assert(strlen(text) == 2 * bytes);
	for (size_t i = 0; i < bytes; i++) {
		char digits[3] = {text[2 * i], text[2 * i + 1], 0};
		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

#endif
