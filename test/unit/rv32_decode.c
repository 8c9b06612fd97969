/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests decoder, encoder and disassembler with words of another assembler. */
#include "base/rng.h"
#include "rv32/disasm.h"
#include "test/unit/rv32_rig.h"

#define RANDOM_WORDS 200000u

struct text_case {
	uint32_t word;
	const char *text; /* at address 0x10000 */
};

static const struct text_case texts[] = {
	{0x00a58533, "add a0, a1, a0"},
	{0x40a58533, "sub a0, a1, a0"},
	{0xfff50513, "addi a0, a0, -1"},
	{0x41f55593, "srai a1, a0, 31"},
	{0x12345537, "lui a0, 0x12345"},
	{0xfffff517, "auipc a0, 0xfffff"},
	{0xffdff0ef, "jal ra, 0xfffc"},
	{0x00008067, "jalr zero, 0(ra)"},
	{0xfea59ee3, "bne a1, a0, 0xfffc"},
	{0x00052503, "lw a0, 0(a0)"},
	{0xfe112e23, "sw ra, -4(sp)"},
	{0x02a5c533, "div a0, a1, a0"},
	{0x1005a52f, "lr.w a0, (a1)"},
	{0x1ec5a52f, "sc.w.aqrl a0, a2, (a1)"},
	{0x06c5a52f, "amoadd.w.aqrl a0, a2, (a1)"},
	{0xc0002573, "csrrs a0, 0xc00, zero"},
	{0x00215073, "csrrwi zero, 0x2, 2"},
	{0x0ff0000f, "fence iorw, iorw"},
	{0x8330000f, "fence.tso"},
	{0x0100000f, "pause"},
	{0x00000073, "ecall"},
	{0x00100073, "ebreak"},
	{0x00c5f553, "fadd.s fa0, fa1, fa2"},
	{0x00c59553, "fadd.s fa0, fa1, fa2, rtz"},
	{0x68c5f543, "fmadd.s fa0, fa1, fa2, fa3"},
	{0x5805f553, "fsqrt.s fa0, fa1"},
	{0xc0059553, "fcvt.w.s a0, fa1, rtz"},
	{0xd015f553, "fcvt.s.wu fa0, a1"},
	{0xa0c5a553, "feq.s a0, fa1, fa2"},
	{0xe0059553, "fclass.s a0, fa1"},
	{0xf0058553, "fmv.w.x fa0, a1"},
	{0x00852507, "flw fa0, 8(a0)"},
	{0xfea12c27, "fsw fa0, -8(sp)"},
	{0x0000400b, "dxp.bar"},
	{0x0035102b, "dxp.set 3, a0"},
	{0x0400252b, "dxp.get a0, 64"},
	{0x04c5852b, "dxp.post a0, a1, a2, 2"},
	{0x0000352b, "dxp.take a0"},
	{0x0000006b, ".word 0x0000006b"},
};

static void rv32_decode__texts(void **state)
{
	char text[RV32_DISASM_BYTES];

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		const int length = rv32_disasm(texts[i].word, RV32_CODE_BASE, text, sizeof(text));

		assert_string_equal(text, texts[i].text);
		assert_int_equal(length, strlen(text));
	}
}

/* Reserved encodings, absent extensions, invalid operands. */
static void rv32_decode__illegal(void **state)
{
	static const uint32_t words[] = {
		0x00000000, /* all zeros */
		0xffffffff, /* all ones */
		0x00000001, /* compressed */
		0x0000100f, /* fence.i */
		0x30200073, /* mret */
		0x10500073, /* wfi */
		0x00003503, /* ld */
		0x02051513, /* slli by 32 */
		0x02c5f553, /* fadd.d: no double */
		0x00c5d553, /* rounding mode 5 */
		0x00c5e553, /* rounding mode 6 */
		0x1015a52f, /* lr.w with a register in rs2 */
		0x0400200b, /* custom-0 */
		0x0200400b, /* other devices' barrier */
		0x0105102b, /* dxp.set: no register 16 */
		0x0460252b, /* dxp.get: no number 70 */
		0x0205352b, /* dxp.take with a register in rs2 */
		0x00c5c02b, /* custom-1, unused funct3 */
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		const struct rv32_op op = rv32_decode(words[i]);

		if (op.code != RV32_ILLEGAL)
			fail_msg("%08x is %s", words[i], rv32_mnemonic(op.code));
	}
}

static void rv32_decode__round_trip(void **state)
{
	struct rng rng = {.state = 1};
	uint32_t legal = 0;

	for (uint32_t i = 0; i < RANDOM_WORDS; i++) {
		const uint32_t word = (uint32_t)rng_next(&rng) | 3;
		const struct rv32_op op = rv32_decode(word);

		if (op.code == RV32_ILLEGAL)
			continue;
		legal++;
		assert_int_equal(rv32_encode(&op), word);
	}
	assert_in_range(legal, RANDOM_WORDS / 20, RANDOM_WORDS);
}

static void rv32_decode__short_buffers(void **state)
{
	struct rng rng = {.state = 2};

	for (uint32_t i = 0; i < 20000; i++) {
		const uint32_t word = (uint32_t)rng_next(&rng) | 3;
		char text[RV32_DISASM_BYTES], part[16];
		const int length = rv32_disasm(word, 0, text, sizeof(text));

		assert_in_range(length, 1, RV32_DISASM_BYTES - 1);
		rv32_disasm(word, 0, part, sizeof(part));
		assert_int_equal(strncmp(part, text, sizeof(part) - 1), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_decode__texts),
		cmocka_unit_test(rv32_decode__illegal),
		cmocka_unit_test(rv32_decode__round_trip),
		cmocka_unit_test(rv32_decode__short_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
