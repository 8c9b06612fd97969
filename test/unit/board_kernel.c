/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels in a board's memory and in its stream, also both at once. Skipped without
 * OpenCL. */
#include "test/unit/board_rig.h"

#include <pthread.h>

#define WORDS 1000

static const char program_text[] =
	"#include <dxp/device.h>\n"
	"kernel void add(global uint *p, uint n) { p[get_global_id(0)] += n; }\n"
	"kernel void post(global struct dxp_window *nic) { nic->producer = 1; }\n";

static const char core_text[] =
	"kernel void stir(global const uchar *in, global uchar *out, uint bytes, ulong at)\n"
	"{ size_t i = get_global_id(0) * 64, end = min(i + 64, (size_t)bytes);\n"
	"  for (; i < end; i++) out[i] = (uchar)(in[i] ^ (uchar)((at + i) * 7)); }\n";

static struct engine_program *program;
static char text[ENGINE_TEXT_BYTES];

static int kernel_setup(void **state)
{
	const struct engine_file file = {.data = program_text, .bytes = sizeof(program_text) - 1};
	const struct engine_source s = {.options = "", .files = &file, .file_count = 1};
	char *log = NULL;

	setup(state);
	reopen("preset = fast\ncompute = ocl\n");
	if (engine_build(board, &s, &program, &log) != DXP_OK)
		fail_msg("%s", log ? log : "no log");
	free(log);
	return 0;
}

static int kernel_teardown(void **state)
{
	engine_release(board, program);
	return teardown(state);
}

static struct engine_launch add_launch(uint64_t address, const uint32_t *n)
{
	struct engine_launch l = {.program = program,
				  .kernel = "add",
				  .dimensions = 1,
				  .global = {WORDS, 1, 1},
				  .argument_count = 2};

	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_BUFFER, .address = address, .memory_bytes = 4 * WORDS};
	l.arguments[1] =
		(struct engine_argument){.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = n};
	return l;
}

static void engine_run__in_board_memory(void **state)
{
	const uint32_t n = 1000;
	struct engine_launch l = add_launch(8192, &n);
	uint32_t word, out;

	RUN(dma_in(8192, source, 4 * WORDS));
	for (uint32_t round = 1; round <= 3; round++) {
		assert_int_equal(engine_run(board, &l, text), DXP_OK);
		RUN(dma_out(sink, 8192, 4 * WORDS));
		for (uint32_t i = 0; i < WORDS; i++) {
			memcpy(&word, source + 4 * i, 4);
			memcpy(&out, sink + 4 * i, 4);
			assert_int_equal(out, word + round * n);
		}
	}
	/* the engine does not reveal its address */
	assert_null(l.arguments[0].memory);
}

static void engine_run__rejects(void **state)
{
	const uint32_t n = 1;
	struct engine_launch l = add_launch(MEMORY - 4 * WORDS + 1, &n);

	assert_int_equal(engine_run(board, &l, text), DXP_EINVAL);
	assert_non_null(
		strstr(text, "kernel 'add', argument 0: 4000 bytes at 0x7ff061 are outside"));
	l = add_launch(UINT64_MAX - 10, &n);
	assert_int_equal(engine_run(board, &l, text), DXP_EINVAL);
	l = add_launch(0, &n);
	l.arguments[0].memory_bytes = (uint64_t)MEMORY + 1;
	assert_int_equal(engine_run(board, &l, text), DXP_EINVAL);
	l = add_launch(MEMORY - 4 * WORDS, &n);
	assert_int_equal(engine_run(board, &l, text), DXP_OK);
	l.kernel = "post";
	l.argument_count = 1;
	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_NIC, .memory = sink, .memory_bytes = HOST};
	assert_int_equal(engine_run(board, &l, text), DXP_OK);
	assert_int_equal(((const struct dxp_window *)(const void *)sink)->producer, 1);
}

static void *run_often(void *argument)
{
	const uint32_t n = 1;
	struct engine_launch l = add_launch(0, &n);
	bool good = true;

	for (int i = 0; i < 200; i++)
		good &= engine_run(board, &l, text) == DXP_OK;
	return good ? argument : NULL;
}

/* A kernel in a stream and kernels in memory run at the same time. */
static void engine_run__beside_a_stream_kernel(void **state)
{
	const uint32_t bytes = BOARD_CHUNK_BYTES + 1001;
	char lines[128], core_file[64];
	pthread_t thread;
	void *good;
	uint32_t word, out;

	snprintf(core_file, sizeof(core_file), "stir-%d.cl", (int)getpid());
	FILE *file = fopen(core_file, "w");
	assert_non_null(file);
	assert_true(fputs(core_text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(lines, sizeof(lines), "preset = fast\ncore = kernel %s stir\n", core_file);
	engine_release(board, program);
	reopen(lines);
	unlink(core_file);
	const struct engine_file input = {.data = program_text, .bytes = sizeof(program_text) - 1};
	const struct engine_source s = {.options = "", .files = &input, .file_count = 1};
	char *log = NULL;
	assert_int_equal(engine_build(board, &s, &program, &log), DXP_OK);
	free(log);
	RUN(dma_in(0, source, 4 * WORDS));
	assert_int_equal(pthread_create(&thread, NULL, run_often, board), 0);
	for (int round = 0; round < 5; round++) {
		memset(sink, 0xee, bytes + 1);
		RUN(dma_through(sink, source, bytes));
		for (uint32_t i = 0; i < bytes; i++)
			assert_int_equal(sink[i], (uint8_t)(source[i] ^ (i * 7)));
		assert_int_equal(sink[bytes], 0xee);
	}
	assert_int_equal(pthread_join(thread, &good), 0);
	assert_non_null(good);
	RUN(dma_out(sink, 0, 4 * WORDS));
	for (uint32_t i = 0; i < WORDS; i++) {
		memcpy(&word, source + 4 * i, 4);
		memcpy(&out, sink + 4 * i, 4);
		assert_int_equal(out, word + 200);
	}
}

/* There is no inner engine. */
static void engine_build__none(void **state)
{
	const struct engine_file file = {.data = ""};
	const struct engine_source s = {.options = "", .files = &file, .file_count = 1};
	struct engine_launch l = {.kernel = "add"};
	struct engine_program *p;
	char *log = NULL;

	assert_int_equal(engine_build(board, &s, &p, &log), DXP_EUNSUPPORTED);
	assert_int_equal(engine_run(board, &l, text), DXP_EUNSUPPORTED);
	assert_string_equal(
		text, "this board runs no kernels; remove `compute = none` from its description");
}

static bool runs_kernels(void)
{
	struct engine_description d;
	struct engine *e = open_lines("preset = fast\n");

	engine_describe(e, &d);
	engine_close(e);
	return d.compute_units > 0;
}

static int run_all(void)
{
	const struct CMUnitTest plain[] = {
		cmocka_unit_test_setup_teardown(engine_build__none, setup, teardown)};
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, kernel_setup, kernel_teardown)
		TEST(engine_run__in_board_memory),
		TEST(engine_run__rejects),
		TEST(engine_run__beside_a_stream_kernel),
#undef TEST
	};
	int failed = cmocka_run_group_tests(plain, NULL, NULL);

	if (!runs_kernels()) {
		printf("skipped: kernels: no OpenCL device works in host memory\n");
		return failed;
	}
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return rig_main(run_all);
}
