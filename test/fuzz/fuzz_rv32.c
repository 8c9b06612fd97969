/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes rv32 programs. Each word is decoded, printed, and encodes to itself. Both builds of the
 * simulator give the same result, and never access memory outside the program's. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/core.h"
#include "rv32/decode.h"
#include "rv32/disasm.h"
#include "test/fuzz/fuzz.h"

#define WORDS_MAX    1024
#define BUFFER_WORDS 64
#define LIMIT        100000

struct outcome {
	int status;
	struct rv32_counters counters;
	struct rv32_trap trap;
	uint32_t buffer[BUFFER_WORDS];
};

/* Compares two operations field by field, because the struct has padding. */
static bool same(const struct rv32_op *x, const struct rv32_op *y)
{
	return x->code == y->code && x->rd == y->rd && x->rs1 == y->rs1 && x->rs2 == y->rs2 &&
	       x->rs3 == y->rs3 && x->rm == y->rm && x->aq == y->aq && x->imm == y->imm;
}

static void check_words(const uint32_t *words, size_t count)
{
	char text[RV32_DISASM_BYTES];

	for (size_t i = 0; i < count; i++) {
		const struct rv32_op op = rv32_decode(words[i]);
		const int length = rv32_disasm(words[i], RV32_CODE_BASE, text, sizeof(text));

		assert(length > 0 && (size_t)length < sizeof(text));
		if (op.code == RV32_ILLEGAL)
			continue;
		const uint32_t word = rv32_encode(&op);
		const struct rv32_op again = rv32_decode(word);

		assert(same(&op, &again));
		assert(word == words[i] || op.code == RV32_FENCE);
	}
}

static int ecall(void *context, struct rv32_item *item)
{
	rv32_item_set(item, 10, rv32_item_get(item, 11));
	return DXP_OK;
}

static void run(const uint32_t *words, size_t count, enum rv32_build build, struct outcome *out)
{
	static struct rv32_core *core;
	static const struct rv32_core_options options = {.private_bytes = 1024};
	struct rv32_code *code = rv32_code_create(words, count, RV32_CODE_BASE, build);
	const struct rv32_segment segment = {.host = (uint8_t *)out->buffer,
					     .base = RV32_BUFFER_BASE,
					     .bytes = sizeof(out->buffer),
					     .kind = RV32_GLOBAL,
					     .access = RV32_READ | RV32_WRITE};
	const struct rv32_launch launch = {.code = code,
					   .segments = &segment,
					   .segment_count = 1,
					   .entry = RV32_CODE_BASE,
					   .arguments = RV32_BUFFER_BASE,
					   .dimensions = 1,
					   .groups = {2, 1, 1},
					   .local = {words[0] % 3 ? 40 : 5, 1, 1},
					   .local_bytes = 256,
					   .private_bytes = 1024,
					   .instructions_max = LIMIT,
					   .ecall = ecall};

	if (!core)
		core = rv32_core_create(&options);
	assert(core && code);
	memset(out->buffer, 0, sizeof(out->buffer));
	out->status = rv32_core_run(core, &launch, &out->counters, &out->trap);
	assert(out->status == DXP_OK || out->status == DXP_EDEVICE);
	rv32_code_destroy(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint32_t words[WORDS_MAX];
	const size_t count = bytes / 4 < WORDS_MAX ? bytes / 4 : WORDS_MAX;
	char text[RV32_TRAP_TEXT_BYTES];
	struct outcome plain, fast;

	if (count == 0)
		return 0;
	memcpy(words, data, 4 * count);
	check_words(words, count);
	run(words, count, RV32_BUILD_BASELINE, &plain);
	rv32_trap_format(&plain.trap, "fuzz", NULL, NULL, text, sizeof(text));
	if (!rv32_build_runs(RV32_BUILD_AVX2))
		return 0;
	run(words, count, RV32_BUILD_AVX2, &fast);
	assert(plain.status == fast.status && plain.trap.kind == fast.trap.kind &&
	       plain.trap.pc == fast.trap.pc && plain.trap.address == fast.trap.address);
	assert(memcmp(&plain.counters, &fast.counters, sizeof(fast.counters)) == 0);
	assert(memcmp(plain.buffer, fast.buffer, sizeof(fast.buffer)) == 0);
	return 0;
}
