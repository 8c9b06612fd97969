/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests boards with failing or stalling DMAs, and vanishing hosts; the rings are usable at the
 * end. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "base/clock.h"
#include "base/util.h"
#include "test/unit/rude_host.h"
#include "xpu/cfg.h"
#include "xpu/limits.h"

#define BUFFER   (16u << 10)
#define BUFFERS  4
#define BYTES    (8 * BUFFER + 3) /* nine parts */
#define STALL_NS (500 * MS_NS)    /* no stall on a busy machine */
#define WAIT_NS  DAEMONS_WAIT_NS
#define TRIES    40

static struct daemons w;
static struct test_daemon board;
static struct dxp_xpu *x;
static char xpu_name[16];
static uint8_t out[BYTES], in[BYTES];

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* Only DXP_EDEVICE may fail. */
static bool went_well(int status)
{
	if (status != DXP_EDEVICE)
		ok(status);
	return status == DXP_OK;
}

static void noise(uint8_t *to, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
}

/* Each board has a new name: a used one would look like a restart that some nodes have not
 * received. */
static void board_open(const char *setting, uint64_t stall_ns)
{
	static uint32_t boards;
	char text[128], name[160];
	const struct daemon_options options = {.slots = 1,
					       .name = xpu_name,
					       .engine = name,
					       .buffers = BUFFERS,
					       .buffer_bytes = BUFFER,
					       .stall_ns = stall_ns,
					       .keep_hosts_ns = FABRIC_HOST_KEEP_NS};

	snprintf(xpu_name, sizeof(xpu_name), "bad%u", boards++);
	snprintf(text, sizeof(text), "preset = fast\ncompute = none\n%s\n", setting);
	daemons_file(&w, "bad.board", text);
	snprintf(name, sizeof(name), "board:%s/bad.board", w.folder);
	ok(test_daemon_open(&w, &board, &options));
	x = daemons_xpu(w.fabric, xpu_name);
}

static void board_close(void)
{
	dxp_xpu_close(x);
	test_daemon_rest(&board);
	test_daemon_close(&board);
}

static uint32_t reg(uint32_t index)
{
	uint32_t value = 0;

	ok(dxp_reg_read(x, index, &value, 1));
	return value;
}

/* A failure counts when its last DMA has completed. */
static void register_wait(uint32_t index)
{
	uint64_t end_ns = clock_now_ns() + WAIT_NS;

	while (reg(index) == 0)
		assert_true(clock_now_ns() < end_ns);
}

/* Allocates memory; tries again on DXP_EDEVICE. */
static int allocate(uint64_t *address)
{
	int status = DXP_EDEVICE;

	for (int i = 0; i < TRIES && status == DXP_EDEVICE; i++)
		status = dxp_mem_alloc(x, BYTES, address);
	return status;
}

/* Tries again after a failure. */
static void read_back(uint64_t address)
{
	int i = 0;

	while (!went_well(dxp_mem_read(x, in, address, BYTES)))
		assert_true(++i < TRIES);
}

static int bridge(uint64_t address, bool to_device)
{
	const struct dxp_bridge_transfer t = {.path = to_device ? DXP_BRIDGE_TO_DEVICE
								: DXP_BRIDGE_FROM_DEVICE,
					      .from = to_device ? out : NULL,
					      .to = to_device ? NULL : in,
					      .device_to = to_device ? address : 0,
					      .device_from = to_device ? 0 : address,
					      .bytes = BYTES};

	return dxp_bridge_move(x, &t, NULL);
}

/* Returns the number of failed operations. */
static uint32_t exercise(uint64_t address)
{
	const struct dxp_bridge_transfer through = {
		.path = DXP_BRIDGE_THROUGH, .from = out, .to = in, .bytes = BYTES};
	uint32_t failed = 0;

	for (uint32_t i = 0; i < 4; i++) {
		noise(out, BYTES, i);
		bool there = went_well(i % 2 ? bridge(address, true)
					     : dxp_mem_write(x, address, out, BYTES));
		failed += !there;
		if (there) {
			read_back(address);
			assert_memory_equal(in, out, BYTES);
		}
		memset(in, 0, BYTES);
		if (there && went_well(bridge(address, false)))
			assert_memory_equal(in, out, BYTES);
		memset(in, 0, BYTES);
		bool passed = went_well(dxp_bridge_move(x, &through, NULL));
		failed += !passed;
		if (passed)
			assert_memory_equal(in, out, BYTES);
	}
	return failed;
}

static void dma__fails_at_every_buffer(void **state)
{
	for (uint32_t k = 1; k <= 24; k++) {
		char setting[32];
		uint64_t address;
		snprintf(setting, sizeof(setting), "fail = %u", k);
		board_open(setting, 0);
		int status = allocate(&address);
		if (k == 1)
			assert_int_equal(status, DXP_EDEVICE);
		else
			ok(status);
		/* at least nine DMAs succeed between two failures, enough for one transfer */
		if (k > 9)
			exercise(address);
		else if (k > 1)
			assert_false(went_well(dxp_mem_write(x, address, out, BYTES)));
		if (k > 1)
			register_wait(CFG_DMA_FAILED);
		board_close();
	}
}

/* A stalled DMA makes the device reset; afterwards everything works. */
static void dma__stalls(void **state)
{
	static const uint32_t numbers[] = {1, 2, 8, 14, 30};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
		char setting[32];
		uint64_t address, before_ns = clock_now_ns();
		snprintf(setting, sizeof(setting), "stall = %u", numbers[i]);
		board_open(setting, STALL_NS);
		ok(allocate(&address));
		exercise(address);
		register_wait(CFG_DMA_STALLS);
		assert_true(clock_now_ns() - before_ns >= STALL_NS);
		assert_int_equal(exercise(address), 0);
		board_close();
	}
}

/* A command that waits for a SEND runs only when the data is in the board's memory, even if the
 * event follows the data without a round trip. */
static void send__to_a_board_that_fails(void **state)
{
	struct test_daemon plain = {0};
	uint64_t from, address;
	uint32_t failed = 0;

	board_open("fail = 20", 0);
	ok(test_daemon_open(
		&w, &plain,
		&(struct daemon_options){.slots = 1, .name = "plain", .engine = "none"}));
	struct dxp_xpu *direct = daemons_xpu(w.fabric, "plain");
	ok(dxp_mem_alloc(direct, BYTES, &from));
	ok(allocate(&address));
	for (uint32_t i = 0; i < 20; i++) {
		const struct dxp_transfer t = {from, address, BYTES, NULL, 0};
		struct dxp_bridge *after;
		dxp_event sent;
		noise(out, BYTES, i);
		memset(in, 0, BYTES);
		ok(dxp_mem_write(direct, from, out, BYTES));
		ok(dxp_send(direct, x, &t, &sent));
		const struct dxp_bridge_transfer look = {.path = DXP_BRIDGE_FROM_DEVICE,
							 .to = in,
							 .device_from = address,
							 .bytes = BYTES,
							 .wait = &sent,
							 .wait_count = 1};
		ok(dxp_bridge_start(x, &look, &after));
		bool there = went_well(dxp_event_wait(w.fabric, sent, WAIT_NS, NULL));
		int status = dxp_bridge_wait(after, WAIT_NS, NULL);
		failed += !there;
		if (!there)
			assert_int_equal(status, DXP_ECANCELED);
		else if (went_well(status))
			assert_memory_equal(in, out, BYTES);
	}
	assert_true(failed > 0 && failed < 20);
	dxp_xpu_close(direct);
	test_daemon_close(&plain);
	board_close();
}

static void tenants_wait(uint32_t hosts)
{
	uint64_t end_ns = clock_now_ns() + WAIT_NS;

	while (reg(CFG_HOSTS) != hosts)
		assert_true(clock_now_ns() < end_ns);
}

static void host__dies_while_the_xpu_pulls(void **state)
{
	struct rude r;
	struct dxp_xpu_caps before, after;
	uint64_t address;

	board_open("", 0);
	ok(dxp_xpu_caps(x, &before));
	rude_open(&r, &w, (uint16_t)reg(CFG_NODE));
	for (uint32_t i = 0; i < 30; i++) {
		const struct command c = {
			.op = COMMAND_BRIDGE,
			.event = EVENT_NAME(node_id(r.node), reg(CFG_NODE), i + 1),
			.path = i % 3 == 0   ? COMMAND_BRIDGE_IN
				: i % 3 == 1 ? COMMAND_BRIDGE_OUT
					     : COMMAND_BRIDGE_THROUGH,
			.to_node = node_id(r.node),
			.from_key = i % 3 != 1 ? r.key : 0,
			.to_key = i % 3 != 0 ? r.key : 0,
			.address = i % 3 != 2 ? r.address : 0,
			.bytes = RUDE_BYTES,
		};
		rude_post(&r, &c);
	}
	for (int i = 0; i < 20; i++)
		rude_poll(&r);
	rude_close(&r);
	tenants_wait(1);
	ok(allocate(&address));
	assert_int_equal(exercise(address), 0);
	ok(dxp_mem_free(x, address));
	ok(dxp_xpu_caps(x, &after));
	assert_int_equal(after.free_bytes, before.free_bytes);
	board_close();
}

/* After the host's death its transfers are cancelled, and its memory and all buffers are freed. */
static void host__dies_while_it_puts_and_gets(void **state)
{
	struct rude r;
	uint64_t address;

	board_open("", 0);
	rude_open(&r, &w, (uint16_t)reg(CFG_NODE));
	for (uint32_t i = 0; i < 8; i++) {
		const struct dxp_entry local = {.bytes = RUDE_BYTES, .key = r.key};
		const struct dxp_entry remote = {
			.offset = r.address, .bytes = RUDE_BYTES, .key = r.memory_key};
		const struct nic_lists lists = {&local, &remote, 1, 1};
		ok(i % 2 ? nic_user_get(node_window(r.node), 1, &r.to, &lists, i)
			 : nic_user_put(node_window(r.node), 2, &r.to, &lists, i));
	}
	for (int i = 0; i < 20; i++)
		rude_poll(&r);
	rude_close(&r);
	tenants_wait(1);
	ok(allocate(&address));
	assert_int_equal(exercise(address), 0);
	board_close();
}

/* above those of commands */
#define GET_CONTEXT 1000

/* Returns the number of completed GETs, which must be successful. */
static uint32_t rude_gets_ended(struct rude *r)
{
	struct dxp_nic_event event;
	uint32_t count = 0;

	while (dxp_sent_dequeue(node_window(r->node), &event)) {
		if (event.context != GET_CONTEXT)
			continue;
		ok(event.status);
		count++;
	}
	return count;
}

/* If no other host needed the buffers, GETs and the xPU's writes resume after a pause longer than a
 * step's limit. */
static void host__stands_still_and_resumes(void **state)
{
	enum { GETS = 2, BULKS = 2 };
	/* the host pauses for twice this time, so it counts as silent */
	const uint64_t stall_ns = RLTP_DEAD_NS * 3 / 4;
	uint32_t ended = 0;
	struct rude r;

	board_open("from_device = 16", stall_ns); /* MB/s */
	rude_open(&r, &w, (uint16_t)reg(CFG_NODE));
	for (uint32_t i = 0; i < GETS; i++) {
		const struct dxp_entry local = {.bytes = RUDE_BYTES, .key = r.key};
		const struct dxp_entry remote = {
			.offset = r.address, .bytes = RUDE_BYTES, .key = r.memory_key};
		const struct nic_lists lists = {&local, &remote, 1, 1};
		ok(nic_user_get(node_window(r.node), 1, &r.to, &lists, GET_CONTEXT));
	}
	for (uint32_t i = 0; i < BULKS; i++) {
		const struct command c = {
			.op = COMMAND_BRIDGE,
			.event = EVENT_NAME(node_id(r.node), reg(CFG_NODE), i + 1),
			.path = COMMAND_BRIDGE_OUT,
			.to_node = node_id(r.node),
			.to_key = r.key,
			.address = r.address,
			.bytes = RUDE_BYTES,
		};
		rude_post(&r, &c);
	}
	for (int i = 0; i < 20; i++)
		rude_poll(&r);
	ended = rude_gets_ended(&r);
	assert_true(ended < GETS);
	for (uint64_t until_ns = clock_now_ns() + 2 * stall_ns + S_NS; clock_now_ns() < until_ns;) {
		assert_int_equal(reg(CFG_HOSTS), 2);
		usleep(10000);
	}
	for (uint64_t end_ns = clock_now_ns() + WAIT_NS; ended < GETS;
	     ended += rude_gets_ended(&r)) {
		assert_true(clock_now_ns() < end_ns);
		rude_poll(&r);
	}
	assert_int_equal(reg(CFG_HOSTS), 2);
	assert_int_equal(reg(CFG_DMA_STALLS), 0);
	rude_close(&r);
	tenants_wait(1);
	board_close();
}

/* The device moves only a part of the bytes of a transfer that CLOSE cancels. */
static void close__cancels_what_is_outstanding(void **state)
{
	enum { LONG = 4 << 20 };
	struct dxp_fabric *other;
	struct dxp_bridge *b;
	uint8_t *to = malloc(LONG);
	uint64_t address;

	board_open("from_device = 2", 0); /* MB/s */
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "leaver"},
			   &other));
	struct dxp_xpu *its = daemons_xpu(other, xpu_name);
	ok(dxp_mem_alloc(its, LONG, &address));
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_FROM_DEVICE, .to = to, .device_from = address, .bytes = LONG};
	ok(dxp_bridge_start(its, &t, &b));
	dxp_xpu_close(its);
	assert_int_not_equal(dxp_bridge_wait(b, 0, NULL), DXP_ETIMEDOUT);
	assert_true(reg(CFG_DMA_OUT_LO) < LONG);
	assert_int_equal(reg(CFG_HOSTS), 1);
	dxp_fabric_close(other);
	free(to);
	board_close();
}

/* Counts threads or open files of this process in /proc. */
static uint32_t entries(const char *folder)
{
	uint32_t count = 0;
	DIR *listed = opendir(folder);

	assert_non_null(listed);
	for (const struct dirent *d; (d = readdir(listed));)
		count += d->d_name[0] != '.';
	closedir(listed);
	return count;
}

/* An earlier count can include a thread that has just exited, so fewer are right. */
static void entries_fall_to(const char *folder, uint32_t most)
{
	uint64_t end_ns = clock_now_ns() + WAIT_NS;

	while (entries(folder) > most && clock_now_ns() < end_ns)
		usleep(1000);
	assert_in_range(entries(folder), 1, most);
}

/* A close during transfers of every kind leaks no thread and no file, and gives the host an
 * error. */
static void daemon__closes_in_the_middle(void **state)
{
	const uint32_t threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
	struct bridged_state now;
	struct rude r;
	uint64_t address;
	uint32_t value;

	board_open("to_device = 8\nfrom_device = 8", 0); /* MB/s */
	rude_open(&r, &w, (uint16_t)reg(CFG_NODE));
	const uint32_t moved = reg(CFG_DMA_IN_LO);
	for (uint32_t i = 0; i < 20; i++) {
		const struct command c = {
			.op = COMMAND_BRIDGE,
			.event = EVENT_NAME(node_id(r.node), reg(CFG_NODE), i + 1),
			.path = i % 2 ? COMMAND_BRIDGE_IN : COMMAND_BRIDGE_OUT,
			.to_node = node_id(r.node),
			.from_key = i % 2 ? r.key : 0,
			.to_key = i % 2 ? 0 : r.key,
			.address = r.address,
			.bytes = RUDE_BYTES,
		};
		rude_post(&r, &c);
	}
	rude_post(&r, &(struct command){.op = COMMAND_ALLOC, .sequence = 3, .bytes = RUDE_BYTES});
	rude_post(&r, &(struct command){.op = COMMAND_BUILD,
					.sequence = 4,
					.address = r.address,
					.bytes = RUDE_BYTES});
	for (uint64_t end_ns = clock_now_ns() + WAIT_NS; reg(CFG_DMA_IN_LO) == moved;) {
		assert_true(clock_now_ns() < end_ns);
		rude_poll(&r);
	}
	test_daemon_stop(&board);
	slot_bridged_state(daemon_slot(board.daemon, 0), &now);
	assert_true(now.transfers > 0 && now.in_used > 0);
	test_daemon_close(&board);
	assert_int_not_equal(dxp_reg_read(x, CFG_NODE, &value, 1), DXP_OK);
	dxp_xpu_close(x);
	rude_close(&r);
	entries_fall_to("/proc/self/task", threads);
	entries_fall_to("/proc/self/fd", files);
	board_open("", 0);
	ok(allocate(&address));
	assert_int_equal(exercise(address), 0);
	board_close();
}

static int world_open(void **state)
{
	daemons_begin(&w);
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	return 0;
}

static int world_close(void **state)
{
	dxp_fabric_close(w.fabric);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dma__fails_at_every_buffer),
		cmocka_unit_test(dma__stalls),
		cmocka_unit_test(send__to_a_board_that_fails),
		cmocka_unit_test(host__dies_while_the_xpu_pulls),
		cmocka_unit_test(host__dies_while_it_puts_and_gets),
		cmocka_unit_test(host__stands_still_and_resumes),
		cmocka_unit_test(close__cancels_what_is_outstanding),
		cmocka_unit_test(daemon__closes_in_the_middle),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
