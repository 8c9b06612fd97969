/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleans text of hosts' programs, such as compiler messages, for logs and terminals, where control
 * characters can hide lines or send input to a shell. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum text_keep {
	TEXT_LINE,  /* no control characters */
	TEXT_LINES, /* tab and newline */
	/* also bell, backspace, vertical tab, form feed, carriage return */
	TEXT_OUTPUT,
};

/* Replaces by '?' the ASCII control characters that `keep` does not permit, and U+0080 to U+009F in
 * UTF-8. *last is the byte before `text`, and becomes its last byte; NULL: none precedes. */
void text_clean(char *text, size_t bytes, enum text_keep keep, uint8_t *last);

#endif
