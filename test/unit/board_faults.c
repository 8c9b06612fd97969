/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each failed call while a board opens returns an error and leaks nothing, and that the
 * next try succeeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "test/sim/memory.h"
#include "engine/engine.h"

#define MEMORY   (1u << 20)
#define CALLS    1000 /* bound of n, far above the calls of an open */
#define PATIENCE 600000

/* If the countdown reaches this call of `name`, it fails. */
#define FALLIBLE(type, name, parameters, arguments, error, result) \
	type __real_##name parameters;                             \
	type __wrap_##name parameters;                             \
	type __wrap_##name parameters                              \
	{                                                          \
		if (!fails_now())                                  \
			return __real_##name arguments;            \
		errno = error;                                     \
		return result;                                     \
	}

FALLIBLE(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes), ENOMEM, NULL)
FALLIBLE(void *, mmap, (void *at, size_t bytes, int rights, int flags, int fd, off_t offset),
	 (at, bytes, rights, flags, fd, offset), ENOMEM, MAP_FAILED)
FALLIBLE(int, pthread_create,
	 (pthread_t * thread, const pthread_attr_t *a, void *(*run)(void *), void *context),
	 (thread, a, run, context), EAGAIN, EAGAIN)
FALLIBLE(FILE *, fopen, (const char *name, const char *mode), (name, mode), EACCES, NULL)

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void use(struct engine *e)
{
	static uint8_t in[64], out[64];
	struct engine_dma dma = {.kind = ENGINE_DMA_THROUGH,
				 .source = in,
				 .sink = out,
				 .bytes = sizeof(in),
				 .first = true};
	struct engine_dma_end end;
	uint32_t dequeued = 0;

	memset(in, 0x5a, sizeof(in));
	memset(out, 0, sizeof(out));
	assert_int_equal(engine_dma_start(e, &dma), DXP_OK);
	for (int i = 0; i < PATIENCE && dequeued == 0; i++) {
		dequeued = engine_dma_dequeue(e, &end, 1);
		if (dequeued == 0)
			usleep(100);
	}
	assert_int_equal(dequeued, 1);
	assert_int_equal(end.status, DXP_OK);
	for (size_t i = 0; i < sizeof(in); i++)
		assert_true(out[i] == 0x5b || (out[i] == 0x5a && i % 4 != 0));
}

/* The n-th call fails, n = 1, 2, ... until an open succeeds. Returns the number of failed calls. */
static uint32_t open_until_it_does(const char *name)
{
	struct engine_options options = {.name = name, .memory_bytes = MEMORY};

	for (uint32_t n = 1; n < CALLS; n++) {
		struct engine *e = NULL;
		countdown = n;
		int status = engine_open(&options, &e);
		bool all_well = countdown > 0;
		countdown = 0;
		if (status != DXP_OK) {
			assert_null(e);
			continue;
		}
		use(e);
		engine_close(e);
		if (all_well)
			return n - 1;
	}
	fail_msg("it never opens");
	return 0;
}

static void engine_open__every_call_fails_once(void **state)
{
	uint32_t count = open_until_it_does("board:" DXP_SOURCE_DIR "/examples/boards/usb3.conf");

	print_message("%u calls failed\n", count);
	/* file, text, copy, board, memory, core, controllers and threads */
	assert_true(count >= 9);
}

/* Opens an inner engine and a kernel in the stream; skipped without OpenCL. */
static void engine_open__every_call_of_a_kernel_fails_once(void **state)
{
	static const char kernel[] = "kernel void next(global const uchar *in, global uchar *out, "
				     "uint bytes, ulong at)\n"
				     "{ size_t i = get_global_id(0) * 64, end = min(i + 64, "
				     "(size_t)bytes);\n"
				     "  for (; i < end; i++) out[i] = (uchar)(in[i] + 1); }\n";
	char name[64], core[64], line[128];
	struct engine_options options = {.name = "ocl"};
	struct engine *e;
	static uint8_t memory[4096];

	options.memory = memory;
	options.memory_bytes = sizeof(memory);
	if (engine_open(&options, &e) != DXP_OK) {
		print_message("skipped: no OpenCL device works in host memory\n");
		skip();
	}
	engine_close(e);
	snprintf(name, sizeof(name), "board:faults-%d.conf", (int)getpid());
	snprintf(core, sizeof(core), "faults-%d.cl", (int)getpid());
	snprintf(line, sizeof(line), "preset = fast\ncore = kernel %s next\n", core);
	write_file(name + strlen("board:"), line);
	write_file(core, kernel);
	uint32_t count = open_until_it_does(name);
	unlink(name + strlen("board:"));
	unlink(core);
	print_message("%u calls failed\n", count);
	assert_true(count >= 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_open__every_call_fails_once),
		cmocka_unit_test(engine_open__every_call_of_a_kernel_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
