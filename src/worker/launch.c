/* SPDX-License-Identifier: BSD-3-Clause */
/* RUN in a worker: translates the command's arguments for the engine. */
#include <string.h>

#include <stdio.h>

#include <dxp/status.h>

#include "engine/limits.h"
#include "worker/server_internal.h"

/* Returns the bytes from `address` on that an engine may map: up to the end of ENGINE_ALIGN bytes,
 * as drivers need it. They belong to the host, because its allocations have such sizes. */
static uint64_t rest_align(uint64_t address, uint64_t rest)
{
	if (rest == 0)
		return 0;
	return (address + rest + ENGINE_ALIGN - 1) / ENGINE_ALIGN * ENGINE_ALIGN - address;
}

/* The xPU has checked that the memory belongs to the host. */
static void argument_set(struct worker_server *s, const struct worker_run *run, uint32_t i)
{
	const struct command_argument *from = &s->command.arguments[i];
	struct engine_argument *to = &s->launch.arguments[i];

	*to = (struct engine_argument){.kind = from->kind,
				       .bytes = from->bytes,
				       .value = from->value,
				       .address = from->address,
				       .memory_bytes = rest_align(from->address, run->rests[i])};
	if (from->kind == COMMAND_ARG_BUFFER)
		to->exact_bytes = from->bytes ? from->bytes : run->rests[i];
	if (from->kind == COMMAND_ARG_IMAGE)
		command_image_get(from->value, &to->image);
	if (from->kind == COMMAND_ARG_SAMPLER)
		command_sampler_get(from->value, &to->sampler);
	if (from->kind == COMMAND_ARG_NIC) {
		to->memory = s->options.memory + run->window;
		to->memory_bytes = sizeof(struct dxp_window);
	} else if (run->rests[i] && s->options.memory) {
		to->memory = s->options.memory + from->address;
	}
}

int worker_launch(struct worker_server *s, const struct worker_run *run)
{
	const uint8_t *command = (const uint8_t *)run + WORKER_RUN_BYTES(run->argument_count);
	struct command *c = &s->command;
	struct engine_launch *l = &s->launch;

	if (command_decode(command, run->needs.command_bytes, c) != DXP_OK ||
	    c->argument_count != run->argument_count)
		return DXP_EMALFORMED;
	l->program = worker_program_find(s, c->program);
	if (!l->program) {
		snprintf(s->text, sizeof(s->text),
			 "kernel '%.80s': its program was lost with its worker process and could "
			 "not be rebuilt; build it again",
			 c->text);
		return DXP_EBUILD;
	}
	l->kernel = c->text;
	l->dimensions = c->dimensions;
	memcpy(l->global, c->global, sizeof(c->global));
	memcpy(l->local, c->local, sizeof(c->local));
	memcpy(l->offset, c->offset, sizeof(c->offset));
	l->argument_count = c->argument_count;
	for (uint32_t i = 0; i < c->argument_count; i++)
		argument_set(s, run, i);
	return engine_run(s->options.engine, l, s->text);
}
