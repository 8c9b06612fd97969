/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares one operator on the local device with expected values; it is translated as in a normal
 * run. */
#ifndef CLASSIFY_BENCH_H
#define CLASSIFY_BENCH_H

#include "classify_support.h"

#include "base/rng.h"
#include "kernels.h"
#include "steps.h"

#define TENSORS_MAX 8
#define TOLERANCE   2e-5

static struct backend *device;
static struct rng rng = {.state = 1};
static const char *source = kernels_source;

struct bench {
	struct model m;
	struct tensor tensors[TENSORS_MAX];
	struct op op;
	float *values[TENSORS_MAX]; /* of each input and of the expected output */
	uint8_t *constants[TENSORS_MAX];
	float scale[TENSORS_MAX];
	int32_t zero[TENSORS_MAX];
};

static inline float random_float(void)
{
	return (float)((double)(rng_next(&rng) >> 40) / (1 << 23) - 1);
}

static inline void bench_open(struct bench *b, enum op_kind kind)
{
	memset(b, 0, sizeof(*b));
	b->m = (struct model){
		.path = (char *)"test", .tensors = b->tensors, .ops = &b->op, .op_count = 1};
	b->op.kind = kind;
	b->op.stride_y = b->op.stride_x = b->op.dilation_y = b->op.dilation_x = 1;
	b->op.beta = 1;
}

static inline void bench_close(struct bench *b)
{
	for (int32_t i = 0; i < TENSORS_MAX; i++) {
		free(b->values[i]);
		free(b->constants[i]);
	}
}

/* Adds a tensor of random floats; returns its index. */
static inline int32_t add_tensor(struct bench *b, int32_t dims, const int32_t *shape)
{
	int32_t i = b->m.tensor_count++;
	struct tensor *t = &b->tensors[i];

	*t = (struct tensor){.name = (char *)"tensor", .dims = dims, .elements = 1};
	for (int32_t d = 0; d < dims; d++) {
		t->shape[d] = shape[d];
		t->elements *= shape[d];
	}
	b->values[i] = calloc((size_t)t->elements + 1, sizeof(float));
	for (int64_t k = 0; k < t->elements; k++)
		b->values[i][k] = random_float();
	return i;
}

static inline int32_t add_input(struct bench *b, int32_t dims, const int32_t *shape)
{
	int32_t i = add_tensor(b, dims, shape);
	b->op.inputs[b->op.input_count++] = i;
	return i;
}

/* Elements have 8 bits if `quantised`; `values` holds what they represent. */
static inline int32_t add_constant(struct bench *b, int32_t dims, const int32_t *shape,
				   bool quantised)
{
	int32_t i = add_input(b, dims, shape);
	struct tensor *t = &b->tensors[i];

	b->constants[i] = malloc((size_t)t->elements * sizeof(float));
	memcpy(b->constants[i], b->values[i], (size_t)t->elements * sizeof(float));
	t->data = b->constants[i];
	if (!quantised)
		return i;
	b->scale[i] = 0.01f;
	b->zero[i] = 120;
	t->type = TENSOR_UINT8;
	t->quant_count = 1;
	t->scale = &b->scale[i];
	t->zero = &b->zero[i];
	for (int64_t k = 0; k < t->elements; k++) {
		b->constants[i][k] = (uint8_t)rng_next(&rng);
		b->values[i][k] = 0.01f * (float)(b->constants[i][k] - 120);
	}
	return i;
}

static inline float *set_output(struct bench *b, int32_t dims, const int32_t *shape)
{
	b->op.output = add_tensor(b, dims, shape);
	return b->values[b->op.output];
}

static inline void place(struct bench *b, const struct steps *s, uint64_t *addresses,
			 uint64_t *constants)
{
	struct fault fault;
	int status = DXP_OK;

	for (int32_t i = 0; i < b->m.tensor_count; i++) {
		uint64_t bytes = (uint64_t)b->tensors[i].elements * sizeof(float);
		status |= device->ops->alloc(device, 0, bytes, &addresses[i], &fault);
		if (i != b->op.output)
			status |= device->ops->write(device, 0, addresses[i], b->values[i], bytes,
						     &fault);
	}
	status |= device->ops->alloc(device, 0, s->constant_bytes, constants, &fault);
	status |=
		device->ops->write(device, 0, *constants, s->constants, s->constant_bytes, &fault);
	if (status != DXP_OK)
		fail_msg("%s", fault.text);
}

static inline void launch(const struct step *step, const uint64_t *addresses, uint64_t constants)
{
	struct dxp_argument arguments[STEP_ARGUMENTS_MAX] = {0};
	struct backend_launch l = {.kernel = step->kernel,
				   .global = {step->global[0], step->global[1]},
				   .arguments = arguments,
				   .argument_count = step->argument_count};
	struct fault fault;
	dxp_event event;

	for (uint32_t i = 0; i < step->argument_count; i++) {
		const struct step_argument *a = &step->arguments[i];
		arguments[i].kind =
			a->kind == STEP_VALUE ? DXP_ARGUMENT_BYTES : DXP_ARGUMENT_BUFFER;
		arguments[i].bytes = a->bytes;
		memcpy(arguments[i].value, a->value, sizeof(a->value));
		arguments[i].address =
			a->kind == STEP_TENSOR ? addresses[a->index] : constants + a->index;
	}
	if (device->ops->launch(device, 0, &l, &event, &fault) != DXP_OK ||
	    device->ops->wait(device, event, UINT64_MAX, NULL, &fault) != DXP_OK)
		fail_msg("%s: %s", step->kernel, fault.text);
}

static inline void bench_check(struct bench *b, const char *what)
{
	const struct tensor *out = &b->tensors[b->op.output];
	const float *expected = b->values[b->op.output];
	uint64_t addresses[TENSORS_MAX], constants;
	struct steps s;
	struct fault fault;
	struct range r = model_range(&b->m, &b->op);

	assert_int_equal(backend_local_open(1, &device, &fault), DXP_OK);
	assert_int_equal(device->ops->build(device, 0, source, &fault), DXP_OK);
	assert_int_equal(steps_build(&b->m, 0, 0, NULL, &s), DXP_OK);
	place(b, &s, addresses, &constants);
	for (uint32_t i = 0; i < s.count; i++)
		launch(&s.list[i], addresses, constants);
	float *got = calloc((size_t)out->elements, sizeof(*got));
	assert_int_equal(device->ops->read(device, 0, got, addresses[b->op.output],
					   (uint64_t)out->elements * sizeof(float), &fault),
			 DXP_OK);
	for (int64_t i = 0; i < out->elements; i++) {
		double want = fmin(fmax((double)expected[i], (double)r.low), (double)r.high);
		if (!(fabs((double)got[i] - want) <= TOLERANCE * fmax(1, fabs(want))))
			fail_msg("%s: element %lld is %g, not %g", what, (long long)i,
				 (double)got[i], want);
	}
	free(got);
	steps_release(&s);
	device->ops->close(device);
}

#endif
