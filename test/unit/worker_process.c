/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a worker without an xPU, by orders in its rings: printed text, a thousand kernels, the
 * round trip. Skipped without OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "wire/package.h"
#include "xpu/arena.h"
#include "worker/zygote.h"
#include "xpu/limits.h"

#define BYTES   (1u << 20)
#define WAIT_NS (120 * S_NS)

static const char source[] =
	"kernel void empty(void) { }\n"
	"kernel void say(uint n) { printf(\"%u,\", n); }\n"
	"kernel void lines(uint n) { for (uint i = 0; i < n; i++) printf(\"%07u\\n\", i); }\n";

static struct arena *arena;
static struct zygote *zygote;
static struct worker_rings *rings;
static struct worker_side orders, answers;
static int wakeup, rings_fd;
static char *text;
static size_t text_bytes, text_capacity;

static void put(uint32_t kind, const void *first, uint32_t first_bytes, const void *second,
		uint32_t second_bytes)
{
	const struct worker_parts parts = {first, second, first_bytes, second_bytes};

	for (uint64_t until = clock_now_ns() + WAIT_NS; !worker_put(&orders, kind, &parts);)
		assert_true(clock_now_ns() < until);
	worker_wake(&orders);
}

/* Appends text printed before to `text`. */
static struct worker_done done(void)
{
	static _Alignas(8) uint8_t message[WORKER_MESSAGE_BYTES];
	const struct worker_head *head = (const void *)message;
	struct worker_done d;
	int bytes;

	for (uint64_t until = clock_now_ns() + WAIT_NS;;) {
		while ((bytes = worker_dequeue(&answers, message)) == 0)
			assert_true(clock_now_ns() < until);
		assert_true(bytes > 0);
		if (head->kind == WORKER_DONE)
			break;
		if (head->kind != WORKER_PRINT)
			continue;
		if (text_bytes + head->bytes > text_capacity) {
			/* few steps, because a sanitizer copies the block in each */
			text_capacity = 2 * (text_bytes + head->bytes);
			text = realloc(text, text_capacity);
		}
		memcpy(text + text_bytes, head + 1, head->bytes - sizeof(*head));
		text_bytes += head->bytes - sizeof(*head);
		text[text_bytes] = '\0';
	}
	memcpy(&d, head + 1, sizeof(d));
	return d;
}

static void run(const char *kernel, const uint32_t *value)
{
	struct command c = {.op = COMMAND_RUN, .program = 1, .dimensions = 1, .global = {1, 1, 1}};
	_Alignas(uint64_t) uint8_t message[256];

	strcpy(c.text, kernel);
	c.argument_count = value != NULL;
	c.arguments[0] = (struct command_argument){
		.kind = COMMAND_ARG_BYTES, .bytes = 4, .value = (const uint8_t *)value};
	assert_true(worker_run_bytes(&c) <= sizeof(message));
	worker_run_make(&c, (struct worker_run *)message);
	put(WORKER_RUN, message, worker_run_bytes(&c), NULL, 0);
}

static void build(void)
{
	const struct dxp_file file = {.name = "k.cl", .data = source, .bytes = sizeof(source) - 1};
	const struct package_source s = {
		.kind = DXP_PROGRAM_SOURCE, .options = "", .files = &file, .file_count = 1};
	uint8_t package[2048];
	const struct worker_build message = {.program = 1, .package_bytes = package_bytes(&s)};

	assert_true(message.package_bytes <= sizeof(package));
	package_encode(&s, package);
	put(WORKER_PART, package, 100, NULL, 0);
	put(WORKER_PART, package + 100, (uint32_t)message.package_bytes - 100, NULL, 0);
	put(WORKER_BUILD, &message, sizeof(message), NULL, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(done().status, DXP_OK);
}

static void text_clear(void)
{
	text_bytes = 0;
}

static void print__in_order_of_kernels(void **state)
{
	char expected[8192] = "";

	text_clear();
	for (uint32_t i = 0; i < 100; i++) {
		run("say", &i);
		sprintf(expected + strlen(expected), "%u,", i);
	}
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(done().status, DXP_OK);
	assert_string_equal(text, expected);
}

static void print__large(void **state)
{
	const uint32_t lines = 100000;

	text_clear();
	run("lines", &lines);
	assert_int_equal(done().status, DXP_OK);
	assert_int_equal(text_bytes, 8 * lines);
	for (uint32_t i = 0; i < lines; i++)
		assert_int_equal(strtoul(text + 8 * i, NULL, 10), i);
}

/* A line with the number of missing bytes follows the kept ones. */
static void print__more_than_is_kept(void **state)
{
	const uint32_t lines = WIRE_PRINT_BYTES / 8 + 100000;
	unsigned long long lost = 0;

	text_clear();
	run("lines", &lines);
	assert_int_equal(done().status, DXP_OK);
	assert_true(text_bytes >= WIRE_PRINT_BYTES);
	/* PoCL's own buffer may keep no more */
	if (text_bytes > WIRE_PRINT_BYTES) {
		assert_int_equal(sscanf(text + WIRE_PRINT_BYTES, "\n[dxp: %llu bytes more", &lost),
				 1);
		assert_int_equal(lost, 8ull * lines - WIRE_PRINT_BYTES);
	}
	text_clear();
	run("say", &(uint32_t){7});
	assert_int_equal(done().status, DXP_OK);
	assert_string_equal(text, "7,");
}

static void run__a_thousand_in_a_row(void **state)
{
	enum { COUNT = 1000 };
	uint32_t posted = 0, ended = 0;

	run("empty", NULL); /* compiles the kernel */
	assert_int_equal(done().status, DXP_OK);
	uint64_t begin_ns = clock_now_ns();

	for (; ended < COUNT; ended++) {
		for (; posted < COUNT && posted < ended + XPU_WORK_MAX; posted++)
			run("empty", NULL);
		assert_int_equal(done().status, DXP_OK);
	}
	print_message("%.2f us for each of %d kernels in a row\n",
		      (double)(clock_now_ns() - begin_ns) / 1e3 / COUNT, COUNT);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void run__one_at_a_time(void **state)
{
	static uint64_t elapsed_ns[2000];

	for (size_t i = 0; i < ARRAY_COUNT(elapsed_ns); i++) {
		uint64_t begin_ns = clock_now_ns();
		run("empty", NULL);
		assert_int_equal(done().status, DXP_OK);
		elapsed_ns[i] = clock_now_ns() - begin_ns;
	}
	qsort(elapsed_ns, ARRAY_COUNT(elapsed_ns), sizeof(elapsed_ns[0]), compare);
	print_message("there and back: %.1f us in the middle\n",
		      (double)elapsed_ns[ARRAY_COUNT(elapsed_ns) / 2] / 1e3);
}

static int world_open(void **state)
{
	struct engine_description about;

	if (arena_create(BYTES, &arena) != DXP_OK)
		return -1;
	wakeup = eventfd(0, EFD_CLOEXEC);
	const struct zygote_options options = {
		.program = "bin/dxpd",
		.engine = "ocl",
		.memory_bytes = arena_bytes(arena),
		.wakeup_fd = wakeup,
	};
	if (zygote_open(&options, &zygote, &about) != DXP_OK)
		return -1;
	rings_fd = memfd_create("rings", MFD_CLOEXEC);
	if (ftruncate(rings_fd, sizeof(*rings)) != 0)
		return -1;
	rings = mmap(NULL, sizeof(*rings), PROT_READ | PROT_WRITE, MAP_SHARED, rings_fd, 0);
	orders.ring = &rings->orders;
	answers.ring = &rings->answers;
	const struct zygote_worker worker = {1, "", rings_fd, wakeup, arena_fd(arena)};
	assert_int_equal(zygote_start(zygote, &worker), DXP_OK);
	build();
	return 0;
}

static int world_close(void **state)
{
	zygote_close(zygote);
	munmap(rings, sizeof(*rings));
	close(rings_fd);
	close(wakeup);
	arena_destroy(arena);
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print__in_order_of_kernels),
		cmocka_unit_test(print__large),
		cmocka_unit_test(print__more_than_is_kept),
		cmocka_unit_test(run__a_thousand_in_a_row),
		cmocka_unit_test(run__one_at_a_time),
	};
	static uint64_t memory[512];
	struct engine_options options = {
		.name = "ocl", .memory = memory, .memory_bytes = sizeof(memory)};
	struct engine *e;

	if (engine_open(&options, &e) != DXP_OK) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	engine_close(e);
	return cmocka_run_group_tests(tests, world_open, world_close);
}
