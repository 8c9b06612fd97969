/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/launch.h"

#include <string.h>

#include "host/internal.h"

static int check_grid(const struct dxp_launch *l, struct command *c)
{
	bool local = l->local[0] || l->local[1] || l->local[2];

	if (l->dimensions < 1 || l->dimensions > 3)
		return error_set(DXP_EINVAL, "kernel '%s': %u dimensions; use 1 to 3", l->kernel,
				 l->dimensions);
	c->dimensions = (uint8_t)l->dimensions;
	for (uint32_t d = 0; d < 3; d++) {
		c->global[d] = d < l->dimensions ? l->global[d] : 1;
		c->offset[d] = d < l->dimensions ? l->offset[d] : 0;
		c->local[d] = !local ? 0 : d < l->dimensions ? l->local[d] : 1;
		if (c->global[d] == 0)
			return error_set(DXP_EINVAL, "kernel '%s': global size %u is 0", l->kernel,
					 d);
		if (local && (c->local[d] == 0 || c->global[d] % c->local[d]))
			return error_set(DXP_EINVAL,
					 "kernel '%s': local size %u (%llu) does not divide %llu",
					 l->kernel, d, (unsigned long long)c->local[d],
					 (unsigned long long)c->global[d]);
	}
	return DXP_OK;
}

/* Resources that a launch may use, and space for its arguments. */
struct granted {
	uint64_t memory_bytes;
	bool nic;
	uint8_t *packed; /* space for all arguments that must be converted */
};

/* Encodes an image or a sampler as a command argument. */
static int pack(const struct dxp_launch *l, uint32_t index, struct granted *g,
		struct command_argument *out)
{
	const struct dxp_argument *a = &l->arguments[index];
	bool image = a->kind == DXP_ARGUMENT_IMAGE;

	out->kind = image ? COMMAND_ARG_IMAGE : COMMAND_ARG_SAMPLER;
	out->bytes = image ? COMMAND_IMAGE_BYTES : COMMAND_SAMPLER_BYTES;
	if (!a->data)
		return error_set(DXP_EINVAL, "kernel '%s', argument %u: %s is missing", l->kernel,
				 index, image ? "image" : "sampler");
	if (image)
		command_image_put(a->data, g->packed);
	else
		command_sampler_put(a->data, g->packed);
	out->value = g->packed;
	g->packed += out->bytes;
	return DXP_OK;
}

static int outside(const struct dxp_launch *l, uint32_t index)
{
	return error_set(DXP_EINVAL,
			 "kernel '%s', argument %u: address %#llx is outside the xPU's memory",
			 l->kernel, index, (unsigned long long)l->arguments[index].address);
}

static int check_argument(const struct dxp_launch *l, uint32_t index, struct granted *g,
			  struct command_argument *out)
{
	const struct dxp_argument *a = &l->arguments[index];

	*out = (struct command_argument){.bytes = a->bytes, .address = a->address};
	switch (a->kind) {
	case DXP_ARGUMENT_BYTES:
		if (a->bytes < 1 || a->bytes > (a->data ? COMMAND_VALUE_BYTES : sizeof(a->value)))
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: a value of %u bytes; use 1 to "
					 "%zu, or up to %d with `data`",
					 l->kernel, index, a->bytes, sizeof(a->value),
					 COMMAND_VALUE_BYTES);
		out->kind = COMMAND_ARG_BYTES;
		out->value = a->data ? a->data : a->value;
		return DXP_OK;
	case DXP_ARGUMENT_BUFFER:
		if (a->address >= g->memory_bytes && a->address != DXP_NULL_ADDRESS)
			return outside(l, index);
		if (a->address != DXP_NULL_ADDRESS && a->bytes > g->memory_bytes - a->address)
			return outside(l, index);
		out->kind = COMMAND_ARG_BUFFER;
		if (a->address == DXP_NULL_ADDRESS)
			out->bytes = 0;
		return DXP_OK;
	case DXP_ARGUMENT_LOCAL:
		if (a->bytes == 0)
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: local memory of 0 bytes",
					 l->kernel, index);
		out->kind = COMMAND_ARG_LOCAL;
		return DXP_OK;
	case DXP_ARGUMENT_NIC:
		if (!g->nic)
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: this program has no NIC "
					 "function on the xPU; call dxp_xpu_nic() first",
					 l->kernel, index);
		out->kind = COMMAND_ARG_NIC;
		return DXP_OK;
	case DXP_ARGUMENT_IMAGE:
		if (a->address >= g->memory_bytes)
			return outside(l, index);
		return pack(l, index, g, out);
	case DXP_ARGUMENT_SAMPLER: return pack(l, index, g, out);
	}
	return error_set(DXP_EINVAL, "kernel '%s', argument %u: unknown kind", l->kernel, index);
}

int launch_check(const struct dxp_launch *l, uint64_t memory_bytes, bool nic, uint8_t *packed,
		 struct command *c)
{
	struct granted g = {memory_bytes, nic, packed};

	size_t name_bytes = l->kernel ? strnlen(l->kernel, COMMAND_NAME_BYTES) : 0;

	if (name_bytes == 0 || name_bytes == COMMAND_NAME_BYTES)
		return error_set(DXP_EINVAL, "a kernel's name has 1 to %d bytes",
				 COMMAND_NAME_BYTES - 1);
	if (l->argument_count > COMMAND_ARGS_MAX)
		return error_set(DXP_EINVAL, "kernel '%s': %u arguments; use at most %d", l->kernel,
				 l->argument_count, COMMAND_ARGS_MAX);
	memcpy(c->text, l->kernel, name_bytes + 1);
	int status = check_grid(l, c);
	for (uint32_t i = 0; status == DXP_OK && i < l->argument_count; i++)
		status = check_argument(l, i, &g, &c->arguments[i]);
	c->argument_count = (uint8_t)l->argument_count;
	return status;
}
