/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the OpenCL engine on PoCL: kernels in the caller's memory, and a message for each kind of
 * wrong launch. */
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
#include "nic/window.h"
#include "xpu/arena.h"
#include "engine/engine.h"
#include "engine/ocl_include.h"
#include "engine/ocl_kernel.h"
#include "test/unit/ocl_watch.h"

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
	const struct engine_file file = {.data = what, .bytes = strlen(what)};
	const struct engine_source s = {.options = "", .files = &file, .file_count = 1};

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
	l.arguments[1] = buffer_at(8196, 256); /* alignment of the element type */
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
	/* The NIC may write memory between two launches. */
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
	WRONG(DXP_EINVAL, "has 3 arguments, 2 were given", l.argument_count = 2);
	WRONG(DXP_EINVAL, "argument 2: uint has 4 bytes, 8 were given", l.arguments[2].bytes = 8);
	WRONG(DXP_EINVAL, "argument 0: its type is a buffer", l.arguments[0] = l.arguments[2]);
	WRONG(DXP_EINVAL, "argument 2: its type is a value", l.arguments[2] = l.arguments[0]);
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
	struct ocl_library *cl = compiler_watch();

	assert_int_equal(build(source, &p, &log), DXP_OK);
	free(log);
	engine_release(engine, p);
	assert_int_equal(watched.sources + watched.binaries + watched.builds, 0);
	/* not in the cache, so it is compiled */
	assert_int_equal(build("kernel void fresh(global uint *p) { p[0] = 9; }", &p, &log),
			 DXP_OK);
	free(log);
	engine_release(engine, p);
	assert_int_equal(watched.sources, 1);
	assert_int_equal(watched.builds, 1);
	*cl = watched.real;
}

static void include_run(const char *options)
{
	static const char posts[] =
		"  # include <dxp/device.h> // by name\n"
		"kernel void post(global struct dxp_window *nic, struct dxp_target to, ulong imm,\n"
		"                 global int *out)\n"
		"{ out[0] = dxp_post_nap(nic, 1, &to, 0, 0, imm, 77);\n"
		"  struct dxp_nic_event e; out[1] = dxp_sent_wait(nic, &e, 10); out[2] = "
		"sizeof(*nic); }\n";
	const struct engine_file file = {.data = posts, .bytes = sizeof(posts) - 1};
	const struct engine_source s = {.options = options, .files = &file, .file_count = 1};
	struct dxp_window *window = aligned_alloc(4096, sizeof(*window));
	const struct dxp_target to = {.node = 3, .function = 2, .qp = 1, .magic = 0x12345678};
	int32_t *out = (int32_t *)arena_base(arena);
	struct engine_program *p;
	uint64_t imm = 99;
	char *log = NULL;

	assert_non_null(window);
	memset(window, 0, sizeof(*window));
	if (engine_build(engine, &s, &p, &log) != DXP_OK)
		fail_msg("%s: %s", options, log ? log : "no log");
	struct engine_launch l = {.program = p,
				  .kernel = "post",
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .argument_count = 4,
				  .arguments = {{.kind = COMMAND_ARG_NIC,
						 .memory = window,
						 .memory_bytes = sizeof(*window)},
						{.bytes = sizeof(to), .value = &to},
						{.bytes = sizeof(imm), .value = &imm}}};
	l.arguments[3] = buffer_at(0, 4096);
	if (engine_run(engine, &l, text) != DXP_OK)
		fail_msg("%s: %s", options, text);
	assert_int_equal(out[0], DXP_OK);
	assert_int_equal(out[1], DXP_ETIMEDOUT);
	assert_int_equal(out[2], sizeof(*window));
	const struct dxp_descriptor *d = &window->slots[0].head;
	assert_int_equal(window->producer, 1);
	assert_int_equal(d->lap, 1);
	assert_int_equal(d->op, DXP_OP_NAP);
	assert_int_equal(d->dst_node, 3);
	assert_int_equal(d->dst_magic, 0x12345678);
	assert_int_equal(d->imm, 99);
	assert_int_equal(d->context, 77);
	/* A buffer and the NIC's window cannot stand for each other. */
	l.arguments[0] = buffer_at(0, 4096);
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(
		strstr(text, "argument 0: its type is the NIC (struct dxp_window*), a buffer"));
	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_NIC, .memory = window, .memory_bytes = sizeof(*window)};
	l.arguments[3] = l.arguments[0];
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "argument 3: its type is a buffer (int*), the NIC was given"));
	free(log);
	free(window);
	engine_release(engine, p);
}

static void engine_build__device_header(void **state)
{
	include_run("");
	include_run("-cl-std=CL1.2");
	include_run("-cl-std=CL2.0");
	include_run("-cl-std=CL3.0");
}

/* Lines in messages are those of the user's program, also around an included header. */
static void engine_build__lines_are_the_programs(void **state)
{
	struct engine_program *p;
	char *log = NULL;

	assert_int_equal(
		build("\n#include \"dxp/device.h\"\n\nkernel void k() { nonsense; }", &p, &log),
		DXP_EBUILD);
	if (!strstr(log, "program:4:"))
		fail_msg("%s", log);
	free(log);
	log = NULL;
	assert_int_equal(build("#include <nothing.h>\nkernel void k() {}", &p, &log), DXP_EBUILD);
	assert_non_null(strstr(log, "nothing.h"));
	free(log);
}

static void expands(const char *from, unsigned times)
{
	size_t bytes, header = strlen(ocl_device_header);
	char *to = ocl_source_expand(from, strlen(from), &bytes);
	unsigned found = 0;

	assert_non_null(to);
	assert_int_equal(strlen(to), bytes);
	for (const char *at = to; (at = strstr(at, ocl_device_header)); at += header)
		found++;
	assert_int_equal(found, times);
	if (times == 0)
		assert_string_equal(to, from);
	free(to);
}

static void ocl_source_expand__where_it_is_a_directive(void **state)
{
	expands("", 0);
	expands("#include <dxp/device.h>", 1);
	expands("\t#\tinclude\t\"dxp/device.h\" /* here */\n#include <dxp/device.h>\n", 2);
	expands("#if 1\n#include <dxp/device.h>\n#endif\n", 1);
	expands("/*\n#include <dxp/device.h>\n*/ int a;\n", 0);
	expands("/* a */ #include <dxp/device.h>\n", 0);
	expands("// a \\\n#include <dxp/device.h>\n", 0);
	expands("// it's \"so\n#include <dxp/device.h>\n", 1);
	expands("char c = '\"', d = '\\'';\n#include <dxp/device.h>\n", 1);
	expands("char *s = \"/* \\\" \";\n#include <dxp/device.h>\n", 1);
	expands("#include <dxp/device.hh>\n#include <dxp/status.h>\n#includes", 0);
	expands("int #include <dxp/device.h>\n", 0);
	expands("#", 0);
	expands("#include", 0);
	expands("#include <dxp/device.h", 0);
	expands("\\", 0);
}

/* Each line grows a thousandfold, so only 64 are replaced; the next one is an error. */
static void ocl_source_expand__not_without_bound(void **state)
{
	static const char line[] = "#include <dxp/device.h>\n";
	char *all = calloc(10000, sizeof(line));

	assert_non_null(all);
	for (int i = 0; i < 10000; i++)
		memcpy(all + (size_t)i * (sizeof(line) - 1), line, sizeof(line) - 1);
	expands(all, 64);
	size_t bytes;
	char *to = ocl_source_expand(all, strlen(all), &bytes);
	assert_non_null(strstr(to, "#error \"dxp/device.h\" is included too often"));
	free(to);
	free(all);
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
		.name = "gpu", .memory = arena_base(arena), .memory_bytes = BYTES};
	struct engine_description d;
	struct engine *e;

	assert_int_equal(engine_open(&o, &e), DXP_EINVAL);
	o.name = "ocl:no such device";
	assert_int_equal(engine_open(&o, &e), DXP_EUNSUPPORTED);
	o.name = "none";
	assert_int_equal(engine_open(&o, &e), DXP_OK);
	engine_describe(e, &d);
	assert_int_equal(d.kind, ENGINE_NONE);
	assert_false(d.reaches_host);
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
		cmocka_unit_test(ocl_source_expand__where_it_is_a_directive),
		cmocka_unit_test(ocl_source_expand__not_without_bound),
		cmocka_unit_test(engine_build__device_header),
		cmocka_unit_test(engine_build__lines_are_the_programs),
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
