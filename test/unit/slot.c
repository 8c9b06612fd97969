/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests xPUs in this process through the host library. Skipped without OpenCL. */
#include "test/unit/slot_rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/command.h"
#include "node/node.h"
#include "xpu/cfg.h"

#define MEMORY DAEMONS_MEMORY

static void memory__is_zero_and_comes_back(void **state)
{
	static uint8_t bytes[2 << 20];
	uint64_t before = free_bytes(w.one);
	uint64_t a = allocate(w.one, sizeof(bytes));

	memset(bytes, 0xa5, sizeof(bytes));
	ok(dxp_mem_write(w.one, a, bytes, sizeof(bytes)));
	assert_int_equal(free_bytes(w.one), before - sizeof(bytes));
	ok(dxp_mem_free(w.one, a));
	assert_int_equal(dxp_mem_free(w.one, a), DXP_ENOENT);
	a = allocate(w.one, sizeof(bytes));
	ok(dxp_mem_read(w.one, bytes, a, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
	ok(dxp_mem_free(w.one, a));
	assert_int_equal(dxp_mem_alloc(w.one, MEMORY + 1, &a), DXP_ENOMEM);
	assert_int_equal(dxp_mem_alloc(w.one, 0, &a), DXP_EINVAL);
}

static void run__in_order_and_timed(void **state)
{
	uint64_t a = allocate(w.one, 64);
	struct dxp_event_times times;
	dxp_event last = 0;

	for (uint32_t i = 0; i < 300; i++)
		last = run(w.one, "add", a, 2, last ? &last : NULL);
	ok(dxp_event_wait(w.fabric, last, WAIT_NS, &times));
	assert_true(times.queued_ns <= times.started_ns && times.started_ns <= times.ended_ns);
	assert_int_equal(word(w.one, a), 600);
	ok(dxp_mem_free(w.one, a));
}

/* More completions are held back than one message holds. A wait makes the xPU send them, and none
 * is held back for ever. */
static void run__late_events_all_come(void **state)
{
	enum { COUNT = 100 };
	uint64_t address = allocate(w.one, 4);
	dxp_event events[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		events[i] = run_notified(w.one, "add", address, i, NULL, true);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(wait_for(events[i]), DXP_OK);
	/* at once, with all events held before */
	events[0] = run_notified(w.one, "add", address, 1, NULL, true);
	events[1] = run_notified(w.one, "no_such_kernel", address, 1, NULL, true);
	assert_int_equal(wait_for(events[1]), DXP_ENOENT);
	assert_int_equal(wait_for(events[0]), DXP_OK);
	ok(dxp_mem_free(w.one, address));
}

static void run__wrong_ones(void **state)
{
	uint64_t a = allocate(w.one, 64);
	struct dxp_launch launch = {
		.program = program_one, .kernel = "add", .dimensions = 1, .global = {1}};
	dxp_event event;

	ok(dxp_run(w.one, &launch, &event));
	assert_int_equal(wait_for(event), DXP_EINVAL);
	assert_int_equal(wait_for(run(w.one, "nothing", a, 1, NULL)), DXP_ENOENT);
	assert_int_equal(wait_for(run(w.one, "add", a + (1 << 20), 1, NULL)), DXP_ERANGE);
	ok(dxp_mem_free(w.one, a));
	assert_int_equal(wait_for(run(w.one, "add", a, 1, NULL)), DXP_ERANGE);
}

static void build__log_of_a_failure(void **state)
{
	struct dxp_program *p;

	assert_int_equal(dxp_program_build(w.one, "kernel void k() { nonsense; }", NULL, &p),
			 DXP_EBUILD);
	assert_non_null(strstr(dxp_program_log(p), "nonsense"));
	dxp_program_release(p);
	assert_int_equal(dxp_program_build(w.plain, source, NULL, &p), DXP_EUNSUPPORTED);
}

static void build__a_thousand_live_programs(void **state)
{
	enum { COUNT = 1000 };
	static struct dxp_program *programs[COUNT];
	struct dxp_program *kept = program_one;
	uint64_t a = allocate(w.one, 64);

	for (uint32_t i = 0; i < COUNT; i++)
		ok(dxp_program_build(w.one, source, NULL, &programs[i]));
	for (uint32_t i = 0; i < COUNT; i += COUNT / 8) {
		program_one = programs[i];
		ok(wait_for(run(w.one, "add", a, 1, NULL)));
	}
	/* every second one; the others work */
	for (uint32_t i = 1; i < COUNT; i += 2)
		dxp_program_release(programs[i]);
	program_one = programs[COUNT / 2];
	ok(wait_for(run(w.one, "add", a, 1, NULL)));
	assert_int_equal(word(w.one, a), 9);
	for (uint32_t i = 0; i < COUNT; i += 2)
		dxp_program_release(programs[i]);
	program_one = kept;
	ok(dxp_mem_free(w.one, a));
}

/* The chain runs without the host. */
static void send__chain_over_two_nodes(void **state)
{
	uint64_t a = allocate(w.one, 4096), b = allocate(w.two, 4096);
	dxp_event last = 0;

	for (uint32_t i = 0; i < 50; i++) {
		last = run(w.one, "add", a, 1, last ? &last : NULL);
		last = transfer(w.one, w.two, a, b, 4096, &last);
		last = run(w.two, "add", b, 100, &last);
		last = transfer(w.two, w.one, b, a, 4096, &last);
	}
	ok(wait_for(last));
	assert_int_equal(word(w.one, a), 50 * 101);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.two, b));
}

static void send__failure_reaches_the_other_node(void **state)
{
	uint64_t a = allocate(w.one, 4096), b = allocate(w.two, 4096);
	dxp_event bad = run(w.one, "nothing", a, 1, NULL);
	dxp_event sent = transfer(w.one, w.two, a, b, 4096, &bad);
	dxp_event after = run(w.two, "add", b, 100, &sent);

	assert_int_equal(wait_for(after), DXP_ECANCELED);
	assert_int_equal(wait_for(sent), DXP_ECANCELED);
	assert_int_equal(wait_for(bad), DXP_ENOENT);
	/* outside the host's allocations */
	sent = transfer(w.one, w.two, a + (1 << 20), b, 4096, NULL);
	after = run(w.two, "add", b, 100, &sent);
	assert_int_equal(wait_for(after), DXP_ECANCELED);
	assert_int_equal(wait_for(sent), DXP_ERANGE);
	assert_int_equal(word(w.two, b), 0);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.two, b));
}

static void registers_write(struct dxp_xpu *x, const uint32_t *task)
{
	ok(dxp_reg_write(x, CFG_TASK_SRC_LO, task, 9));
}

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t value;

	ok(dxp_reg_read(x, index, &value, 1));
	return value;
}

static uint32_t task_end(struct dxp_xpu *x)
{
	uint32_t status;

	while ((status = reg(x, CFG_TASK_STATUS)) == CFG_TASK_BUSY)
		;
	return status;
}

static void registers__task(void **state)
{
	uint64_t a = allocate(w.one, 4096), b = allocate(w.plain, 4096);
	uint32_t task[] = {(uint32_t)a,
			   0,
			   4096,
			   0,
			   reg(w.plain, CFG_NODE),
			   (uint32_t)b,
			   0,
			   reg(w.plain, CFG_MEMORY_KEY),
			   1};

	assert_int_equal(reg(w.one, CFG_MAGIC), CFG_MAGIC_VALUE);
	assert_int_equal(reg(w.one, CFG_TASK_STATUS), CFG_TASK_NEVER);
	ok(dxp_mem_write(w.one, a, "over there", 11));
	registers_write(w.one, task);
	assert_int_equal(task_end(w.one), CFG_TASK_DONE);
	char text[11];
	ok(dxp_mem_read(w.plain, text, b, sizeof(text)));
	assert_string_equal(text, "over there");
	task[2] = MEMORY;
	registers_write(w.one, task);
	assert_int_equal((int32_t)task_end(w.one), DXP_ERANGE);
	task[2] = 4096;
	task[4] = 60000;
	registers_write(w.one, task);
	assert_int_equal((int32_t)task_end(w.one), DXP_ENOENT);
	task[4] = reg(w.plain, CFG_NODE);
	task[7] ^= 0x80000000;
	registers_write(w.one, task);
	assert_int_equal((int32_t)task_end(w.one), DXP_EACCESS);
	assert_int_equal(reg(w.one, CFG_TASK_COUNT), 4);
	assert_int_equal(dxp_reg_write(w.one, CFG_MAGIC, task, 1), DXP_EACCESS);
	assert_int_not_equal(dxp_reg_write(w.one, CFG_COUNT, task, 1), DXP_OK);
	ok(dxp_mem_free(w.one, a));
	ok(dxp_mem_free(w.plain, b));
}

static void hosts__are_kept_apart(void **state)
{
	uint64_t a = allocate(w.one, 4096);
	struct dxp_fabric *other;
	struct dxp_program *program;
	struct dxp_argument argument = {.kind = DXP_ARGUMENT_BUFFER, .address = a};
	dxp_event event;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "other"},
			   &other));
	struct dxp_xpu *x = daemons_xpu(other, "xpu1");
	assert_int_equal(reg(w.one, CFG_HOSTS), 2);
	assert_int_equal(dxp_mem_free(x, a), DXP_ENOENT);
	ok(dxp_program_build(x, "kernel void k(global uint *p) { p[0] = 1; }", NULL, &program));
	struct dxp_launch launch = {.program = program,
				    .kernel = "k",
				    .dimensions = 1,
				    .global = {1},
				    .arguments = &argument,
				    .argument_count = 1};
	ok(dxp_run(x, &launch, &event));
	assert_int_equal(dxp_event_wait(other, event, WAIT_NS, NULL), DXP_ERANGE);
	assert_int_equal(word(w.one, a), 0);
	/* not freed, so the xPU frees it */
	uint64_t before = free_bytes(w.one);
	argument.address = allocate(x, 1 << 20);
	assert_int_equal(free_bytes(w.one), before - (1 << 20));
	dxp_program_release(program);
	dxp_xpu_close(x);
	dxp_fabric_close(other);
	assert_int_equal(free_bytes(w.one), before);
	assert_int_equal(reg(w.one, CFG_HOSTS), 1);
	ok(dxp_mem_free(w.one, a));
}

/* The memory of a closed xPU is not reused before the kernel has ended. */
static void close__while_a_kernel_runs(void **state)
{
	struct dxp_fabric *other;
	struct dxp_program *program, *own = program_one;
	uint64_t before = free_bytes(w.one);

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "leaver"},
			   &other));
	struct dxp_xpu *x = daemons_xpu(other, "xpu1");
	ok(dxp_program_build(x, source, NULL, &program));
	uint64_t a = allocate(x, 4096);
	program_one = program;
	dxp_event first = run(x, "slow", a, 200000000, NULL);
	for (int i = 0; i < 100; i++)
		run(x, "add", a, 1, &first);
	program_one = own;
	usleep(20000);
	dxp_program_release(program);
	dxp_xpu_close(x);
	dxp_fabric_close(other);
	assert_int_equal(free_bytes(w.one), before);
	a = allocate(w.one, 64);
	ok(wait_for(run(w.one, "add", a, 5, NULL)));
	assert_int_equal(word(w.one, a), 5);
	ok(dxp_mem_free(w.one, a));
}

static void raw_nap(struct node *n, const struct dxp_target *to, const uint8_t *data, int bytes)
{
	struct dxp_nic_event e;

	assert_true(bytes > 0);
	assert_int_equal(dxp_post_nap(node_window(n), 0, to, data, (uint32_t)bytes, 0, 1), DXP_OK);
	while (!dxp_sent_dequeue(node_window(n), &e))
		if (node_poll(n) == 0)
			node_wait(n, clock_now_ns() + MS_NS);
	assert_int_equal(e.status, DXP_OK);
}

static void message__rejected(void **state)
{
	struct node_options options = {
		.name = "rude", .manager = w.address, .fabric_key = w.key, .bind = w.address};
	struct node *n;
	struct dxp_target to;
	uint8_t data[COMMAND_BYTES_MAX];
	uint16_t xpu = (uint16_t)reg(w.one, CFG_NODE);
	uint32_t before = reg(w.one, CFG_COMMANDS_REFUSED), memory = reg(w.one, CFG_FREE_LO);

	options.bind.port = 0;
	assert_int_equal(node_open(&options, &n), DXP_OK);
	assert_int_equal(node_join(n, clock_now_ns() + WAIT_NS), DXP_OK);
	while (node_target(n, xpu, &to) != DXP_OK)
		node_poll(n);
	raw_nap(n, &to, (const uint8_t *)"nonsense", 8);
	raw_nap(n, &to, data,
		command_encode(&(struct command){.op = COMMAND_ALLOC, .bytes = 4096}, data));
	raw_nap(n, &to, data,
		command_event_encode(&(struct command_event){.event = EVENT_NAME(1, xpu, 1)},
				     data));
	raw_nap(n, &to, data,
		command_encode(&(struct command){.op = COMMAND_OPEN, .reply_qp = 99}, data));
	assert_int_equal(reg(w.one, CFG_COMMANDS_REFUSED), before + 4);
	assert_int_equal(reg(w.one, CFG_FREE_LO), memory);
	node_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory__is_zero_and_comes_back),
		cmocka_unit_test(run__in_order_and_timed),
		cmocka_unit_test(run__late_events_all_come),
		cmocka_unit_test(run__wrong_ones),
		cmocka_unit_test(build__log_of_a_failure),
		cmocka_unit_test(build__a_thousand_live_programs),
		cmocka_unit_test(send__chain_over_two_nodes),
		cmocka_unit_test(send__failure_reaches_the_other_node),
		cmocka_unit_test(registers__task),
		cmocka_unit_test(hosts__are_kept_apart),
		cmocka_unit_test(close__while_a_kernel_runs),
		cmocka_unit_test(message__rejected),
	};

	if (world_missing())
		return 77;
	return cmocka_run_group_tests(tests, world_open, world_close);
}
