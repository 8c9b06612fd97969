/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles CUDA C to PTX with NVRTC of the CUDA toolkit, opened for the first program. Declarations
 * follow its public documentation. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/cuda_engine.h"
#include "engine/limits.h"
#include "engine/ocl_include.h"

#define OPTIONS_MAX 32

struct nvrtc_program;

/* X(name in the library, parameters); each returns 0 for success. */
#define NVRTC_FUNCTIONS(X)                                                                        \
	X(nvrtcCreateProgram, (struct nvrtc_program * *p, const char *text, const char *name,     \
			       int count, const char *const *headers, const char *const *names))  \
	X(nvrtcDestroyProgram, (struct nvrtc_program * *p))                                       \
	X(nvrtcCompileProgram, (struct nvrtc_program * p, int count, const char *const *options)) \
	X(nvrtcGetProgramLogSize, (struct nvrtc_program * p, size_t * bytes))                     \
	X(nvrtcGetProgramLog, (struct nvrtc_program * p, char *log))                              \
	X(nvrtcGetPTXSize, (struct nvrtc_program * p, size_t * bytes))                            \
	X(nvrtcGetPTX, (struct nvrtc_program * p, char *ptx))

static struct {
#define NVRTC_MEMBER(name, parameters) int(*name) parameters;
	NVRTC_FUNCTIONS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
} library;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool library_there;

static void library_open(void)
{
	static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
					    "libnvrtc.so.11.2"};
	void *handle = NULL;

	for (size_t i = 0; !handle && i < ARRAY_COUNT(names); i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
#define NVRTC_RESOLVE(name, parameters)                 \
	*(void **)&library.name = dlsym(handle, #name); \
	if (!library.name)                              \
		return;
	NVRTC_FUNCTIONS(NVRTC_RESOLVE)
#undef NVRTC_RESOLVE
	library_there = true;
}

/* The caller frees it; NULL: no messages, or no memory. */
static char *log_read(struct nvrtc_program *p)
{
	size_t bytes = 0;
	char *log;

	if (library.nvrtcGetProgramLogSize(p, &bytes) != 0 || bytes <= 1 ||
	    !(log = calloc(1, bytes + 1)))
		return NULL;
	library.nvrtcGetProgramLog(p, log);
	if (bytes > ENGINE_LOG_BYTES_MAX)
		log[ENGINE_LOG_BYTES_MAX] = '\0';
	return log;
}

static int ptx_read(struct nvrtc_program *p, char **ptx)
{
	size_t bytes = 0;

	if (library.nvrtcGetPTXSize(p, &bytes) != 0 || bytes == 0)
		return DXP_EBUILD;
	*ptx = calloc(1, bytes + 1);
	if (!*ptx)
		return DXP_ENOMEM;
	if (library.nvrtcGetPTX(p, *ptx) == 0)
		return DXP_OK;
	free(*ptx);
	*ptx = NULL;
	return DXP_EBUILD;
}

/* Splits `text` into words, in place. Returns the number of words, at most OPTIONS_MAX. */
static int words_cut(char *text, const char *out[OPTIONS_MAX])
{
	int count = 0;
	char *rest, *word = strtok_r(text, " \t\n", &rest);

	while (word && count < OPTIONS_MAX) {
		out[count++] = word;
		word = strtok_r(NULL, " \t\n", &rest);
	}
	return count;
}

/* Adds the architecture, unless the options contain one. */
static int program_compile(struct nvrtc_program *p, const char *options, uint32_t capability)
{
	char architecture[48], *text = strdup(options);
	const char *words[OPTIONS_MAX + 1];

	if (!text)
		return DXP_ENOMEM;
	int count = words_cut(text, words);
	snprintf(architecture, sizeof(architecture), "--gpu-architecture=compute_%u", capability);
	if (!strstr(options, "-arch"))
		words[count++] = architecture;
	int error = library.nvrtcCompileProgram(p, count, words);
	free(text);
	return error == 0 ? DXP_OK : DXP_EBUILD;
}

/* Headers of kernels, which all have one text. */
static const char *const own_headers[] = {"dxp/device.h", "dxp/window.h", "dxp/shared.h",
					  "dxp/reduction.h"};

/* Texts of a program and its headers, and the names of the headers in #include lines. */
struct texts {
	char **copies; /* NVRTC needs a final zero */
	const char **texts, **names;
	int count;
};

static bool texts_make(const struct engine_source *s, struct texts *t)
{
	const size_t most = s->file_count + ARRAY_COUNT(own_headers);

	t->copies = calloc(s->file_count, sizeof(*t->copies));
	t->texts = calloc(most, sizeof(*t->texts));
	t->names = calloc(most, sizeof(*t->names));
	if (!t->copies || !t->texts || !t->names)
		return false;
	for (uint32_t i = 0; i < s->file_count; i++, t->count++) {
		t->copies[i] = strndup(s->files[i].data, s->files[i].bytes);
		if (!t->copies[i])
			return false;
		t->texts[i] = t->copies[i];
		t->names[i] = s->files[i].name;
	}
	/* The program's own files come first, so they count if the name is the same. */
	for (size_t i = 0; i < ARRAY_COUNT(own_headers); i++, t->count++) {
		t->texts[t->count] = ocl_device_header;
		t->names[t->count] = own_headers[i];
	}
	return true;
}

static void texts_free(const struct engine_source *s, struct texts *t)
{
	for (uint32_t i = 0; t->copies && i < s->file_count; i++)
		free(t->copies[i]);
	free(t->copies);
	free(t->texts);
	free(t->names);
}

static int program_create(const struct engine_source *s, struct nvrtc_program **out)
{
	struct texts t = {.count = 0};
	int error = -1;

	if (texts_make(s, &t))
		error = library.nvrtcCreateProgram(out, t.texts[0], "program.cu", t.count - 1,
						   t.texts + 1, t.names + 1);
	texts_free(s, &t);
	return error == 0 ? DXP_OK : DXP_ENOMEM;
}

int cuda_compile(const struct engine_source *s, uint32_t capability, char **ptx, char **log)
{
	struct nvrtc_program *p = NULL;

	pthread_once(&once, library_open);
	if (!library_there) {
		*log = strdup(
			"CUDA C needs NVRTC (libnvrtc), the run-time compiler of CUDA's toolkit; "
			"install it, or compile to PTX (nvcc -ptx) and pass the PTX\n");
		return DXP_EBUILD;
	}
	int status = program_create(s, &p);
	if (status != DXP_OK)
		return status;
	status = program_compile(p, s->options, capability);
	*log = log_read(p);
	if (status == DXP_OK)
		status = ptx_read(p, ptx);
	library.nvrtcDestroyProgram(&p);
	return status;
}
