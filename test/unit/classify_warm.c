/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that run_open compiles all kernels. PoCL keeps each in a file of a folder, which is empty
 * at first. */
#include "classify_support.h"

#include <ftw.h>

#include "run.h"
#include "tflite.h"

static char folder[] = "/tmp/dxp-classify-warm-XXXXXX";
static uint32_t compiled;

static int count_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
	const char *end = strrchr(path, '.');

	compiled += type == FTW_F && end && strcmp(end, ".so") == 0;
	return 0;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
	return remove(path);
}

static void scratch_folder_remove(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static uint32_t compiled_count(void)
{
	compiled = 0;
	assert_int_equal(nftw(folder, count_one, 16, FTW_PHYS), 0);
	return compiled;
}

static void run_open__compiles_for_the_first_photo(void **state)
{
	struct model m;
	struct plan plan;
	struct backend *backend;
	struct run *run;
	struct run_result result;
	struct fault fault;
	size_t bytes;
	uint8_t *input = load(MODELS "tiny-cnn.input.bin", &bytes);

	assert_int_equal(tflite_read(MODELS "tiny-cnn.tflite", &m, &fault), DXP_OK);
	assert_int_equal(plan_layers(&m, "concat", &plan, &fault), DXP_OK);
	assert_int_equal(backend_local_open(plan.stage_count, &backend, &fault), DXP_OK);
	assert_int_equal(
		run_open(&m, &plan, backend, &(struct run_options){.floats = true}, &run, &fault),
		DXP_OK);
	uint32_t before = compiled_count();
	assert_int_equal(run_submit(run, input, 1, &fault), DXP_OK);
	assert_int_equal(run_collect(run, &result, &fault), DXP_OK);
	assert_true(difference(result.answer, 10, MODELS "tiny-cnn.output.bin") <= 1e-5);
	uint32_t after = compiled_count();
	run_close(run);
	backend->ops->close(backend);
	model_release(&m);
	free(input);
	if (after == 0) {
		print_message("skipped: this OpenCL device keeps no compiled kernels in "
			      "POCL_CACHE_DIR\n");
		skip();
	}
	assert_int_equal(before, after);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_open__compiles_for_the_first_photo),
	};

	skip_without_models();
	if (!mkdtemp(folder) || setenv("POCL_CACHE_DIR", folder, 1) != 0)
		return EXIT_FAILURE;
	atexit(scratch_folder_remove);
	skip_without_opencl();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
