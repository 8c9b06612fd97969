/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the engine `cuda` with a fake driver (test/support/cuda); engine_cuda_device runs the cases
 * with a real one. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdalign.h>
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

#include "base/log.h"
#include "base/util.h"
#include "test/support/bridged_memory.h"
#include "test/support/cuda/fake_cuda.h"
#include "engine/cuda_engine.h"

#define FAULT 700 /* CUDA_ERROR_ILLEGAL_ADDRESS */

static struct engine *engine;
static struct engine_program *program;
static char text[ENGINE_TEXT_BYTES], *ptx;
static atomic_uint interrupts;
static uint8_t host[1 << 20];

/* The fake driver's functions; NULL with a real driver. */
#define MEMBER(type, name, parameters) static type(*name) parameters;
FAKE_CUDA_FUNCTIONS(MEMBER)
#undef MEMBER

static bool fake_find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		return false;
#define FIND(type, name, parameters) *(void **)&(name) = dlsym(library, #name);
	FAKE_CUDA_FUNCTIONS(FIND)
#undef FIND
	return fake_cuda_fail != NULL;
}

static void interrupt(void *context)
{
	atomic_fetch_add(&interrupts, 1);
}

static int engine_start(const char *name)
{
	const struct engine_options o = {
		.name = name, .memory_bytes = BRIDGED_BYTES, .interrupt = interrupt};

	return engine_open(&o, &engine);
}

static int build(const char *what, const char *options, struct engine_program **out, char **log)
{
	const struct engine_file file = {.data = what, .bytes = strlen(what)};
	const struct engine_source s = {.options = options, .files = &file, .file_count = 1};

	*log = NULL;
	return engine_build(engine, &s, out, log);
}

static int setup(void **state)
{
	char *log;

	if (engine_start("cuda") != DXP_OK)
		return -1;
	int status = build(ptx, "", &program, &log);
	if (status != DXP_OK)
		engine_close(engine);
	free(log);
	return status == DXP_OK ? 0 : -1;
}

static int teardown(void **state)
{
	engine_release(engine, program);
	engine_close(engine);
	if (fake_cuda_alive)
		assert_int_equal(fake_cuda_alive(), 0);
	return 0;
}

/* ---- memory ---- */

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
	if (fake_cuda_delay)
		fake_cuda_delay(100 * US_NS); /* ns per copy, so that queues fill */
	atomic_store(&interrupts, 0);
	bridged_many(engine);
	if (fake_cuda_delay)
		fake_cuda_delay(0);
	bridged_until(&interrupts, 200);
	assert_int_equal(atomic_load(&interrupts), 200);
}

static void engine_pin__and_moves(void **state)
{
	assert_int_equal(engine_pin(engine, host, sizeof(host)), DXP_OK);
	memset(host, 0x5a, sizeof(host));
	assert_int_equal(bridged_in(engine, 4099, host + 1, 70001), DXP_OK);
	memset(host, 0, sizeof(host));
	assert_int_equal(bridged_out(engine, 4099, host + 3, 70001), DXP_OK);
	for (unsigned i = 0; i < 70001; i++)
		assert_int_equal(host[3 + i], 0x5a);
	assert_int_equal(host[2] + host[3 + 70001], 0);
	engine_unpin(engine, host);
}

/* A DMA completes only after the device has stopped using its memory, and then with an error. */
static void engine_dma_reset__ends_all(void **state)
{
	struct engine_dma d = {.kind = ENGINE_DMA_OUT, .sink = host, .bytes = sizeof(host)};
	struct engine_dma_end end;

	if (!fake_cuda_hang) {
		print_message("skipped: the driver is a real one, which does not fail to order\n");
		skip();
	}
	fake_cuda_hang(3);
	for (d.id = 0; d.id < 8; d.id++)
		assert_int_equal(engine_dma_start(engine, &d), DXP_OK);
	engine_dma_reset(engine);
	nanosleep(&(struct timespec){.tv_nsec = (long)(20 * MS_NS)}, NULL);
	assert_int_equal(engine_dma_dequeue(engine, &end, 1), 0);
	fake_cuda_hang(0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(bridged_memory_dequeue(engine).status, DXP_EDEVICE);
	bridged_moves(engine, 20);
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
				  .global = {640, 1, 1},
				  .argument_count = 3};

	l.arguments[0] = buffer_at(from, 2560);
	l.arguments[1] = buffer_at(to, 2560);
	l.arguments[2] =
		(struct engine_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = n};
	return l;
}

static int add_run(uint64_t from, uint64_t to, uint64_t local)
{
	uint32_t a[640], n = 1000;
	struct engine_launch l = add_launch(from, to, &n);

	l.local[0] = local;
	l.local[1] = l.local[2] = local ? 1 : 0;
	for (uint32_t i = 0; i < 640; i++)
		a[i] = i;
	int status = bridged_in(engine, from, a, sizeof(a));
	if (status == DXP_OK)
		status = engine_run(engine, &l, text);
	if (status == DXP_OK)
		status = bridged_out(engine, to, a, sizeof(a));
	for (uint32_t i = 0; status == DXP_OK && i < 640; i++)
		assert_int_equal(a[i], 1000 + i);
	return status;
}

/* Kernels reach the window of a NIC, here a page of numbers, in each of two launches. */
static int window_run(uint64_t to)
{
	static alignas(4096) uint32_t window[1024];
	uint32_t out[640], n = 7;
	struct engine_launch l = add_launch(0, to, &n);

	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_NIC, .memory = window, .memory_bytes = sizeof(window)};
	for (uint32_t i = 0; i < 640; i++)
		window[i] = 3 * i;
	int status = engine_run(engine, &l, text);
	if (status == DXP_OK)
		status = bridged_out(engine, to, out, sizeof(out));
	for (uint32_t i = 0; status == DXP_OK && i < 640; i++)
		assert_int_equal(out[i], 7 + 3 * i);
	return status;
}

static void engine_run__reaches_a_window(void **state)
{
	assert_int_equal(window_run(8192), DXP_OK);
	assert_int_equal(window_run(4096), DXP_OK);
}

/* If copies to the device hang, copies from it and kernels continue. */
static void engine_dma__directions_are_apart(void **state)
{
	struct engine_dma d = {.kind = ENGINE_DMA_IN, .source = host, .bytes = sizeof(host)};
	uint32_t n = 1;
	struct engine_launch l = add_launch(0, 4096, &n);

	if (!fake_cuda_hang) {
		print_message("skipped: the driver is a real one, which does not fail to order\n");
		skip();
	}
	fake_cuda_hang(1);
	for (d.id = 0; d.id < 10; d.id++)
		assert_int_equal(engine_dma_start(engine, &d), DXP_OK);
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
	assert_int_equal(bridged_out(engine, 0, host, sizeof(host)), DXP_OK);
	fake_cuda_hang(0);
	for (unsigned i = 0; i < 10; i++) /* in order within a direction */
		assert_int_equal(bridged_memory_dequeue(engine).id, i);
}

static void engine_run__in_device_memory(void **state)
{
	assert_int_equal(add_run(4096, 8192, 0), DXP_OK);
	assert_int_equal(add_run(0, BRIDGED_BYTES - 2560, 128), DXP_OK);
	assert_int_equal(add_run(4, 4, 32), DXP_OK);
	assert_int_equal(add_run(4096, 8192, 1), DXP_OK);
}

static void engine_run__local_memory(void **state)
{
	struct engine_launch l = {.program = program,
				  .kernel = "share",
				  .dimensions = 1,
				  .global = {64, 1, 1},
				  .local = {32, 1, 1},
				  .argument_count = 2};
	uint32_t got[64];

	l.arguments[0] = buffer_at(1024, 256);
	/* above the 48 KiB that CUDA allows by default */
	for (uint32_t bytes = 128; bytes <= 64 << 10; bytes *= 512) {
		l.arguments[1] =
			(struct engine_argument){.kind = COMMAND_ARG_LOCAL, .bytes = bytes};
		if (engine_run(engine, &l, text) != DXP_OK)
			fail_msg("%s", text);
		assert_int_equal(bridged_out(engine, 1024, got, sizeof(got)), DXP_OK);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(got[i], 31 - i % 32);
	}
	l.argument_count = 3;
	l.arguments[2] = l.arguments[1];
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "one block of dynamic shared memory"));
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
	WRONG(DXP_EINVAL, "has 3 parameters, 2 were given", l.argument_count = 2);
	WRONG(DXP_EINVAL, "has 3 parameters, 4 were given", l.argument_count = 4;
	      l.arguments[3] = l.arguments[2]);
	WRONG(DXP_EINVAL, "argument 2: the parameter has 4 bytes, 8 were given",
	      l.arguments[2].bytes = 8);
	WRONG(DXP_EINVAL, "argument 0: the parameter has 8 bytes, 4 were given",
	      l.arguments[0] = l.arguments[2]);
	WRONG(DXP_EINVAL, "argument 0: address 0xc00000 and 2560 bytes are not in device memory",
	      l.arguments[0].address = BRIDGED_BYTES);
	WRONG(DXP_EINVAL, "not in device memory", l.arguments[1].memory_bytes = UINT64_MAX);
	WRONG(DXP_EINVAL, "does not divide", l.local[0] = 7);
	WRONG(DXP_EINVAL, "global size 0", l.global[0] = 0);
	WRONG(DXP_EINVAL, "a group has at most 1024 work items", l.local[0] = l.global[0] = 2048);
	WRONG(DXP_EINVAL, "a group has at most 1024 work items",
	      l.local[0] = l.global[0] = 1ull << 33);
	WRONG(DXP_EINVAL, "70000 groups in dimension 1, at most 65535", l.dimensions = 2;
	      l.global[1] = 70000; l.local[0] = 32; l.local[1] = 1);
	WRONG(DXP_EINVAL, "work items", l.dimensions = 3;
	      l.global[0] = l.global[1] = l.global[2] = 1ull << 63);
	WRONG(DXP_EINVAL, "window of 4096 bytes cannot be mapped",
	      l.arguments[0] =
		      (struct engine_argument){.kind = COMMAND_ARG_NIC, .memory_bytes = 4096});
#undef WRONG
	assert_int_equal(add_run(4096, 8192, 0), DXP_OK);
}

static void build_fails(const char *what, const char *options, const char *words)
{
	struct engine_program *p;
	char *log;

	assert_int_equal(build(what, options, &p, &log), DXP_EBUILD);
	assert_non_null(log);
	if (!strstr(log, words))
		fail_msg("%s", log);
	free(log);
}

static void engine_build__failures_have_a_log(void **state)
{
	build_fails(".version 6.4\n.target sm_75\n.address_size 64\nnonsense", "", "nonsense");
	build_fails(ptx, "-O3", "PTX has no build options");
	build_fails("kernel void k(global uint *p) {}", "", "OpenCL C is for the engine ocl");
	build_fails("", "", "neither PTX");
}

/* Equal to the kernel in PTX, beside one that uses a NIC; skipped without NVRTC, CUDA's runtime
 * compiler. */
static void engine_build__cuda_c(void **state)
{
	static const char source[] =
		"#include <dxp/device.h>\n"
		"extern \"C\" __global__ void wait(dxp_window *nic, int *out)\n"
		"{ *out = dxp_received_wait(nic, 1000); }\n"
		"extern \"C\" __global__ void add(const unsigned *a, unsigned *out, unsigned n)\n"
		"{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = a[i] + n; }\n";
	struct engine_program *before = program;
	char *log;
	int status = build(source, "-DUNUSED=1 --fmad=false", &program, &log);

	if (status == DXP_EBUILD && strstr(log, "needs NVRTC")) {
		print_message("skipped: no NVRTC on this machine\n");
		free(log);
		program = before;
		skip();
	}
	if (status != DXP_OK)
		fail_msg("%s", log);
	free(log);
	assert_int_equal(add_run(4096, 8192, 0), DXP_OK);
	engine_release(engine, program);
	program = before;
	build_fails("__global__ void k() { undeclared; }", "", "undeclared");
	build_fails("__global__ void k() { }", "--nonsense", "nonsense");
}

static void cuda_source_is_ptx__table(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {{".version 7.0", true},
		    {" \n// a\n/* b\n */ .version", true},
		    {"/*c*/.version", true},
		    {"", false},
		    {"/", false},
		    {"/*", false},
		    {"/*/.version", false},
		    {"// .version", false},
		    {".versio", false},
		    {"x .version", false}};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(cuda_source_is_ptx(rows[i].text, strlen(rows[i].text)),
				 rows[i].is);
}

static void engine_describe__cuda(void **state)
{
	struct engine_description d;

	engine_describe(engine, &d);
	assert_int_equal(d.kind, ENGINE_CUDA);
	assert_int_equal(d.memory_kind, DXP_MEMORY_BRIDGED);
	assert_false(d.streams);
	assert_true(d.reaches_host);
	assert_true(d.compute_units > 0 && d.device[0]);
	print_message("device: %s\n", d.device);
}

/* ---- opening, and failures ---- */

static void engine_open__by_name(void **state)
{
	struct engine_description d;

	assert_int_equal(engine_start("cuda:no such device"), DXP_EUNSUPPORTED);
	assert_int_equal(engine_start("cuda:"), DXP_EINVAL);
	if (!fake_cuda_fail) {
		print_message("skipped: the driver is a real one, which does not fail to order\n");
		skip();
	}
	assert_int_equal(engine_start("cuda:gpu b"), DXP_OK);
	engine_describe(engine, &d);
	assert_string_equal(d.device, "Fake GPU B");
	engine_close(engine);
	assert_int_equal(fake_cuda_alive(), 0);
}

static void engine_open__too_much_memory(void **state)
{
	const struct engine_options o = {.name = "cuda", .memory_bytes = 1ull << 50};

	assert_int_equal(engine_open(&o, &engine), DXP_ENOMEM);
	if (fake_cuda_alive)
		assert_int_equal(fake_cuda_alive(), 0);
}

static bool all_of_it(void)
{
	/* an unpin that failed leaves its range locked */
	static unsigned pins;
	uint8_t *range = host + pins++ % (sizeof(host) / 4096) * 4096;
	bool good = engine_pin(engine, range, 4096) == DXP_OK;

	good &= add_run(4096, 8192, 0) == DXP_OK;
	good &= window_run(8192) == DXP_OK;
	good &= bridged_copy(engine, 4096, 4100, 2560) == DXP_OK;
	engine_unpin(engine, range);
	return good;
}

/* No failed operation reports success, the next one succeeds, and a failed start leaves no
 * objects. */
static void engine_cuda__each_call_fails_once(void **state)
{
	unsigned n = 0;
	bool clean = false;

	if (!fake_cuda_fail) {
		print_message("skipped: the driver is a real one, which does not fail to order\n");
		skip();
	}
	while (!clean) {
		fake_cuda_fail(++n, 0);
		if (setup(NULL) != 0) {
			assert_true(fake_cuda_calls() >= n);
			continue;
		}
		bool good = all_of_it();
		clean = fake_cuda_calls() < n;
		assert_true(good || !clean);
		fake_cuda_fail(0, 0);
		bridged_moves(engine, 2);
		assert_true(all_of_it());
		engine_release(engine, program);
		engine_close(engine);
	}
	print_message("%u calls\n", n - 1);
	assert_true(n > 50);
}

/* n = 1, 2, ... until the start succeeds. */
static void engine_open__failed_start_leaves_nothing(void **state)
{
	if (!fake_cuda_fail) {
		print_message("skipped: the driver is a real one, which does not fail to order\n");
		skip();
	}
	for (unsigned n = 1;; n++) {
		unsigned before = fake_cuda_alive();
		fake_cuda_fail(n, 0);
		int status = engine_start("cuda");
		fake_cuda_fail(0, 0);
		if (status == DXP_OK)
			break;
		assert_int_equal(fake_cuda_alive(), before);
	}
	engine_close(engine);
}

/* Must run last: after a fault in a kernel, a real device is unusable in this process. */
static void engine_run__a_fault_is_for_good(void **state)
{
	struct engine_launch l = {.program = program,
				  .kernel = "crash",
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .argument_count = 1};
	struct engine_program *p;
	char *log;
	uint32_t n = 1;

	l.arguments[0] = buffer_at(0, 4096);
	assert_int_equal(engine_run(engine, &l, text), DXP_EDEVICE);
	assert_non_null(strstr(text, "illegal memory access"));
	assert_non_null(strstr(text, "restart"));
	l = add_launch(0, 4096, &n);
	assert_int_equal(engine_run(engine, &l, text), DXP_EDEVICE);
	assert_non_null(strstr(text, "restart the xPU"));
	assert_int_equal(bridged_in(engine, 0, host, 4096), DXP_EDEVICE);
	assert_int_equal(build(ptx, "", &p, &log), DXP_EDEVICE);
	assert_non_null(strstr(log, "restart the xPU"));
	free(log);
	engine_release(engine, program);
	engine_close(engine);
}

static char *file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *all = calloc(1, 1 << 16);

	if (f && all)
		all[fread(all, 1, (1 << 16) - 1, f)] = '\0';
	if (f)
		fclose(f);
	return all;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_source_is_ptx__table),
		cmocka_unit_test_setup_teardown(engine_describe__cuda, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__random_moves, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__rejected, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__many_in_flight, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_pin__and_moves, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma_reset__ends_all, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_dma__directions_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__in_device_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__local_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__wrong_launches, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_build__failures_have_a_log, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__reaches_a_window, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_build__cuda_c, setup, teardown),
		cmocka_unit_test(engine_open__by_name),
		cmocka_unit_test(engine_open__too_much_memory),
		cmocka_unit_test(engine_open__failed_start_leaves_nothing),
		cmocka_unit_test(engine_cuda__each_call_fails_once),
		cmocka_unit_test_setup(engine_run__a_fault_is_for_good, setup),
	};

	if (engine_start("cuda") != DXP_OK) {
		printf("skipped: no CUDA driver with a device\n");
		return 77;
	}
	engine_close(engine);
	print_message("%s driver\n", fake_find() ? "fake" : "real");
	ptx = file_read(DXP_SOURCE_DIR "/test/support/cuda/kernels.ptx");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(ptx);
	return failed;
}
