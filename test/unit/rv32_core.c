/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the rv32 core: work-groups, diverging lanes, barriers, limits, traps. */
#include "test/unit/rv32_rig.h"

/* d = buffer + 4 * CSR (control and status register). */
static void emit_slot(struct rig *g, unsigned d, unsigned csr)
{
	emit_csr(g, d, csr);
	emit(g, RV32_SLLI, d, d, 0, 2);
	emit_li(g, T6, RIG_BUFFER);
	emit(g, RV32_ADD, d, d, T6, 0);
}

/* No add of 64 lanes in two warps is lost. */
static void rv32_core__spin_lock(void **state)
{
	struct rig *g = rig_create();
	uint64_t counts[2];

	for (int run = 0; run < 2; run++) {
		rig_restart(g);
		g->launch.local[0] = 64;
		emit_li(g, S0, RIG_BUFFER);
		emit_li(g, A0, 1);
		emit(g, RV32_LR_W, A1, S0, 0, 0);
		emit(g, RV32_BNE, 0, A1, ZERO, -4);
		emit(g, RV32_SC_W, A1, S0, A0, 0);
		emit(g, RV32_BNE, 0, A1, ZERO, -12);
		emit(g, RV32_LW, A2, S0, 0, 4);
		emit(g, RV32_ADDI, A2, A2, 0, 1);
		emit(g, RV32_SW, 0, S0, A2, 4);
		emit(g, RV32_AMOSWAP_W, ZERO, S0, ZERO, 0);
		emit_ret(g);
		rig_run_ok(g);
		assert_int_equal(*rig_word(g, 0), 0);
		assert_int_equal(*rig_word(g, 1), 64);
		counts[run] = g->counters.instructions;
	}
	assert_int_equal(counts[0], counts[1]);
	rig_destroy(g);
}

static void rv32_core__flag_of_another_warp(void **state)
{
	struct rig *g = rig_create();

	g->launch.local[0] = 64;
	emit_li(g, S0, RIG_BUFFER);
	emit_csr(g, T0, RV32_CSR_LOCAL_INDEX);
	emit(g, RV32_ADDI, T1, ZERO, 0, 63);
	emit(g, RV32_BEQ, 0, T0, T1, 20);
	emit(g, RV32_LW, A0, S0, 0, 0);
	emit(g, RV32_BEQ, 0, A0, ZERO, -4);
	emit_ret(g);
	emit(g, RV32_ADDI, ZERO, ZERO, 0, 0);
	emit(g, RV32_SW, 0, S0, T1, 0);
	emit_ret(g);
	rig_run_ok(g);
	assert_int_equal(*rig_word(g, 0), 63);
	rig_destroy(g);
}

/* Every work-item reads its ids, with index spaces of one, two and three dimensions. A work-group
 * fills a warp or shares it with others. */
static void check_ids(struct rig *g, const uint32_t local[3], const uint32_t groups[3])
{
	const uint32_t items = local[0] * local[1] * local[2];
	const uint32_t row = local[0] * groups[0], plane = row * local[1] * groups[1];

	rig_restart(g);
	memcpy(g->launch.local, local, sizeof(g->launch.local));
	memcpy(g->launch.groups, groups, sizeof(g->launch.groups));
	/* word[x + row * y + plane * z] = local index + 1000 * group x */
	emit_csr(g, A0, RV32_CSR_GLOBAL_ID);
	emit_csr(g, A1, RV32_CSR_GLOBAL_ID + 1);
	emit_csr(g, A2, RV32_CSR_GLOBAL_ID + 2);
	emit_li(g, A3, row);
	emit(g, RV32_MUL, A1, A1, A3, 0);
	emit_li(g, A3, plane);
	emit(g, RV32_MUL, A2, A2, A3, 0);
	emit(g, RV32_ADD, A0, A0, A1, 0);
	emit(g, RV32_ADD, A0, A0, A2, 0);
	emit(g, RV32_SLLI, A0, A0, 0, 2);
	emit_li(g, A1, RIG_BUFFER);
	emit(g, RV32_ADD, A0, A0, A1, 0);
	emit_csr(g, A1, RV32_CSR_GROUP_ID);
	emit_li(g, A2, 1000);
	emit(g, RV32_MUL, A1, A1, A2, 0);
	emit_csr(g, A2, RV32_CSR_LOCAL_INDEX);
	emit(g, RV32_ADD, A1, A1, A2, 0);
	emit(g, RV32_SW, 0, A0, A1, 0);
	emit_ret(g);
	rig_run_ok(g);
	for (uint32_t i = 0; i < items * groups[0] * groups[1] * groups[2]; i++) {
		const uint32_t x = i % row, y = i % plane / row, z = i / plane;
		const uint32_t index =
			(z % local[2] * local[1] + y % local[1]) * local[0] + x % local[0];

		assert_int_equal(*rig_word(g, i), index + 1000 * (x / local[0]));
	}
	assert_int_equal(g->counters.groups, groups[0] * groups[1] * groups[2]);
}

static void rv32_core__ids(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	{
		check_ids(g, (uint32_t[]){32, 1, 1}, (uint32_t[]){4, 1, 1});
		check_ids(g, (uint32_t[]){1, 1, 1}, (uint32_t[]){77, 1, 1});
		check_ids(g, (uint32_t[]){5, 1, 1}, (uint32_t[]){7, 3, 1});
		check_ids(g, (uint32_t[]){3, 4, 5}, (uint32_t[]){2, 3, 2});
		check_ids(g, (uint32_t[]){1000, 1, 1}, (uint32_t[]){2, 1, 1});
		check_ids(g, (uint32_t[]){16, 16, 1}, (uint32_t[]){2, 2, 1});
	}
	rig_destroy(g);
}

/* Groups that share a warp have separate local memory. */
static void check_reduction(struct rig *g, uint32_t items, uint32_t groups)
{
	rig_restart(g);
	g->launch.local[0] = items;
	g->launch.groups[0] = groups;
	emit_li(g, S0, RV32_LOCAL_BASE);
	emit_csr(g, T0, RV32_CSR_LOCAL_ID);
	emit(g, RV32_SLLI, T1, T0, 0, 2);
	emit(g, RV32_ADD, T1, T1, S0, 0);
	emit_csr(g, A0, RV32_CSR_GLOBAL_ID);
	emit(g, RV32_SW, 0, T1, A0, 0);
	emit_li(g, A1, items / 2);
	/* loop */
	emit_barrier(g);
	emit(g, RV32_BGEU, 0, T0, A1, 28);
	emit(g, RV32_SLLI, A2, A1, 0, 2);
	emit(g, RV32_ADD, A2, A2, T1, 0);
	emit(g, RV32_LW, A3, A2, 0, 0);
	emit(g, RV32_LW, A4, T1, 0, 0);
	emit(g, RV32_ADD, A3, A3, A4, 0);
	emit(g, RV32_SW, 0, T1, A3, 0);
	emit(g, RV32_SRLI, A1, A1, 0, 1);
	emit(g, RV32_BNE, 0, A1, ZERO, -36);
	/* work-item 0 stores the sum; others skip five words of emit_slot() and two accesses */
	emit(g, RV32_BNE, 0, T0, ZERO, 32);
	emit_slot(g, A5, RV32_CSR_GROUP_ID);
	emit(g, RV32_LW, A4, S0, 0, 0);
	emit(g, RV32_SW, 0, A5, A4, 0);
	emit_ret(g);
	rig_run_ok(g);
	for (uint32_t i = 0; i < groups; i++)
		assert_int_equal(*rig_word(g, i), items * (items * i) + items * (items - 1) / 2);
}

static void rv32_core__reduction(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	{
		check_reduction(g, 2, 40);
		check_reduction(g, 8, 9);
		check_reduction(g, 32, 4);
		check_reduction(g, 256, 3);
		check_reduction(g, 1024, 2);
	}
	rig_destroy(g);
}

/* Two work-items return before a barrier: a trap. */
static void rv32_core__barrier_not_reached(void **state)
{
	struct rig *g = rig_create();

	for (uint32_t items = 8; items <= 64; items *= 8) {
		rig_restart(g);
		g->launch.local[0] = items;
		g->launch.groups[0] = 4;
		emit_csr(g, A0, RV32_CSR_GROUP_ID);
		emit(g, RV32_ADDI, A1, ZERO, 0, 2);
		emit(g, RV32_BNE, 0, A0, A1, 16);
		emit_csr(g, A0, RV32_CSR_LOCAL_ID);
		emit(g, RV32_BGEU, 0, A0, A1, 8);
		emit_ret(g);
		emit_barrier(g);
		emit_ret(g);
		assert_int_equal(rig_run(g), DXP_EDEVICE);
		assert_int_equal(g->trap.kind, RV32_TRAP_BARRIER);
		char want[128];
		snprintf(want, sizeof(want),
			 "kernel 'k', work-item (%u,0,0): waits at a barrier that 2 work-items "
			 "ended without reaching; at 0x00010018",
			 2 * items + 2);
		assert_string_equal(g->text, want);
	}
	rig_destroy(g);
}

/* Inside the buffer, across its end and behind it. Lanes 0 .. 4 use its start, so lane 5 fails
 * first. */
static void rv32_core__bounds(void **state)
{
	static const enum rv32_opcode codes[] = {RV32_LB, RV32_LHU, RV32_LW,
						 RV32_SB, RV32_SH,  RV32_SW};
	static const uint32_t widths[] = {1, 2, 4, 1, 2, 4};
	struct rig *g = rig_create();

	g->buffer_bytes = 1003;
	EACH_BUILD(g)
	for (size_t i = 0; i < ARRAY_COUNT(codes); i++) {
		for (uint32_t at = 990; at < 1010; at++) {
			const bool fits = at + widths[i] <= 1003;

			rig_restart(g);
			emit_csr(g, A0, RV32_CSR_LANE);
			emit(g, RV32_SLTI, A0, A0, 0, 5);
			emit_li(g, A1, at);
			emit_li(g, A2, RIG_BUFFER);
			emit(g, RV32_BNE, 0, A0, ZERO, 8);
			emit(g, RV32_ADD, A2, A2, A1, 0);
			emit(g, codes[i], i < 3 ? A3 : 0, A2, i < 3 ? 0 : A3, 0);
			emit_ret(g);
			assert_int_equal(rig_run(g), fits ? DXP_OK : DXP_EDEVICE);
			if (fits)
				continue;
			assert_int_equal(g->trap.kind, i < 3 ? RV32_TRAP_LOAD : RV32_TRAP_STORE);
			assert_int_equal(g->trap.address, RIG_BUFFER + at);
			assert_int_equal(g->trap.item[0], 5);
			assert_int_equal(g->trap.pc, RV32_CODE_BASE + 32);
		}
	}
	assert_string_equal(g->text,
			    "kernel 'k', work-item (5,0,0): stores 4 bytes at 0x100003f1, offset "
			    "1009 of argument 0 'buffer' (1003 bytes); at 0x00010020");
	rig_destroy(g);
}

/* Runs one instruction with A0 = value. Compares the trap's message from behind the name of the
 * work-item with `sentence`. */
static void check_trap(struct rig *g, uint32_t word, uint32_t value, const char *sentence)
{
	char want[256];

	rig_restart(g);
	emit_li(g, A0, value);
	g->words[g->count++] = word;
	emit_ret(g);
	assert_int_equal(rig_run(g), DXP_EDEVICE);
	snprintf(want, sizeof(want), "kernel 'k', work-item (0,0,0): %s; at 0x00010008", sentence);
	assert_string_equal(g->text, want);
}

static uint32_t word_of(enum rv32_opcode code, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm)
{
	return rv32_encode(&(struct rv32_op){.code = (uint8_t)code,
					     .rd = (uint8_t)rd,
					     .rs1 = (uint8_t)rs1,
					     .rs2 = (uint8_t)rs2,
					     .imm = imm});
}

static void rv32_core__traps(void **state)
{
	struct rig *g = rig_create();

	check_trap(g, 0x0400200b, 0, "instruction 0x0400200b is not of rv32imaf nor of dxp/rv32.h");
	check_trap(g, 0x00100073, 0, "executes ebreak");
	check_trap(g, word_of(RV32_LW, A1, ZERO, 0, 0), 0,
		   "loads 4 bytes at 0x00000000, outside all arguments");
	check_trap(g, word_of(RV32_LW, A1, A0, 0, 0), RV32_CODE_BASE,
		   "loads 4 bytes at 0x00010000, in the program's code (16 bytes), which a kernel "
		   "must not read");
	check_trap(g, word_of(RV32_SW, 0, A0, A1, 0), RV32_PRIVATE_END - 4100,
		   "stores 4 bytes at 0xfffeeffc, below private memory (4096 bytes): its stack is "
		   "full, raise private= of --engine rv32");
	check_trap(g, word_of(RV32_LW, A1, A0, 0, 0), RV32_PRIVATE_END - (8u << 20),
		   "loads 4 bytes at 0xff7f0000, below private memory (4096 bytes): its stack is "
		   "full, raise private= of --engine rv32");
	check_trap(g, word_of(RV32_JALR, ZERO, A0, 0, 0), 0x20000,
		   "jumps to 0x00020000, which is no instruction of the program");
	check_trap(g, word_of(RV32_JALR, ZERO, A0, 0, 0), RV32_CODE_BASE + 2,
		   "jumps to 0x00010002, which is no instruction of the program");
	check_trap(g, word_of(RV32_JAL, ZERO, 0, 0, -16), 0,
		   "jumps to 0x0000fff8, which is no instruction of the program");
	check_trap(g, word_of(RV32_BEQ, 0, ZERO, ZERO, 2), 0,
		   "jumps to 0x0001000a, which is no instruction of the program");
	check_trap(g, word_of(RV32_AMOADD_W, A1, A0, A2, 0), RIG_BUFFER + 2,
		   "atomic at 0x10000002, which is not a multiple of 4");
	check_trap(g, word_of(RV32_CSRRS, A1, ZERO, 0, 0x300), 0, "no access to CSR 0x300");
	check_trap(g, word_of(RV32_CSRRW, A1, A0, 0, RV32_CSR_LANE), 0, "no access to CSR 0xcd7");
	check_trap(g, 0x00000073, 0, "aborts: not supported by this peer or build");
	rig_destroy(g);
}

static void rv32_core__runs_off(void **state)
{
	struct rig *g = rig_create();

	emit(g, RV32_ADDI, A0, A0, 0, 1);
	assert_int_equal(rig_run(g), DXP_EDEVICE);
	assert_int_equal(g->trap.kind, RV32_TRAP_JUMP);
	assert_int_equal(g->trap.address, RV32_CODE_BASE + 4);
	rig_destroy(g);
}

/* The highest lane's store to a word remains; private words are separate. */
static void rv32_core__stores_in_lane_order(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	{
		rig_restart(g);
		emit_csr(g, A0, RV32_CSR_LANE);
		emit_li(g, S0, RIG_BUFFER);
		emit(g, RV32_SW, 0, S0, A0, 0);
		emit(g, RV32_SW, 0, SP, A0, -4);
		emit(g, RV32_SB, 0, SP, A0, -8);
		emit(g, RV32_LW, A1, SP, 0, -4);
		emit(g, RV32_LBU, A2, SP, 0, -8);
		emit(g, RV32_ADD, A1, A1, A2, 0);
		emit_slot(g, A3, RV32_CSR_LANE);
		emit(g, RV32_SW, 0, A3, A1, 4);
		emit_ret(g);
		rig_run_ok(g);
		assert_int_equal(*rig_word(g, 0), 31);
		for (uint32_t i = 0; i < RV32_LANES; i++)
			assert_int_equal(*rig_word(g, 1 + i), 2 * i);
	}
	rig_destroy(g);
}

/* No values of an earlier launch are left. */
static void rv32_core__private_is_fresh(void **state)
{
	struct rig *g = rig_create();

	for (int run = 0; run < 2; run++) {
		rig_restart(g);
		emit_li(g, S0, RIG_BUFFER);
		emit(g, RV32_LW, A0, SP, 0, -64);
		emit(g, RV32_SW, 0, S0, A0, 0);
		emit(g, RV32_SW, 0, SP, S0, -64);
		emit_ret(g);
		rig_run_ok(g);
		assert_int_equal(*rig_word(g, 0), 0);
	}
	rig_destroy(g);
}

/* Lanes that call different functions execute together again behind the calls. */
static void rv32_core__indirect_calls(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	{
		rig_restart(g);
		emit(g, RV32_ADDI, S1, RA, 0, 0);
		emit_csr(g, A0, RV32_CSR_LANE);
		emit(g, RV32_ANDI, A1, A0, 0, 3);
		emit(g, RV32_SLLI, A1, A1, 0, 3);
		emit(g, RV32_AUIPC, A2, 0, 0, 0);
		emit(g, RV32_ADD, A2, A2, A1, 0);
		emit(g, RV32_JALR, RA, A2, 0, (14 - 4) * 4);
		emit_slot(g, A3, RV32_CSR_LANE);
		emit(g, RV32_SW, 0, A3, A4, 0);
		emit(g, RV32_JALR, ZERO, S1, 0, 0);
		assert_int_equal(g->count, 14);
		for (int32_t i = 0; i < 4; i++) {
			emit(g, RV32_ADDI, A4, ZERO, 0, 100 + i);
			emit_ret(g);
		}
		rig_run_ok(g);
		for (uint32_t i = 0; i < RV32_LANES; i++)
			assert_int_equal(*rig_word(g, i), 100 + i % 4);
	}
	rig_destroy(g);
}

static void record(void *context, uint32_t warp, uint32_t pc, uint32_t mask,
		   const uint32_t (*registers)[RV32_LANES])
{
	uint32_t *masks = context;

	assert_int_equal(warp, 0);
	assert_int_equal(registers[ZERO][0], 0);
	masks[(pc - RV32_CODE_BASE) / 4] = mask;
}

/* The trace lists each instruction with its lanes, and leaves the counters. */
static void rv32_core__trace(void **state)
{
	struct rig *g = rig_create();
	uint32_t masks[8] = {0};
	struct rv32_counters off;

	emit_csr(g, A0, RV32_CSR_LANE);
	emit(g, RV32_SLTI, A1, A0, 0, 4);
	emit(g, RV32_BNE, 0, A1, ZERO, 8);
	emit(g, RV32_ADDI, A0, A0, 0, 1);
	emit_ret(g);
	rig_run_ok(g);
	off = g->counters;
	g->launch.trace = record;
	g->launch.trace_context = masks;
	rig_run_ok(g);
	assert_int_equal(masks[0], UINT32_MAX);
	assert_int_equal(masks[3], ~15u);
	assert_int_equal(masks[4], UINT32_MAX);
	assert_memory_equal(&off, &g->counters, sizeof(off));
	assert_int_equal(off.instructions, 4 * 32 + 28);
	assert_int_equal(off.warp_instructions, 5);
	rig_destroy(g);
}

static void rv32_core__bad_launches(void **state)
{
	struct rig *g = rig_create();
	const struct rv32_launch good = g->launch;

	emit_ret(g);
	g->launch.local[0] = 1025;
	assert_int_equal(rig_run(g), DXP_EINVAL);
	g->launch = good;
	g->launch.groups[1] = 0;
	assert_int_equal(rig_run(g), DXP_EINVAL);
	g->launch = good;
	g->launch.private_bytes = 1 << 20;
	assert_int_equal(rig_run(g), DXP_EINVAL);
	g->launch = good;
	g->launch.entry = RV32_CODE_BASE + 4;
	assert_int_equal(rig_run(g), DXP_EINVAL);
	g->launch = good;
	g->launch.local_bytes = RV32_LOCAL_BYTES_MAX + 1;
	assert_int_equal(rig_run(g), DXP_EINVAL);
	g->launch = good;
	rig_run_ok(g);
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_core__spin_lock),
		cmocka_unit_test(rv32_core__flag_of_another_warp),
		cmocka_unit_test(rv32_core__ids),
		cmocka_unit_test(rv32_core__reduction),
		cmocka_unit_test(rv32_core__barrier_not_reached),
		cmocka_unit_test(rv32_core__bounds),
		cmocka_unit_test(rv32_core__traps),
		cmocka_unit_test(rv32_core__runs_off),
		cmocka_unit_test(rv32_core__stores_in_lane_order),
		cmocka_unit_test(rv32_core__private_is_fresh),
		cmocka_unit_test(rv32_core__indirect_calls),
		cmocka_unit_test(rv32_core__trace),
		cmocka_unit_test(rv32_core__bad_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
