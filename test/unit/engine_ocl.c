/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL engine on PoCL's CPU device: kernels work in our memory in place, and wrong launches
 * are told apart. Skipped where OpenCL or PoCL is not installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/udp.h"
#include "xpu/arena.h"
#include "xpu/engine.h"
#include "xpu/ocl_kernel.h"

#define BYTES (1u << 20)

static const char source[] =
	"kernel void add(global const uint *a, global uint *out, uint n) { out[get_global_id(0)] = "
	"a[get_global_id(0)] + n; }\n"
	"kernel void share(global uint *out, local uint *l) { l[get_local_id(0)] = "
	"get_local_id(0); barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  out[get_global_id(0)] = l[get_local_size(0) - 1 - get_local_id(0)]; }\n"
	"kernel void empty(void) {}\n";

static struct arena *arena;
static struct engine *engine;
static struct engine_program *program;
static char text[ENGINE_TEXT_BYTES];

static int build(const char *what, struct engine_program **out, char **log)
{
	struct engine_source s = {.text = what, .bytes = strlen(what), .options = ""};

	return engine_build(engine, &s, out, log);
}

static int setup(void **state)
{
	char *log = NULL;

	if (build(source, &program, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	return 0;
}

static int teardown(void **state)
{
	engine_release(engine, program);
	return 0;
}

static struct engine_argument buffer_at(uint64_t address, uint64_t bytes)
{
	return (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
					.memory = arena_base(arena) + address,
					.memory_bytes = bytes};
}

static struct engine_launch add_launch(const uint32_t *n)
{
	struct engine_launch l = {.program = program,
				  .kernel = "add",
				  .dimensions = 1,
				  .global = {64, 1, 1},
				  .argument_count = 3};

	l.arguments[0] = buffer_at(4096, 256);
	l.arguments[1] = buffer_at(8196, 256); /* any alignment of the type will do */
	l.arguments[2] =
		(struct engine_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = n};
	return l;
}

static void engine_run__in_place(void **state)
{
	uint32_t *a = (uint32_t *)(arena_base(arena) + 4096),
		 *out = (uint32_t *)(arena_base(arena) + 8196), n = 1000;
	struct engine_launch l = add_launch(&n);

	for (uint32_t i = 0; i < 64; i++)
		a[i] = i;
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(out[i], 1000 + i);
	/* What the NIC writes between two launches is seen by the second. */
	a[5] = 77;
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
	assert_int_equal(out[5], 1077);
}

static void engine_run__local_memory(void **state)
{
	const uint32_t *out = (const uint32_t *)arena_base(arena);
	struct engine_launch l = {.program = program,
				  .kernel = "share",
				  .dimensions = 1,
				  .global = {16, 1, 1},
				  .local = {8, 1, 1},
				  .argument_count = 2};

	l.arguments[0] = buffer_at(0, 4096);
	l.arguments[1] = (struct engine_argument){.kind = COMMAND_ARG_LOCAL, .bytes = 32};
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(out[i], 7 - i % 8);
}

static void engine_run__wrong_launches(void **state)
{
	uint32_t n = 1;
	struct engine_launch l;

#define WRONG(status, words, ...)                                       \
	do {                                                            \
		l = add_launch(&n);                                     \
		__VA_ARGS__;                                            \
		assert_int_equal(engine_run(engine, &l, text), status); \
		assert_non_null(strstr(text, words));                   \
	} while (0)
	WRONG(DXP_ENOENT, "no kernel 'sub'", l.kernel = "sub");
	WRONG(DXP_EINVAL, "takes 3 arguments, 2 were given", l.argument_count = 2);
	WRONG(DXP_EINVAL, "argument 2: uint has 4 bytes, 8 were given", l.arguments[2].bytes = 8);
	WRONG(DXP_EINVAL, "argument 0: it takes a buffer", l.arguments[0] = l.arguments[2]);
	WRONG(DXP_EINVAL, "argument 2: it takes a value", l.arguments[2] = l.arguments[0]);
	WRONG(DXP_EINVAL, "does not divide", l.local[0] = 7);
	WRONG(DXP_EINVAL, "work items", l.dimensions = 3;
	      l.global[0] = l.global[1] = l.global[2] = 1ull << 63);
#undef WRONG
	l = add_launch(&n);
	assert_int_equal(engine_run(engine, &l, text), DXP_OK);
}

static void engine_build__failure_has_a_log(void **state)
{
	struct engine_program *p;
	char *log = NULL;

	assert_int_equal(build("kernel void k(global uint *p) { p[0] = nonsense; }", &p, &log),
			 DXP_EBUILD);
	assert_non_null(strstr(log, "nonsense"));
	free(log);
	log = NULL;
	assert_int_equal(build("kernel void k(global uint *p) { p[0] = nonsense; }", &p, &log),
			 DXP_EBUILD);
	assert_non_null(strstr(log, "nonsense"));
	free(log);
}

static void engine_build__second_time_is_free(void **state)
{
	struct engine_program *p;
	char *log = NULL;
	uint64_t start = link_now_ns();

	assert_int_equal(build(source, &p, &log), DXP_OK);
	uint64_t took = link_now_ns() - start;
	free(log);
	engine_release(engine, p);
	print_message("second build: %.1f us\n", (double)took / 1000);
	assert_true(took < 20 * MS_NS); /* the compiler alone takes longer */
}

static void ocl_type_bytes__table(void **state)
{
	assert_int_equal(ocl_type_bytes("uint"), 4);
	assert_int_equal(ocl_type_bytes("float4"), 16);
	assert_int_equal(ocl_type_bytes("float3"), 16);
	assert_int_equal(ocl_type_bytes("double16"), 128);
	assert_int_equal(ocl_type_bytes("uchar"), 1);
	assert_int_equal(ocl_type_bytes("float99"), 0);
	assert_int_equal(ocl_type_bytes("struct thing"), 0);
	assert_int_equal(ocl_type_bytes(""), 0);
}

static void engine_open__names(void **state)
{
	struct engine_options o = {
		.name = "cuda", .memory = arena_base(arena), .memory_bytes = BYTES};
	struct engine_description d;
	struct engine *e;

	assert_int_equal(engine_open(&o, &e), DXP_EINVAL);
	o.name = "ocl:no such device";
	assert_int_equal(engine_open(&o, &e), DXP_EUNSUPPORTED);
	o.name = "none";
	assert_int_equal(engine_open(&o, &e), DXP_OK);
	engine_describe(e, &d);
	assert_int_equal(d.kind, ENGINE_NONE);
	engine_close(e);
	engine_describe(engine, &d);
	assert_int_equal(d.kind, ENGINE_OCL);
	assert_true(d.compute_units > 0 && d.device[0]);
	print_message("device: %s\n", d.device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ocl_type_bytes__table),
		cmocka_unit_test(engine_open__names),
		cmocka_unit_test_setup_teardown(engine_run__in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__local_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_run__wrong_launches, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_build__failure_has_a_log, setup, teardown),
		cmocka_unit_test_setup_teardown(engine_build__second_time_is_free, setup, teardown),
	};

	if (arena_create(BYTES, &arena) != DXP_OK)
		return 1;
	struct engine_options options = {
		.name = "ocl", .memory = arena_base(arena), .memory_bytes = BYTES};
	if (engine_open(&options, &engine) != DXP_OK) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	engine_close(engine);
	arena_destroy(arena);
	return failed;
}
