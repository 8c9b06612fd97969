/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a board moves bytes while a DMA of the other hangs and after it failed, for two xPUs
 * of a daemon and two boards of a program. */
#include "test/unit/dma_rig.h"

#include <unistd.h>

#include <dxp/bridge.h>

#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define BUFFER (16u << 10)
#define BYTES  (8 * BUFFER + 3)
/* DMA that hangs; the first board's setup needs fewer */
#define STALL    60
#define STALL_NS (4 * S_NS)
/* of one or two DMAs each, so none reaches STALL */
#define GOOD_MOVES 6

static struct daemons net;
static struct test_daemon boards;
static uint8_t out[BYTES], in[BYTES];

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t value = 0;

	ok(dxp_reg_read(x, index, &value, 1));
	return value;
}

static void small_moves(struct dxp_xpu *x, uint64_t address)
{
	for (uint32_t i = 0; i < GOOD_MOVES; i++) {
		memset(out, (int)i + 1, 4096);
		ok(dxp_mem_write(x, address, out, 4096));
		memset(in, 0, 4096);
		ok(dxp_mem_read(x, in, address, 4096));
		assert_memory_equal(in, out, 4096);
	}
}

static void two_boards__of_one_daemon(void **state)
{
	char name[160];
	const struct daemon_options options = {.slots = 2,
					       .first = 1,
					       .engine = name,
					       .buffers = 4,
					       .buffer_bytes = BUFFER,
					       .stall_ns = STALL_NS};
	struct dxp_bridge *moves[STALL];
	uint64_t address[2];
	uint32_t failed = 0;

	daemons_begin(&net);
	daemons_file(&net, "hangs.board", "preset = fast\ncompute = none\nstall = 60\n");
	snprintf(name, sizeof(name), "board:%s/hangs.board", net.folder);
	ok(test_daemon_open(&net, &boards, &options));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = net.folder, .name = "tester"},
			   &net.fabric));
	struct dxp_xpu *bad = daemons_xpu(net.fabric, "xpu1");
	struct dxp_xpu *good = daemons_xpu(net.fabric, "xpu2");
	ok(dxp_mem_alloc(bad, BYTES, &address[0]));
	ok(dxp_mem_alloc(good, BYTES, &address[1]));
	for (size_t i = 0; i < ARRAY_COUNT(moves); i++) {
		const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_TO_DEVICE,
						      .from = out,
						      .device_to = address[0],
						      .bytes = 4096};
		ok(dxp_bridge_start(bad, &t, &moves[i]));
	}
	small_moves(good, address[1]);
	assert_int_equal(dxp_bridge_wait(moves[STALL - 1], 0, NULL), DXP_ETIMEDOUT);
	for (size_t i = 0; i < ARRAY_COUNT(moves); i++) {
		int status = dxp_bridge_wait(moves[i], DAEMONS_WAIT_NS, NULL);
		assert_true(status == DXP_OK || status == DXP_EDEVICE);
		failed += status != DXP_OK;
	}
	assert_true(failed > 0);
	assert_true(reg(bad, CFG_DMA_STALLS) > 0);
	assert_int_equal(reg(good, CFG_DMA_STALLS), 0);
	assert_int_equal(reg(good, CFG_DMA_FAILED), 0);
	small_moves(good, address[1]);
	small_moves(bad, address[0]);
	dxp_xpu_close(bad);
	dxp_xpu_close(good);
	dxp_fabric_close(net.fabric);
	test_daemon_rest(&boards);
	test_daemon_close(&boards);
	assert_int_equal(daemons_end(&net), 0);
}

static void two_boards__of_one_program(void **state)
{
	struct world *bad = world_of("preset = fast\ncompute = none\nstall = 5\n");
	struct world *good = world_of("preset = fast\ncompute = none\n");
	const struct dxp_dma_order o = order_of(bad, DXP_DMA_THROUGH, false);
	struct dxp_dma_transfer *t[3];

	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		ok(dxp_dma_start(bad->dma, &o, &t[i]));
	all_kinds(good, (struct dxp_dma_order){.bytes = 1234567});
	assert_int_equal(dxp_dma_wait(t[2], 0), DXP_ETIMEDOUT);
	ok(dxp_dma_reset(bad->dma));
	all_kinds(good, (struct dxp_dma_order){.bytes = 1234567, .in_place = true});
	for (size_t i = 0; i < ARRAY_COUNT(t); i++)
		assert_int_equal(dxp_dma_wait(t[i], WAIT_NS), DXP_EDEVICE);
	dxp_dma_close(bad->dma);
	bad->dma = NULL;
	all_kinds(good, (struct dxp_dma_order){.bytes = 1234567});
	world_close((void **)&bad);
	world_close((void **)&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_boards__of_one_daemon),
		cmocka_unit_test(two_boards__of_one_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
