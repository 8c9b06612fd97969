/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares random operations of hosts on two boards and an xPU with models, while DMAs fail, a
 * device stalls and a host dies. After a failure, a range is undefined until written. DXP_SEED=n
 * replays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/bridge.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "test/unit/rude_host.h"
#include "xpu/cfg.h"

#define BUFFER     (8u << 10)
#define BUFFERS    4
#define MEMORY     300000 /* modelled per xPU */
#define STALL_NS   (500 * MS_NS)
#define WAIT_NS    DAEMONS_WAIT_NS
#define XPUS       3
#define OPERATIONS 60
#define SEEDS      6

struct modelled {
	struct dxp_xpu *x;
	char name[16];
	uint64_t address;
	uint8_t bytes[MEMORY];
	bool known[MEMORY];
};

static struct daemons w;
static struct test_daemon daemons[XPUS];
static struct modelled xpus[XPUS];
static struct rng rng;
static struct rude r;
static bool rude_there;
static uint32_t failures;
static uint8_t out[MEMORY], in[MEMORY];

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* Only DXP_EDEVICE may fail. */
static bool well(int status)
{
	if (status == DXP_EDEVICE)
		failures++;
	else
		ok(status);
	return status == DXP_OK;
}

static uint64_t below(uint64_t bound)
{
	return rng_next(&rng) % bound;
}

static void daemons_start(uint32_t seed)
{
	char setting[160], file[32], engine[160];

	for (uint32_t i = 0; i < XPUS; i++) {
		struct modelled *m = &xpus[i];
		const struct daemon_options options = {.slots = 1,
						       .name = m->name,
						       .engine = i < 2 ? engine : "none",
						       .buffers = BUFFERS,
						       .buffer_bytes = BUFFER,
						       .stall_ns = STALL_NS};
		snprintf(m->name, sizeof(m->name), "r%u-%u", seed % 100000, i);
		snprintf(file, sizeof(file), "r%u.board", i);
		snprintf(setting, sizeof(setting),
			 "preset = fast\ncompute = none\nfail = %u\nstall = %u\n",
			 100 + (uint32_t)below(400), 50 + (uint32_t)below(400));
		daemons_file(&w, file, setting);
		snprintf(engine, sizeof(engine), "board:%s/%s", w.folder, file);
		ok(test_daemon_open(&w, &daemons[i], &options));
		m->x = daemons_xpu(w.fabric, m->name);
		while (!well(dxp_mem_alloc(m->x, MEMORY, &m->address))) {
		}
		memset(m->bytes, 0, MEMORY);
		memset(m->known, 1, MEMORY);
	}
}

static void daemons_stop(void)
{
	for (uint32_t i = 0; i < XPUS; i++) {
		struct dxp_xpu_caps caps;
		ok(dxp_mem_free(xpus[i].x, xpus[i].address));
		uint64_t end_ns = clock_now_ns() + WAIT_NS;
		do
			ok(dxp_xpu_caps(xpus[i].x, &caps));
		while (caps.free_bytes != caps.memory_bytes && clock_now_ns() < end_ns);
		assert_int_equal(caps.free_bytes, caps.memory_bytes);
		dxp_xpu_close(xpus[i].x);
		test_daemon_rest(&daemons[i]);
		test_daemon_close(&daemons[i]);
	}
}

/* ---- operations, with the model ---- */

static void noise(uint8_t *to, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)rng_next(&rng);
}

static void wrote(struct modelled *m, uint64_t at, uint64_t bytes, bool good, const uint8_t *data)
{
	memset(m->known + at, good, bytes);
	if (good)
		memcpy(m->bytes + at, data, bytes);
}

static void read_is_right(const struct modelled *m, uint64_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (m->known[at + i] && in[i] != m->bytes[at + i])
			fail_msg("%s: byte %llu is wrong", m->name, (unsigned long long)(at + i));
}

static int bridge(struct dxp_bridge_transfer t, struct modelled *m, uint64_t at, uint64_t bytes)
{
	t.mode = below(4) ? DXP_BRIDGE_PIPELINED : DXP_BRIDGE_SEQUENTIAL;
	t.piece_bytes = below(2) ? 0 : 4096 + (uint32_t)below(4097);
	t.device_to = m->address + at;
	t.bytes = bytes;
	return dxp_bridge_move(m->x, &t, NULL);
}

static void write_some(struct modelled *m, uint64_t at, uint64_t bytes)
{
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_TO_DEVICE, .from = out};

	noise(out, bytes);
	bool good = well(below(2) ? bridge(t, m, at, bytes)
				  : dxp_mem_write(m->x, m->address + at, out, bytes));
	wrote(m, at, bytes, good, out);
}

static void read_some(struct modelled *m, uint64_t at, uint64_t bytes)
{
	const struct dxp_bridge_transfer t = {
		.path = DXP_BRIDGE_FROM_DEVICE, .to = in, .device_from = m->address + at};

	if (well(below(2) ? bridge(t, m, 0, bytes)
			  : dxp_mem_read(m->x, in, m->address + at, bytes)))
		read_is_right(m, at, bytes);
}

static void pass_some(struct modelled *m, uint64_t bytes)
{
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_THROUGH, .from = out, .to = in};

	noise(out, bytes);
	if (m != &xpus[2] && well(bridge(t, m, 0, bytes)))
		assert_memory_equal(in, out, bytes);
}

/* Moves bytes from one xPU to another: either the destination reads them, or the source writes
 * them. */
static void carry_some(struct modelled *from, struct modelled *to, uint64_t at, uint64_t bytes)
{
	const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
					      .peer = from->x,
					      .device_from = from->address + at};
	const struct dxp_transfer push = {from->address + at, to->address + at, bytes, NULL, 0};
	dxp_event sent;
	bool good;

	if (from == to)
		return;
	if (below(2)) {
		good = well(bridge(t, to, at, bytes));
	} else {
		ok(dxp_send(from->x, to->x, &push, &sent));
		good = well(dxp_event_wait(w.fabric, sent, WAIT_NS, NULL));
	}
	memcpy(to->bytes + at, from->bytes + at, bytes);
	memcpy(to->known + at, from->known + at, bytes);
	if (!good)
		memset(to->known + at, 0, bytes);
}

/* ---- the misbehaving host ---- */

static void rude_begins(void)
{
	uint32_t i = (uint32_t)below(2);
	uint32_t node = 0;

	ok(dxp_reg_read(xpus[i].x, CFG_NODE, &node, 1));
	rude_open(&r, &w, (uint16_t)node);
	rude_there = true;
	for (uint32_t k = 0, count = (uint32_t)below(40); k < count; k++) {
		uint8_t path = (uint8_t)below(3);
		const uint32_t bytes = 1 + (uint32_t)below(RUDE_BYTES);
		const struct dxp_entry local = {.bytes = bytes, .key = r.key};
		const struct dxp_entry remote = {
			.offset = r.address, .bytes = bytes, .key = r.memory_key};
		const struct nic_lists lists = {&local, &remote, 1, 1};
		if (below(3) == 0)
			nic_user_put(node_window(r.node), 1, &r.to, &lists, k);
		else if (below(2))
			nic_user_get(node_window(r.node), 2, &r.to, &lists, k);
		else
			rude_post(&r,
				  &(struct command){
					  .op = COMMAND_BRIDGE,
					  .event = EVENT_NAME(node_id(r.node), r.to.node, k + 1),
					  .path = path,
					  .to_node = node_id(r.node),
					  .from_key = path != COMMAND_BRIDGE_OUT ? r.key : 0,
					  .to_key = path != COMMAND_BRIDGE_IN ? r.key : 0,
					  .address = path != COMMAND_BRIDGE_THROUGH ? r.address : 0,
					  .bytes = bytes,
				  });
	}
}

static void rude_goes_on(void)
{
	if (rude_there && below(5) == 0) {
		rude_close(&r);
		rude_there = false;
	} else if (rude_there) {
		for (uint64_t polls = below(20); polls > 0; polls--)
			rude_poll(&r);
	} else if (below(4) == 0) {
		rude_begins();
	}
}

static void one_seed(uint32_t seed)
{
	print_message("DXP_SEED=%u\n", seed);
	rng = (struct rng){seed};
	daemons_start(seed);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		struct modelled *m = &xpus[below(XPUS)];
		uint64_t at = below(MEMORY), most = MEMORY - at;
		uint64_t bytes = below(2) ? below(min_u64(most, 300) + 1) : below(most + 1);
		switch (below(5)) {
		case 0: read_some(m, at, bytes); break;
		case 1: pass_some(m, bytes); break;
		case 2: carry_some(m, &xpus[below(XPUS)], at, bytes); break;
		default: write_some(m, at, bytes);
		}
		rude_goes_on();
	}
	if (rude_there)
		rude_close(&r);
	rude_there = false;
	daemons_stop();
}

static void random__what_was_done_is_there(void **state)
{
	const char *seed = getenv("DXP_SEED");

	if (seed) {
		one_seed((uint32_t)strtoul(seed, NULL, 0));
		return;
	}
	for (uint32_t i = 1; i <= SEEDS; i++)
		one_seed(i);
	assert_true(failures > 0);
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
		cmocka_unit_test(random__what_was_done_is_there),
	};

	return cmocka_run_group_tests(tests, world_open, world_close);
}
