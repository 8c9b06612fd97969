/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --context, which names a fabric's folder (host/context.h). */
#ifndef CMD_OPTIONS_CONTEXT_H
#define CMD_OPTIONS_CONTEXT_H

/* Parse the name of a context, and set the `const char *` at `to` to its folder, in static memory.
 * They have the type of `parse` in struct option_row. The second one also accepts a name that does
 * not exist yet, for commands that make a fabric. */
const char *option_context_parse(const char *text, void *to);
const char *option_context_new_parse(const char *text, void *to);

#endif
