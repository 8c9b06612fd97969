/* SPDX-License-Identifier: BSD-3-Clause */
/* A small assembler and one core, for the tests of src/rv32. */
#ifndef TEST_UNIT_RV32_RIG_H
#define TEST_UNIT_RV32_RIG_H

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dxp/status.h>

#include "base/util.h"
#include "rv32/core.h"
#include "rv32/decode.h"

#define RIG_WORDS  65536
#define RIG_BUFFER RV32_BUFFER_BASE
#define RIG_BYTES  8192

enum { ZERO, RA, SP, GP, TP, T0, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5, A6, A7, T6 = 31 };

struct rig {
	uint32_t words[RIG_WORDS];
	size_t count;
	/* argument 0, at RIG_BUFFER */
	alignas(64) uint8_t buffer[RIG_BYTES];
	uint32_t buffer_bytes;
	enum rv32_build build;
	/* a test may change groups, local size and limits */
	struct rv32_launch launch;
	struct rv32_core *core;
	struct rv32_counters counters;
	struct rv32_trap trap;
	char text[RV32_TRAP_TEXT_BYTES];
};

/* `imm` of a jump: bytes of distance. */
static inline void emit(struct rig *g, enum rv32_opcode code, unsigned rd, unsigned rs1,
			unsigned rs2, int32_t imm)
{
	const struct rv32_op op = {.code = (uint8_t)code,
				   .rd = (uint8_t)rd,
				   .rs1 = (uint8_t)rs1,
				   .rs2 = (uint8_t)rs2,
				   .imm = imm};

	assert_true(g->count < RIG_WORDS);
	g->words[g->count++] = rv32_encode(&op);
}

static inline void emit_float(struct rig *g, enum rv32_opcode code, unsigned rd, unsigned rs1,
			      unsigned rs2, unsigned rs3, unsigned rm)
{
	const struct rv32_op op = {.code = (uint8_t)code,
				   .rd = (uint8_t)rd,
				   .rs1 = (uint8_t)rs1,
				   .rs2 = (uint8_t)rs2,
				   .rs3 = (uint8_t)rs3,
				   .rm = (uint8_t)rm};

	g->words[g->count++] = rv32_encode(&op);
}

static inline void emit_li(struct rig *g, unsigned rd, uint32_t value)
{
	emit(g, RV32_LUI, rd, 0, 0, (int32_t)((value + 0x800) & 0xfffff000));
	emit(g, RV32_ADDI, rd, rd, 0, (int32_t)(value << 20) >> 20);
}

static inline void emit_csr(struct rig *g, unsigned rd, unsigned csr)
{
	emit(g, RV32_CSRRS, rd, 0, 0, (int32_t)csr);
}

static inline void emit_ret(struct rig *g)
{
	emit(g, RV32_JALR, ZERO, RA, 0, 0);
}

static inline void emit_barrier(struct rig *g)
{
	emit(g, RV32_DXP_BAR, 0, 0, 0, 0);
}

static inline uint32_t *rig_word(struct rig *g, size_t index)
{
	return (uint32_t *)(void *)(g->buffer + 4 * index);
}

static inline struct rig *rig_create(void)
{
	static const struct rv32_core_options options = {.index = 3};
	struct rig *g = aligned_alloc(64, (sizeof(*g) + 63) / 64 * 64);

	assert_non_null(g);
	memset(g, 0, sizeof(*g));
	g->core = rv32_core_create(&options);
	assert_non_null(g->core);
	g->buffer_bytes = RIG_BYTES;
	g->launch = (struct rv32_launch){.entry = RV32_CODE_BASE,
					 .dimensions = 1,
					 .groups = {1, 1, 1},
					 .local = {32, 1, 1},
					 .local_bytes = 4096,
					 .private_bytes = 4096,
					 .instructions_max = 50000000};
	return g;
}

static inline void rig_destroy(struct rig *g)
{
	rv32_core_destroy(g->core);
	free(g);
}

/* The core stays. */
static inline void rig_restart(struct rig *g)
{
	g->count = 0;
	memset(g->buffer, 0, sizeof(g->buffer));
}

/* g->text: a trap's message. */
static inline int rig_run(struct rig *g)
{
	const struct rv32_segment buffer = {.host = g->buffer,
					    .base = RIG_BUFFER,
					    .bytes = g->buffer_bytes,
					    .kind = RV32_GLOBAL,
					    .access = RV32_READ | RV32_WRITE,
					    .argument = 0,
					    .name = "buffer"};
	int status;

	g->launch.code = rv32_code_create(g->words, g->count, RV32_CODE_BASE, g->build);
	assert_non_null(g->launch.code);
	if (!g->launch.segments) {
		g->launch.segments = &buffer;
		g->launch.segment_count = 1;
	}
	status = rv32_core_run(g->core, &g->launch, &g->counters, &g->trap);
	if (g->launch.segments == &buffer)
		g->launch.segments = NULL;
	rv32_trap_format(&g->trap, "k", NULL, NULL, g->text, sizeof(g->text));
	rv32_code_destroy(g->launch.code);
	return status;
}

static inline void rig_run_ok(struct rig *g)
{
	const int status = rig_run(g);

	if (status != DXP_OK)
		fail_msg("status %d: %s", status, g->text);
}

/* Runs the following block once for each build of the core that this processor supports. */
#define EACH_BUILD(g)                                                                       \
	for ((g)->build = RV32_BUILD_BASELINE; (g)->build <= RV32_BUILD_AVX2; (g)->build++) \
		if (rv32_build_runs((g)->build))

#endif
