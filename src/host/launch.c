/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/launch.h"

#include <stdio.h>
#include <string.h>

#include "host/internal.h"

static int check_grid(const struct dxp_launch *l, struct command *c)
{
	bool local = l->local[0] || l->local[1] || l->local[2];

	if (l->dimensions < 1 || l->dimensions > 3)
		return error_set(DXP_EINVAL, "kernel '%s': %u dimensions; 1 to 3 are possible",
				 l->kernel, l->dimensions);
	c->dimensions = (uint8_t)l->dimensions;
	for (uint32_t d = 0; d < 3; d++) {
		c->global[d] = d < l->dimensions ? l->global[d] : 1;
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

static int check_argument(const struct dxp_launch *l, uint32_t index, uint64_t memory_bytes,
			  bool nic, struct command_argument *out)
{
	const struct dxp_argument *a = &l->arguments[index];

	*out = (struct command_argument){.bytes = a->bytes, .address = a->address};
	switch (a->kind) {
	case DXP_ARGUMENT_BYTES:
		if (a->bytes < 1 || a->bytes > (a->data ? COMMAND_VALUE_BYTES : sizeof(a->value)))
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: a value of %u bytes; 1 to %zu "
					 "are possible, or with `data` to %d",
					 l->kernel, index, a->bytes, sizeof(a->value),
					 COMMAND_VALUE_BYTES);
		out->kind = COMMAND_ARG_BYTES;
		out->value = a->data ? a->data : a->value;
		return DXP_OK;
	case DXP_ARGUMENT_BUFFER:
		if (a->address >= memory_bytes && a->address != DXP_NULL_ADDRESS)
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: address %#llx is outside the "
					 "xPU's memory",
					 l->kernel, index, (unsigned long long)a->address);
		out->kind = COMMAND_ARG_BUFFER;
		return DXP_OK;
	case DXP_ARGUMENT_LOCAL:
		if (a->bytes == 0)
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: local memory of 0 bytes",
					 l->kernel, index);
		out->kind = COMMAND_ARG_LOCAL;
		return DXP_OK;
	case DXP_ARGUMENT_NIC:
		if (!nic)
			return error_set(DXP_EINVAL,
					 "kernel '%s', argument %u: this program has no NIC "
					 "function on that xPU; call dxp_xpu_nic() first",
					 l->kernel, index);
		out->kind = COMMAND_ARG_NIC;
		return DXP_OK;
	case DXP_ARGUMENT_IMAGE:
	case DXP_ARGUMENT_SAMPLER: break;
	}
	return error_set(DXP_EINVAL, "kernel '%s', argument %u: no such kind", l->kernel, index);
}

int launch_check(const struct dxp_launch *l, uint64_t memory_bytes, bool nic, struct command *c)
{
	if (!l->kernel || !*l->kernel || strlen(l->kernel) >= COMMAND_NAME_BYTES)
		return error_set(DXP_EINVAL, "a kernel's name has 1 to %d bytes",
				 COMMAND_NAME_BYTES - 1);
	if (l->argument_count > COMMAND_ARGS_MAX)
		return error_set(DXP_EINVAL, "kernel '%s': %u arguments; at most %d are possible",
				 l->kernel, l->argument_count, COMMAND_ARGS_MAX);
	snprintf(c->text, sizeof(c->text), "%s", l->kernel);
	int status = check_grid(l, c);
	for (uint32_t i = 0; status == DXP_OK && i < l->argument_count; i++)
		status = check_argument(l, i, memory_bytes, nic, &c->arguments[i]);
	c->argument_count = (uint8_t)l->argument_count;
	return status;
}
