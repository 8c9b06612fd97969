/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/combine.h"

#include <string.h>

#include "collective/kernel.h"
#include "collective/limits.h"
#include "host/internal.h"

#define LOCAL_SIZE \
	64 /* work-items per work-group; every device can run 64, and one size needs one build */

static struct dxp_argument value(const void *data, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, data, bytes);
	return a;
}

/* Returns the aligned address before `address`. Sets *first to the number of elements between. */
static struct dxp_argument buffer(uint64_t address, uint64_t element_bytes, uint64_t *first)
{
	const uint64_t rest = address % COLLECTIVE_KERNEL_ALIGN;

	*first = rest / element_bytes;
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address - rest};
}

int combine_start(struct dxp_xpu *x, const struct combine *c, const dxp_event *waits,
		  uint32_t wait_count, dxp_event *event)
{
	const uint64_t count = c->bytes / c->element_bytes;
	const uint64_t stride = c->input_pitch / c->element_bytes;
	uint64_t own, inputs, result;
	const struct dxp_argument buffers[] = {
		buffer(c->own, c->element_bytes, &own),
		buffer(c->inputs, c->element_bytes, &inputs),
		buffer(c->result, c->element_bytes, &result),
	};
	const struct dxp_argument arguments[] = {
		buffers[0],
		buffers[1],
		buffers[2],
		value(&count, sizeof(count)),
		value(&stride, sizeof(stride)),
		value(&c->input_count, sizeof(c->input_count)),
		value(&c->divisor, sizeof(c->divisor)),
		value(&own, sizeof(own)),
		value(&inputs, sizeof(inputs)),
		value(&result, sizeof(result)),
	};
	const struct dxp_launch launch = {
		.program = c->program,
		.kernel = "combine",
		.dimensions = 1,
		.global = {(count + LOCAL_SIZE - 1) / LOCAL_SIZE * LOCAL_SIZE},
		.local = {LOCAL_SIZE},
		.arguments = arguments,
		.argument_count = ARRAY_COUNT(arguments),
		.wait = waits,
		.wait_count = wait_count,
		.lazy = true};

	return dxp_run(x, &launch, event);
}

int combine_build(struct dxp_xpu *x, enum dxp_type type, enum dxp_reduction reduction,
		  struct dxp_program **out)
{
	char options[KERNEL_OPTIONS_BYTES];
	struct dxp_program *program;

	kernel_options(type, reduction, options);
	int status = dxp_program_build(x, kernel_source, options, &program);
	if (status == DXP_OK)
		*out = program;
	if (status != DXP_EBUILD)
		return status;
	error_set(status, "its compiler rejects the kernel for type %s: %.150s",
		  dxp_type_text(type), dxp_program_log(program));
	dxp_program_release(program);
	return type == DXP_DOUBLE ? DXP_EUNSUPPORTED : status;
}
