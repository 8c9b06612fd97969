/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/run.h"

#include <assert.h>
#include <string.h>

_Static_assert(sizeof(struct dxp_image) <= COMMAND_IMAGE_BYTES &&
		       sizeof(struct dxp_sampler) <= COMMAND_SAMPLER_BYTES,
	       "decoded values take no more than encoded ones");

/* Returns the length of the argument's value in a worker_run. */
static uint32_t value_bytes(const struct command_argument *a)
{
	switch (a->kind) {
	case COMMAND_ARG_BYTES: return a->bytes;
	case COMMAND_ARG_BUFFER: return a->bytes ? sizeof(a->bytes) : 0;
	case COMMAND_ARG_IMAGE: return sizeof(struct dxp_image);
	case COMMAND_ARG_SAMPLER: return sizeof(struct dxp_sampler);
	default: return 0;
	}
}

/* Only images with equal descriptions share a value. */
static uint8_t value_first(const struct command *c, uint8_t i)
{
	const struct command_argument *a = c->arguments;
	uint8_t first = 0;

	if (a[i].kind != COMMAND_ARG_IMAGE)
		return i;
	while (a[first].kind != COMMAND_ARG_IMAGE || a[first].value != a[i].value)
		first++;
	return first;
}

static void value_put(const struct command_argument *a, void *to)
{
	struct dxp_image image;
	struct dxp_sampler sampler;

	switch (a->kind) {
	case COMMAND_ARG_BYTES: memcpy(to, a->value, a->bytes); break;
	case COMMAND_ARG_BUFFER: memcpy(to, &a->bytes, value_bytes(a)); break;
	case COMMAND_ARG_IMAGE:
		command_image_get(a->value, &image);
		memcpy(to, &image, sizeof(image));
		break;
	case COMMAND_ARG_SAMPLER:
		command_sampler_get(a->value, &sampler);
		memcpy(to, &sampler, sizeof(sampler));
		break;
	}
}

/* Sets the offsets. Returns that of the values. */
static uint32_t layout(const struct command *c, struct worker_run *r)
{
	uint32_t at = (uint32_t)(sizeof(*r) + c->dimensions * sizeof(r->axes[0]));

	r->needs = (uint16_t)at;
	at += c->wait_count * (uint32_t)sizeof(uint64_t);
	r->arguments = (uint16_t)at;
	at += c->argument_count * (uint32_t)sizeof(struct worker_argument);
	r->name = (uint16_t)at;
	return at + (uint32_t)strlen(c->text) + 1;
}

uint32_t worker_run_bytes(const struct command *c)
{
	struct worker_run r;
	uint32_t bytes = layout(c, &r);

	for (uint8_t i = 0; i < c->argument_count; i++)
		if (value_first(c, i) == i)
			bytes += value_bytes(&c->arguments[i]);
	return bytes;
}

/* Stores the value at `at`, unless it is shared. Returns the offset of the next one. */
static uint32_t argument_put(const struct command *c, uint8_t i, struct worker_run *r, uint32_t at)
{
	const struct command_argument *from = &c->arguments[i];
	struct worker_argument *to = worker_run_arguments(r);
	uint8_t first = value_first(c, i);
	bool sized = from->kind == COMMAND_ARG_BYTES || from->kind == COMMAND_ARG_LOCAL;
	uint32_t value = first != i ? to[first].value : value_bytes(from) ? at : 0;

	to[i] = (struct worker_argument){.kind = from->kind & 15,
					 .value = value & UINT16_MAX,
					 .bytes = sized ? from->bytes : 0,
					 .address = from->address};
	if (first != i)
		return at;
	value_put(from, worker_run_at(r, at));
	return at + value_bytes(from);
}

uint32_t worker_run_exact(const struct worker_run *r, const struct worker_argument *a)
{
	uint32_t bytes = 0;

	if (a->kind == COMMAND_ARG_BUFFER && a->value)
		memcpy(&bytes, (const char *)r + a->value, sizeof(bytes));
	return bytes;
}

void worker_run_make(const struct command *c, struct worker_run *out)
{
	*out = (struct worker_run){.event = c->event,
				   .program = c->program,
				   .dimensions = c->dimensions,
				   .argument_count = c->argument_count};
	uint32_t at = layout(c, out);

	for (uint8_t d = 0; d < c->dimensions; d++)
		out->axes[d] = (struct worker_axis){c->global[d], c->local[d], c->offset[d]};
	memset(worker_run_needs(out), 0, c->wait_count * sizeof(uint64_t));
	memcpy(worker_run_at(out, out->name), c->text, strlen(c->text) + 1);
	for (uint8_t i = 0; i < c->argument_count; i++)
		at = argument_put(c, i, out, at);
	assert(at <= UINT16_MAX);
	out->bytes = (uint16_t)at;
}
