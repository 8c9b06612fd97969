/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdbool.h>

#define UTF8_HIGH 0xc2 /* first byte of U+0080 .. U+00BF */

static bool is_kept(uint8_t c, enum text_keep keep)
{
	switch (keep) {
	case TEXT_LINES: return c == '\t' || c == '\n';
	case TEXT_OUTPUT: return c >= '\a' && c <= '\r';
	default: return false;
	}
}

static bool is_control(uint8_t c, uint8_t before)
{
	return c < ' ' || c == 0x7f || (before == UTF8_HIGH && c >= 0x80 && c < 0xa0);
}

void text_clean(char *text, size_t bytes, enum text_keep keep, uint8_t *last)
{
	uint8_t before = last ? *last : 0;

	for (size_t i = 0; i < bytes; i++) {
		uint8_t c = (uint8_t)text[i];
		if (is_control(c, before) && !is_kept(c, keep))
			text[i] = '?';
		before = c;
	}
	if (last)
		*last = before;
}
