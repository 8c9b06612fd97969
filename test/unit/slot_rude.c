/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a host that ignores answers, never sends what an xPU reads, or PUTs a part of a message.
 * Other hosts wait for a bounded time, see none of its memory, and all buffers are freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "base/clock.h"
#include "base/util.h"
#include "test/unit/rude_host.h"
#include "xpu/cfg.h"

#define BUFFER   (16u << 10)
#define BUFFERS  4
#define BYTES    (3 * BUFFER)
#define STALL_NS (300 * MS_NS)
#define WAIT_NS  DAEMONS_WAIT_NS

static struct daemons w;
static struct test_daemon board;
static struct dxp_xpu *x;
static struct rude r;
static uint8_t out[BYTES], in[BYTES];

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static uint16_t number(void)
{
	uint32_t value = 0;

	ok(dxp_reg_read(x, CFG_NODE, &value, 1));
	return (uint16_t)value;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000 * 1000}, NULL);
}

static void live(uint64_t ns)
{
	uint64_t end_ns = clock_now_ns() + ns;

	while (clock_now_ns() < end_ns)
		rude_poll(&r);
}

static int scene_open(void **state)
{
	static uint32_t boards;
	static char name[16], engine[160];
	const struct daemon_options options = {.slots = 1,
					       .name = name,
					       .engine = engine,
					       .buffers = BUFFERS,
					       .buffer_bytes = BUFFER,
					       .stall_ns = STALL_NS};

	snprintf(name, sizeof(name), "board%u", boards++);
	snprintf(engine, sizeof(engine), "board:%s/a.board", w.folder);
	ok(test_daemon_open(&w, &board, &options));
	x = daemons_xpu(w.fabric, name);
	rude_open(&r, &w, number());
	return 0;
}

static int scene_close(void **state)
{
	dxp_xpu_close(x);
	test_daemon_rest(&board);
	test_daemon_close(&board);
	return 0;
}

/* Checks that a PUT and a GET of another host succeed, at once or after a while. */
static void others_go_on(void)
{
	uint64_t address;

	ok(dxp_mem_alloc(x, BYTES, &address));
	memset(out, 0x5a, BYTES);
	ok(dxp_mem_write(x, address, out, BYTES));
	ok(dxp_mem_read(x, in, address, BYTES));
	assert_memory_equal(in, out, BYTES);
	ok(dxp_mem_free(x, address));
}

static void rude_get(uint32_t bytes)
{
	const struct dxp_entry local = {.bytes = bytes, .key = r.key};
	const struct dxp_entry remote = {.offset = r.address, .bytes = bytes, .key = r.memory_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};

	ok(nic_user_get(node_window(r.node), 1, &r.to, &lists, 1));
	rude_poll(&r);
}

static void rude_bridge(uint8_t path, uint32_t key, uint32_t events, uint32_t bytes)
{
	for (uint32_t i = 0; i < events; i++)
		rude_post(&r, &(struct command){
				      .op = COMMAND_BRIDGE,
				      .event = EVENT_NAME(node_id(r.node), r.to.node, i + 1),
				      .path = path,
				      .to_node = node_id(r.node),
				      .from_key = path == COMMAND_BRIDGE_IN ? key : 0,
				      .to_key = path == COMMAND_BRIDGE_OUT ? key : 0,
				      .address = r.address,
				      .bytes = bytes,
			      });
}

/* The NIC holds every part of the answer to its GETs, and no buffer stays in use. */
static void rude__dies_with_all_of_its_answer_outstanding(void **state)
{
	for (uint32_t i = 0; i < BUFFERS; i++)
		rude_get(BUFFER);
	pause_ms(100);
	rude_close(&r);
	others_go_on();
}

/* Another host succeeds meanwhile and afterwards. */
static void rude__does_not_dequeue_its_answer(void **state)
{
	for (uint32_t i = 0; i < 2 * BUFFERS; i++)
		rude_get(BUFFER);
	others_go_on();
	live(100 * MS_NS);
	rude_close(&r);
	others_go_on();
}

/* ---- staged memory that never completes ---- */

static struct nic_staged_write *never_begin(void *context, struct nic_staged_span *span)
{
	return context;
}

static int never_address(void *context, struct nic_staged_write *write, uint64_t at,
			 const uint8_t *payload, uint32_t bytes, bool first)
{
	return DXP_OK;
}

static int never_settled(void *context, struct nic_staged_write *write)
{
	return DXP_EAGAIN;
}

static void never_end(void *context, struct nic_staged_write *write)
{
}

static int never_read(void *context, struct nic_staged_read *read, uint64_t offset, uint64_t bytes)
{
	return DXP_OK;
}

static void never_cancel(void *context, struct nic_staged_read *read)
{
}

static void never_sent(void *context, void *piece, int status)
{
}

static bool never_touches(void *context, uint64_t offset, uint64_t bytes)
{
	return false;
}

static uint32_t never_key(void)
{
	static const struct nic_staged_ops never = {
		.write_begin = never_begin,
		.write_place = never_address,
		.write_settled = never_settled,
		.write_end = never_end,
		.write_touches = never_touches,
		.read_begin = never_read,
		.read_cancel = never_cancel,
		.read_sent = never_sent,
	};
	uint32_t key = 0;

	ok(nic_region_register_staged(node_nic(r.node), 0, &never, &r, RUDE_BYTES,
				      NIC_REMOTE_READ | NIC_REMOTE_WRITE, &key));
	return key;
}

struct other {
	pthread_t thread;
	uint64_t address;
	int status;
	_Atomic bool over;
};

static void *other_run(void *context)
{
	struct other *o = context;

	others_go_on();
	o->over = true;
	return NULL;
}

/* The misbehaving host stays alive and answers everything else. */
static void beside_the_living(void)
{
	struct other o = {0};
	uint64_t end_ns = clock_now_ns() + WAIT_NS;

	assert_int_equal(pthread_create(&o.thread, NULL, other_run, &o), 0);
	while (!o.over && clock_now_ns() < end_ns)
		rude_poll(&r);
	assert_true(o.over);
	pthread_join(o.thread, NULL);
}

static void rude__has_the_xpu_read_what_never_comes(void **state)
{
	rude_bridge(COMMAND_BRIDGE_IN, never_key(), 2 * BUFFERS, RUDE_BYTES);
	live(50 * MS_NS);
	beside_the_living();
	rude_close(&r);
}

static void rude__has_the_xpu_write_what_is_never_dequeued(void **state)
{
	rude_bridge(COMMAND_BRIDGE_OUT, never_key(), 2 * BUFFERS, RUDE_BYTES);
	live(50 * MS_NS);
	beside_the_living();
	rude_close(&r);
}

static void *puller_run(void *context)
{
	struct other *o = context;
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_FROM_DEVICE,
					      .to = in,
					      .bytes = BYTES,
					      .device_from = o->address};

	o->status = dxp_bridge_move(x, &t, NULL);
	o->over = true;
	return NULL;
}

/* Transfers with another host use the same queue pairs of the xPU, and are not delayed. */
static void rude__holds_up_no_other_end(void **state)
{
	struct other o = {0};
	const uint32_t key = never_key();
	uint32_t stalls = 0;

	ok(dxp_mem_alloc(x, BYTES, &o.address));
	rude_bridge(COMMAND_BRIDGE_OUT, key, 1,
		    BUFFER); /* one per direction leaves one buffer free */
	rude_bridge(COMMAND_BRIDGE_IN, key, 1, BUFFER);
	live(50 * MS_NS);
	assert_int_equal(pthread_create(&o.thread, NULL, puller_run, &o), 0);
	while (!o.over)
		rude_poll(&r);
	pthread_join(o.thread, NULL);
	ok(o.status);
	ok(dxp_reg_read(x, CFG_DMA_STALLS, &stalls, 1));
	/* its steps are within their limit */
	assert_int_equal(stalls, 0);
	rude_close(&r);
}

static int world_open(void **state)
{
	daemons_begin(&w);
	daemons_file(&w, "a.board", "preset = fast\ncompute = none\n");
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	return 0;
}

static int world_close(void **state)
{
	dxp_fabric_close(w.fabric);
	return daemons_end(&w);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(rude__dies_with_all_of_its_answer_outstanding),
		CASE(rude__does_not_dequeue_its_answer),
		CASE(rude__has_the_xpu_read_what_never_comes),
		CASE(rude__has_the_xpu_write_what_is_never_dequeued),
		CASE(rude__holds_up_no_other_end),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
