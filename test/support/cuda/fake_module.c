/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules of the fake CUDA driver: finds kernels by name, and launches them. */
#include <ctype.h>
#include <string.h>

#include <dxp/device.h>

#include "fake_internal.h"

#define ENTRIES_MAX 16

struct cuda_function {
	const struct entry *entry;
};

struct cuda_module {
	struct cuda_function functions[ENTRIES_MAX];
	unsigned count;
};

static uint64_t word(const struct task *t, int i)
{
	uint64_t value = 0;

	memcpy(&value, t->parameters[i].bytes, t->entry->parameter_bytes[i]);
	return value;
}

static void *pointer(const struct task *t, int i)
{
	return fake_address(word(t, i));
}

static int add_run(const struct task *t)
{
	const uint32_t *a = pointer(t, 0);
	uint32_t *out = pointer(t, 1);

	if (!a)
		return ERROR_FAULT;
	for (unsigned i = 0; i < t->grid * t->block; i++)
		out[i] = a[i] + (uint32_t)word(t, 2);
	return CUDA_OK;
}

static int share_run(const struct task *t)
{
	uint32_t *out = pointer(t, 0);

	for (unsigned i = 0; i < t->grid * t->block; i++)
		out[i] = t->block - 1 - i % t->block;
	return CUDA_OK;
}

static int crash_run(const struct task *t)
{
	return ERROR_FAULT;
}

/* Kernels of test/unit/slot_nic_cuda.c. */
static int put_run(const struct task *t)
{
	struct dxp_window *nic = pointer(t, 0);
	int64_t *out = pointer(t, 1);
	struct dxp_nic_event sent = {0};
	struct dxp_target to;
	struct dxp_entry from, there;

	if (!nic)
		return ERROR_FAULT;
	memcpy(&to, t->parameters[2].bytes, sizeof(to));
	memcpy(&from, t->parameters[3].bytes, sizeof(from));
	memcpy(&there, t->parameters[4].bytes, sizeof(there));
	out[0] = dxp_post_put(nic, 0, &to, &from, &there, DXP_FLAG_NOTIFY, 1234, 5);
	out[1] = dxp_sent_wait(nic, &sent, word(t, 5));
	if (out[1] == DXP_OK)
		out[2] = sent.status;
	return CUDA_OK;
}

static int await_run(const struct task *t)
{
	struct dxp_window *nic = pointer(t, 0);
	int64_t *out = pointer(t, 1);

	if (!nic)
		return ERROR_FAULT;
	out[0] = dxp_total_wait(nic, word(t, 2), word(t, 3));
	out[1] = dxp_received_wait(nic, word(t, 3));
	if (out[1] == DXP_OK) {
		out[2] = (int64_t)dxp_received_peek(nic)->imm;
		dxp_received_release(nic);
	}
	return CUDA_OK;
}

static int get_run(const struct task *t)
{
	struct dxp_window *nic = pointer(t, 0);
	int64_t *out = pointer(t, 1);
	struct dxp_nic_event sent = {0};
	struct dxp_target to;
	struct dxp_entry from, own;

	if (!nic)
		return ERROR_FAULT;
	memcpy(&to, t->parameters[2].bytes, sizeof(to));
	memcpy(&from, t->parameters[3].bytes, sizeof(from));
	memcpy(&own, t->parameters[4].bytes, sizeof(own));
	out[0] = dxp_post_get(nic, 0, &to, &from, &own, 5);
	out[1] = dxp_sent_wait(nic, &sent, word(t, 5));
	if (out[1] == DXP_OK)
		out[2] = sent.status;
	return CUDA_OK;
}

static int send_run(const struct task *t)
{
	struct dxp_window *nic = pointer(t, 0);
	int64_t *out = pointer(t, 1);
	struct dxp_target to;

	if (!nic)
		return ERROR_FAULT;
	memcpy(&to, t->parameters[2].bytes, sizeof(to));
	out[0] = dxp_register_send(nic, 1, &to, word(t, 3), (uint32_t)word(t, 4));
	out[1] = dxp_register_wait(nic, word(t, 5));
	return CUDA_OK;
}

static int receive_run(const struct task *t)
{
	struct dxp_window *nic = pointer(t, 0);
	int64_t *out = pointer(t, 1);

	if (!nic)
		return ERROR_FAULT;
	out[0] = dxp_register_receive(nic, word(t, 2), (uint32_t)word(t, 3), word(t, 4));
	return CUDA_OK;
}

#define TO   sizeof(struct dxp_target)
#define PART sizeof(struct dxp_entry)

static const struct entry entries[] = {
	{"add", 3, {8, 8, 4}, add_run},
	{"share", 1, {8}, share_run},
	{"crash", 1, {8}, crash_run},
	{"put", 6, {8, 8, TO, PART, PART, 8}, put_run},
	{"await", 4, {8, 8, 8, 8}, await_run},
	{"get", 6, {8, 8, TO, PART, PART, 8}, get_run},
	{"send", 6, {8, 8, TO, 8, 4, 8}, send_run},
	{"receive", 5, {8, 8, 8, 4, 8}, receive_run},
};

static const struct entry *entry_find(const char *name, size_t bytes)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strlen(entries[i].name) == bytes && memcmp(entries[i].name, name, bytes) == 0)
			return &entries[i];
	return NULL;
}

static void module_scan(struct cuda_module *m, const char *ptx)
{
	for (const char *at = ptx; (at = strstr(at, ".entry")) && m->count < ENTRIES_MAX;) {
		at += strlen(".entry");
		while (isspace((unsigned char)*at))
			at++;
		size_t bytes = strcspn(at, "( \t\n");
		m->functions[m->count].entry = entry_find(at, bytes);
		m->count += m->functions[m->count].entry != NULL;
	}
}

int cuModuleLoadDataEx(struct cuda_module **module, const void *image, unsigned count, int *options,
		       void **values)
{
	CALL({
		if (strstr(image, "nonsense")) {
			for (unsigned i = 0; i < count; i++)
				if (options[i] == CUDA_JIT_ERROR_LOG)
					strcpy(values[i], "ptxas fatal: nonsense");
			error = ERROR_PTX;
		} else {
			*module = fake_object_new(sizeof(**module));
			module_scan(*module, image);
		}
	});
}

int cuModuleUnload(struct cuda_module *module)
{
	CALL(fake_object_free(module));
}

int cuModuleGetFunction(struct cuda_function **function, struct cuda_module *module,
			const char *name)
{
	CALL({
		error = CUDA_NOT_FOUND;
		for (unsigned i = 0; i < module->count; i++)
			if (strcmp(module->functions[i].entry->name, name) == 0) {
				*function = &module->functions[i];
				error = CUDA_OK;
			}
	});
}

int cuFuncGetParamInfo(struct cuda_function *function, size_t index, size_t *offset, size_t *bytes)
{
	CALL({
		if (index >= function->entry->parameter_count)
			error = CUDA_INVALID_VALUE;
		else
			*bytes = function->entry->parameter_bytes[index];
	});
}

int cuFuncGetAttribute(int *value, int attribute, struct cuda_function *function)
{
	CALL(*value = 1024);
}

int cuFuncSetAttribute(struct cuda_function *function, int attribute, int value)
{
	CALL(error = value > 96 << 10 ? CUDA_INVALID_VALUE : CUDA_OK);
}

int cuLaunchKernel(struct cuda_function *function, unsigned grid_x, unsigned grid_y,
		   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
		   unsigned shared_bytes, struct cuda_stream *stream, void **parameters,
		   void **extra)
{
	struct task t = {.entry = function->entry,
			 .grid = grid_x * grid_y * grid_z,
			 .block = block_x * block_y * block_z};

	for (unsigned i = 0; i < function->entry->parameter_count; i++)
		memcpy(t.parameters[i].bytes, parameters[i], function->entry->parameter_bytes[i]);
	CALL(error = fake_task_add(stream, &t));
}
