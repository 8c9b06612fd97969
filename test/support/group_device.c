/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a simulated xPU: what the engine does with COPY and with the kernel `combine`
 * (src/collective/combine.cl). */
#include <string.h>

#include "base/util.h"
#include "test/support/group_sim.h"

#define COMBINE(name, type, wrap)                                                                 \
	static type name##_pair(enum dxp_reduction reduction, type a, type b)                     \
	{                                                                                         \
		switch (reduction) {                                                              \
		case DXP_PRODUCT: return (type)((wrap)a * (wrap)b);                               \
		case DXP_MIN: return b < a ? b : a;                                               \
		case DXP_MAX: return b > a ? b : a;                                               \
		default: return (type)((wrap)a + (wrap)b);                                        \
		}                                                                                 \
	}                                                                                         \
                                                                                                  \
	static void name(enum dxp_reduction reduction, const struct combine *c)                   \
	{                                                                                         \
		const type *own = c->own, *inputs = c->inputs;                                    \
		type *result = c->result;                                                         \
		for (uint64_t i = 0; i < c->count; i++) {                                         \
			type value = own[i];                                                      \
			for (uint32_t k = 0; k < c->input_count; k++)                             \
				value = name##_pair(                                              \
					reduction, value,                                         \
					inputs[(k + c->start) % c->input_count * c->stride + i]); \
			result[i] = c->divisor == 1 ? value : (type)(value / (type)c->divisor);   \
		}                                                                                 \
	}

struct combine {
	const void *own, *inputs;
	void *result;
	uint64_t count, stride;
	uint32_t input_count, divisor;
	uint32_t start; /* the first input to combine */
};

COMBINE(combine_int32, int32_t, uint32_t)
COMBINE(combine_int64, int64_t, uint64_t)
COMBINE(combine_float, float, float)
COMBINE(combine_double, double, double)

static uint64_t number_of(const struct command_argument *a)
{
	uint64_t value = 0;

	memcpy(&value, a->value, a->bytes);
	return value;
}

/* Returns the address of a buffer whose elements begin at an index. */
static void *place_of(const struct gsim_node *x, const struct command_argument *a,
		      const struct command_argument *first, uint32_t element_bytes)
{
	return x->memory + a->address + number_of(first) * element_bytes;
}

static void combine_run(struct gsim_node *x, const struct command *c)
{
	const struct command_argument *a = c->arguments;
	const enum dxp_type type = (enum dxp_type)(c->program >> 8);
	const enum dxp_reduction reduction = (enum dxp_reduction)(c->program & 0xff);
	const uint32_t size = (uint32_t)dxp_type_bytes(type);
	const struct combine with = {.own = place_of(x, &a[0], &a[7], size),
				     .inputs = place_of(x, &a[1], &a[8], size),
				     .result = place_of(x, &a[2], &a[9], size),
				     .count = number_of(&a[3]),
				     .stride = number_of(&a[4]),
				     .input_count = (uint32_t)number_of(&a[5]),
				     .divisor = (uint32_t)number_of(&a[6]),
				     .start = x->sim->options.defect == GSIM_ARRIVAL_ORDER
						      ? (uint32_t)rng_below(&x->rng, 8)
						      : 0};

	switch (type) {
	case DXP_INT32: combine_int32(reduction, &with); break;
	case DXP_FLOAT: combine_float(reduction, &with); break;
	case DXP_DOUBLE: combine_double(reduction, &with); break;
	default: combine_int64(reduction, &with);
	}
}

void gsim_device_run(struct gsim_node *x, const struct command *c)
{
	if (c->op == COMMAND_RUN)
		combine_run(x, c);
	else if (c->op == COMMAND_COPY)
		memmove(x->memory + c->to_address, x->memory + c->address, c->rect.row_bytes);
}
