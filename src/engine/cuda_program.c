/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of CUDA devices: PTX, or CUDA C that NVRTC compiles. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/cuda_engine.h"

#define LOG_BYTES (16u << 10) /* bytes of the driver's assembler messages */

static struct engine_cuda *cuda_of(const struct engine *e)
{
	return CONTAINER_OF(e, struct engine_cuda, engine);
}

static size_t skip_comments(const char *text, size_t bytes, size_t at)
{
	while (at < bytes) {
		if (isspace((unsigned char)text[at])) {
			at++;
		} else if (at + 1 < bytes && text[at] == '/' && text[at + 1] == '/') {
			while (at < bytes && text[at] != '\n')
				at++;
		} else if (at + 1 < bytes && text[at] == '/' && text[at + 1] == '*') {
			const char *end = memmem(text + at + 2, bytes - at - 2, "*/", 2);
			at = end ? (size_t)(end - text) + 2 : bytes;
		} else {
			return at;
		}
	}
	return at;
}

bool cuda_source_is_ptx(const char *text, size_t bytes)
{
	static const char version[] = ".version";
	size_t at = skip_comments(text, bytes, 0);

	return bytes - at >= sizeof(version) - 1 &&
	       memcmp(text + at, version, sizeof(version) - 1) == 0;
}

static int reject(const char *why, char **log)
{
	*log = strdup(why);
	return DXP_EBUILD;
}

/* PTX with a final zero; the caller frees it. */
static int ptx_get(const struct engine_cuda *c, const struct engine_source *s, char **ptx,
		   char **log)
{
	if (s->kind != DXP_PROGRAM_SOURCE || s->file_count == 0)
		return reject("this engine builds programs from source, in one step\n", log);
	const char *text = s->files[0].data;
	size_t bytes = s->files[0].bytes;
	if (memchr(text, '\0', bytes))
		return reject("the source is not text; this engine accepts PTX or CUDA C\n", log);
	if (cuda_source_is_ptx(text, bytes)) {
		if (s->options[0] != '\0')
			return reject("PTX has no build options; remove them\n", log);
		*ptx = strndup(text, bytes);
		return *ptx ? DXP_OK : DXP_ENOMEM;
	}
	if (!memmem(text, bytes, "__global__", 10))
		return reject("this is neither PTX (which begins with .version) nor CUDA C (which "
			      "has a __global__ function); OpenCL C is for the engine ocl, which "
			      "NVIDIA's devices have too: dxpd --engine ocl:NVIDIA\n",
			      log);
	return cuda_compile(s, c->capability, ptx, log);
}

static void log_append(char **log, const char *more)
{
	char *both = NULL;

	if (more[0] == '\0' || asprintf(&both, "%s%s\n", *log ? *log : "", more) < 0)
		return;
	free(*log);
	*log = both;
}

static int module_load(struct engine_cuda *c, const char *ptx, struct cuda_module **module,
		       char **log)
{
	char *info = calloc(2, LOG_BYTES), *errors = info + LOG_BYTES, text[160];
	int options[] = {CUDA_JIT_INFO_LOG, CUDA_JIT_INFO_LOG_BYTES, CUDA_JIT_ERROR_LOG,
			 CUDA_JIT_ERROR_LOG_BYTES};

	if (!info)
		return DXP_ENOMEM;
	void *values[] = {info, (void *)(uintptr_t)LOG_BYTES, errors, (void *)(uintptr_t)LOG_BYTES};
	int error = c->cu->cuModuleLoadDataEx(module, ptx, ARRAY_COUNT(options), options, values);
	info[LOG_BYTES - 1] = errors[LOG_BYTES - 1] = '\0';
	log_append(log, error == CUDA_OK ? info : errors);
	free(info);
	if (error == CUDA_OK)
		return DXP_OK;
	c->engine.native = error;
	int status = cuda_check(c, error);
	snprintf(text, sizeof(text), "the driver cannot load the program: %.100s (%d)",
		 cuda_error_text(c->cu, error), error);
	log_append(log, text);
	return cuda_error_sticky(error) || status == DXP_ENOMEM ? status : DXP_EBUILD;
}

int cuda_build(struct engine *e, const struct engine_source *source,
	       struct engine_program **program, char **log)
{
	struct engine_cuda *c = cuda_of(e);
	struct engine_program *p = calloc(1, sizeof(*p));
	char *ptx = NULL, text[ENGINE_TEXT_BYTES];

	*log = NULL;
	if (!p)
		return DXP_ENOMEM;
	int status = cuda_enter(c, text);
	if (status != DXP_OK)
		log_append(log, text);
	if (status == DXP_OK)
		status = ptx_get(c, source, &ptx, log);
	if (status == DXP_OK)
		status = module_load(c, ptx, &p->module, log);
	free(ptx);
	if (status == DXP_OK)
		*program = p;
	else
		free(p);
	return status;
}

void cuda_release(struct engine *e, struct engine_program *p)
{
	struct engine_cuda *c = cuda_of(e);
	struct cuda_kernel *k;

	while ((k = p->kernels)) {
		p->kernels = k->next;
		free(k);
	}
	if (cuda_enter(c, NULL) == DXP_OK)
		cuda_check(c, c->cu->cuModuleUnload(p->module));
	free(p);
}

static int kernel_check(struct engine_cuda *c, const struct cuda_kernel *k, int error,
			char text[ENGINE_TEXT_BYTES])
{
	if (cuda_check(c, error) == DXP_OK)
		return DXP_OK;
	snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s': %.120s (%d)", k->name,
		 cuda_error_text(c->cu, error), error);
	return DXP_EDEVICE;
}

/* The driver rejects the index after the last parameter. */
static int parameters_read(struct engine_cuda *c, struct cuda_kernel *k,
			   char text[ENGINE_TEXT_BYTES])
{
	size_t offset, bytes;
	int error;

	while ((error = c->cu->cuFuncGetParamInfo(k->function, k->parameter_count, &offset,
						  &bytes)) == CUDA_OK) {
		if (k->parameter_count == COMMAND_ARGS_MAX) {
			snprintf(text, ENGINE_TEXT_BYTES,
				 "kernel '%.80s' has more than %d parameters", k->name,
				 COMMAND_ARGS_MAX);
			return DXP_EINVAL;
		}
		k->parameter_bytes[k->parameter_count++] = bytes;
	}
	return error == CUDA_INVALID_VALUE ? DXP_OK : kernel_check(c, k, error, text);
}

static int kernel_read(struct engine_cuda *c, struct engine_program *p, struct cuda_kernel *k,
		       char text[ENGINE_TEXT_BYTES])
{
	int threads = 0, error = c->cu->cuModuleGetFunction(&k->function, p->module, k->name);

	if (error == CUDA_NOT_FOUND) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "the program has no kernel '%.100s'; declare it extern \"C\"", k->name);
		return DXP_ENOENT;
	}
	if (error == CUDA_OK)
		error = c->cu->cuFuncGetAttribute(&threads, CUDA_FUNCTION_THREADS_MAX, k->function);
	k->threads_max = (uint32_t)threads;
	int status = kernel_check(c, k, error, text);
	return status == DXP_OK ? parameters_read(c, k, text) : status;
}

int cuda_kernel_find(struct engine_cuda *c, struct engine_program *p, const char *name,
		     struct cuda_kernel **out, char text[ENGINE_TEXT_BYTES])
{
	for (struct cuda_kernel *k = p->kernels; k; k = k->next)
		if (strcmp(k->name, name) == 0) {
			*out = k;
			return DXP_OK;
		}
	struct cuda_kernel *k = calloc(1, sizeof(*k));
	if (!k)
		return DXP_ENOMEM;
	snprintf(k->name, sizeof(k->name), "%s", name);
	int status = kernel_read(c, p, k, text);
	if (status != DXP_OK) {
		free(k);
		return status;
	}
	k->next = p->kernels;
	p->kernels = *out = k;
	return DXP_OK;
}
