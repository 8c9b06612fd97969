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
#include "test/unit/engine_ocl_fakes.h"
#include "engine/engine.h"

#define BYTES BRIDGED_BYTES
/* bytes of the largest allocation, in tests that permit only small ones */
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
