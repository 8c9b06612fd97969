/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes RUN in a worker: converts the launch to addresses of this process. */
#include <string.h>

#include <stdio.h>

#include <dxp/status.h>

#include "engine/limits.h"
#include "worker/server_internal.h"

/* Rounds the end up to ENGINE_ALIGN for drivers. The extra bytes belong to the same host, because
 * allocations have multiples of this size. */
static uint64_t rest_align(uint64_t address, uint64_t rest)
{
	if (rest == 0)
		return 0;
	return (address + rest + ENGINE_ALIGN - 1) / ENGINE_ALIGN * ENGINE_ALIGN - address;
}

/* The xPU has checked that the memory belongs to the host. */
static void memory_set(const struct worker_server *s, const struct worker_argument *from,
		       struct engine_argument *to)
{
	to->address = from->address;
	to->memory_bytes = rest_align(from->address, from->bytes);
	if (from->bytes && s->options.memory)
		to->memory = s->options.memory + from->address;
}

/* Windows follow device memory; in BRIDGED mode the worker maps only them. */
static uint8_t *window_at(const struct worker_server *s, uint64_t address)
{
	const struct worker_server_options *o = &s->options;
	uint8_t *windows = o->memory ? o->memory + o->memory_bytes : o->windows;

	return windows + (address - o->memory_bytes);
}

static void argument_set(const struct worker_server *s, struct worker_run *run, uint32_t i,
			 struct engine_argument *to)
{
	const struct worker_argument *from = &worker_run_arguments(run)[i];
	const void *value = worker_run_at(run, from->value);

	*to = (struct engine_argument){.kind = from->kind};
	switch (from->kind) {
	case COMMAND_ARG_BYTES:
		to->bytes = (uint32_t)from->bytes;
		to->value = value;
		break;
	case COMMAND_ARG_BUFFER:
		memory_set(s, from, to);
		to->exact_bytes = worker_run_exact(run, from);
		if (to->exact_bytes == 0)
			to->exact_bytes = from->bytes;
		break;
	case COMMAND_ARG_LOCAL: to->bytes = (uint32_t)from->bytes; break;
	case COMMAND_ARG_NIC:
		to->memory = window_at(s, from->address);
		to->memory_bytes = sizeof(struct dxp_window);
		break;
	case COMMAND_ARG_IMAGE:
		memory_set(s, from, to);
		memcpy(&to->image, value, sizeof(to->image));
		break;
	case COMMAND_ARG_SAMPLER: memcpy(&to->sampler, value, sizeof(to->sampler)); break;
	}
}

int worker_launch(struct worker_server *s, struct worker_run *run)
{
	struct engine_launch *l = &s->launch;

	l->kernel = worker_run_name(run);
	l->program = worker_program_find(s, run->program);
	if (!l->program) {
		snprintf(s->text, sizeof(s->text),
			 "kernel '%.80s': its program was lost with its worker process and could "
			 "not be rebuilt; build it again",
			 l->kernel);
		return DXP_EBUILD;
	}
	l->dimensions = run->dimensions;
	for (uint32_t d = 0; d < 3; d++) {
		bool used = d < run->dimensions;
		l->global[d] = used ? run->axes[d].global : 1;
		l->local[d] = used ? run->axes[d].local : 0;
		l->offset[d] = used ? run->axes[d].offset : 0;
	}
	l->argument_count = run->argument_count;
	for (uint32_t i = 0; i < run->argument_count; i++)
		argument_set(s, run, i, &l->arguments[i]);
	return engine_run(s->options.engine, l, s->text);
}
