/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>
#include <dxp/window.h>

#include "base/util.h"
#include "engine/ocl_library.h"

/* unmapped between two buffers: a small overrun traps */
#define GAP_BYTES RV32_PAGE_BYTES

static uint8_t kind_of(const struct rv32_parameter *p)
{
	if (p->space == RV32_SPACE_LOCAL)
		return COMMAND_ARG_LOCAL;
	if (p->space == RV32_SPACE_VALUE)
		return COMMAND_ARG_BYTES;
	return strstr(p->type, "dxp_window") ? COMMAND_ARG_NIC : COMMAND_ARG_BUFFER;
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[COMMAND_ARG_BYTES] = "a value",      [COMMAND_ARG_BUFFER] = "a buffer",
		[COMMAND_ARG_LOCAL] = "local memory", [COMMAND_ARG_NIC] = "the NIC",
		[COMMAND_ARG_IMAGE] = "an image",     [COMMAND_ARG_SAMPLER] = "a sampler",
	};

	return kind < ARRAY_COUNT(names) ? names[kind] : "something unknown";
}

static int argument_check(struct engine_rv32 *r, const struct rv32_kernel *k, uint32_t i,
			  const struct engine_argument *a, char text[ENGINE_TEXT_BYTES])
{
	const struct rv32_parameter *p = &k->parameters[i];
	const uint8_t kind = kind_of(p);

	if (a->kind != kind) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: it takes %s (%.40s), %s was given", k->name,
			 i, kind_name(kind), p->type, kind_name(a->kind));
		r->engine.native = CL_INVALID_ARG_VALUE;
		return DXP_EINVAL;
	}
	if (kind == COMMAND_ARG_BYTES && p->bytes != a->bytes) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: %.40s has %u bytes, %u were given", k->name,
			 i, p->type, p->bytes, a->bytes);
		r->engine.native = CL_INVALID_ARG_SIZE;
		return DXP_EINVAL;
	}
	if (kind == COMMAND_ARG_LOCAL && a->bytes == 0) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: 0 bytes of local memory", k->name, i);
		r->engine.native = CL_INVALID_ARG_SIZE;
		return DXP_EINVAL;
	}
	return DXP_OK;
}

static int arguments_check(struct engine_rv32 *r, const struct rv32_kernel *k,
			   const struct engine_launch *l, char text[ENGINE_TEXT_BYTES])
{
	int status = DXP_OK;

	if (l->argument_count != k->parameter_count) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.100s' takes %u arguments, %u were given", k->name,
			 k->parameter_count, l->argument_count);
		r->engine.native = CL_INVALID_KERNEL_ARGS;
		return DXP_EINVAL;
	}
	for (uint32_t i = 0; status == DXP_OK && i < k->parameter_count; i++)
		status = argument_check(r, k, i, &l->arguments[i], text);
	return status;
}

struct range {
	uint8_t *begin, *end;
	uint32_t argument;
	uint32_t address; /* of `begin` in the launch's address space */
};

struct ranges {
	struct range list[COMMAND_ARGS_MAX];
	uint32_t count;
};

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool has_memory(const struct engine_argument *a)
{
	return a->kind == COMMAND_ARG_BUFFER && a->address != ENGINE_NO_ADDRESS &&
	       a->memory_bytes > 0;
}

static void ranges_collect(const struct engine_launch *l, struct ranges *r)
{
	r->count = 0;
	for (uint32_t i = 0; i < l->argument_count; i++) {
		const struct engine_argument *a = &l->arguments[i];
		if (!has_memory(a))
			continue;
		/* A segment must start at a multiple of 4. */
		uint8_t *begin = (uint8_t *)a->memory - ((uintptr_t)a->memory & 3);
		const uint64_t bytes = a->exact_bytes ? a->exact_bytes : a->memory_bytes;
		r->list[r->count++] = (struct range){begin, (uint8_t *)a->memory + bytes, i, 0};
	}
	qsort(r->list, r->count, sizeof(r->list[0]), by_begin);
}

/* list[from .. to - 1] are constant arguments. */
static bool all_constant(const struct rv32_kernel *k, const struct ranges *r, uint32_t from,
			 uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (k->parameters[r->list[i].argument].space != RV32_SPACE_CONSTANT)
			return false;
	return true;
}

/* One segment for list[from] and the ranges that overlap it; *next: first free address. Returns the
 * index after them; 0: no addresses are left. */
static uint32_t segment_add(const struct rv32_kernel *k, struct ranges *r, uint32_t from,
			    uint64_t *next, struct rv32_space_map *m)
{
	uint8_t *end = r->list[from].end;
	uint32_t to = from + 1;

	for (; to < r->count && r->list[to].begin < end; to++)
		if (r->list[to].end > end)
			end = r->list[to].end;
	const uint64_t bytes = (uint64_t)(end - r->list[from].begin);
	if (bytes > RV32_BUFFER_END - *next)
		return 0;
	for (uint32_t i = from; i < to; i++)
		r->list[i].address =
			(uint32_t)(*next + (uint64_t)(r->list[i].begin - r->list[from].begin));
	const bool constant = all_constant(k, r, from, to);
	const uint32_t argument = r->list[from].argument;
	m->segments[m->count++] = (struct rv32_segment){
		.host = r->list[from].begin,
		.base = (uint32_t)*next,
		.bytes = (uint32_t)bytes,
		.kind = constant ? RV32_CONSTANT : RV32_GLOBAL,
		.access = constant ? RV32_READ : RV32_READ | RV32_WRITE,
		.argument = (int16_t)argument,
		.name = k->parameters[argument].name,
	};
	*next += (bytes + RV32_PAGE_BYTES - 1) / RV32_PAGE_BYTES * RV32_PAGE_BYTES + GAP_BYTES;
	return to;
}

static int buffers_map(const struct rv32_kernel *k, struct ranges *r, struct rv32_space_map *m,
		       char text[ENGINE_TEXT_BYTES])
{
	uint64_t next = RV32_BUFFER_BASE;

	for (uint32_t i = 0; i < r->count;) {
		i = next < RV32_BUFFER_END ? segment_add(k, r, i, &next, m) : 0;
		if (i == 0) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s': its buffers have more than 3.25 GiB together, "
				 "which 32 address bits cannot reach; use smaller ones",
				 k->name);
			return DXP_EINVAL;
		}
	}
	return DXP_OK;
}

static uint32_t buffer_address(const struct engine_launch *l, const struct ranges *r, uint32_t i)
{
	for (uint32_t n = 0; n < r->count; n++)
		if (r->list[n].argument == i)
			return r->list[n].address +
			       (uint32_t)((uint8_t *)l->arguments[i].memory - r->list[n].begin);
	return 0;
}

static int local_add(const struct rv32_kernel *k, uint32_t bytes, struct rv32_space_map *m,
		     uint32_t *address, char text[ENGINE_TEXT_BYTES])
{
	const uint32_t at =
		(m->local_bytes + RV32_VALUE_ALIGN - 1) / RV32_VALUE_ALIGN * RV32_VALUE_ALIGN;

	if (at > RV32_LOCAL_BYTES_MAX || bytes > RV32_LOCAL_BYTES_MAX - at) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s': %llu bytes of local memory; this device has %u", k->name,
			 (unsigned long long)at + bytes, RV32_LOCAL_BYTES_MAX);
		return DXP_EINVAL;
	}
	*address = RV32_LOCAL_BASE + at;
	m->local_bytes = at + bytes;
	return DXP_OK;
}

static void window_map(const struct engine_argument *a, struct rv32_space_map *m)
{
	if (m->window)
		return;
	m->window = a->memory;
	m->segments[m->count++] = (struct rv32_segment){
		.host = a->memory,
		.base = RV32_WINDOW_BASE,
		.bytes = (uint32_t)a->memory_bytes,
		.kind = RV32_WINDOW,
		.access = RV32_READ | RV32_WRITE,
		.argument = -1,
		.name = "the NIC's window",
	};
}

static int value_put(struct engine_rv32 *r, const struct rv32_kernel *k,
		     const struct engine_launch *l, const struct ranges *ranges, uint32_t i,
		     uint8_t *to, struct rv32_space_map *m, char text[ENGINE_TEXT_BYTES])
{
	const struct engine_argument *a = &l->arguments[i];
	uint32_t address = 0;
	int status = DXP_OK;

	if (a->kind == COMMAND_ARG_BYTES) {
		memcpy(to, a->value, a->bytes);
		return DXP_OK;
	}
	if (a->kind == COMMAND_ARG_LOCAL) {
		status = local_add(k, a->bytes, m, &address, text);
		if (status != DXP_OK)
			r->engine.native = CL_OUT_OF_RESOURCES;
	} else if (a->kind == COMMAND_ARG_NIC) {
		window_map(a, m);
		address = RV32_WINDOW_BASE;
	} else {
		address = buffer_address(l, ranges, i);
	}
	records_put_le(to, address, 4);
	return status;
}

/* The table of pointers to values, then the values. */
static int values_fill(struct engine_rv32 *r, const struct rv32_kernel *k,
		       const struct engine_launch *l, const struct ranges *ranges,
		       struct rv32_space_map *m, char text[ENGINE_TEXT_BYTES])
{
	uint32_t used = (4 * l->argument_count + RV32_VALUE_ALIGN - 1) & ~(RV32_VALUE_ALIGN - 1u);

	for (uint32_t i = 0; i < l->argument_count; i++) {
		int status = value_put(r, k, l, ranges, i, r->values + used, m, text);
		if (status != DXP_OK)
			return status;
		records_put_le(r->values + 4 * i, RV32_ARGUMENT_BASE + used, 4);
		used += (k->parameters[i].bytes + RV32_VALUE_ALIGN - 1) & ~(RV32_VALUE_ALIGN - 1u);
	}
	m->segments[m->count++] = (struct rv32_segment){
		.host = r->values,
		.base = RV32_ARGUMENT_BASE,
		.bytes = max_u32(used, 4),
		.kind = RV32_ARGUMENTS,
		.access = RV32_READ,
		.argument = -1,
		.name = "the arguments",
	};
	return DXP_OK;
}

int rv32_arguments_map(struct engine_rv32 *r, const struct rv32_image *image,
		       const struct rv32_kernel *k, const struct engine_launch *l,
		       struct rv32_space_map *m, char text[ENGINE_TEXT_BYTES])
{
	struct ranges ranges;
	int status = arguments_check(r, k, l, text);

	if (status != DXP_OK)
		return status;
	*m = (struct rv32_space_map){.local_bytes = k->local_bytes};
	if (image->constant_bytes)
		m->segments[m->count++] = (struct rv32_segment){
			.host = image->constants,
			.base = image->constant_base,
			.bytes = image->constant_bytes,
			.kind = RV32_CONSTANT,
			.access = RV32_READ,
			.argument = -1,
			.name = "the program's constants",
		};
	ranges_collect(l, &ranges);
	status = buffers_map(k, &ranges, m, text);
	return status == DXP_OK ? values_fill(r, k, l, &ranges, m, text) : status;
}
