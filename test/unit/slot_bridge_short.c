/* SPDX-License-Identifier: BSD-3-Clause */
/* The n-th allocation of a board's thread fails, n = 1, 2, ...: the host gets an error, no buffer
 * leaks, and the next use succeeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "base/util.h"
#include "test/support/daemons.h"
#include "xpu/outbox.h"

#define BUFFER  (16u << 10)
#define BUFFERS 4
#define BYTES   (5 * BUFFER + 77)
#define WAIT_NS DAEMONS_WAIT_NS
#define RUNS    3000 /* bound of n */

static struct daemons w;
static struct test_daemon board;
static uint8_t out[BYTES], in[BYTES];

/* ---- memory ---- */

/* allocations until one fails; 0: none */
static _Atomic uint64_t countdown;
static bool spared; /* none fails */

static bool fails_now(void)
{
	return countdown > 0 && pthread_equal(pthread_self(), board.thread) && !spared &&
	       --countdown == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(p, bytes);
}

/* Never fails here: without an answer the xPU drops the host, which takes half a minute to
 * detect. */
int __wrap_outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
		      const void *data, uint32_t bytes, outbox_done done, void *context);
int __real_outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
		      const void *data, uint32_t bytes, outbox_done done, void *context);

int __wrap_outbox_nap(struct outbox *o, enum outbox_kind kind, const struct dxp_target *to,
		      const void *data, uint32_t bytes, outbox_done done, void *context)
{
	spared = true;
	int status = __real_outbox_nap(o, kind, to, data, bytes, done, context);
	spared = false;
	return status;
}

/* ---- a host's use ---- */

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* A failed allocation causes DXP_ENOMEM or DXP_EDEVICE. */
static bool well(int status)
{
	if (status != DXP_OK && status != DXP_ENOMEM && status != DXP_EDEVICE)
		ok(status);
	return status == DXP_OK;
}

static int move(struct dxp_xpu *x, enum dxp_bridge_path path, uint64_t address)
{
	const struct dxp_bridge_transfer t = {
		.path = path,
		.from = path == DXP_BRIDGE_FROM_DEVICE ? NULL : out,
		.to = path == DXP_BRIDGE_TO_DEVICE ? NULL : in,
		.device_from = path == DXP_BRIDGE_FROM_DEVICE ? address : 0,
		.device_to = path == DXP_BRIDGE_TO_DEVICE ? address : 0,
		.bytes = BYTES,
	};
	struct dxp_bridge *b;
	int status = dxp_bridge_start(x, &t, &b);

	if (status == DXP_OK) {
		status = dxp_bridge_wait(b, WAIT_NS, NULL);
		assert_int_not_equal(status, DXP_ETIMEDOUT);
	}
	return status;
}

static void fresh(uint32_t seed)
{
	for (size_t i = 0; i < BYTES; i++)
		out[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
	memset(in, 0, BYTES);
}

/* Runs every kind of operation once. */
static bool use(struct dxp_xpu *x, uint32_t run)
{
	struct dxp_program *p;
	uint64_t address;

	if (!well(dxp_mem_alloc(x, BYTES, &address)))
		return false;
	fresh(run);
	if (!well(dxp_mem_write(x, address, out, BYTES)) ||
	    !well(dxp_mem_read(x, in, address, BYTES)))
		return false;
	assert_memory_equal(in, out, BYTES);
	fresh(run + 1);
	if (!well(move(x, DXP_BRIDGE_TO_DEVICE, address)) ||
	    !well(move(x, DXP_BRIDGE_FROM_DEVICE, address)))
		return false;
	assert_memory_equal(in, out, BYTES);
	fresh(run + 2);
	if (!well(move(x, DXP_BRIDGE_THROUGH, 0)))
		return false;
	assert_memory_equal(in, out, BYTES);
	int status = dxp_program_build(x, "none is built here", NULL, &p);
	return well(status == DXP_EUNSUPPORTED ? DXP_OK : status) && well(dxp_mem_free(x, address));
}

static void short__of_memory_once(void **state)
{
	uint32_t run = 1;

	for (; run < RUNS; run++) {
		struct dxp_xpu *x = daemons_xpu(w.fabric, "board");
		countdown = run;
		use(x, run);
		bool failed = countdown == 0;
		countdown = 0;
		dxp_xpu_close(x);
		if (!failed)
			break;
	}
	assert_true(run > 20 && run < RUNS);
	print_message("%u allocations failed\n", run - 1);
	struct dxp_xpu *x = daemons_xpu(w.fabric, "board");
	struct dxp_xpu_caps caps;
	ok(dxp_xpu_caps(x, &caps));
	assert_int_equal(caps.free_bytes, caps.memory_bytes);
	dxp_xpu_close(x);
}

static int world_open(void **state)
{
	char engine[160];
	const struct daemon_options options = {.slots = 1,
					       .name = "board",
					       .engine = engine,
					       .buffers = BUFFERS,
					       .buffer_bytes = BUFFER};

	daemons_begin(&w);
	daemons_file(&w, "a.board", "preset = fast\ncompute = none\n");
	snprintf(engine, sizeof(engine), "board:%s/a.board", w.folder);
	ok(test_daemon_open(&w, &board, &options));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	return 0;
}

static int world_close(void **state)
{
	dxp_fabric_close(w.fabric);
	test_daemon_rest(&board);
	test_daemon_close(&board);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short__of_memory_once),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
