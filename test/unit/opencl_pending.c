/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the record of host memory that outstanding commands will write; a write from it waits for
 * them. */
#include "test/unit/opencl_memory_rig.h"

static bool short_of_memory;

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
	return short_of_memory ? NULL : __real_realloc(old, bytes);
}

/* Does not wait. */
static void read_later(cl_mem m, void *to, size_t bytes)
{
	assert_int_equal(
		dxp_clEnqueueReadBuffer(queues[0], m, CL_FALSE, 0, bytes, to, 0, NULL, NULL),
		CL_SUCCESS);
}

/* Neighbours of the destination are not pending. */
static void pending__until_the_read_completes(void **state)
{
	static char host[3 * 64];
	cl_mem m = buffer(0, 64, NULL);

	fill(0, m, 1, 0, 64);
	dxp_clFinish(queues[0]);
	fake_hold(true);
	read_later(m, host + 64, 64);
	assert_false(command_host_is_pending(host, 64));
	assert_true(command_host_is_pending(host, 65));
	assert_true(command_host_is_pending(host + 127, 1));
	assert_false(command_host_is_pending(host + 128, 64));
	fake_hold(false);
	dxp_clFinish(queues[0]);
	assert_false(command_host_is_pending(host, sizeof host));
	release(m);
}

/* If a range cannot be recorded, all host memory stays pending; so the test above must run
 * before. */
static void pending__everything_if_memory_is_short(void **state)
{
	static char host[200][64];
	cl_mem m = buffer(0, 64, NULL);

	fill(0, m, 1, 0, 64);
	dxp_clFinish(queues[0]);
	fake_hold(true);
	short_of_memory = true; /* fewer than 200 ranges have space */
	for (size_t i = 0; i < sizeof host / sizeof *host; i++)
		read_later(m, host[i], sizeof host[i]);
	short_of_memory = false;
	for (size_t i = 0; i < sizeof host / sizeof *host; i++)
		assert_true(command_host_is_pending(host[i], sizeof host[i]));
	fake_hold(false);
	dxp_clFinish(queues[0]);
	release(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pending__until_the_read_completes, setup, teardown),
		cmocka_unit_test_setup_teardown(pending__everything_if_memory_is_short, setup,
						teardown),
	};

	for (int i = 0; i < 2; i++)
		fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
