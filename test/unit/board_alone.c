/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a board without OpenCL: it logs once that it runs no kernels, and moves bytes. */
#include <stdlib.h>

#include "test/unit/board_rig.h"
#include "test/unit/capture.h"

static char reported[8192];

static struct engine *open_listening(const char *lines)
{
	struct stderr_capture capture;

	stderr_capture_begin(&capture);
	struct engine *e = open_lines(lines);
	stderr_capture_end(&capture, reported, sizeof(reported));
	return e;
}

static void engine_open__without_opencl(void **state)
{
	struct engine_description d;

	board = open_listening("preset = fast\n");
	engine_describe(board, &d);
	if (!strstr(d.device, "compute none")) {
		print_message("skipped: the OpenCL loader finds devices without its folder\n");
		skip();
	}
	assert_null(strstr(reported, "error: "));
	assert_non_null(strstr(reported, "warning: the board runs no kernels"));
	assert_non_null(strstr(reported, "compute = none"));
	RUN(dma_in(0, source, 4096));
	engine_close(board);

	board = open_listening("preset = fast\ncompute = none\n");
	assert_string_equal(reported, "");
	engine_close(board);
}

/* An engine that the board's description names is required. */
static void engine_open__without_the_requested_engine(void **state)
{
	struct engine_options options = {.memory_bytes = MEMORY};
	struct stderr_capture capture;
	char name[80];

	engine_close(open_lines("preset = fast\ncompute = none\n"));
	FILE *file = fopen(file_name, "w");
	assert_non_null(file);
	assert_true(fputs("compute = ocl\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(name, sizeof(name), "board:%s", file_name);
	options.name = name;
	stderr_capture_begin(&capture);
	int status = engine_open(&options, &board);
	stderr_capture_end(&capture, reported, sizeof(reported));
	if (status == DXP_OK) {
		engine_close(board);
		print_message("skipped: the OpenCL loader finds devices without its folder\n");
		skip();
	}
	assert_int_equal(status, DXP_EUNSUPPORTED);
	assert_non_null(strstr(reported, "error: "));
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_open__without_the_requested_engine),
		cmocka_unit_test(engine_open__without_opencl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	/* a folder without OpenCL drivers */
	setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
	return rig_main(run_all);
}
