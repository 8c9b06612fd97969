/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleans text of hosts' programs, such as compiler messages, for logs and terminals. A terminal
 * obeys control characters: they can hide lines, and some can send input to a shell. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum text_keep {
	TEXT_LINE,  /* permits no control characters */
	TEXT_LINES, /* permits tab and newline */
	/* what TEXT_LINES permits, and bell, backspace, vertical tab, form feed and carriage
	 * return */
	TEXT_OUTPUT,
};

/* Replaces control characters by '?': ASCII control characters that `keep` does not permit, and
 * U+0080 to U+009F in UTF-8. *last is the byte before `text`, and becomes the last byte of `text`.
 * `last` is NULL if no byte precedes. */
void text_clean(char *text, size_t bytes, enum text_keep keep, uint8_t *last);

#endif
