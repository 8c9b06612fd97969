/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the NIC instructions of kernels (dxp/rv32.h) on a window: posts, completions, values, and
 * 64-bit loads that must not tear. */
#include "test/unit/engine_rv32_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#include <dxp/device.h>

#include "base/rng.h"
#include "nic/nic.h"

static struct dxp_window *window;

static const char source[] =
	"#include <dxp/rv32.h>\n"
	"kernel void put(global struct dxp_window *nic, global uint *p, struct dxp_target to) {\n"
	"	dxp_insn_peer_set(&to, 2);\n"
	"	dxp_insn_keys_set(0x11111111, 0x100000000, 0x22222222);\n"
	"	dxp_insn_flags_set(DXP_FLAG_NOTIFY);\n"
	"	dxp_insn_remote_set(0x300000040);\n"
	"	dxp_insn_imm_set(0x123456789abcdef0);\n"
	"	dxp_insn_context_set(0x8000000000000000 | get_global_id(0));\n"
	"	p[get_global_id(0)] = dxp_insn_put(p + 64, 128); }\n"
	"kernel void cfg(global struct dxp_window *nic, global uint *p) {\n"
	"	struct dxp_target own = {0};\n"
	"	dxp_insn_peer_set(&own, 0);\n"
	"	dxp_insn_keys_set(7, 0, 0);\n"
	"	dxp_insn_remote_set(9 * 4);\n"
	"	p[0] = dxp_insn_cfg_read(p + 4, 8);\n"
	"	p[5] = 0xabcd; p[1] = dxp_insn_cfg_write(p + 5, 4); }\n"
	"kernel void take(global struct dxp_window *nic, global uint *p) {\n"
	"	p[0] = dxp_insn_sent_dequeue(); p[1] = dxp_insn_context(); p[2] = "
	"dxp_insn_context() "
	">> "
	"32;\n"
	"	p[3] = dxp_insn_value(); p[4] = dxp_insn_sent_dequeue(); p[5] = dxp_insn_error();\n"
	"	p[6] = dxp_insn_total(); p[7] = dxp_insn_total() >> 32;\n"
	"	p[8] = dxp_insn_total_wait(1, 5); p[9] = dxp_insn_total_wait(1ul << 40, 5);\n"
	"	p[10] = DXP_INSN_GET(69); }\n"
	"kernel void overrun(global struct dxp_window *nic, global uint *p) {\n"
	"	struct dxp_target own = {0};\n"
	"	struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 0, &own, 0);\n"
	"	for (uint i = 0; i < 40; i++) {\n"
	"		dxp_head_store(dxp_slot(nic, i), &head);\n"
	"		dxp_ring(nic, i); }\n"
	"	p[0] = dxp_error(nic); }\n"
	"kernel void overran(global struct dxp_window *nic, global uint *p) {\n"
	"	struct dxp_target own = {0};\n"
	"	uint index; int status;\n"
	"	dxp_insn_peer_set(&own, 0);\n"
	"	p[1] = dxp_insn_error(); p[2] = dxp_insn_nap(p, 4);\n"
	"	p[3] = dxp_insn_sent_wait(&status, 5); p[4] = dxp_claim(nic, &index); }\n"
	"kernel void chain(global struct dxp_window *nic, global uint *p, uint key) {\n"
	"	struct dxp_target self = dxp_self(nic, 1);\n"
	"	struct dxp_descriptor head = dxp_head(DXP_OP_PUT, 1, &self, 0);\n"
	"	struct dxp_entry at = {256, 0, key};\n"
	"	global struct dxp_chain *c = (global struct dxp_chain *)(p + 64);\n"
	"	global struct dxp_entry *e = (global struct dxp_entry *)(c + 1);\n"
	"	dxp_chain_store(c, &head, 128, 1);\n"
	"	for (uint i = 0; i < 128; i++) {\n"
	"		p[640 + i] = 1000 + i;\n"
	"		e[i].offset = 2560 + 4 * (127 - i); e[i].bytes = 4; e[i].key = key; }\n"
	"	e[128].offset = 3072; e[128].bytes = 512; e[128].key = key;\n"
	"	at.bytes = dxp_chain_bytes(128, 1);\n"
	"	p[0] = dxp_post_reference(nic, 1, &at, 5); }\n"
	"kernel void none(global uint *p) {\n"
	"	p[0] = dxp_insn_nap(p, 4); p[1] = dxp_insn_sent_dequeue(); }\n"
	"kernel void halves(global struct dxp_window *nic, global uint *p) {\n"
	"	ulong last = 0; uint wrong = 0;\n"
	"	for (uint i = 0; i < 20000; i++) {\n"
	"		ulong now = dxp_load_acquire64(&nic->total_bytes);\n"
	"		wrong += now < last; last = now; }\n"
	"	p[get_global_id(0)] = wrong; }\n";

static struct engine_program *program;

static struct engine_launch launch(const char *kernel, uint64_t items)
{
	struct engine_launch l = rig_launch(program, kernel, items, items);

	l.argument_count = 2;
	l.arguments[0] = (struct engine_argument){
		.kind = COMMAND_ARG_NIC, .memory = window, .memory_bytes = sizeof(*window)};
	l.arguments[1] = rig_buffer(4096, 4096);
	return l;
}

static uint32_t result(uint32_t i)
{
	return rig_word(1024 + i);
}

static int setup(void **state)
{
	memset(window, 0, sizeof(*window));
	memset(memory, 0, 8192);
	return 0;
}

/* The ring holds 32 of the 33 descriptors, so the last post returns EAGAIN. */
static void dxp_insn_put__descriptors(void **state)
{
	const struct dxp_target to = {.node = 5, .function = 3, .qp = 1, .magic = 0x55667788};
	struct engine_launch l = launch("put", 33);

	l.argument_count = 3;
	l.arguments[2] = rig_value(&to, sizeof(to));
	rig_good(&l);
	assert_int_equal(window->producer, DXP_DOORBELLS);
	for (uint32_t i = 0; i < DXP_DOORBELLS; i++) {
		const struct dxp_slot *s = &window->slots[i];
		struct dxp_entry entries[2];
		memcpy(entries, s->body, sizeof(entries));
		assert_int_equal(result(i), 0);
		assert_int_equal(s->head.lap, 1);
		assert_int_equal(s->head.op, DXP_OP_PUT);
		assert_int_equal(s->head.flags, DXP_FLAG_NOTIFY);
		assert_int_equal(s->head.qp, 2);
		assert_int_equal(s->head.dst_node, 5);
		assert_int_equal(s->head.dst_function, 3);
		assert_int_equal(s->head.dst_qp, 1);
		assert_int_equal(s->head.dst_magic, 0x55667788);
		assert_true(s->head.context == (0x8000000000000000 | i));
		assert_true(s->head.imm == 0x123456789abcdef0);
		assert_int_equal(s->head.src_count, 1);
		assert_int_equal(s->head.dst_count, 1);
		assert_true(entries[0].offset == 0x100000100 && entries[0].bytes == 128);
		assert_true(entries[0].key == 0x11111111 && entries[1].key == 0x22222222);
		assert_true(entries[1].offset == 0x300000040 && entries[1].bytes == 128);
	}
	assert_int_equal((int32_t)result(32), DXP_EAGAIN);
}

static void dxp_insn_cfg__descriptors(void **state)
{
	struct engine_launch l = launch("cfg", 1);
	struct dxp_entry entries[2];
	uint32_t data;

	rig_good(&l);
	assert_int_equal(result(0), 0);
	assert_int_equal(result(1), 0);
	const struct dxp_slot *read = &window->slots[0], *write = &window->slots[1];
	memcpy(entries, read->body, sizeof(entries));
	assert_int_equal(read->head.op, DXP_OP_CFG_READ);
	assert_int_equal(read->head.dst_node, 0);
	/* The source entry of a CFG read names registers of the peer, as that of a GET names
	 * bytes. */
	assert_true(entries[0].offset == 36 && entries[0].bytes == 8);
	assert_true(entries[1].offset == 16 && entries[1].bytes == 8 && entries[1].key == 7);
	assert_int_equal(write->head.op, DXP_OP_CFG_WRITE);
	assert_int_equal(write->head.flags, DXP_FLAG_INLINE);
	assert_int_equal(write->head.inline_bytes, 4);
	memcpy(&data, write->head.data, sizeof(data));
	assert_int_equal(data, 0xabcd);
}

static void dxp_insn_sent_dequeue__completion(void **state)
{
	struct engine_launch l = launch("take", 1);

	window->sent[0] = (struct dxp_nic_event){.context = 0x5000000006,
						 .imm = 77,
						 .type = DXP_EVENT_SENT,
						 .status = DXP_EACCESS,
						 .lap = 1};
	window->total_bytes = 0x900000008;
	window->node = 12;
	rig_good(&l);
	assert_int_equal((int32_t)result(0), DXP_EACCESS + 1);
	assert_int_equal(result(1), 6);
	assert_int_equal(result(2), 0x50);
	assert_int_equal(result(3), 77);
	assert_int_equal(result(4), 0);
	assert_int_equal(result(5), 0);
	assert_int_equal(result(6), 8);
	assert_int_equal(result(7), 9);
	assert_int_equal(result(8), 0);
	assert_int_equal((int32_t)result(9), DXP_ETIMEDOUT);
	assert_int_equal(result(10), 12);
	assert_int_equal(window->sent_consumer, 1);
}

static void dxp_insn__without_nic(void **state)
{
	struct engine_launch l = rig_launch(program, "none", 1, 1);

	l.arguments[0] = rig_buffer(4096, 4096);
	rig_good(&l);
	assert_int_equal((int32_t)result(0), DXP_EUNSUPPORTED);
	assert_int_equal((int32_t)result(1), DXP_EUNSUPPORTED);
}

/* ---- overrun (C-15) ---- */

static uint64_t token(void *context, uint32_t id)
{
	return id;
}

static struct nic *nic_make(struct rng *secrets)
{
	const struct nic_options o = {.node = 1,
				      .incarnation = 1,
				      .entropy = rng_entropy_rng,
				      .entropy_context = secrets,
				      .token = token};
	struct nic *nic;

	assert_int_equal(nic_create(&o, &nic), DXP_OK);
	assert_int_equal(nic_function_open(nic, 0, window), DXP_OK);
	return nic;
}

/* After 40 doorbells without a check for space, all NIC functions return EOVERRUN. */
static void dxp_insn__overrun(void **state)
{
	struct rng secrets = {7};
	struct engine_launch before = launch("overrun", 1), after = launch("overran", 1);
	struct nic *nic = nic_make(&secrets);

	rig_good(&before);
	assert_int_equal(result(0), DXP_OK);
	assert_int_equal(nic_doorbells(nic, 1), 0);
	rig_good(&after);
	nic_destroy(nic);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal((int32_t)result(i), DXP_EOVERRUN);
}

/* ---- descriptors by reference (C-14) ---- */

/* The list is longer than a descriptor, so it is posted by its address. */
static void dxp_post_reference__long_list(void **state)
{
	struct rng secrets = {7};
	struct engine_launch l = launch("chain", 1);
	struct nic *nic = nic_make(&secrets);
	struct dxp_nic_event event;
	uint32_t key;

	assert_int_equal(nic_region_register(nic, 0, memory + 4096, 4096, NIC_REMOTE_WRITE, &key),
			 DXP_OK);
	l.argument_count = 3;
	l.arguments[2] = rig_value(&key, sizeof(key));
	rig_good(&l);
	assert_int_equal(result(0), DXP_OK);
	for (uint64_t now_ns = 1; !dxp_sent_dequeue(window, &event); now_ns++) {
		assert_true(now_ns < 1000);
		nic_doorbells(nic, now_ns);
	}
	nic_destroy(nic);
	assert_int_equal(event.status, DXP_OK);
	assert_int_equal(event.context, 5);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(result(768 + i), 1000 + 127 - i);
}

/* ---- 64-bit loads ---- */

static atomic_bool counting;

/* Stores near growing multiples of 2^32 show torn loads. They stop before the value wraps, as a
 * slow kernel may read for longer. */
static void *count_main(void *context)
{
	for (uint64_t high = 1; atomic_load(&counting) && high < UINT32_MAX; high++) {
		dxp_store_release64(&window->total_bytes, (high << 32) - 1);
		dxp_store_release64(&window->total_bytes, high << 32);
	}
	return NULL;
}

static void dxp_load_acquire64__whole(void **state)
{
	struct engine_launch l = launch("halves", 32);
	pthread_t thread;

	atomic_store(&counting, true);
	assert_int_equal(pthread_create(&thread, NULL, count_main, NULL), 0);
	int status = rig_run(&l);
	atomic_store(&counting, false);
	pthread_join(thread, NULL);
	assert_int_equal(status, DXP_OK);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(result(i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(dxp_insn_put__descriptors, setup),
		cmocka_unit_test_setup(dxp_insn_cfg__descriptors, setup),
		cmocka_unit_test_setup(dxp_insn__overrun, setup),
		cmocka_unit_test_setup(dxp_post_reference__long_list, setup),
		cmocka_unit_test_setup(dxp_insn_sent_dequeue__completion, setup),
		cmocka_unit_test_setup(dxp_insn__without_nic, setup),
		cmocka_unit_test_setup(dxp_load_acquire64__whole, setup),
	};
	int status = rig_begin("rv32");

	if (status != 0)
		return status;
	window = aligned_alloc(4096, (sizeof(*window) + 4095) / 4096 * 4096);
	if (!window)
		return 1;
	program = rig_program(source);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	engine_release(engine, program);
	free(window);
	rig_end();
	return status;
}
