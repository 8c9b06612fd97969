/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the NIC instructions: descriptors from communication registers, completions, values of the
 * NIC. */
#include "rv32/nic.h"
#include "test/unit/rv32_rig.h"

#define POSTS_MAX 64

struct posted {
	struct dxp_descriptor head;
	struct dxp_entry src, dst;
	uint8_t data[DXP_NAP_BYTES];
};

struct fake_nic {
	struct posted posts[POSTS_MAX];
	int count, capacity, completions;
};

static int fake_post(void *context, const struct dxp_descriptor *head, const struct dxp_entry *src,
		     const struct dxp_entry *dst, const void *data)
{
	struct fake_nic *f = context;
	struct posted *p = &f->posts[f->count];

	if (f->count == f->capacity)
		return DXP_EAGAIN;
	p->head = *head;
	if (head->src_count)
		p->src = *src;
	if (head->dst_count)
		p->dst = *dst;
	if (head->flags & DXP_FLAG_INLINE)
		memcpy(p->data, data, head->inline_bytes);
	f->count++;
	return DXP_OK;
}

static int fake_dequeue(void *context, struct dxp_nic_event *event)
{
	struct fake_nic *f = context;

	if (f->completions == 0)
		return 0;
	memset(event, 0, sizeof(*event));
	event->context = 0x1122334455667788u + (unsigned)f->completions;
	event->imm = 0xaabbccdd00000000u;
	event->status = f->completions % 2 ? DXP_OK : DXP_EACCESS;
	f->completions--;
	return 1;
}

static uint64_t fake_value(void *context, enum rv32_nic_value which)
{
	return which == RV32_NIC_TOTAL_LOW ? 0x500000007u : 1000u + which;
}

static void set(struct rig *g, enum rv32_nic_register n, uint32_t value)
{
	emit_li(g, T0, value);
	emit(g, RV32_DXP_SET, 0, T0, 0, (int32_t)n);
}

static void set_peer(struct rig *g)
{
	set(g, RV32_NIC_NODE, 7);
	set(g, RV32_NIC_QUEUE, 0x0203);
	set(g, RV32_NIC_MAGIC, 0xfeed);
	set(g, RV32_NIC_LOCAL_KEY, 11);
	set(g, RV32_NIC_REMOTE_KEY, 22);
	set(g, RV32_NIC_REMOTE_OFFSET, 0x1000);
	set(g, RV32_NIC_REMOTE_OFFSET + 1, 1);
	set(g, RV32_NIC_FLAGS, 1u << 8 | DXP_FLAG_NOTIFY);
	set(g, RV32_NIC_IMM, 0x55);
	set(g, RV32_NIC_CONTEXT + 1, 0x66);
	set(g, RV32_NIC_LOCAL_BASE, 0x800);
	set(g, RV32_NIC_TRAILER, 0x77);
}

/* The buffer then has each work-item's status. */
static void run_post(struct rig *g, struct fake_nic *f, unsigned op, uint32_t address,
		     uint32_t bytes, uint32_t items)
{
	static struct rv32_nic nic = {
		.post = fake_post, .dequeue = fake_dequeue, .value = fake_value};

	rig_restart(g);
	g->count = 0;
	f->count = 0;
	nic.context = f;
	g->launch.nic = f->capacity < 0 ? NULL : &nic;
	g->launch.local[0] = items;
	for (size_t i = 0; i < RIG_BYTES; i++)
		g->buffer[i] = (uint8_t)i;
	set_peer(g);
	emit_li(g, A1, address);
	emit_li(g, A2, bytes);
	emit(g, RV32_DXP_POST, A0, A1, A2, (int32_t)op);
	emit_csr(g, T0, RV32_CSR_LANE);
	emit(g, RV32_SLLI, T0, T0, 0, 2);
	emit_li(g, T1, RIG_BUFFER);
	emit(g, RV32_ADD, T0, T0, T1, 0);
	emit(g, RV32_SW, 0, T0, A0, 0);
	emit_ret(g);
	rig_run_ok(g);
}

static void rv32_nic__put_and_get(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.capacity = POSTS_MAX};
	const struct posted *p = &f.posts[0];

	run_post(g, &f, DXP_OP_PUT, RIG_BUFFER + 100, 50, 1);
	assert_int_equal(*rig_word(g, 0), 0);
	assert_int_equal(f.count, 1);
	assert_int_equal(p->head.op, DXP_OP_PUT);
	assert_int_equal(p->head.flags, DXP_FLAG_NOTIFY);
	assert_int_equal(p->head.qp, 1);
	assert_int_equal(p->head.dst_node, 7);
	assert_int_equal(p->head.dst_function, 2);
	assert_int_equal(p->head.dst_qp, 3);
	assert_int_equal(p->head.dst_magic, 0xfeed);
	assert_int_equal(p->head.imm, 0x55);
	assert_int_equal(p->head.context, 0x6600000000);
	assert_int_equal(p->head.trailer, 0x77);
	assert_int_equal(p->head.src_count + 10 * p->head.dst_count, 11);
	assert_int_equal(p->src.offset, 0x800 + 100);
	assert_int_equal(p->src.bytes, 50);
	assert_int_equal(p->src.key, 11);
	assert_int_equal(p->dst.offset, 0x100001000);
	assert_int_equal(p->dst.bytes, 50);
	assert_int_equal(p->dst.key, 22);
	run_post(g, &f, DXP_OP_GET, RIG_BUFFER + 100, 50, 1);
	assert_int_equal(p->src.key, 22);
	assert_int_equal(p->dst.key, 11);
	assert_int_equal(p->dst.offset, 0x800 + 100);
	rig_destroy(g);
}

static void rv32_nic__inline_data(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.capacity = POSTS_MAX};
	const struct posted *p = &f.posts[0];

	run_post(g, &f, DXP_OP_NAP, RIG_BUFFER + 513, 40, 1);
	assert_int_equal(p->head.flags, DXP_FLAG_NOTIFY | DXP_FLAG_INLINE);
	assert_int_equal(p->head.inline_bytes, 40);
	assert_int_equal(p->head.src_count + p->head.dst_count, 0);
	for (uint8_t i = 0; i < 40; i++)
		assert_int_equal(p->data[i], 1 + i);
	run_post(g, &f, DXP_OP_CFG_WRITE, RIG_BUFFER + 512, 8, 1);
	assert_int_equal(p->head.src_count + 10 * p->head.dst_count, 10);
	assert_int_equal(p->dst.bytes, 8);
	run_post(g, &f, DXP_OP_NAP, RIG_BUFFER, DXP_NAP_BYTES + 1, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_EINVAL);
	assert_int_equal(f.count, 0);
	rig_destroy(g);
}

static void rv32_nic__atomics(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.capacity = POSTS_MAX};
	const struct posted *p = &f.posts[0];

	run_post(g, &f, DXP_OP_FETCH_ADD, RIG_BUFFER + 64, 8, 1);
	assert_int_equal(p->head.src_count + 10 * p->head.dst_count, 11);
	assert_int_equal(p->src.key, 11);
	assert_int_equal(p->dst.bytes, 8);
	run_post(g, &f, DXP_OP_COMPARE_SWAP, 0, 0, 1);
	assert_int_equal(p->head.src_count + 10 * p->head.dst_count, 10);
	assert_int_equal(p->dst.bytes, 8);
	rig_destroy(g);
}

static void rv32_nic__full(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.capacity = 20};

	run_post(g, &f, DXP_OP_PUT, RIG_BUFFER, 4, 32);
	assert_int_equal(f.count, 20);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(*rig_word(g, i), i < 20 ? 0 : (uint32_t)DXP_EAGAIN);
	rig_destroy(g);
}

static void rv32_nic__rejected(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.capacity = POSTS_MAX}, none = {.capacity = -1};

	run_post(g, &f, DXP_OP_PUT, RIG_BUFFER + RIG_BYTES - 4, 8, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_ERANGE);
	run_post(g, &f, DXP_OP_PUT, 0x50000000, 8, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_ERANGE);
	run_post(g, &f, DXP_OP_NAP, 0x50000000, 8, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_ERANGE);
	run_post(g, &f, 6, RIG_BUFFER, 8, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_EINVAL);
	assert_int_equal(f.count, 0);
	run_post(g, &none, DXP_OP_PUT, RIG_BUFFER, 8, 1);
	assert_int_equal(*rig_word(g, 0), (uint32_t)DXP_EUNSUPPORTED);
	rig_destroy(g);
}

static void rv32_nic__dequeue_and_get(void **state)
{
	struct rig *g = rig_create();
	static struct fake_nic f = {.completions = 2};
	const struct rv32_nic nic = {&f, fake_post, fake_dequeue, fake_value};
	static const int32_t reads[] = {RV32_NIC_CONTEXT,    RV32_NIC_CONTEXT + 1,
					RV32_NIC_IMM + 1,    RV32_NIC_TOTAL_LOW,
					RV32_NIC_TOTAL_HIGH, RV32_NIC_OWN_NODE};
	static const uint32_t wants[] = {0x55667789, 0x11223344, 0xaabbccdd, 7, 5, 1069};

	g->launch.nic = &nic;
	g->launch.local[0] = 1;
	emit_li(g, S0, RIG_BUFFER);
	for (int32_t i = 0; i < 3; i++) {
		emit(g, RV32_DXP_DEQUEUE, A0, 0, 0, 0);
		emit(g, RV32_SW, 0, S0, A0, 4 * i);
	}
	for (size_t i = 0; i < ARRAY_COUNT(reads); i++) {
		emit(g, RV32_DXP_GET, A0, 0, 0, reads[i]);
		emit(g, RV32_SW, 0, S0, A0, (int32_t)(16 + 4 * i));
	}
	emit_ret(g);
	rig_run_ok(g);
	assert_int_equal(*rig_word(g, 0), (uint32_t)(DXP_EACCESS + 1));
	assert_int_equal(*rig_word(g, 1), 1);
	assert_int_equal(*rig_word(g, 2), 0);
	for (size_t i = 0; i < ARRAY_COUNT(wants); i++)
		assert_int_equal(*rig_word(g, 4 + i), wants[i]);
	rig_destroy(g);
}

/* Completes only after another warp has stored 1 to a word. */
struct late_nic {
	const uint32_t *word;
	int polls;
};

static int late_dequeue(void *context, struct dxp_nic_event *event)
{
	struct late_nic *late = context;

	memset(event, 0, sizeof(*event));
	late->polls++;
	return *(const volatile uint32_t *)late->word == 1;
}

/* A waiting warp lets the other run at once, so each lane's second poll finds the completion. */
static void rv32_nic__dequeue_yields(void **state)
{
	struct rig *g = rig_create();
	struct late_nic late = {.word = rig_word(g, 0)};
	const struct rv32_nic nic = {&late, fake_post, late_dequeue, fake_value};

	g->launch.nic = &nic;
	g->launch.local[0] = 64;
	emit_csr(g, T0, RV32_CSR_LOCAL_INDEX);
	emit(g, RV32_ADDI, T1, ZERO, 0, 32);
	emit(g, RV32_BGEU, 0, T0, T1, 16); /* to the store, in the second warp */
	emit(g, RV32_DXP_DEQUEUE, A0, 0, 0, 0);
	emit(g, RV32_BEQ, 0, A0, ZERO, -4);
	emit_ret(g);
	emit_li(g, S0, RIG_BUFFER);
	emit(g, RV32_ADDI, A0, ZERO, 0, 1);
	emit(g, RV32_SW, 0, S0, A0, 0);
	emit_ret(g);
	rig_run_ok(g);
	assert_int_equal(late.polls, 2 * RV32_LANES);
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_nic__put_and_get),
		cmocka_unit_test(rv32_nic__inline_data),
		cmocka_unit_test(rv32_nic__atomics),
		cmocka_unit_test(rv32_nic__full),
		cmocka_unit_test(rv32_nic__rejected),
		cmocka_unit_test(rv32_nic__dequeue_and_get),
		cmocka_unit_test(rv32_nic__dequeue_yields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
