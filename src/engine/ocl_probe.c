/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether an OpenCL device can work in place in host memory; no property states this. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/ocl_engine.h"
#include "engine/ocl_make.h"
#include "engine/ocl_pack.h"

/* ---- the first test of a device ----
 *
 *  With an empty cache, one process compiles the test, and others wait and load the result;
 *  otherwise 16 nodes that start together would compile it 16 times. A file in the cache directory
 *  holds the hash of the device tested last, and is locked during a first test. */

struct ocl_first {
	int file; /* locked by this process; -1: none */
};

/* ns; the test compiles for about 1 s on a busy machine */
#define WAIT_NS (20 * S_NS)
#define LOOK_NS (5 * MS_NS)

static bool known(int file, const uint8_t device[OCL_KEY_BYTES])
{
	uint8_t last[OCL_KEY_BYTES];

	return pread(file, last, sizeof(last), 0) == (ssize_t)sizeof(last) &&
	       memcmp(last, device, sizeof(last)) == 0;
}

/* Waits, up to a bound, for another process's first test of this device. `cache`: shared directory;
 * NULL: none. */
static void ocl_first_begin(const char *cache, const uint8_t device[OCL_KEY_BYTES],
			    struct ocl_first *out)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const uint64_t until_ns = clock_now_ns() + WAIT_NS;
	char path[PATH_MAX];

	out->file = -1;
	if (!cache || snprintf(path, sizeof(path), "%s/tried", cache) >= (int)sizeof(path))
		return;
	int file = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	while (file >= 0 && !known(file, device) && clock_now_ns() < until_ns) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			break;
		nanosleep(&look, NULL);
	}
	/* Another process may have finished the test just now. */
	if (file >= 0 && !known(file, device) && flock(file, LOCK_EX | LOCK_NB) == 0) {
		out->file = file;
		return;
	}
	if (file >= 0)
		close(file);
}

/* `good`: the compilation is in the cache. */
static void ocl_first_end(struct ocl_first *f, const uint8_t device[OCL_KEY_BYTES], bool good)
{
	if (f->file < 0)
		return;
	if (good && pwrite(f->file, device, OCL_KEY_BYTES, 0) < 0)
		good = false; /* the next process tests again */
	close(f->file);
	f->file = -1;
}

#define PROBE_BYTES 4096u /* small: a device may have less memory than the host */

/* The kernel writes its own pointer and a number; both must appear in host memory. */
static int probe_run(struct engine_ocl *o, const struct engine_options *options,
		     struct engine_program *program)
{
	const uint64_t number = 0x6478702070726f62ull;
	uint64_t *memory = options->memory;
	struct engine_launch l = {.program = program,
				  .kernel = "dxp_probe",
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .argument_count = 2};
	char text[ENGINE_TEXT_BYTES] = ""; /* DXP_ENOMEM sets no text */

	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_BUFFER, .memory = memory, .memory_bytes = PROBE_BYTES};
	l.arguments[1] = (struct engine_argument){
		.kind = COMMAND_ARG_BYTES, .bytes = sizeof(number), .value = &number};
	int status = engine_run(&o->engine, &l, text);
	if (status != DXP_OK) {
		log_error("OpenCL device '%s' cannot run a kernel: %s; choose another by --engine "
			  "ocl:NAME",
			  ocl_device_name(o->device), text);
		return DXP_EDEVICE;
	}
	bool own = memory[0] == (uint64_t)(uintptr_t)memory && memory[1] == number;
	memset(memory, 0, 2 * sizeof(*memory));
	return own ? DXP_OK : DXP_EUNSUPPORTED;
}

static int probe(struct engine_ocl *o, const struct engine_options *options)
{
	static const char text[] = "kernel void dxp_probe(global ulong *p, ulong number) { p[0] = "
				   "(ulong)p; p[1] = number; }\n";
	const struct engine_file file = {.data = text, .bytes = sizeof(text) - 1};
	const struct engine_source source = {.options = "", .files = &file, .file_count = 1};
	struct engine_program *program;
	char *log = NULL;
	int status = engine_build(&o->engine, &source, &program, &log);

	if (status != DXP_OK) {
		log_error("OpenCL device '%s' cannot compile a kernel: %s; check its installation",
			  ocl_device_name(o->device), log ? log : dxp_status_text(status));
		free(log);
		return DXP_EDEVICE;
	}
	free(log);
	status = probe_run(o, options, program);
	engine_release(&o->engine, program);
	return status;
}

int ocl_probe(struct engine_ocl *o, const struct engine_options *options)
{
	struct ocl_first first;

	ocl_first_begin(options->cache_folder, o->device->sum, &first);
	int status = probe(o, options);
	ocl_first_end(&first, o->device->sum, status != DXP_EDEVICE);
	return status;
}

static void warm_run(struct engine_ocl *o, cl_program program)
{
	const size_t one = 1;
	cl_int error;
	cl_kernel kernel = o->cl->clCreateKernel(program, "dxp_warm", &error);

	if (!kernel)
		return;
	const cl_float x = 1;
	o->cl->clSetKernelArg(kernel, 0, sizeof(x), &x);
	o->cl->clEnqueueNDRangeKernel(o->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
	o->cl->clFinish(o->queue);
	o->cl->clReleaseKernel(kernel);
}

void ocl_engine_warm(struct engine *e)
{
	char text[160];

	/* Different each time: PoCL does not load its compiler for a cached program. */
	int bytes = snprintf(text, sizeof(text),
			     "/* %d %llu */ kernel void dxp_warm(float x) { if (sin(x) > 2) "
			     "printf(\"%%f\", x); }\n",
			     (int)getpid(), (unsigned long long)clock_now_ns());
	struct engine_ocl *o = CONTAINER_OF(e, struct engine_ocl, engine);
	const struct engine_file file = {.data = text, .bytes = (size_t)bytes};
	const struct engine_source source = {.options = "", .files = &file, .file_count = 1};
	struct ocl_made made = {0};

	if (ocl_make(o->device, &source, &made) == DXP_OK && made.program) {
		warm_run(o, made.program);
		o->cl->clReleaseProgram(made.program);
	}
	free(made.log);
}
