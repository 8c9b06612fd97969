/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/edit.h"

#include <string.h>

static uint32_t data_offset(const struct command *c)
{
	return (uint32_t)(sizeof(struct worker_edit) + c->wait_count * sizeof(uint64_t));
}

uint32_t worker_edit_bytes(const struct command *c)
{
	return data_offset(c) + c->data_bytes;
}

void worker_edit_make(const struct command *c, struct worker_edit *out)
{
	bool copy = c->op == COMMAND_COPY;

	*out = (struct worker_edit){
		.event = c->event,
		.from = copy ? c->address : 0,
		.to = copy ? c->to_address : c->address,
		.rect = c->rect,
		.bytes = (uint16_t)worker_edit_bytes(c),
		.data_bytes = (uint16_t)c->data_bytes,
		.data = (uint16_t)data_offset(c),
		.op = c->op,
	};
	memset(out->needs, 0, c->wait_count * sizeof(uint64_t));
	if (c->data_bytes)
		memcpy((char *)out + out->data, c->data, c->data_bytes);
}
