/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the OpenCL engine with memory of its own, on PoCL: DMAs, kernels, and failing OpenCL
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/limits.h"
#include "test/support/bridged_memory.h"
#include "test/unit/capture.h"
#include "engine/engine.h"
#include "engine/ocl_library.h"

#define BYTES BRIDGED_BYTES
/* where only small allocations are allowed */
#define CHUNK_BYTES (1u << 20)

static const char source[] =
	"kernel void add(global const uint *a, global uint *out, uint n) { out[get_global_id(0)] = "
	"a[get_global_id(0)] + n; }\n"
	"kernel void share(global uint *out, local uint *l) { l[get_local_id(0)] = "
	"get_local_id(0); barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  out[get_global_id(0)] = l[get_local_size(0) - 1 - get_local_id(0)]; }\n"
	"kernel void post(global struct dxp_window *nic) {}\n";

static struct engine *engine;
static struct engine_program *program;
static char text[ENGINE_TEXT_BYTES];
static atomic_uint interrupts;
static uint8_t host[BYTES];

/* ---- failing OpenCL ---- */

/* Number of the fake call that fails; 0: none. */
static atomic_uint fail_at, calls; /* a thread of the engine also calls */
static _Atomic(cl_int) ends_with;  /* status of all commands; CL_COMPLETE: their own */
static cl_ulong allocation_max;    /* bytes; 0: the real limit */
static atomic_bool callbacks_lost;
static atomic_bool hangs; /* commands never complete */
static struct ocl_library real;

static bool fails(void)
{
	return atomic_fetch_add(&calls, 1) + 1 == fail_at;
}

static cl_int fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
					size_t offset, size_t bytes, const void *from,
					cl_uint waits, const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from,
						   waits, wait, event);
}

static cl_int fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       size_t offset, size_t bytes, void *to, cl_uint waits,
				       const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, waits,
						  wait, event);
}

static cl_int fake_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
				       size_t from_offset, size_t to_offset, size_t bytes,
				       cl_uint waits, const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes,
						  waits, wait, event);
}

static cl_mem fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *at,
				  cl_int *error)
{
	*error = fails() ? CL_MEM_OBJECT_ALLOCATION_FAILURE
		 : allocation_max && !at && bytes > allocation_max && bytes != FLIGHT_BOUNCE_BYTES
			 ? CL_INVALID_BUFFER_SIZE
			 : CL_SUCCESS;
	return *error == CL_SUCCESS ? real.clCreateBuffer(context, flags, bytes, at, error) : NULL;
}

static cl_mem fake_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
				     const void *info, cl_int *error)
{
	*error = CL_OUT_OF_RESOURCES;
	return fails() ? NULL : real.clCreateSubBuffer(buffer, flags, type, info, error);
}

static cl_command_queue fake_clCreateCommandQueue(cl_context context, cl_device_id device,
						  cl_command_queue_properties properties,
						  cl_int *error)
{
	*error = CL_OUT_OF_RESOURCES;
	return fails() ? NULL : real.clCreateCommandQueue(context, device, properties, error);
}

static void *fake_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				     cl_map_flags flags, size_t offset, size_t bytes, cl_uint waits,
				     const cl_event *wait, cl_event *event, cl_int *error)
{
	*error = CL_MAP_FAILURE;
	return fails() ? NULL
		       : real.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes,
						 waits, wait, event, error);
}

/* A first query reports a command as running, so a callback or a second query is needed even if
 * commands run in the calling thread. */
static cl_int fake_clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *value,
				  size_t *size)
{
	static _Atomic(cl_event) seen;
	cl_int error = fails() ? CL_OUT_OF_RESOURCES
			       : real.clGetEventInfo(event, what, bytes, value, size);

	if (error == CL_SUCCESS && (atomic_exchange(&seen, event) != event || hangs))
		*(cl_int *)value = CL_RUNNING;
	else if (error == CL_SUCCESS && ends_with != CL_COMPLETE)
		*(cl_int *)value = ends_with;
	return error;
}

static cl_int fake_clSetEventCallback(cl_event event, cl_int type,
				      void(CL_CALLBACK *call)(cl_event, cl_int, void *),
				      void *context)
{
	if (fails() || callbacks_lost)
		return CL_OUT_OF_RESOURCES;
	if (ends_with == CL_COMPLETE)
		return real.clSetEventCallback(event, type, call, context);
	call(event, ends_with, context);
	return CL_SUCCESS;
}

static cl_int fake_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes,
				   void *value, size_t *size)
{
	cl_int error = real.clGetDeviceInfo(device, what, bytes, value, size);

	if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && allocation_max)
		*(cl_ulong *)value = allocation_max;
	return error;
}

/* The whole process shares the library's table. */
static void fakes_set(struct ocl_library *cl)
{
	real = *cl;
	cl->clEnqueueWriteBuffer = fake_clEnqueueWriteBuffer;
	cl->clEnqueueReadBuffer = fake_clEnqueueReadBuffer;
	cl->clEnqueueCopyBuffer = fake_clEnqueueCopyBuffer;
	cl->clCreateBuffer = fake_clCreateBuffer;
	cl->clCreateSubBuffer = fake_clCreateSubBuffer;
	cl->clCreateCommandQueue = fake_clCreateCommandQueue;
	cl->clEnqueueMapBuffer = fake_clEnqueueMapBuffer;
	cl->clGetEventInfo = fake_clGetEventInfo;
	cl->clSetEventCallback = fake_clSetEventCallback;
	cl->clGetDeviceInfo = fake_clGetDeviceInfo;
}

static void fakes_clear(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	*(struct ocl_library *)(uintptr_t)cl = real;
	fail_at = 0;
	allocation_max = 0;
	callbacks_lost = false;
}

static void fakes_begin(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	fakes_set((struct ocl_library *)(uintptr_t)cl);
	calls = 0;
}

/* ---- the engine ---- */

static void interrupt(void *context)
{
	atomic_fetch_add(&interrupts, 1);
}

static int engine_start(void)
{
	const struct engine_options o = {
		.name = "ocl+bridged", .memory_bytes = BYTES, .interrupt = interrupt};

	return engine_open(&o, &engine);
}

static int build(const char *what, struct engine_program **out, char **log)
{
	const struct engine_file file = {.data = what, .bytes = strlen(what)};
	const struct engine_source s = {.options = "", .files = &file, .file_count = 1};

	return engine_build(engine, &s, out, log);
}

static int program_start(void)
{
	char *log = NULL;
	int status = build(source, &program, &log);

	free(log);
	return status;
}

static int setup(void **state)
{
	return engine_start() == DXP_OK && program_start() == DXP_OK ? 0 : -1;
}

static int teardown(void **state)
{
	engine_release(engine, program);
	engine_close(engine);
	return 0;
}

static int in(uint64_t to, const void *from, uint64_t bytes)
{
	return bridged_in(engine, to, from, bytes);
}

static int out(uint64_t from, void *to, uint64_t bytes)
{
	return bridged_out(engine, from, to, bytes);
}

static void engine_dma__random_moves(void **state)
{
	bridged_moves(engine, 300);
}

static void engine_dma__rejected(void **state)
{
	bridged_ranges(engine);
}

static void engine_dma__many_in_flight(void **state)
{
	fakes_begin(); /* completions come by callback */
	atomic_store(&interrupts, 0);
	bridged_many(engine);
	bridged_until(&interrupts, 200);
	assert_int_equal(atomic_load(&interrupts), 200);
	fakes_clear();
}

/* A DMA completes only after the device has stopped using its memory, and then with an error. */
static void engine_dma_reset__ends_all(void **state)
{
	struct engine_dma d = {.kind = ENGINE_DMA_IN, .source = host, .bytes = 1 << 20};
	struct engine_dma_end end;

	fakes_begin();
	callbacks_lost = true;
	atomic_store(&hangs, true);
	for (d.id = 0; d.id < 8; d.id++)
		assert_int_equal(engine_dma_start(engine, &d), DXP_OK);
	engine_dma_reset(engine);
	nanosleep(&(struct timespec){.tv_nsec = (long)(3 * FLIGHT_LOOK_NS)}, NULL);
	assert_int_equal(engine_dma_dequeue(engine, &end, 1), 0);
	atomic_store(&hangs, false);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(bridged_memory_dequeue(engine).status, DXP_EDEVICE);
	fakes_clear();
	bridged_moves(engine, 20);
}

/* All must fail; returns the number of logged errors. */
static unsigned fail_dmas(unsigned dmas)
{
	struct stderr_capture capture;
	static char reported[4096];
	unsigned failed = 0, errors = 0;

	stderr_capture_begin(&capture);
	for (unsigned i = 0; i < dmas; i++)
		failed += in(0, host, 4096) == DXP_EDEVICE;
	stderr_capture_end(&capture, reported, sizeof(reported));
	assert_int_equal(failed, dmas);
	assert_non_null(strstr(reported, "fails a DMA: CL_OUT_OF_RESOURCES"));
	for (const char *at = reported; (at = strstr(at, "error: ")); at++)
		errors++;
	return errors;
}

/* A failure after the accept is logged once, whether a query or a callback reports it. */
static void fails_on_its_way(bool seen_by_a_look)
{
	fakes_begin();
	callbacks_lost = seen_by_a_look;
	ends_with = CL_OUT_OF_RESOURCES;
	assert_int_equal(fail_dmas(3), 1);
	ends_with = CL_COMPLETE;
	fakes_clear();
	assert_int_equal(in(0, host, 4096), DXP_OK);
}

static void engine_dma__fails_on_its_way(void **state)
{
	fails_on_its_way(true);
	teardown(state);
	assert_int_equal(setup(state), 0);
	fails_on_its_way(false);
}

/* Callbacks do not arrive. The engine detects completions by queries. */
static void engine_dma__without_callbacks(void **state)
{
	fakes_begin();
	callbacks_lost = true;
	bridged_moves(engine, 20);
	fakes_clear();
}

static void engine_pin__and_moves(void **state)
{
	uint8_t *ring = aligned_alloc(4096, 1 << 20);

	assert_non_null(ring);
	assert_int_equal(engine_pin(engine, ring, 1 << 20), DXP_OK);
	assert_int_equal(engine_pin(engine, host, BYTES), DXP_OK);
	memset(ring, 0x5a, 1 << 20);
	assert_int_equal(in(4099, ring + 1, 70001), DXP_OK);
	memset(ring, 0, 1 << 20);
	assert_int_equal(out(4099, ring + 3, 70001), DXP_OK);
	for (unsigned i = 0; i < 70001; i++)
		assert_int_equal(ring[3 + i], 0x5a);
	engine_unpin(engine, ring);
	free(ring);
	bridged_moves(engine, 20);
	engine_unpin(engine, host);
}

/* ---- kernels ---- */

static struct engine_argument buffer_at(uint64_t address, uint64_t bytes)
{
	return (struct engine_argument){
		.kind = COMMAND_ARG_BUFFER, .address = address, .memory_bytes = bytes};
}

static struct engine_launch add_launch(uint64_t from, uint64_t to, const uint32_t *n)
{
	struct engine_launch l = {.program = program,
				  .kernel = "add",
				  .dimensions = 1,
				  .global = {64, 1, 1},
				  .argument_count = 3};

	l.arguments[0] = buffer_at(from, 256);
	l.arguments[1] = buffer_at(to, 256);
	l.arguments[2] =
		(struct engine_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = n};
	return l;
}

static int add_run(uint64_t from, uint64_t to)
{
	uint32_t a[64], n = 1000;
	struct engine_launch l = add_launch(from, to, &n);

	for (uint32_t i = 0; i < 64; i++)
		a[i] = i;
	int status = in(from, a, sizeof(a));
	if (status == DXP_OK)
		status = engine_run(engine, &l, text);
	if (status == DXP_OK)
		status = out(to, a, sizeof(a));
	for (uint32_t i = 0; status == DXP_OK && i < 64; i++)
		assert_int_equal(a[i], 1000 + i);
	return status;
}

static void engine_run__in_device_memory(void **state)
{
	assert_int_equal(add_run(4096, 8192), DXP_OK);
	assert_int_equal(add_run(0, BYTES - 512), DXP_OK);
	assert_int_equal(add_run(512, 512), DXP_OK);
}

static void engine_run__local_memory(void **state)
{
	struct engine_launch l = {.program = program,
				  .kernel = "share",
				  .dimensions = 1,
				  .global = {16, 1, 1},
				  .local = {8, 1, 1},
				  .argument_count = 2};
	uint32_t got[16];

	l.arguments[0] = buffer_at(1024, 64);
	l.arguments[1] = (struct engine_argument){.kind = COMMAND_ARG_LOCAL, .bytes = 32};
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
	assert_int_equal(out(1024, got, sizeof(got)), DXP_OK);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(got[i], 7 - i % 8);
}

static void engine_run__wrong_launches(void **state)
{
	uint32_t n = 1;
	struct engine_launch l;

#define WRONG(status, words, ...)                                       \
	do {                                                            \
		l = add_launch(0, 4096, &n);                            \
		__VA_ARGS__;                                            \
		assert_int_equal(engine_run(engine, &l, text), status); \
		if (!strstr(text, words))                               \
			fail_msg("%s", text);                           \
	} while (0)
	WRONG(DXP_ENOENT, "no kernel 'sub'", l.kernel = "sub");
	WRONG(DXP_EINVAL, "has 3 arguments, 2 were given", l.argument_count = 2);
	WRONG(DXP_EINVAL, "argument 1: address 0x1004 is not a multiple of",
	      l.arguments[1].address = 4100);
	WRONG(DXP_EINVAL, "argument 0: address 0xc00000 and 256 bytes are not in device memory",
	      l.arguments[0].address = BYTES);
	WRONG(DXP_EINVAL, "not in device memory", l.arguments[0].memory_bytes = 0);
	WRONG(DXP_EINVAL, "does not divide", l.local[0] = 7);
	WRONG(DXP_EUNSUPPORTED, "cannot use the NIC", l.kernel = "post"; l.argument_count = 1;
	      l.arguments[0] =
		      (struct engine_argument){.kind = COMMAND_ARG_NIC, .memory_bytes = 4096});
#undef WRONG
	assert_int_equal(add_run(4096, 8192), DXP_OK);
}

static void engine_build__failure_has_a_log(void **state)
{
	struct engine_program *p;
	char *log = NULL;

	assert_int_equal(build("kernel void k(global uint *p) { p[0] = nonsense; }", &p, &log),
			 DXP_EBUILD);
	assert_non_null(strstr(log, "nonsense"));
	free(log);
}

static void engine_describe__bridged(void **state)
{
	struct engine_description d;

	engine_describe(engine, &d);
	assert_int_equal(d.kind, ENGINE_OCL);
	assert_int_equal(d.memory_kind, DXP_MEMORY_BRIDGED);
	assert_false(d.streams || d.reaches_host);
	assert_true(d.compute_units > 0 && d.device[0]);
}

/* ---- several allocations, and failures ---- */

/* Memory consists of 12 allocations. DMAs may cross their borders; a buffer of a launch may not. */
static void engine_open__memory_in_chunks(void **state)
{
	uint32_t n = 1;

	fakes_begin();
	allocation_max = CHUNK_BYTES + 17; /* rounded down to whole pages */
	assert_int_equal(setup(NULL), 0);
	bridged_moves(engine, 100);
	assert_int_equal(add_run(4 * CHUNK_BYTES, 5 * CHUNK_BYTES - 256), DXP_OK);
	struct engine_launch l = add_launch(0, 2 * CHUNK_BYTES - 128, &n);
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "cross a multiple of 0x100000"));
	teardown(NULL);
	allocation_max = 4096; /* needs too many allocations */
	assert_int_equal(engine_start(), DXP_ENOMEM);
	fakes_clear();
}

/* No failed operation reports success, and the next one succeeds. */
static void engine_ocl__each_call_fails_once(void **state)
{
	bool clean = false;
	unsigned n;

	fakes_begin();
	allocation_max = BYTES / 2;
	for (n = 1; !clean; n++) {
		calls = 0;
		fail_at = n;
		int status = setup(NULL);
		clean = calls < n;
		if (status != 0)
			continue;
		assert_int_equal(engine_pin(engine, host, 8192) == DXP_OK || calls >= n, true);
		int moved = add_run(4096, 8192);
		int copied = bridged_copy(engine, BYTES / 2 - 100, BYTES / 2 - 50, 300);
		clean = calls < n;
		assert_true(!clean || (moved == DXP_OK && copied == DXP_OK));
		fail_at = 0;
		bridged_moves(engine, 2);
		assert_int_equal(add_run(4096, 8192), DXP_OK);
		teardown(NULL);
	}
	print_message("%u calls\n", n - 1);
	assert_true(n > 20);
	fakes_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(engine_dma__random_moves, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__many_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma_reset__ends_all, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__fails_on_its_way, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__without_callbacks, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_pin__and_moves, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__in_device_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__local_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__wrong_launches, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_build__failure_has_a_log, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_describe__bridged, setup, teardown),
		cmocka_unit_test(engine_open__memory_in_chunks),
		cmocka_unit_test(engine_ocl__each_call_fails_once),
	};

	if (engine_start() != DXP_OK) {
		printf("skipped: no OpenCL device\n");
		return 77;
	}
	engine_close(engine);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
