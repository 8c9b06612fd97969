/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs dxp/device.h in OpenCL kernels, in each supported version of OpenCL C: they store the same
 * bytes as C code, and exchange messages with a NIC in another thread. Skipped without an OpenCL
 * device that works in host memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "nic/nic.h"
#include "engine/engine.h"

#define AREA   0x5000000000ull
#define ANSWER 16 /* words after the window for a kernel's answer */

/* Compiled here as C, and in kernels as OpenCL C. */
#define POSTS                                                                                      \
	{                                                                                          \
		struct dxp_target to = {7, 1, 2, 0x12345678};                                      \
		struct dxp_entry a = {0x123456789abcull, 77, 0xabcdef01}, b = {64, 77, 9};         \
		dxp_u8 data[100];                                                                  \
		for (int i = 0; i < 100; i++)                                                      \
			data[i] = (dxp_u8)(i * 3 + 1);                                             \
		struct dxp_descriptor lists = dxp_head(DXP_OP_PUT, 3, &to, 0x1122334455667788ull); \
		lists.trailer = 0x99aabbccddeeff00ull;                                             \
		lists.src_count = 1;                                                               \
		lists.dst_count = 1;                                                               \
		out[0] = dxp_post_nap(w, 0, &to, data, 7, 1, 2);                                   \
		out[1] = dxp_post_nap(w, 1, &to, data, 20, 1, 2);                                  \
		out[2] = dxp_post_nap(w, 1, &to, data + 1, 99, 3, 4);                              \
		out[3] = dxp_post_put(w, 1, &to, &a, &b, DXP_FLAG_NOTIFY, 5, 6);                   \
		out[4] = dxp_post_get(w, 2, &to, &a, &b, 7);                                       \
		out[5] = dxp_post_atomic(w, 3, &to, DXP_OP_COMPARE_SWAP, &a, 8, 9, 10);            \
		out[6] = dxp_post_lists(w, &lists, &a, &b, 0);                                     \
		out[7] = dxp_post_nap(w, 0, &to, data, 2049, 0, 0);                                \
		struct dxp_target self = dxp_self(w, 1);                                           \
		dxp_u32 values[257];                                                               \
		for (int i = 0; i < 257; i++)                                                      \
			values[i] = (dxp_u32)i * 0x01020304u;                                      \
		out[9] = dxp_post_cfg_read(w, 1, &self, 28, &a, 11);                               \
		out[10] = dxp_post_cfg_write(w, 1, &self, 35, values + 1, 256, 12);                \
		out[11] = dxp_post_cfg_write(w, 1, &self, 35, values, 257, 13);                    \
		for (out[8] = 0; dxp_post_nap(w, 0, &to, 0, 0, 0, 0) == DXP_OK;)                   \
			out[8]++;                                                                  \
	}
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...)  TEXT_(__VA_ARGS__)

#define WINDOW "	global struct dxp_window *w = (global struct dxp_window *)memory;\n"

static const char posting[] = TEXT(POSTS);

static const char speaking[] =
	"kernel void speak(global uchar *memory, global int *out)\n"
	"{\n" WINDOW "	struct dxp_target to = {99, 0, 0, 1};\n"
	"	struct dxp_nic_event event;\n"
	"	dxp_u64 looks = 100000000;\n"
	"	out[1] = out[2] = 0;\n"
	"	for (int i = 0; i < 100; i++) {\n"
	"		out[0] = dxp_post_nap(w, i & 3, &to, 0, 0, 0, i);\n"
	"		if (dxp_sent_wait(w, &event, looks) != DXP_OK) return;\n"
	"		out[1] += event.context == i;\n"
	"		out[2] += event.status == DXP_ENOENT;\n"
	"	}\n"
	"	out[3] = dxp_register_receive(w, 0x5000000000, 64, looks);\n"
	"	out[4] = dxp_register_receive(w, 0x5000000001, 64, looks);\n"
	"	out[5] = dxp_register_send(w, 0, &to, 0x5000000000, 65);\n"
	"	out[6] = dxp_register_wait(w, looks);\n"
	"	out[7] = dxp_register_send(w, 0, &to, 0x5000000000, 64);\n"
	"	out[8] = dxp_register_wait(w, looks);\n"
	"	out[9] = dxp_received_wait(w, 10);\n"
	"	out[10] = dxp_total_wait(w, 1, 10);\n"
	"}\n";

/* Stores 40 doorbells for 32 descriptors without a claim (C-15). */
static const char overrunning[] =
	"kernel void overrun(global uchar *memory, global int *out)\n"
	"{\n" WINDOW "	struct dxp_target to = {0, 0, 0, 1};\n"
	"	struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 0, &to, 0);\n"
	"	for (dxp_u32 i = 0; i < 40; i++) {\n"
	"		dxp_head_store(dxp_slot(w, i), &head);\n"
	"		dxp_ring(w, i);\n"
	"	}\n"
	"	out[0] = dxp_error(w);\n"
	"}\n"
	"kernel void overran(global uchar *memory, global int *out)\n"
	"{\n" WINDOW "	struct dxp_target to = {0, 0, 0, 1};\n"
	"	struct dxp_nic_event event;\n"
	"	dxp_u32 index;\n"
	"	out[1] = dxp_error(w);\n"
	"	out[2] = dxp_claim(w, &index);\n"
	"	out[3] = dxp_post_nap(w, 0, &to, 0, 0, 0, 0);\n"
	"	out[4] = dxp_sent_wait(w, &event, 10);\n"
	"	out[5] = out[2] == DXP_EOVERRUN;\n"
	"}\n";

/* Posts by address a list longer than a descriptor (C-14). out[0] is the key of the region at
 * `out`. */
static const char chaining[] =
	"kernel void chain(global uchar *memory, global int *out)\n"
	"{\n" WINDOW "	struct dxp_target self = dxp_self(w, 1);\n"
	"	struct dxp_descriptor head = dxp_head(DXP_OP_PUT, 1, &self, 0);\n"
	"	struct dxp_entry at = {256, (dxp_u32)dxp_chain_bytes(128, 1), (dxp_u32)out[0]};\n"
	"	global struct dxp_chain *c = (global struct dxp_chain *)(out + 64);\n"
	"	global struct dxp_entry *e = (global struct dxp_entry *)(c + 1);\n"
	"	dxp_chain_store(c, &head, 128, 1);\n"
	"	for (dxp_u32 i = 0; i < 128; i++) {\n"
	"		out[640 + i] = 1000 + i;\n"
	"		e[i].offset = 2560 + 4 * (127 - i);\n"
	"		e[i].bytes = 4;\n"
	"		e[i].key = at.key;\n"
	"	}\n"
	"	e[128].offset = 3072;\n"
	"	e[128].bytes = 512;\n"
	"	e[128].key = at.key;\n"
	"	out[1] = dxp_post_reference(w, 1, &at, 5);\n"
	"}\n";

static struct {
	/* this struct is the engine's memory */
	struct dxp_window window;
	union {
		int out[ANSWER];
		int words[1024]; /* region of the kernel `chain` */
	};
} * shared;

static struct engine *engine;
static char *source;
static const char *version;
static struct engine_program *program;

static int program_build(void **state)
{
	const struct engine_file file = {.data = source, .bytes = strlen(source)};
	const struct engine_source s = {.options = version, .files = &file, .file_count = 1};
	char *log = NULL;
	int status = engine_build(engine, &s, &program, &log);

	if (status != DXP_OK)
		print_message("%s: %s\n", version, log ? log : "no log");
	free(log);
	memset(shared, 0, sizeof(*shared));
	return status == DXP_OK ? 0 : -1;
}

static int program_release(void **state)
{
	engine_release(engine, program);
	return 0;
}

static void run(const char *kernel)
{
	char text[ENGINE_TEXT_BYTES] = "";
	struct engine_launch l = {.program = program,
				  .kernel = kernel,
				  .dimensions = 1,
				  .global = {1, 1, 1},
				  .argument_count = 2};

	l.arguments[0] = (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
						  .memory = &shared->window,
						  .memory_bytes = sizeof(shared->window)};
	l.arguments[1] = (struct engine_argument){.kind = COMMAND_ARG_BUFFER,
						  .memory = shared->words,
						  .memory_bytes = sizeof(shared->words)};
	if (engine_run(engine, &l, text) != DXP_OK)
		fail_msg("%s", text);
}

static void posts_in_c(struct dxp_window *w, int *out) POSTS

	static void opencl_run__stores_what_c_stores(void **state)
{
	struct dxp_window *w = aligned_alloc(4096, sizeof(*w));
	int out[ANSWER] = {0};

	memset(w, 0, sizeof(*w));
	posts_in_c(w, out);
	assert_int_equal(out[7], DXP_EINVAL);
	assert_int_equal(out[8], DXP_DOORBELLS - 9);
	assert_int_equal(out[11], DXP_EINVAL);
	run("post");
	assert_memory_equal(shared->out, out, sizeof(out));
	assert_memory_equal(&shared->window, w, sizeof(*w));
	free(w);
}

/* ---- with a NIC ---- */

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

struct turner {
	struct nic *nic;
	_Atomic bool over;
};

static void *poll(void *argument)
{
	struct turner *t = argument;

	for (uint64_t now_ns = 1; !atomic_load(&t->over); now_ns += 1000)
		if (nic_doorbells(t->nic, now_ns) == 0)
			sched_yield();
	return NULL;
}

static struct nic_options nic_options(void)
{
	static struct rng secrets = {7};

	return (struct nic_options){.node = 1,
				    .incarnation = 1,
				    .entropy = rng_entropy_rng,
				    .entropy_context = &secrets,
				    .token = token};
}

static void opencl_run__sees_an_overrun(void **state)
{
	const struct nic_options o = nic_options();
	struct nic *nic;

	assert_int_equal(nic_create(&o, &nic), DXP_OK);
	assert_int_equal(nic_function_open(nic, 0, &shared->window), DXP_OK);
	run("overrun");
	assert_int_equal(shared->out[0], DXP_OK);
	assert_int_equal(nic_doorbells(nic, 1), 0);
	run("overran");
	nic_destroy(nic);
	for (int i = 1; i <= 4; i++)
		assert_int_equal(shared->out[i], DXP_EOVERRUN);
	assert_int_equal(shared->out[5], 1);
}

static void opencl_run__posts_a_long_list(void **state)
{
	const struct nic_options o = nic_options();
	struct dxp_nic_event event;
	struct nic *nic;
	uint32_t key;

	assert_int_equal(nic_create(&o, &nic), DXP_OK);
	assert_int_equal(nic_function_open(nic, 0, &shared->window), DXP_OK);
	assert_int_equal(nic_region_register(nic, 0, shared->words, sizeof(shared->words),
					     NIC_REMOTE_WRITE, &key),
			 DXP_OK);
	shared->out[0] = (int)key;
	run("chain");
	assert_int_equal(shared->out[1], DXP_OK);
	for (uint64_t now_ns = 1; !dxp_sent_dequeue(&shared->window, &event); now_ns++) {
		assert_true(now_ns < 1000);
		nic_doorbells(nic, now_ns);
	}
	nic_destroy(nic);
	assert_int_equal(event.status, DXP_OK);
	assert_int_equal(event.context, 5);
	for (int i = 0; i < 128; i++)
		assert_int_equal(shared->words[768 + i], 1000 + 127 - i);
}

static void opencl_run__speaks_with_a_nic(void **state)
{
	static uint8_t memory[64];
	const struct nic_options o = nic_options();
	struct nic_area area = {.vaddr = AREA, .bytes = sizeof(memory)};
	struct turner t = {0};
	pthread_t thread;

	assert_int_equal(nic_create(&o, &t.nic), DXP_OK);
	assert_int_equal(nic_function_open(t.nic, 0, &shared->window), DXP_OK);
	assert_int_equal(nic_region_register(t.nic, 0, memory, sizeof(memory), 0, &area.key),
			 DXP_OK);
	assert_int_equal(nic_area_add(t.nic, 0, &area), DXP_OK);
	assert_int_equal(pthread_create(&thread, NULL, poll, &t), 0);
	run("speak");
	atomic_store(&t.over, true);
	pthread_join(thread, NULL);
	nic_destroy(t.nic);
	assert_int_equal(shared->out[0], DXP_OK);
	assert_int_equal(shared->out[1], 100);
	assert_int_equal(shared->out[2], 100);
	assert_int_equal(shared->out[3], DXP_OK);
	assert_int_equal(shared->out[4], DXP_ENOENT);
	assert_int_equal(shared->out[5], DXP_OK);
	assert_int_equal(shared->out[6], DXP_ENOENT);
	assert_int_equal(shared->out[7], DXP_OK);
	assert_int_equal(shared->out[8], DXP_EPEERLOST);
	assert_int_equal(shared->out[9], DXP_ETIMEDOUT);
	assert_int_equal(shared->out[10], DXP_ETIMEDOUT);
}

static char *source_read(void)
{
	static const char *const files[] = {"window.h", "shared.h", "reduction.h", "device.h"};
	const size_t space = 1 << 20;
	char *text = calloc(1, space), path[512];
	size_t bytes = 0;

	for (int i = 0; text && i < 4; i++) {
		snprintf(path, sizeof(path), "%s/include/dxp/%s", DXP_SOURCE_DIR, files[i]);
		FILE *f = fopen(path, "r");
		bytes += f ? fread(text + bytes, 1, space / 4, f) : 0;
		if (f)
			fclose(f);
	}
	if (bytes == 0)
		return text;
	snprintf(text + bytes, space - bytes,
		 "kernel void post(global uchar *memory, global int *out)\n{\n%s%s}\n%s%s%s",
		 WINDOW, posting, speaking, overrunning, chaining);
	return text;
}

int main(void)
{
	static const char *const versions[] = {"-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"};
	int failed = 0;
#define CASE(name) cmocka_unit_test_setup_teardown(name, program_build, program_release)
	const struct CMUnitTest tests[] = {
		CASE(opencl_run__stores_what_c_stores),
		CASE(opencl_run__speaks_with_a_nic),
		CASE(opencl_run__sees_an_overrun),
		CASE(opencl_run__posts_a_long_list),
	};

	shared = aligned_alloc(4096, sizeof(*shared));
	struct engine_options options = {
		.name = "ocl", .memory = shared, .memory_bytes = sizeof(*shared)};
	if (engine_open(&options, &engine) != DXP_OK) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	source = source_read();
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		version = versions[i];
		failed += cmocka_run_group_tests_name(version, tests, NULL, NULL);
	}
	engine_close(engine);
	free(source);
	free(shared);
	return failed;
}
