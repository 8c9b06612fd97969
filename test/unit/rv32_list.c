/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests listings: a small assembler here, and clang's if installed, restore the words; labels,
 * relocations, damaged files. */
#include <elf.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/scratch.h"
#include "rv32/disasm.h"
#include "rv32/list.h"
#include "test/unit/rv32_rig.h"

/* one in 32 or more decodes to the instruction */
#define TRIES      3000u
#define WORDS_MAX  (RV32_OPCODES * 40u)
#define BASE       0x00020000u
#define FILE_BYTES (WORDS_MAX * 4 + 1024)

static uint32_t words[WORDS_MAX];
static uint32_t count;

/* ---- random programs ---- */

static uint32_t flip(struct rng *rng, unsigned low, unsigned bits)
{
	return rng_below(rng, 2) ? (uint32_t)rng_below(rng, 1u << bits) << low : 0;
}

/* Up to 40 that decode to one instruction. */
static void words_make(struct rng *rng, enum rv32_opcode code)
{
	const struct rv32_op plain = {.code = (uint8_t)code};
	char text[RV32_DISASM_BYTES];
	uint32_t made = 0;

	for (uint32_t i = 0; i < TRIES && made < 40; i++) {
		const uint32_t word = rv32_encode(&plain) ^ flip(rng, 7, 5) ^ flip(rng, 12, 3) ^
				      flip(rng, 15, 5) ^ flip(rng, 20, 5) ^ flip(rng, 25, 7);
		rv32_disasm(word, BASE + 4 * count, text, sizeof(text));
		if (rv32_decode(word).code != code || text[0] == '.')
			continue;
		words[count++] = word;
		made++;
	}
	if (made < 8 && rv32_format_of(code) != RV32_FORMAT_NONE)
		fail_msg("only %u words of %s", made, rv32_mnemonic(code));
}

static void program_make(uint64_t seed)
{
	struct rng rng = {.state = seed};

	count = 0;
	for (unsigned code = RV32_ILLEGAL + 1; code < RV32_OPCODES; code++)
		words_make(&rng, (enum rv32_opcode)code);
}

/* ---- a small assembler ---- */

#define TOKENS 6

static unsigned name_find(const char *name, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	fail_msg("'%s' is not known", name);
	return 0;
}

static uint8_t x_of(const char *name)
{
	static const char *const names[] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
					    "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
					    "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
					    "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

	return (uint8_t)name_find(name, names, ARRAY_COUNT(names));
}

static uint8_t f_of(const char *name)
{
	static const char *const names[] = {
		"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
		"fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
		"fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

	return (uint8_t)name_find(name, names, ARRAY_COUNT(names));
}

static int32_t number_of(const char *text)
{
	char *end;
	const long long value = strtoll(text, &end, 0);

	if (end == text || *end)
		fail_msg("'%s' is no number", text);
	return (int32_t)value;
}

static uint8_t rounding_of(const char *text)
{
	static const char *const names[] = {"rne", "rtz", "rdn", "rup", "rmm"};

	return text ? (uint8_t)name_find(text, names, ARRAY_COUNT(names)) : RV32_DYN;
}

static int32_t set_of(const char *text)
{
	int32_t bits = 0;

	for (; *text && *text != '0'; text++)
		bits |= 8 >> (strchr("iorw", *text) - "iorw");
	return bits;
}

static uint8_t mnemonic_find(char *name, uint8_t *aq)
{
	static const char *const orders[] = {".aqrl", ".aq", ".rl"};
	static const uint8_t values[] = {3, 2, 1};

	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		char *at = strstr(name, orders[i]);
		if (!at || at[strlen(orders[i])])
			continue;
		*at = '\0';
		*aq = values[i];
		break;
	}
	for (unsigned i = RV32_ILLEGAL + 1; i < RV32_OPCODES; i++)
		if (strcmp(name, rv32_mnemonic((enum rv32_opcode)i)) == 0)
			return (uint8_t)i;
	fail_msg("no instruction '%s'", name);
	return 0;
}

static void integers_read(struct rv32_op *o, enum rv32_format format, char **t, uint32_t pc)
{
	switch (format) {
	case RV32_FORMAT_NONE: break;
	case RV32_FORMAT_R: o->rd = x_of(t[0]), o->rs1 = x_of(t[1]), o->rs2 = x_of(t[2]); break;
	case RV32_FORMAT_I:
	case RV32_FORMAT_SHIFT:
		o->rd = x_of(t[0]), o->rs1 = x_of(t[1]), o->imm = number_of(t[2]);
		break;
	case RV32_FORMAT_LOAD:
		o->rd = x_of(t[0]), o->imm = number_of(t[1]), o->rs1 = x_of(t[2]);
		break;
	case RV32_FORMAT_STORE:
		o->rs2 = x_of(t[0]), o->imm = number_of(t[1]), o->rs1 = x_of(t[2]);
		break;
	case RV32_FORMAT_BRANCH:
		o->rs1 = x_of(t[0]), o->rs2 = x_of(t[1]);
		o->imm = (int32_t)((uint32_t)number_of(t[2]) - pc);
		break;
	case RV32_FORMAT_U:
		o->rd = x_of(t[0]), o->imm = (int32_t)((uint32_t)number_of(t[1]) << 12);
		break;
	case RV32_FORMAT_JUMP:
		o->rd = x_of(t[0]), o->imm = (int32_t)((uint32_t)number_of(t[1]) - pc);
		break;
	case RV32_FORMAT_FENCE: o->imm = set_of(t[0]) << 4 | set_of(t[1]); break;
	case RV32_FORMAT_CSR:
		o->rd = x_of(t[0]), o->imm = number_of(t[1]), o->rs1 = x_of(t[2]);
		break;
	case RV32_FORMAT_CSRI:
		o->rd = x_of(t[0]), o->imm = number_of(t[1]), o->rs1 = (uint8_t)number_of(t[2]);
		break;
	case RV32_FORMAT_LR: o->rd = x_of(t[0]), o->rs1 = x_of(t[1]); break;
	case RV32_FORMAT_AMO: o->rd = x_of(t[0]), o->rs2 = x_of(t[1]), o->rs1 = x_of(t[2]); break;
	case RV32_FORMAT_SET: o->imm = number_of(t[0]), o->rs1 = x_of(t[1]); break;
	case RV32_FORMAT_GET: o->rd = x_of(t[0]), o->imm = number_of(t[1]); break;
	case RV32_FORMAT_POST:
		o->rd = x_of(t[0]), o->rs1 = x_of(t[1]), o->rs2 = x_of(t[2]);
		o->imm = number_of(t[3]);
		break;
	case RV32_FORMAT_DEQUEUE: o->rd = x_of(t[0]); break;
	default: fail_msg("format %d", format);
	}
}

static void floats_read(struct rv32_op *o, enum rv32_format format, char **t)
{
	switch (format) {
	case RV32_FORMAT_FLOAD:
		o->rd = f_of(t[0]), o->imm = number_of(t[1]), o->rs1 = x_of(t[2]);
		break;
	case RV32_FORMAT_FSTORE:
		o->rs2 = f_of(t[0]), o->imm = number_of(t[1]), o->rs1 = x_of(t[2]);
		break;
	case RV32_FORMAT_F4:
		o->rs3 = f_of(t[3]), o->rm = rounding_of(t[4]);
		o->rd = f_of(t[0]), o->rs1 = f_of(t[1]), o->rs2 = f_of(t[2]);
		break;
	case RV32_FORMAT_F3: o->rm = rounding_of(t[3]); /* fall through */
	case RV32_FORMAT_F3_NRM:
		o->rd = f_of(t[0]), o->rs1 = f_of(t[1]), o->rs2 = f_of(t[2]);
		break;
	case RV32_FORMAT_F2:
		o->rd = f_of(t[0]), o->rs1 = f_of(t[1]), o->rm = rounding_of(t[2]);
		break;
	case RV32_FORMAT_FCMP: o->rd = x_of(t[0]), o->rs1 = f_of(t[1]), o->rs2 = f_of(t[2]); break;
	case RV32_FORMAT_FTOX: o->rm = rounding_of(t[2]); /* fall through */
	case RV32_FORMAT_FTOX_N: o->rd = x_of(t[0]), o->rs1 = f_of(t[1]); break;
	case RV32_FORMAT_XTOF: o->rm = rounding_of(t[2]); /* fall through */
	default: o->rd = f_of(t[0]), o->rs1 = x_of(t[1]); break;
	}
}

/* Modifies the text. */
static uint32_t assemble(char *text, uint32_t pc)
{
	char *t[TOKENS] = {NULL}, *rest;
	struct rv32_op o = {0};

	if (strcmp(text, "fence.tso") == 0)
		return 0x8330000f;
	char *name = strtok_r(text, " ", &rest);
	for (int i = 0; i < TOKENS; i++)
		t[i] = strtok_r(NULL, " ,()", &rest);
	o.code = mnemonic_find(name, &o.aq);
	const enum rv32_format format = rv32_format_of((enum rv32_opcode)o.code);
	if (format >= RV32_FORMAT_FLOAD && format <= RV32_FORMAT_XTOF_N)
		floats_read(&o, format, t);
	else
		integers_read(&o, format, t, pc);
	return rv32_encode(&o);
}

/* ---- an executable ---- */

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMBOLS, SECTION_NAMES, SECTIONS };

static const char names[] = "\0.text\0main\0b\033ad";
static uint8_t file[FILE_BYTES];

/* `main` is at BASE; a second symbol has an escape character. Returns its bytes. */
static size_t executable_make(void)
{
	const uint32_t code = sizeof(Elf32_Ehdr), symbols = code + 4 * count;
	const Elf32_Sym table[] = {
		{0},
		{.st_name = 7,
		 .st_value = BASE,
		 .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_shndx = SECTION_TEXT},
		{.st_name = 12,
		 .st_value = BASE + 4,
		 .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_shndx = SECTION_TEXT},
	};
	const uint32_t texts = symbols + sizeof(table), headers = texts + sizeof(names);
	const Elf32_Shdr h[SECTIONS] = {[SECTION_TEXT] = {.sh_name = 1,
							  .sh_type = SHT_PROGBITS,
							  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
							  .sh_addr = BASE,
							  .sh_offset = code,
							  .sh_size = 4 * count},
					[SECTION_SYMBOLS] = {.sh_type = SHT_SYMTAB,
							     .sh_offset = symbols,
							     .sh_size = sizeof(table),
							     .sh_link = SECTION_NAMES},
					[SECTION_NAMES] = {.sh_type = SHT_STRTAB,
							   .sh_offset = texts,
							   .sh_size = sizeof(names)}};
	const Elf32_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1},
			      .e_type = ET_EXEC,
			      .e_machine = EM_RISCV,
			      .e_shoff = headers,
			      .e_shentsize = sizeof(Elf32_Shdr),
			      .e_shnum = SECTIONS,
			      .e_shstrndx = SECTION_NAMES};

	memcpy(file, &e, sizeof(e));
	memcpy(file + code, words, 4 * (size_t)count);
	memcpy(file + symbols, table, sizeof(table));
	memcpy(file + texts, names, sizeof(names));
	memcpy(file + headers, h, sizeof(h));
	return headers + sizeof(h);
}

/* ---- tests ---- */

struct seen {
	char **lines;
	size_t count;
};

static void line_keep(void *context, const char *line)
{
	struct seen *s = context;

	s->lines = realloc(s->lines, (s->count + 1) * sizeof(*s->lines));
	assert_non_null(s->lines);
	s->lines[s->count++] = strdup(line);
}

static void seen_free(struct seen *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->lines[i]);
	free(s->lines);
}

static bool seen_has(const struct seen *s, const char *line)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->lines[i], line) == 0)
			return true;
	return false;
}

static int list(const void *data, size_t bytes, struct seen *s, char *text)
{
	const struct rv32_object object = {data, bytes};

	*s = (struct seen){0};
	return rv32_list(&object, line_keep, s, text);
}

static void rv32_list__assembles_back(void **state)
{
	char text[RV32_IMAGE_TEXT_BYTES], instruction[RV32_LIST_LINE_BYTES];
	struct seen s;
	uint32_t pc, word, found = 0;
	int at;

	program_make(1);
	if (list(file, executable_make(), &s, text) != DXP_OK)
		fail_msg("%s", text);
	for (size_t i = 0; i < s.count; i++) {
		if (sscanf(s.lines[i], "  %8x  %8x  %n", &pc, &word, &at) != 2)
			continue;
		snprintf(instruction, sizeof(instruction), "%s", s.lines[i] + at);
		instruction[strcspn(instruction, "#")] = '\0';
		for (size_t n = strlen(instruction); n && instruction[n - 1] == ' ';)
			instruction[--n] = '\0';
		assert_int_equal(pc, BASE + 4 * found);
		assert_int_equal(word, words[found]);
		if (assemble(instruction, pc) != words[found])
			fail_msg("not 0x%08x: %s", words[found], s.lines[i]);
		found++;
	}
	assert_int_equal(found, count);
	assert_true(seen_has(&s, "section .text"));
	assert_true(seen_has(&s, "main:"));
	assert_true(seen_has(&s, "b?ad:"));
	seen_free(&s);
}

/* Returns true if clang's assembler accepts this instruction in the text form of this project. */
static bool clang_knows(uint32_t word)
{
	const struct rv32_op op = rv32_decode(word);
	const enum rv32_format format = rv32_format_of((enum rv32_opcode)op.code);

	/* clang 15 has PAUSE in an extension that is off */
	if (op.code >= RV32_DXP_BAR || op.code == RV32_PAUSE)
		return false;
	/* clang takes a distance, which equals our target only from address 0 forward */
	if (format == RV32_FORMAT_BRANCH || format == RV32_FORMAT_JUMP)
		return op.imm >= 0;
	/* clang cannot write an empty set of a FENCE */
	return format != RV32_FORMAT_FENCE || ((op.imm & 15) && (op.imm >> 4 & 15));
}

static size_t bytes_read(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "re");
	size_t bytes = f ? fread(file, 1, sizeof(file), f) : 0;
	if (f)
		fclose(f);
	return bytes;
}

/* false: clang is not installed. */
static bool clang_assemble(const char *folder)
{
	char path[512], command[1536], text[RV32_DISASM_BYTES];

	snprintf(path, sizeof(path), "%s/a.s", folder);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	for (uint32_t i = 0; i < count; i++) {
		rv32_disasm(words[i], 0, text, sizeof(text));
		fprintf(f, "%s\n", text);
	}
	assert_int_equal(fclose(f), 0);
	snprintf(command, sizeof(command),
		 "command -v clang-15 >/dev/null || exit 7; clang-15 --target=riscv32 "
		 "-march=rv32imaf -mabi=ilp32 -mno-relax -c '%s' -o '%s/a.o'",
		 path, folder);
	const int status = system(command);
	if (status == 7 << 8)
		return false;
	assert_int_equal(status, 0);
	return true;
}

static void rv32_list__clang_agrees(void **state)
{
	char folder[] = "/tmp/dxp-test-list-XXXXXX", text[RV32_IMAGE_TEXT_BYTES];
	struct seen s;
	uint32_t kept = 0, pc, word, found = 0;

	program_make(2);
	for (uint32_t i = 0; i < count; i++)
		if (clang_knows(words[i]))
			words[kept++] = words[i];
	count = kept;
	assert_non_null(mkdtemp(folder));
	if (!clang_assemble(folder)) {
		print_message("skipped: no clang-15; try: apt install clang-15\n");
		scratch_folder_remove(folder);
		skip();
	}
	size_t bytes = bytes_read(folder, "a.o");
	scratch_folder_remove(folder);
	if (list(file, bytes, &s, text) != DXP_OK)
		fail_msg("%s", text);
	for (size_t i = 0; i < s.count; i++) {
		if (sscanf(s.lines[i], "  %8x  %8x", &pc, &word) != 2)
			continue;
		if (word != words[found])
			fail_msg("not 0x%08x: %s", words[found], s.lines[i]);
		found++;
	}
	assert_int_equal(found, count);
	seen_free(&s);
}

/* The list of an object has labels of functions and branches, and relocations. */
static void rv32_list__object(void **state)
{
	char text[RV32_IMAGE_TEXT_BYTES];
	struct seen s;
	size_t bytes = bytes_read(DXP_SOURCE_DIR "/test/fuzz/corpus/rv32_image", "kernels");

	if (list(file, bytes, &s, text) != DXP_OK)
		fail_msg("%s", text);
	assert_true(seen_has(&s, "section .text.small"));
	assert_true(seen_has(&s, "small:"));
	assert_true(seen_has(&s, "dxp_enter_small:"));
	assert_true(seen_has(&s, "  00000050  0000400b  dxp.bar"));
	assert_true(seen_has(&s, "  0000007c  00000097  auipc ra, 0x0  # CALL_PLT __udivdi3+0"));
	seen_free(&s);
}

static void rv32_list__branches(void **state)
{
	char text[RV32_IMAGE_TEXT_BYTES];
	struct seen s;

	words[0] = 0x00000013; /* addi zero, zero, 0 */
	words[1] = 0x00000013;
	/* bne a1, zero, -4, to the symbol with the escape character */
	words[2] = 0xfe059ee3;
	words[3] = 0x0040006f; /* jal zero, 4 */
	words[4] = 0x00008067;
	count = 5;
	assert_int_equal(list(file, executable_make(), &s, text), DXP_OK);
	assert_true(seen_has(&s, "  00020008  fe059ee3  bne a1, zero, 0x20004  # b?ad"));
	assert_true(seen_has(&s, "  0002000c  0040006f  jal zero, 0x20010  # .L20010"));
	assert_true(seen_has(&s, ".L20010:"));
	seen_free(&s);
}

/* A damaged file is listed, or rejected with a message. */
static void rv32_list__damaged(void **state)
{
	char text[RV32_IMAGE_TEXT_BYTES];
	struct seen s;

	count = 5;
	const size_t bytes = executable_make();
	for (size_t i = 0; i < bytes; i++) {
		uint8_t *exact = malloc(i + 1);
		assert_non_null(exact);
		memcpy(exact, file, i);
		assert_int_equal(list(exact, i, &s, text), DXP_EMALFORMED);
		assert_true(strlen(text) > 5);
		seen_free(&s);
		free(exact);
	}
	for (size_t i = 0; i < bytes; i++) {
		file[i] ^= 0xff;
		list(file, bytes, &s, text);
		seen_free(&s);
		file[i] ^= 0xff;
	}
	file[EI_CLASS] = ELFCLASS64;
	assert_int_equal(list(file, bytes, &s, text), DXP_EMALFORMED);
	assert_non_null(strstr(text, "not an object or executable for riscv32"));
	seen_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_list__assembles_back),
		cmocka_unit_test(rv32_list__clang_agrees),
		cmocka_unit_test(rv32_list__object),
		cmocka_unit_test(rv32_list__branches),
		cmocka_unit_test(rv32_list__damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
