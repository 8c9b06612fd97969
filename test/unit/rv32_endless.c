/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that never end: the core reads the stop flag and the limit of instructions soon, whatever
 * the kernel does. Without a limit, a test would not end. */
#include "test/unit/rv32_rig.h"

#define LIMIT 100000
/* lane-instructions between two looks: 4096 branches of 256 steps, and each lane through the code
 * once, 32 lanes each */
#define LOOK (32u * (4096 * 256 + 32 * RIG_WORDS))

static void endless__loops(void **state)
{
	struct rig *g = rig_create();
	atomic_uint stop = 1;

	emit(g, RV32_JAL, ZERO, 0, 0, 0);
	g->launch.instructions_max = 1000000;
	assert_int_equal(rig_run(g), DXP_EDEVICE);
	assert_int_equal(g->trap.kind, RV32_TRAP_BUDGET);
	assert_in_range(g->counters.instructions, 1000000, 1000000 + 32 * 4096);
	/* also stops a program that pauses */
	rig_restart(g);
	emit(g, RV32_PAUSE, 0, 0, 0, 0);
	emit(g, RV32_JAL, ZERO, 0, 0, -4);
	g->launch.instructions_max = 0;
	g->launch.stop = &stop;
	assert_int_equal(rig_run(g), DXP_EDEVICE);
	assert_int_equal(g->trap.kind, RV32_TRAP_STOPPED);
	rig_destroy(g);
}

/* The lanes of all warps wait at the barrier whenever the core looks. */
static void endless__barriers(void **state)
{
	static const uint32_t sizes[] = {5, 32, 40};
	atomic_uint stop = 1;

	for (uint32_t i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		struct rig *g = rig_create();

		emit_barrier(g);
		emit(g, RV32_JAL, ZERO, 0, 0, -4);
		g->launch.local[0] = sizes[i / 2];
		g->launch.instructions_max = i % 2 ? 0 : 100000;
		g->launch.stop = i % 2 ? &stop : NULL;
		assert_int_equal(rig_run(g), DXP_EDEVICE);
		assert_int_equal(g->trap.kind, i % 2 ? RV32_TRAP_STOPPED : RV32_TRAP_BUDGET);
		rig_destroy(g);
	}
}

/* Ends at the limit of instructions, and by the stop flag. */
static void stops(struct rig *g)
{
	atomic_uint stop = 1;

	for (unsigned i = 0; i < 2; i++) {
		g->launch.instructions_max = i ? 0 : LIMIT;
		g->launch.stop = i ? &stop : NULL;
		assert_int_equal(rig_run(g), DXP_EDEVICE);
		assert_int_equal(g->trap.kind, i ? RV32_TRAP_STOPPED : RV32_TRAP_BUDGET);
		assert_in_range(g->counters.instructions, 0, LIMIT + LOOK);
	}
}

/* Calculates in T0 the address of step `at` + the lane's number modulo `targets`. */
static void emit_targets(struct rig *g, uint32_t at, int32_t targets)
{
	emit_csr(g, T0, RV32_CSR_LANE);
	emit(g, RV32_ANDI, T0, T0, 0, targets - 1);
	emit(g, RV32_SLLI, T0, T0, 0, 2);
	emit_li(g, T1, RV32_CODE_BASE + 4 * at);
	emit(g, RV32_ADD, T0, T0, T1, 0);
}

/* Each indirect jump goes back to several steps, whose lanes meet again at the jump. */
static void endless__indirect_jumps(void **state)
{
	static const int32_t targets[] = {2, 8, 32};

	for (size_t i = 0; i < ARRAY_COUNT(targets); i++) {
		struct rig *g = rig_create();
		const uint32_t first = 6;

		emit_targets(g, first, targets[i]);
		assert_int_equal(g->count, first);
		for (int32_t k = 1; k < targets[i]; k++)
			emit(g, RV32_ADDI, S0, S0, 0, 1);
		emit(g, RV32_JALR, ZERO, T0, 0, 0);
		stops(g);
		rig_destroy(g);
	}
}

/* The odd lanes branch back once from each of many branches, while the even lanes wait there. */
static void endless__partial_branches(void **state)
{
	struct rig *g = rig_create();

	emit_csr(g, T0, RV32_CSR_LANE);
	emit(g, RV32_ANDI, T0, T0, 0, 1);
	emit(g, RV32_ADDI, S0, ZERO, 0, 0);
	emit(g, RV32_BNE, 0, T0, ZERO, 8);
	emit(g, RV32_ADDI, S0, ZERO, 0, 2000);
	const size_t top = g->count;
	emit(g, RV32_ADDI, S0, S0, 0, 1);
	for (int32_t i = 1; i < 450; i++) {
		emit(g, RV32_ADDI, T2, ZERO, 0, i);
		emit(g, RV32_BEQ, 0, T2, S0, -4 * (int32_t)(g->count - top));
	}
	emit(g, RV32_JAL, ZERO, 0, 0, -4 * (int32_t)g->count);
	stops(g);
	rig_destroy(g);
}

/* A loop as long as the code runs once or twice between two looks. */
static void endless__long_loops(void **state)
{
	for (unsigned indirect = 0; indirect < 2; indirect++) {
		struct rig *g = rig_create();

		emit_li(g, T0, RV32_CODE_BASE);
		for (unsigned i = 0; i < RIG_WORDS - 64; i++)
			emit(g, RV32_ADDI, S0, S0, 0, 1);
		if (indirect)
			emit(g, RV32_JALR, ZERO, T0, 0, 0);
		else
			emit(g, RV32_JAL, ZERO, 0, 0, -4 * (int32_t)g->count);
		stops(g);
		rig_destroy(g);
	}
}

struct caller {
	atomic_uint stop; /* set by the second call */
	unsigned calls;
};

static int call(void *context, struct rv32_item *item)
{
	struct caller *c = context;

	if (++c->calls == 2)
		atomic_store(&c->stop, 1);
	return DXP_OK;
}

/* A call may take long, so the core looks after each. */
static void endless__calls_outside(void **state)
{
	struct rig *g = rig_create();
	struct caller c = {.calls = 0};

	emit(g, RV32_ECALL, 0, 0, 0, 0);
	emit_ret(g);
	g->launch.ecall = call;
	g->launch.ecall_context = &c;
	g->launch.stop = &c.stop;
	assert_int_equal(rig_run(g), DXP_EDEVICE);
	assert_int_equal(g->trap.kind, RV32_TRAP_STOPPED);
	assert_int_equal(g->trap.item[0], 1);
	assert_int_equal(c.calls, 2);
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endless__loops),
		cmocka_unit_test(endless__barriers),
		cmocka_unit_test(endless__indirect_jumps),
		cmocka_unit_test(endless__partial_branches),
		cmocka_unit_test(endless__long_loops),
		cmocka_unit_test(endless__calls_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
