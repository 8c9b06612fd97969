/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests xPUs that only DMA reaches, by a host, a kernel and an xPU; short buffers make transfers of
 * several parts. slot_bridge.c tests BRIDGE, slot_bridged_faults.c failures. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define BUFFER  (64u << 10)
#define BUFFERS 4
#define LARGEST (3 * BUFFER * BUFFERS + 1)
#define WAIT_NS DAEMONS_WAIT_NS
#define FAR     (4u << 20) /* per transfer */

static struct daemons w;
static struct test_daemon boards, plain, ocl;
static struct dxp_xpu *one, *two, *direct, *computes; /* `computes`: NULL without OpenCL */
static uint8_t *out, *in;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static uint64_t allocate(struct dxp_xpu *x, uint64_t bytes)
{
	uint64_t address;

	ok(dxp_mem_alloc(x, bytes, &address));
	return address;
}

static void noise(uint8_t *to, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
}

static uint64_t free_bytes(struct dxp_xpu *x)
{
	struct dxp_xpu_caps caps;

	ok(dxp_xpu_caps(x, &caps));
	return caps.free_bytes;
}

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t value = 0;

	ok(dxp_reg_read(x, index, &value, 1));
	return value;
}

static void caps__report_the_kind(void **state)
{
	struct dxp_xpu_caps caps;
	struct dxp_node_info nodes[8];

	ok(dxp_xpu_caps(one, &caps));
	assert_int_equal(caps.memory_kind, DXP_MEMORY_BRIDGED);
	assert_int_equal(caps.buffers, BUFFERS);
	assert_int_equal(caps.buffer_bytes, BUFFER);
	assert_true(caps.streams);
	ok(dxp_xpu_caps(direct, &caps));
	assert_int_equal(caps.memory_kind, DXP_MEMORY_DIRECT);
	assert_true(caps.buffers == 0 && !caps.streams);
	assert_int_equal(reg(one, CFG_MEMORY_KIND), DXP_MEMORY_BRIDGED);
	assert_int_equal(reg(one, CFG_ENGINE), ENGINE_BOARD);
	assert_int_equal(reg(one, CFG_BRIDGE_BUFFERS), BUFFERS);
	assert_int_equal(reg(one, CFG_BRIDGE_BUFFER_BYTES), BUFFER);
	assert_int_equal(reg(direct, CFG_MEMORY_KIND), DXP_MEMORY_DIRECT);
	/* the NIC does not reach a board's memory */
	struct dxp_xpu_nic nic;
	assert_int_equal(dxp_xpu_nic(one, &nic), DXP_EUNSUPPORTED);
	int count = dxp_fabric_nodes(w.fabric, nodes, ARRAY_COUNT(nodes));
	for (int i = 0; i < count; i++)
		assert_int_equal(nodes[i].memory_kind,
				 nodes[i].kind == DXP_NODE_HOST          ? DXP_MEMORY_NONE
				 : strcmp(nodes[i].engine, "board") == 0 ? DXP_MEMORY_BRIDGED
									 : DXP_MEMORY_DIRECT);
}

static void memory__is_zero(void **state)
{
	uint64_t before = free_bytes(one);
	uint64_t a = allocate(one, FAR);

	memset(out, 0xa5, FAR);
	ok(dxp_mem_write(one, a, out, FAR));
	ok(dxp_mem_free(one, a));
	a = allocate(one, FAR - 1);
	ok(dxp_mem_read(one, in, a, FAR - 1));
	for (size_t i = 0; i < FAR - 1; i++)
		assert_int_equal(in[i], 0);
	ok(dxp_mem_free(one, a));
	assert_int_equal(free_bytes(one), before);
}

/* No byte outside the range changes. */
static void put_get__sizes_and_alignments(void **state)
{
	static const uint32_t sizes[] = {0,          1,      3,          4095,           4097,
					 BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 1, LARGEST};
	static const uint32_t shifts[] = {0, 1, 7, 4095};
	uint64_t a = allocate(one, LARGEST + 8192);

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
		for (size_t k = 0; k < ARRAY_COUNT(shifts); k++) {
			uint32_t bytes = sizes[i], shift = shifts[k];
			memset(in, 0xee, LARGEST + 8192);
			ok(dxp_mem_write(one, a, in, bytes + shift + 1));
			noise(out, bytes, bytes + shift);
			ok(dxp_mem_write(one, a + shift, out, bytes));
			memset(in, 0, bytes + shift + 1);
			ok(dxp_mem_read(one, in, a, bytes + shift + 1));
			for (uint32_t b = 0; b < shift; b++)
				assert_int_equal(in[b], 0xee);
			assert_memory_equal(in + shift, out, bytes);
			assert_int_equal(in[shift + bytes], 0xee);
			memset(in, 0, bytes);
			ok(dxp_mem_read(one, in, a + shift, bytes));
			assert_memory_equal(in, out, bytes);
		}
	ok(dxp_mem_free(one, a));
}

static void put_get__one_byte_past_the_end(void **state)
{
	noise(out, 4096, 1);
	ok(dxp_mem_write(one, DAEMONS_MEMORY - 4096, out, 4096));
	assert_int_equal(dxp_mem_write(one, DAEMONS_MEMORY - 4095, in, 4096), DXP_ERANGE);
	assert_int_equal(dxp_mem_read(one, in, DAEMONS_MEMORY - 4095, 4096), DXP_ERANGE);
	assert_int_equal(dxp_mem_write(one, DAEMONS_MEMORY, in, 1), DXP_ERANGE);
	ok(dxp_mem_read(one, in, DAEMONS_MEMORY - 4096, 4096));
	assert_memory_equal(in, out, 4096);
}

/* Several use one board, each in its own memory. */
struct visitor {
	pthread_t thread;
	uint32_t number;
	int status; /* first failure */
	bool differs;
};

static void visitor_note(struct visitor *v, int status)
{
	if (v->status == DXP_OK)
		v->status = status;
}

static void visitor_work(struct visitor *v, struct dxp_xpu *x)
{
	enum { ROUNDS = 15, BYTES = 5 * BUFFER };
	uint8_t *own = malloc(BYTES), *back = malloc(BYTES);
	uint64_t address = 0;

	visitor_note(v, dxp_mem_alloc(x, BYTES, &address));
	for (uint32_t i = 0; i < ROUNDS && v->status == DXP_OK; i++) {
		uint32_t bytes = 1 + (i * 7919 + v->number * 104729) % (BYTES - 1);
		noise(own, bytes, i + v->number);
		visitor_note(v, dxp_mem_write(x, address, own, bytes));
		visitor_note(v, dxp_mem_read(x, back, address, bytes));
		v->differs |= memcmp(own, back, bytes) != 0;
	}
	free(own);
	free(back);
}

static void *visitor_main(void *argument)
{
	struct visitor *v = argument;
	char name[16];
	struct dxp_fabric *f;

	snprintf(name, sizeof(name), "visitor%u", v->number);
	const struct dxp_fabric_options options = {.directory = w.folder, .name = name};
	v->status = dxp_fabric_open(&options, &f);
	if (v->status != DXP_OK)
		return NULL;
	struct dxp_xpu *x;
	visitor_note(v, dxp_xpu_open(f, "xpu1", &x));
	if (v->status == DXP_OK) {
		visitor_work(v, x);
		dxp_xpu_close(x);
	}
	dxp_fabric_close(f);
	return NULL;
}

static void put_get__several_hosts_at_once(void **state)
{
	struct visitor all[6] = {0};
	uint64_t before = free_bytes(one);

	for (uint32_t i = 0; i < ARRAY_COUNT(all); i++) {
		all[i].number = i;
		assert_int_equal(pthread_create(&all[i].thread, NULL, visitor_main, &all[i]), 0);
	}
	for (uint32_t i = 0; i < ARRAY_COUNT(all); i++) {
		pthread_join(all[i].thread, NULL);
		assert_int_equal(all[i].status, DXP_OK);
		assert_false(all[i].differs);
	}
	assert_int_equal(free_bytes(one), before);
}

static dxp_event send(struct dxp_xpu *from, struct dxp_xpu *to, uint64_t source, uint64_t address,
		      uint64_t bytes, dxp_event wait)
{
	const struct dxp_transfer t = {source, address, bytes, &wait, wait != 0};
	dxp_event event;

	ok(dxp_send(from, to, &t, &event));
	return event;
}

/* Sends twice between the same xPUs. From the second SEND on, the event may follow the data without
 * a round trip. */
static void send_and_look(struct dxp_xpu *from, struct dxp_xpu *to, uint32_t bytes)
{
	uint64_t a = allocate(from, bytes + 3), b = allocate(to, bytes + 5);

	for (uint32_t i = 0; i < 2; i++) {
		noise(out, bytes, bytes + i);
		ok(dxp_mem_write(from, a + 3, out, bytes));
		ok(dxp_event_wait(w.fabric, send(from, to, a + 3, b + 5, bytes, 0), WAIT_NS, NULL));
		ok(dxp_mem_read(to, in, b + 5, bytes));
		assert_memory_equal(in, out, bytes);
	}
	ok(dxp_mem_free(from, a));
	ok(dxp_mem_free(to, b));
}

static void send__any_kind_to_any(void **state)
{
	struct dxp_xpu *const all[] = {one, two, direct};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		for (size_t k = 0; k < ARRAY_COUNT(all); k++)
			if (i != k) {
				send_and_look(all[i], all[k], 1);
				send_and_look(all[i], all[k], LARGEST);
			}
}

/* Each starts when the previous data has arrived. */
static void send__chain(void **state)
{
	uint64_t a = allocate(one, FAR), b = allocate(two, FAR);
	dxp_event last = 0;

	noise(out, FAR / 4, 4);
	ok(dxp_mem_write(one, a, out, FAR / 4));
	for (int i = 0; i < 3; i++) {
		last = send(one, two, a + (uint64_t)i * (FAR / 4), b, FAR / 4, last);
		last = send(two, one, b, a + (uint64_t)(i + 1) * (FAR / 4), FAR / 4, last);
	}
	ok(dxp_event_wait(w.fabric, last, WAIT_NS, NULL));
	ok(dxp_mem_read(one, in, a + 3 * (FAR / 4), FAR / 4));
	assert_memory_equal(in, out, FAR / 4);
	ok(dxp_mem_free(one, a));
	ok(dxp_mem_free(two, b));
}

static void registers__task(void **state)
{
	uint64_t a = allocate(one, 4096), b = allocate(direct, 4096);
	const uint32_t task[] = {(uint32_t)a,
				 0,
				 4096,
				 0,
				 reg(direct, CFG_NODE),
				 (uint32_t)b,
				 0,
				 reg(direct, CFG_MEMORY_KEY),
				 1};
	uint64_t end_ns = clock_now_ns() + WAIT_NS;

	noise(out, 4096, 5);
	ok(dxp_mem_write(one, a, out, 4096));
	ok(dxp_reg_write(one, CFG_TASK_SRC_LO, task, ARRAY_COUNT(task)));
	while (reg(one, CFG_TASK_STATUS) == CFG_TASK_BUSY)
		assert_true(clock_now_ns() < end_ns);
	assert_int_equal(reg(one, CFG_TASK_STATUS), CFG_TASK_DONE);
	ok(dxp_mem_read(direct, in, b, 4096));
	assert_memory_equal(in, out, 4096);
	ok(dxp_mem_free(one, a));
	ok(dxp_mem_free(direct, b));
}

static void registers__core_and_counters(void **state)
{
	const uint32_t add[] = {ENGINE_CORE_ADD, 5}, pass[] = {ENGINE_CORE_PASS, 0};
	const uint32_t wrong[] = {99, 0};
	uint64_t a = allocate(one, 8192);
	uint32_t in_before = reg(one, CFG_DMA_IN_LO), out_before = reg(one, CFG_DMA_OUT_LO);

	ok(dxp_mem_write(one, a, out, 5000));
	ok(dxp_mem_read(one, in, a, 3000));
	assert_int_equal(reg(one, CFG_DMA_IN_LO), in_before + 5000);
	assert_int_equal(reg(one, CFG_DMA_OUT_LO), out_before + 3000);
	assert_int_equal(reg(one, CFG_DMA_FAILED), 0);
	ok(dxp_reg_write(one, CFG_CORE, add, 2));
	assert_int_equal(reg(one, CFG_CORE), ENGINE_CORE_ADD);
	assert_int_equal(reg(one, CFG_CORE_OPERAND), 5);
	assert_int_not_equal(dxp_reg_write(one, CFG_CORE, wrong, 2), DXP_OK);
	assert_int_equal(reg(one, CFG_CORE), ENGINE_CORE_ADD);
	ok(dxp_reg_write(one, CFG_CORE, pass, 2));
	assert_int_equal(dxp_reg_write(direct, CFG_CORE, add, 2), DXP_EUNSUPPORTED);
	assert_int_equal(reg(direct, CFG_CORE), 0);
	ok(dxp_mem_free(one, a));
}

static const char source[] =
	"kernel void add(global uint *p, uint n) { p[get_global_id(0)] += n; }\n";

static dxp_event run(struct dxp_xpu *x, const struct dxp_program *p, uint64_t address, uint32_t n,
		     uint64_t words, dxp_event wait)
{
	struct dxp_argument arguments[2] = {{.kind = DXP_ARGUMENT_BUFFER, .address = address},
					    {.kind = DXP_ARGUMENT_BYTES, .bytes = 4}};
	struct dxp_launch launch = {.program = p,
				    .kernel = "add",
				    .dimensions = 1,
				    .global = {words},
				    .arguments = arguments,
				    .argument_count = 2,
				    .wait = &wait,
				    .wait_count = wait != 0};
	dxp_event event;

	memcpy(arguments[1].value, &n, sizeof(n));
	ok(dxp_run(x, &launch, &event));
	return event;
}

/* Source text and data come from board memory; output goes to another board. */
static void kernel__in_board_memory(void **state)
{
	enum { WORDS = 20000 };
	struct dxp_program *p;
	uint32_t *words = (uint32_t *)(void *)out, *back = (uint32_t *)(void *)in;

	if (!computes) {
		print_message("skipped: no OpenCL device works in host memory\n");
		skip();
	}
	uint64_t a = allocate(computes, 4 * WORDS), b = allocate(two, 4 * WORDS);
	assert_int_equal(dxp_program_build(computes, "kernel void broken(", NULL, &p), DXP_EBUILD);
	dxp_program_release(p);
	ok(dxp_program_build(computes, source, NULL, &p));
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i;
	ok(dxp_mem_write(computes, a, words, 4 * WORDS));
	dxp_event e = run(computes, p, a, 7, WORDS, 0);
	e = run(computes, p, a, 100, WORDS, e);
	e = send(computes, two, a, b, 4 * WORDS, e);
	ok(dxp_event_wait(w.fabric, e, WAIT_NS, NULL));
	ok(dxp_mem_read(two, back, b, 4 * WORDS));
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(back[i], i + 107);
	/* now a kernel waits for the other board's data */
	e = send(two, computes, b, a, 4 * WORDS, 0);
	e = run(computes, p, a, 1, WORDS, e);
	ok(dxp_event_wait(w.fabric, e, WAIT_NS, NULL));
	ok(dxp_mem_read(computes, back, a, 4 * WORDS));
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(back[i], i + 108);
	dxp_program_release(p);
	ok(dxp_mem_free(computes, a));
	ok(dxp_mem_free(two, b));
}

static int world_open(void **state)
{
	struct daemon_options fast = {.slots = 2,
				      .first = 1,
				      .engine = "board:fast",
				      .buffers = BUFFERS,
				      .buffer_bytes = BUFFER};
	struct daemon_options none = {.slots = 1, .first = 3, .engine = "none"};
	struct daemon_options computing = fast;

	out = calloc(1, DAEMONS_MEMORY);
	in = calloc(1, DAEMONS_MEMORY);
	daemons_begin(&w);
	daemons_file(&w, "plain.board", "preset = fast\ncompute = none\n");
	char name[160];
	snprintf(name, sizeof(name), "board:%s/plain.board", w.folder);
	fast.engine = name;
	ok(test_daemon_open(&w, &boards, &fast));
	ok(test_daemon_open(&w, &plain, &none));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	one = daemons_xpu(w.fabric, "xpu1");
	two = daemons_xpu(w.fabric, "xpu2");
	direct = daemons_xpu(w.fabric, "xpu3");
	if (!daemons_opencl()) {
		print_message("no OpenCL: boards without kernels\n");
		return 0;
	}
	computing.slots = 1;
	computing.first = 4;
	ok(test_daemon_open(&w, &ocl, &computing));
	computes = daemons_xpu(w.fabric, "xpu4");
	return 0;
}

static int world_close(void **state)
{
	dxp_xpu_close(one);
	dxp_xpu_close(two);
	dxp_xpu_close(direct);
	if (computes)
		dxp_xpu_close(computes);
	dxp_fabric_close(w.fabric);
	test_daemon_rest(&boards);
	test_daemon_close(&boards);
	if (computes) {
		test_daemon_rest(&ocl);
		test_daemon_close(&ocl);
	}
	test_daemon_close(&plain);
	free(in);
	free(out);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps__report_the_kind),
		cmocka_unit_test(memory__is_zero),
		cmocka_unit_test(put_get__sizes_and_alignments),
		cmocka_unit_test(put_get__one_byte_past_the_end),
		cmocka_unit_test(put_get__several_hosts_at_once),
		cmocka_unit_test(send__any_kind_to_any),
		cmocka_unit_test(send__chain),
		cmocka_unit_test(registers__task),
		cmocka_unit_test(registers__core_and_counters),
		cmocka_unit_test(kernel__in_board_memory),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
