/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stack that the loop of the rv32 core needs for long code without jumps. */
#include "test/unit/rv32_rig.h"

#include <pthread.h>

#define STACK_BYTES (128u << 10)

struct small_stack {
	struct rig *g;
	int status;
};

static void *run_on_small_stack(void *argument)
{
	struct small_stack *s = argument;

	s->status = rig_run(s->g);
	return NULL;
}

/* Appends instructions until the code is nearly full. None of them jumps, and the loop executes
 * none of them lane by lane. */
static void emit_straight(struct rig *g)
{
	static const enum rv32_opcode codes[] = {
		RV32_ADD,    RV32_XOR,    RV32_MUL,    RV32_SLT,     RV32_ADDI,
		RV32_SLTIU,  RV32_SLLI,   RV32_SRAI,   RV32_LUI,     RV32_LW,
		RV32_SW,     RV32_BNE,    RV32_FADD_S, RV32_FMADD_S, RV32_FLW,
		RV32_FDIV_S, RV32_FMIN_S, RV32_FLE_S,  RV32_FSGNJ_S};

	emit_li(g, S0, RIG_BUFFER);
	for (size_t i = 0; g->count < RIG_WORDS - 8; i++) {
		const enum rv32_opcode code = codes[i % ARRAY_COUNT(codes)];
		const enum rv32_format format = rv32_format_of(code);
		const bool memory = (code >= RV32_LB && code <= RV32_SW) || code == RV32_FLW;

		if (format == RV32_FORMAT_BRANCH)
			emit(g, code, 0, ZERO, ZERO, 8);
		else if (format == RV32_FORMAT_F3 || format == RV32_FORMAT_F4)
			emit_float(g, code, A0, A1, A2, format == RV32_FORMAT_F4 ? A3 : 0,
				   RV32_RNE);
		else
			emit(g, code, A0, memory ? S0 : A0, memory ? A1 : A2,
			     format == RV32_FORMAT_U             ? 4096
			     : format == RV32_FORMAT_SHIFT       ? 4
			     : memory || format == RV32_FORMAT_I ? 64
								 : 0);
	}
	emit(g, RV32_SW, 0, S0, S0, 0);
	emit_ret(g);
}

/* The loop needs the same stack for any number of instructions, with all lanes and with some. */
static void rv32_core__long_straight_code(void **state)
{
	struct rig *g = rig_create();
	pthread_attr_t small;

	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, STACK_BYTES), 0);
	for (int some = 0; some < 2; some++)
		EACH_BUILD(g)
		{
			struct small_stack s = {.g = g};
			pthread_t thread;

			rig_restart(g);
			emit_csr(g, T0, RV32_CSR_LANE);
			emit(g, RV32_ANDI, T0, T0, 0, some);
			emit(g, RV32_BEQ, 0, T0, ZERO, 8);
			emit_ret(g); /* odd lanes end */
			emit_straight(g);
			assert_int_equal(pthread_create(&thread, &small, run_on_small_stack, &s),
					 0);
			pthread_join(thread, NULL);
			if (s.status != DXP_OK)
				fail_msg("%s", g->text);
			assert_int_equal(*rig_word(g, 0), RIG_BUFFER);
			assert_true(g->counters.warp_instructions > RIG_WORDS - 64);
		}
	pthread_attr_destroy(&small);
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_core__long_straight_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
