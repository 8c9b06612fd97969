/* SPDX-License-Identifier: BSD-3-Clause */
/* The photo, the answer and crossing tensors have one buffer per photo in progress. Others have
 * one, because only one device with an in-order queue uses it. */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "kernels.h"
#include "memory.h"

struct launch {
	cl_kernel kernel;
	/* sub-buffers of the constants; NULL: no constant */
	cl_mem constants[STEP_ARGUMENTS_MAX];
};

struct part {
	struct steps steps;
	cl_command_queue queue;
	cl_mem constants;
	struct launch *launches;
};

struct network {
	const struct model *model;
	const struct plan *plan;
	cl_context context;
	cl_program program;
	struct part parts[STAGES_MAX];
	cl_mem photos[NETWORK_PHOTOS];
	/* by tensor; one inside a stage has the same handle in both arrays */
	cl_mem *tensors[NETWORK_PHOTOS];
	/* of stages, for the last photo of this entry */
	cl_event ends[NETWORK_PHOTOS][STAGES_MAX];
	uint64_t submitted, collected;
};

static int failed(struct fault *fault, const char *call, cl_int error)
{
	return fault_set(fault, DXP_EDEVICE, "%s failed with OpenCL error %d", call, error);
}

static bool crosses(const struct network *n, int32_t tensor)
{
	for (uint32_t s = 0; s < n->plan->stage_count; s++)
		for (int32_t i = 0; i < n->plan->cuts[s].count; i++)
			if (n->plan->cuts[s].tensors[i] == tensor)
				return true;
	return tensor == n->model->output;
}

static int buffer(struct network *n, size_t bytes, cl_mem *out, struct fault *fault)
{
	cl_int error;

	*out = clCreateBuffer(n->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
	return *out ? DXP_OK : failed(fault, "clCreateBuffer", error);
}

static int make_tensors(struct network *n, struct fault *fault)
{
	const struct model *m = n->model;
	int status = DXP_OK;

	for (int buffer_index = 0; buffer_index < NETWORK_PHOTOS; buffer_index++)
		if (!(n->tensors[buffer_index] = calloc((size_t)m->tensor_count, sizeof(cl_mem))))
			return fault_set(fault, DXP_ENOMEM, "out of memory");
	for (int32_t i = -1; status == DXP_OK && i < m->op_count; i++) {
		int32_t t = i < 0 ? m->input : m->ops[i].output;
		size_t bytes = (size_t)tensor_float_bytes(&m->tensors[t]);
		status = buffer(n, bytes, &n->tensors[0][t], fault);
		if (status == DXP_OK && crosses(n, t))
			status = buffer(n, bytes, &n->tensors[1][t], fault);
		else if (status == DXP_OK && clRetainMemObject(n->tensors[0][t]) == CL_SUCCESS)
			n->tensors[1][t] = n->tensors[0][t];
	}
	for (int buffer_index = 0; status == DXP_OK && buffer_index < NETWORK_PHOTOS;
	     buffer_index++)
		status = buffer(n, (size_t)m->tensors[m->input].elements, &n->photos[buffer_index],
				fault);
	return status;
}

/* One kernel per launch, so constant arguments are set once. */
static int make_launch(struct network *n, struct part *p, const struct step *step, struct launch *l,
		       struct fault *fault)
{
	cl_int error;

	l->kernel = clCreateKernel(n->program, step->kernel, &error);
	if (!l->kernel)
		return failed(fault, "clCreateKernel", error);
	for (cl_uint i = 0; i < step->argument_count; i++) {
		const struct step_argument *a = &step->arguments[i];
		cl_buffer_region rest = {a->index, p->steps.constant_bytes - a->index};
		if (a->kind == STEP_VALUE)
			error = clSetKernelArg(l->kernel, i, a->bytes, a->value);
		if (a->kind == STEP_CONSTANT) {
			l->constants[i] =
				clCreateSubBuffer(p->constants, CL_MEM_READ_ONLY,
						  CL_BUFFER_CREATE_TYPE_REGION, &rest, &error);
			if (l->constants[i])
				error = clSetKernelArg(l->kernel, i, sizeof(cl_mem),
						       &l->constants[i]);
		}
		if (error != CL_SUCCESS)
			return failed(fault, "an argument of a kernel", error);
	}
	return DXP_OK;
}

static int make_part(struct network *n, uint32_t stage, cl_device_id device,
		     const struct photo_line *line, struct fault *fault)
{
	struct part *p = &n->parts[stage];
	const struct stage *s = &n->plan->stages[stage];
	cl_int error;

	int status = steps_build(n->model, s->first, s->last, stage == 0 ? line : NULL, &p->steps);
	if (status != DXP_OK)
		return fault_set(fault, status, "out of memory for the model");
	p->queue = clCreateCommandQueue(n->context, device, 0, &error);
	if (!p->queue)
		return failed(fault, "clCreateCommandQueue", error);
	p->constants = clCreateBuffer(n->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
				      p->steps.constant_bytes, p->steps.constants, &error);
	if (!p->constants)
		return failed(fault, "clCreateBuffer", error);
	p->launches = calloc(p->steps.count, sizeof(*p->launches));
	if (!p->launches)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	for (uint32_t i = 0; status == DXP_OK && i < p->steps.count; i++)
		status = make_launch(n, p, &p->steps.list[i], &p->launches[i], fault);
	return status;
}

static cl_int slot_set(const struct network *n, const struct step *step, const struct launch *l,
		       uint32_t buffer_index)
{
	cl_int error = CL_SUCCESS;

	for (cl_uint i = 0; error == CL_SUCCESS && i < step->argument_count; i++) {
		const struct step_argument *a = &step->arguments[i];
		if (a->kind == STEP_TENSOR)
			error = clSetKernelArg(l->kernel, i, sizeof(cl_mem),
					       &n->tensors[buffer_index][a->index]);
		else if (a->kind == STEP_PHOTO)
			error = clSetKernelArg(l->kernel, i, sizeof(cl_mem),
					       &n->photos[buffer_index]);
	}
	return error;
}

static bool is_first_of_kernel(const struct steps *steps, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(steps->list[i].kernel, steps->list[index].kernel) == 0)
			return false;
	return true;
}

/* Starts one work-group of each kernel: some devices (PoCL) compile for a local size at the first
 * launch, which would delay the first photo. The output is overwritten before use. */
static int warm_part(struct network *n, struct part *p, struct fault *fault)
{
	const size_t one[2] = {1, 1};
	cl_int error = CL_SUCCESS;

	for (uint32_t i = 0; error == CL_SUCCESS && i < p->steps.count; i++) {
		if (!is_first_of_kernel(&p->steps, i))
			continue;
		error = slot_set(n, &p->steps.list[i], &p->launches[i], 0);
		if (error == CL_SUCCESS)
			error = clEnqueueNDRangeKernel(p->queue, p->launches[i].kernel, 2, NULL,
						       one, one, 0, NULL, NULL);
	}
	if (error == CL_SUCCESS)
		error = clFlush(p->queue);
	return error == CL_SUCCESS ? DXP_OK : failed(fault, "a kernel", error);
}

static int make_program(struct network *n, const cl_device_id *devices, struct fault *fault)
{
	const char *source = kernels_source;
	cl_uint count = n->plan->stage_count;
	char log[2048] = "";
	cl_int error;

	n->context = clCreateContext(NULL, count, devices, NULL, NULL, &error);
	if (!n->context)
		return failed(fault, "clCreateContext", error);
	n->program = clCreateProgramWithSource(n->context, 1, &source, NULL, &error);
	if (!n->program)
		return failed(fault, "clCreateProgramWithSource", error);
	error = clBuildProgram(n->program, count, devices, NULL, NULL, NULL);
	if (error == CL_SUCCESS)
		return DXP_OK;
	clGetProgramBuildInfo(n->program, devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log,
			      NULL);
	return fault_set(fault, DXP_EBUILD, "the kernels do not compile there: %s", log);
}

int network_open(const struct model *m, const struct plan *plan, const cl_device_id *devices,
		 const struct photo_line *line, struct network **out, struct fault *fault)
{
	struct network *n = calloc(1, sizeof(*n));
	cl_int error;

	if (!n)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	n->model = m;
	n->plan = plan;
	int status = make_program(n, devices, fault);
	if (status == DXP_OK)
		status = make_tensors(n, fault);
	for (uint32_t i = 0; status == DXP_OK && i < plan->stage_count; i++)
		status = make_part(n, i, devices[i], line, fault);
	/* starts all before it waits, so devices compile in parallel */
	for (uint32_t i = 0; status == DXP_OK && i < plan->stage_count; i++)
		status = warm_part(n, &n->parts[i], fault);
	for (uint32_t i = 0; status == DXP_OK && i < plan->stage_count; i++)
		if ((error = clFinish(n->parts[i].queue)) != CL_SUCCESS)
			status = failed(fault, "clFinish", error);
	if (status == DXP_OK)
		*out = n;
	else
		network_close(n);
	return status;
}

static void release_memory(cl_mem m)
{
	if (m)
		clReleaseMemObject(m);
}

static void close_part(struct part *p)
{
	if (p->queue)
		clFinish(p->queue);
	for (uint32_t i = 0; p->launches && i < p->steps.count; i++) {
		if (p->launches[i].kernel)
			clReleaseKernel(p->launches[i].kernel);
		for (uint32_t k = 0; k < STEP_ARGUMENTS_MAX; k++)
			release_memory(p->launches[i].constants[k]);
	}
	free(p->launches);
	release_memory(p->constants);
	if (p->queue)
		clReleaseCommandQueue(p->queue);
	steps_release(&p->steps);
}

void network_close(struct network *n)
{
	for (uint32_t i = 0; i < n->plan->stage_count; i++)
		close_part(&n->parts[i]);
	for (int buffer_index = 0; buffer_index < NETWORK_PHOTOS; buffer_index++) {
		for (int32_t t = 0; n->tensors[buffer_index] && t < n->model->tensor_count; t++)
			release_memory(n->tensors[buffer_index][t]);
		free(n->tensors[buffer_index]);
		release_memory(n->photos[buffer_index]);
		for (uint32_t i = 0; i < STAGES_MAX; i++)
			if (n->ends[buffer_index][i])
				clReleaseEvent(n->ends[buffer_index][i]);
	}
	if (n->program)
		clReleaseProgram(n->program);
	if (n->context)
		clReleaseContext(n->context);
	free(n);
}

static int run_step(struct network *n, struct part *p, uint32_t index, uint32_t buffer_index,
		    cl_uint wait_count, const cl_event *waits, cl_event *end)
{
	const struct step *step = &p->steps.list[index];
	const struct launch *l = &p->launches[index];
	size_t global[2] = {step->global[0], step->global[1]}, local[2] = {1, 1};
	cl_int error = slot_set(n, step, l, buffer_index);

	return error == CL_SUCCESS ? clEnqueueNDRangeKernel(p->queue, l->kernel, 2, NULL, global,
							    local, wait_count, waits, end)
				   : error;
}

/* Waits for the previous stage, and for the next stage's reading of this entry's previous photo. */
static int run_stage(struct network *n, uint32_t stage, uint32_t buffer_index, struct fault *fault)
{
	struct part *p = &n->parts[stage];
	cl_event waits[2], *ends = n->ends[buffer_index], end = NULL;
	cl_uint count = 0;
	cl_int error = CL_SUCCESS;

	if (stage > 0)
		waits[count++] = ends[stage - 1];
	if (stage + 1 < n->plan->stage_count && ends[stage + 1])
		waits[count++] = ends[stage + 1];
	for (uint32_t i = 0; error == CL_SUCCESS && i < p->steps.count; i++)
		error = run_step(n, p, i, buffer_index, i == 0 ? count : 0,
				 i == 0 && count ? waits : NULL,
				 i + 1 == p->steps.count ? &end : NULL);
	if (error != CL_SUCCESS)
		return failed(fault, "a kernel", error);
	if (ends[stage])
		clReleaseEvent(ends[stage]);
	ends[stage] = end;
	clFlush(p->queue);
	return DXP_OK;
}

int network_submit(struct network *n, const uint8_t *photo, struct fault *fault)
{
	uint32_t buffer_index = (uint32_t)(n->submitted % NETWORK_PHOTOS);
	size_t bytes = (size_t)n->model->tensors[n->model->input].elements;
	cl_int error = clEnqueueWriteBuffer(n->parts[0].queue, n->photos[buffer_index], CL_TRUE, 0,
					    bytes, photo, 0, NULL, NULL);
	int status = error == CL_SUCCESS ? DXP_OK : failed(fault, "clEnqueueWriteBuffer", error);

	for (uint32_t i = 0; status == DXP_OK && i < n->plan->stage_count; i++)
		status = run_stage(n, i, buffer_index, fault);
	n->submitted += status == DXP_OK;
	return status;
}

uint32_t network_pending(const struct network *n)
{
	return (uint32_t)(n->submitted - n->collected);
}

int network_collect(struct network *n, float *answer, struct fault *fault)
{
	uint32_t buffer_index = (uint32_t)(n->collected % NETWORK_PHOTOS),
		 last = n->plan->stage_count - 1;
	int32_t output = n->model->output;
	cl_int error =
		clEnqueueReadBuffer(n->parts[last].queue, n->tensors[buffer_index][output], CL_TRUE,
				    0, (size_t)tensor_float_bytes(&n->model->tensors[output]),
				    answer, 1, &n->ends[buffer_index][last], NULL);

	if (error != CL_SUCCESS)
		return failed(fault, "clEnqueueReadBuffer", error);
	n->collected++;
	return DXP_OK;
}
