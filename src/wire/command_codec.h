/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the command codec. */
#ifndef WIRE_COMMAND_CODEC_H
#define WIRE_COMMAND_CODEC_H

#include <string.h>

#include <dxp/status.h>

#include "wire/command.h"
#include "wire/cursor.h"

bool command_op_synchronous(uint8_t op);

/* command_run.c: the body of RUN */
bool command_run_valid(const struct command *c);
void command_run_put(struct put_cursor *p, const struct command *c);
void command_run_get(struct get_cursor *g, struct command *c);

/* defined in command_allreduce.c: the bodies of SWITCHES, ALLREDUCE and SETTLE */
bool command_allreduce_valid(const struct command *c);
void command_allreduce_put(struct put_cursor *p, const struct command *c);
void command_allreduce_get(struct get_cursor *g, struct command *c);

/* Printable, and ends with its final zero within `space` bytes. */
static inline bool command_text_valid(const char *text, size_t space)
{
	size_t bytes = strnlen(text, space);

	for (size_t i = 0; i < bytes; i++)
		if ((uint8_t)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return bytes < space;
}

static inline int command_put_end(const struct put_cursor *p, const uint8_t *out)
{
	return p->bad ? DXP_EINVAL : (int)(p->at - out);
}

#endif
