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

/* NVRTC needs strings with a final zero, so texts are copied. It finds headers by their names in
 * #include lines. */
static int program_create(const struct engine_source *s, struct nvrtc_program **out)
{
	char **texts = calloc(s->file_count, sizeof(*texts));
	const char **names = calloc(s->file_count, sizeof(*names));
	bool copied = texts && names;

	for (uint32_t i = 0; copied && i < s->file_count; i++) {
		names[i] = s->files[i].name;
		texts[i] = strndup(s->files[i].data, s->files[i].bytes);
		copied = texts[i] != NULL;
	}
	int error = copied ? library.nvrtcCreateProgram(out, texts[0], "program.cu",
							(int)s->file_count - 1,
							(const char *const *)texts + 1, names + 1)
			   : -1;
	for (uint32_t i = 0; texts && i < s->file_count; i++)
		free(texts[i]);
	free(texts);
	free(names);
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
