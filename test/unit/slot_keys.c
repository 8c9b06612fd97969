/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that hosts of an xPU do not reach each other's allocations, in memory of the NIC (xpu1,
 * xpu2) or behind DMA (xpu3). With DXP_TEST_WORKERS, each host has its own file on xpu1 and xpu2.
 * slot_nic.c tests kernels' functions. */
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

#include <dxp/bridge.h>

#include "engine/rv32_clang.h"
#include "host/internal.h"
#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define BYTES (1u << 20) /* attacked by another host */
#define LIMIT (4u << 20) /* that a host may allocate on xpu4 */

struct user {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[4];
};

static struct daemons w;
static struct test_daemon direct, board, limited;
static struct user victim, thief;
static uint8_t secret[BYTES], buffer[2 * BYTES];

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t r;

	ok(dxp_reg_read(x, index, &r, 1));
	return r;
}

static struct user user_open(const char *name)
{
	static const char *const names[] = {"xpu1", "xpu2", "xpu3", "xpu4"};
	struct user u;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name},
			   &u.fabric));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		u.xpus[i] = daemons_xpu(u.fabric, names[i]);
	return u;
}

static void user_close(struct user *u)
{
	for (size_t i = 0; i < ARRAY_COUNT(u->xpus); i++)
		dxp_xpu_close(u->xpus[i]);
	dxp_fabric_close(u->fabric);
}

static uint64_t victim_make(uint32_t xpu)
{
	uint64_t address;

	memset(secret, 0x5a, BYTES);
	ok(dxp_mem_alloc(victim.xpus[xpu], BYTES, &address));
	ok(dxp_mem_write(victim.xpus[xpu], address, secret, BYTES));
	return address;
}

static void victim_end(uint32_t xpu, uint64_t address)
{
	memset(buffer, 0, BYTES);
	ok(dxp_mem_read(victim.xpus[xpu], buffer, address, BYTES));
	assert_memory_equal(buffer, secret, BYTES);
	ok(dxp_mem_free(victim.xpus[xpu], address));
}

static void nothing_read(uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		assert_int_not_equal(buffer[i], 0x5a);
}

static void keys__each_host_its_own(void **state)
{
	assert_int_not_equal(reg(victim.xpus[0], CFG_MEMORY_KEY),
			     reg(thief.xpus[0], CFG_MEMORY_KEY));
	assert_int_equal(reg(thief.xpus[0], CFG_MEMORY_KEY), thief.xpus[0]->memory_key);
}

/* The thief has the victim's memory key; the xPU counts it as a guess. */
static void keys__stolen_from_another_host(void **state)
{
	for (uint32_t xpu = 0; xpu < 3; xpu++) {
		uint64_t address = victim_make(xpu);
		struct dxp_xpu *x = thief.xpus[xpu];
		uint32_t own = x->memory_key;
		x->memory_key = victim.xpus[xpu]->memory_key;
		memset(buffer, 0, BYTES);
		assert_int_equal(dxp_mem_read(x, buffer, address, BYTES), DXP_EACCESS);
		nothing_read(BYTES);
		assert_int_equal(dxp_mem_write(x, address, buffer, BYTES), DXP_EACCESS);
		x->memory_key = own;
		victim_end(xpu, address);
	}
}

/* Another host's memory is neither written nor read: inside, at either end and across it; one byte,
 * or many packets. */
static void put_get__foreign_memory(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a = victim_make(x);
		const struct {
			uint64_t at, bytes;
		} tries[] = {{a, 1},         {a, BYTES},          {a + BYTES - 1, 1},
			     {a + 4096, 64}, {a + BYTES - 8, 16}, {a ? a - 1 : a, 2}};
		for (size_t i = 0; i < ARRAY_COUNT(tries); i++) {
			memset(buffer, 0, sizeof(buffer));
			assert_int_equal(
				dxp_mem_write(thief.xpus[x], tries[i].at, buffer, tries[i].bytes),
				DXP_EACCESS);
			assert_non_null(strstr(dxp_fabric_error(NULL), "another host"));
			assert_int_equal(
				dxp_mem_read(thief.xpus[x], buffer, tries[i].at, tries[i].bytes),
				DXP_EACCESS);
			nothing_read(tries[i].bytes);
		}
		victim_end(x, a);
	}
}

static int send_ends(struct dxp_xpu *from, struct dxp_xpu *to, uint64_t source, uint64_t at,
		     uint64_t bytes)
{
	const struct dxp_transfer t = {.from_address = source, .to_address = at, .bytes = bytes};
	dxp_event event;

	ok(dxp_send(from, to, &t, &event));
	return dxp_event_wait(thief.fabric, event, DAEMONS_WAIT_NS, NULL);
}

/* A SEND into another host's memory fails, even after successful SENDs with the same key. */
static void send__into_foreign_memory(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a = victim_make(x), source, own;
		ok(dxp_mem_alloc(thief.xpus[1], BYTES, &source));
		ok(dxp_mem_alloc(thief.xpus[x], BYTES, &own));
		for (int i = 0; i < 3; i++)
			assert_int_equal(
				send_ends(thief.xpus[1], thief.xpus[x], source, own, BYTES),
				DXP_OK);
		assert_int_equal(send_ends(thief.xpus[1], thief.xpus[x], source, a, BYTES),
				 DXP_EACCESS);
		assert_int_equal(send_ends(thief.xpus[1], thief.xpus[x], source, a + 8, 8),
				 DXP_EACCESS);
		assert_int_equal(send_ends(thief.xpus[1], thief.xpus[x], source, own, BYTES),
				 DXP_OK);
		ok(dxp_mem_free(thief.xpus[1], source));
		ok(dxp_mem_free(thief.xpus[x], own));
		victim_end(x, a);
	}
}

static void send__no_event_before_a_rejection(void **state)
{
	uint64_t a = victim_make(0), source, own;
	dxp_event sent, after;

	ok(dxp_mem_alloc(thief.xpus[1], 4096, &source));
	ok(dxp_mem_alloc(thief.xpus[0], 8192, &own));
	for (int i = 0; i < 3; i++)
		assert_int_equal(send_ends(thief.xpus[1], thief.xpus[0], source, own, 4096),
				 DXP_OK);
	const struct dxp_transfer t = {.from_address = source, .to_address = a, .bytes = 4096};
	ok(dxp_send(thief.xpus[1], thief.xpus[0], &t, &sent));
	const struct dxp_transfer back = {.from_address = own,
					  .to_address = source,
					  .bytes = 8,
					  .wait = &sent,
					  .wait_count = 1};
	ok(dxp_send(thief.xpus[0], thief.xpus[1], &back, &after));
	assert_int_equal(dxp_event_wait(thief.fabric, after, DAEMONS_WAIT_NS, NULL), DXP_ECANCELED);
	assert_int_equal(dxp_event_wait(thief.fabric, sent, DAEMONS_WAIT_NS, NULL), DXP_EACCESS);
	ok(dxp_mem_free(thief.xpus[1], source));
	ok(dxp_mem_free(thief.xpus[0], own));
	victim_end(0, a);
}

/* The reading xPU uses the thief's key. */
static void bridge__out_of_foreign_memory(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a = victim_make(x), own;
		ok(dxp_mem_alloc(thief.xpus[1], BYTES, &own));
		const struct dxp_bridge_transfer t = {.path = DXP_BRIDGE_DEVICE_TO_DEVICE,
						      .device_from = a,
						      .device_to = own,
						      .peer = thief.xpus[x],
						      .bytes = BYTES};
		assert_int_equal(dxp_bridge_move(thief.xpus[1], &t, NULL), DXP_EACCESS);
		ok(dxp_mem_read(thief.xpus[1], buffer, own, BYTES));
		nothing_read(BYTES);
		ok(dxp_mem_free(thief.xpus[1], own));
		victim_end(x, a);
	}
}

static void bridge__foreign_memory_of_its_own_xpu(void **state)
{
	uint64_t a = victim_make(0);
	const struct dxp_bridge_transfer in = {
		.path = DXP_BRIDGE_TO_DEVICE, .from = buffer, .device_to = a, .bytes = 4096};
	const struct dxp_bridge_transfer out = {
		.path = DXP_BRIDGE_FROM_DEVICE, .to = buffer, .device_from = a, .bytes = 4096};

	memset(buffer, 0, 4096);
	assert_int_equal(dxp_bridge_move(thief.xpus[0], &in, NULL), DXP_ERANGE);
	assert_int_equal(dxp_bridge_move(thief.xpus[0], &out, NULL), DXP_ERANGE);
	nothing_read(4096);
	victim_end(0, a);
}

/* The register task accepts any address, but the victim's memory rejects the thief's key. */
static void task__into_foreign_memory(void **state)
{
	uint64_t a = victim_make(0), source;

	ok(dxp_mem_alloc(thief.xpus[1], 4096, &source));
	const uint32_t task[] = {(uint32_t)source,
				 0,
				 4096,
				 0,
				 reg(thief.xpus[0], CFG_NODE),
				 (uint32_t)a,
				 0,
				 reg(thief.xpus[0], CFG_MEMORY_KEY),
				 1};
	ok(dxp_reg_write(thief.xpus[1], CFG_TASK_SRC_LO, task, ARRAY_COUNT(task)));
	while (reg(thief.xpus[1], CFG_TASK_STATUS) == CFG_TASK_BUSY)
		;
	assert_int_equal((int32_t)reg(thief.xpus[1], CFG_TASK_STATUS), DXP_EACCESS);
	ok(dxp_mem_free(thief.xpus[1], source));
	victim_end(0, a);
}

/* Unallocated memory is common, and is cleared before a host reads it. */
static void common__is_cleared_before_it_is_read(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a = victim_make(x);
		ok(dxp_mem_free(victim.xpus[x], a));
		memset(buffer, 0xee, BYTES);
		ok(dxp_mem_read(thief.xpus[x], buffer, a + 100, BYTES - 200));
		for (uint32_t i = 0; i < BYTES - 200; i++)
			assert_int_equal(buffer[i], 0);
		/* data written to it is common too; `dxp put` and `dxp get` need this */
		memset(buffer, 7, 4096);
		ok(dxp_mem_write(thief.xpus[x], a + 50, buffer, 4096));
		memset(buffer, 0, 4096);
		ok(dxp_mem_read(victim.xpus[x], buffer, a + 50, 4096));
		for (uint32_t i = 0; i < 4096; i++)
			assert_int_equal(buffer[i], 7);
		ok(dxp_mem_read(victim.xpus[x], buffer, a, 50));
		for (uint32_t i = 0; i < 50; i++)
			assert_int_equal(buffer[i], 0);
	}
}

/* Common memory is zeroed when a host allocates it, and then belongs to this host only. */
static void common__until_it_is_allocated(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a;
		memset(buffer, 9, BYTES);
		ok(dxp_mem_write(thief.xpus[x], 0, buffer, BYTES));
		ok(dxp_mem_alloc(victim.xpus[x], BYTES, &a));
		assert_int_equal(a, 0);
		ok(dxp_mem_read(victim.xpus[x], buffer, a, BYTES));
		for (uint32_t i = 0; i < BYTES; i++)
			assert_int_equal(buffer[i], 0);
		assert_int_equal(dxp_mem_write(thief.xpus[x], 0, buffer, BYTES), DXP_EACCESS);
		ok(dxp_mem_free(victim.xpus[x], a));
	}
}

/* The whole allocation is zero, also behind the requested size. */
static void memory__is_zero_to_its_end(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2) {
		uint64_t a = victim_make(x), b;
		ok(dxp_mem_free(victim.xpus[x], a));
		ok(dxp_mem_alloc(thief.xpus[x], 1, &b));
		assert_int_equal(a, b);
		memset(buffer, 0xee, 512);
		ok(dxp_mem_read(thief.xpus[x], buffer, b, 512));
		for (uint32_t i = 0; i < 512; i++)
			assert_int_equal(buffer[i], 0);
		ok(dxp_mem_free(thief.xpus[x], b));
	}
}

/* The thief writes to common memory while the victim allocates it; none of it remains. */
static void common__allocated_under_writes(void **state)
{
	for (uint32_t x = 0; x < 3; x += 2)
		for (int round = 0; round < 20; round++) {
			uint64_t a;
			const struct dxp_transfer t = {
				.from_address = 0, .to_address = 0, .bytes = BYTES};
			dxp_event events[4];
			uint64_t source;
			ok(dxp_mem_alloc(thief.xpus[1], BYTES, &source));
			assert_int_equal(source, 0);
			memset(buffer, 0xbb, BYTES);
			ok(dxp_mem_write(thief.xpus[1], source, buffer, BYTES));
			for (size_t i = 0; i < ARRAY_COUNT(events); i++)
				ok(dxp_send(thief.xpus[1], thief.xpus[x], &t, &events[i]));
			ok(dxp_mem_alloc(victim.xpus[x], BYTES, &a));
			assert_int_equal(a, 0);
			memset(buffer, 0xbb, BYTES);
			ok(dxp_mem_read(victim.xpus[x], buffer, a, BYTES));
			for (uint32_t i = 0; i < BYTES; i++)
				assert_int_equal(buffer[i], 0);
			for (size_t i = 0; i < ARRAY_COUNT(events); i++)
				dxp_event_wait(thief.fabric, events[i], DAEMONS_WAIT_NS, NULL);
			ok(dxp_mem_read(victim.xpus[x], buffer, a, BYTES));
			for (uint32_t i = 0; i < BYTES; i++)
				assert_int_equal(buffer[i], 0);
			ok(dxp_mem_free(victim.xpus[x], a));
			ok(dxp_mem_free(thief.xpus[1], source));
		}
}

#define FILLER (3u << 20)
#define LONG   (4u << 20) /* of a long GET */

static uint8_t stolen[LONG];

static void *read_main(void *none)
{
	dxp_mem_read(thief.xpus[2], stolen, FILLER, LONG);
	return NULL;
}

/* All tenants share the memory, which is reached by DMA. A slow GET of the thief returns nothing
 * that the victim writes after the victim has allocated the range. */
static void common__allocated_under_a_long_read(void **state)
{
	for (int round = 0; round < 5; round++) {
		uint64_t filler, a;
		pthread_t reader;
		memset(stolen, 0, LONG);
		memset(secret, 0x5a, BYTES);
		ok(dxp_mem_alloc(victim.xpus[2], FILLER, &filler));
		assert_int_equal(filler, 0);
		/* clears old data now, which would delay the GET below */
		ok(dxp_mem_read(thief.xpus[2], stolen, FILLER, LONG));
		assert_int_equal(pthread_create(&reader, NULL, read_main, NULL), 0);
		usleep(3000);
		ok(dxp_mem_alloc(victim.xpus[2], LONG, &a));
		assert_int_equal(a, FILLER);
		ok(dxp_mem_write(victim.xpus[2], a + LONG - BYTES, secret, BYTES));
		pthread_join(reader, NULL);
		for (uint32_t i = 0; i < LONG; i++)
			assert_int_equal(stolen[i], 0);
		ok(dxp_mem_free(victim.xpus[2], a));
		ok(dxp_mem_free(victim.xpus[2], filler));
	}
}

static void keys__end_with_their_host(void **state)
{
	struct user guest = user_open("guest");
	uint32_t key = guest.xpus[0]->memory_key, own = thief.xpus[0]->memory_key;
	uint64_t source;

	user_close(&guest);
	ok(dxp_mem_alloc(thief.xpus[1], 4096, &source));
	thief.xpus[0]->memory_key = key;
	assert_int_equal(send_ends(thief.xpus[1], thief.xpus[0], source, 0, 64), DXP_EACCESS);
	thief.xpus[0]->memory_key = own;
	assert_int_equal(send_ends(thief.xpus[1], thief.xpus[0], source, 0, 64), DXP_OK);
	ok(dxp_mem_free(thief.xpus[1], source));
}

static uint64_t free_bytes(struct dxp_xpu *x)
{
	struct dxp_xpu_caps caps;

	ok(dxp_xpu_caps(x, &caps));
	return caps.free_bytes;
}

static void limit__of_each_host(void **state)
{
	struct dxp_xpu *x = thief.xpus[3];
	uint64_t a, b, c;

	assert_int_equal(free_bytes(x), LIMIT);
	assert_int_equal(dxp_mem_alloc(x, LIMIT + 1, &a), DXP_ENOMEM);
	assert_non_null(strstr(dxp_fabric_error(NULL), "--host-memory"));
	ok(dxp_mem_alloc(x, LIMIT - 1000, &a));
	assert_int_equal(free_bytes(x), 512);
	assert_int_equal(dxp_mem_alloc(x, 513, &b), DXP_ENOMEM);
	ok(dxp_mem_alloc(x, 512, &b));
	assert_int_equal(dxp_mem_alloc(x, 1, &c), DXP_ENOMEM);
	assert_int_equal(dxp_mem_alloc(x, UINT64_MAX, &c), DXP_ENOMEM);
	/* the limit is per host */
	ok(dxp_mem_alloc(victim.xpus[3], LIMIT, &c));
	ok(dxp_mem_free(victim.xpus[3], c));
	ok(dxp_mem_free(x, a));
	ok(dxp_mem_free(x, b));
	assert_int_equal(free_bytes(x), LIMIT);
}

/* A transfer whose source is freed still gets the old content. */
static void free__under_a_transfer(void **state)
{
	for (int round = 0; round < 10; round++) {
		const struct dxp_transfer t = {.from_address = 0, .to_address = 0, .bytes = BYTES};
		uint64_t from, to, first = 0;
		dxp_event event;

		ok(dxp_mem_alloc(victim.xpus[1], BYTES, &from));
		ok(dxp_mem_alloc(victim.xpus[2], BYTES, &to));
		assert_int_equal(from, 0);
		assert_int_equal(to, 0);
		memset(secret, 0x5c, BYTES);
		ok(dxp_mem_write(victim.xpus[1], from, secret, BYTES));
		ok(dxp_send(victim.xpus[1], victim.xpus[2], &t, &event));
		while (first == 0) /* the first bytes have moved */
			ok(dxp_mem_read(victim.xpus[2], &first, to, sizeof(first)));
		ok(dxp_mem_free(victim.xpus[1], from));
		ok(dxp_event_wait(victim.fabric, event, DAEMONS_WAIT_NS, NULL));
		ok(dxp_mem_read(victim.xpus[2], buffer, to, BYTES));
		assert_memory_equal(buffer, secret, BYTES);
		ok(dxp_mem_free(victim.xpus[2], to));
	}
}

static int world_open(void **state)
{
	const char *plain = getenv("DXP_TEST_WORKERS") ? "rv32" : "none";
	char engine[128];

	daemons_begin(&w);
	daemons_file(&w, "slow.board", "preset = fast\ncompute = none\nlatency = 1000000\n");
	snprintf(engine, sizeof(engine), "board:%s/slow.board", w.folder);
	ok(test_daemon_open(&w, &direct,
			    &(struct daemon_options){.slots = 2, .first = 1, .engine = plain}));
	ok(test_daemon_open(&w, &board,
			    &(struct daemon_options){.slots = 1,
						     .first = 3,
						     .name = "xpu3",
						     .engine = engine,
						     .buffers = 4,
						     .buffer_bytes = 64u << 10}));
	ok(test_daemon_open(
		&w, &limited,
		&(struct daemon_options){
			.slots = 1, .name = "xpu4", .engine = "none", .host_bytes = LIMIT}));
	victim = user_open("victim");
	thief = user_open("thief");
	return 0;
}

static int world_close(void **state)
{
	user_close(&victim);
	user_close(&thief);
	test_daemon_close(&direct);
	test_daemon_close(&board);
	test_daemon_close(&limited);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys__each_host_its_own),
		cmocka_unit_test(keys__stolen_from_another_host),
		cmocka_unit_test(put_get__foreign_memory),
		cmocka_unit_test(send__into_foreign_memory),
		cmocka_unit_test(send__no_event_before_a_rejection),
		cmocka_unit_test(bridge__out_of_foreign_memory),
		cmocka_unit_test(bridge__foreign_memory_of_its_own_xpu),
		cmocka_unit_test(task__into_foreign_memory),
		cmocka_unit_test(common__is_cleared_before_it_is_read),
		cmocka_unit_test(common__until_it_is_allocated),
		cmocka_unit_test(memory__is_zero_to_its_end),
		cmocka_unit_test(common__allocated_under_writes),
		cmocka_unit_test(common__allocated_under_a_long_read),
		cmocka_unit_test(free__under_a_transfer),
		cmocka_unit_test(keys__end_with_their_host),
		cmocka_unit_test(limit__of_each_host),
	};

	if (getenv("DXP_TEST_WORKERS") && !rv32_clang_there()) {
		printf("skipped: engine rv32 finds no clang\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
