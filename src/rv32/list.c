/* SPDX-License-Identifier: BSD-3-Clause */
#include "rv32/list.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/decode.h"
#include "rv32/disasm.h"
#include "rv32/image_internal.h"

#define NAME_BYTES  96
#define LABEL_BYTES (NAME_BYTES + 16)

/* A listed section; arrays are by word. */
struct listing {
	const struct image_object *o;
	uint32_t section;
	uint32_t base, words;
	uint32_t *symbols;     /* index of a symbol; 0: none */
	uint32_t *relocations; /* offset in `table` + 1; 0: none */
	const uint8_t *table;
	bool *targets; /* target of a branch or jump */
	rv32_list_fn line;
	void *context;
};

static uint32_t word_at(const struct listing *s, uint32_t index)
{
	uint32_t word;

	memcpy(&word, s->o->data + s->o->headers[s->section].sh_offset + 4 * (size_t)index,
	       sizeof(word));
	return word;
}

/* Replaces bytes that are not printable ASCII by '?'. */
static const char *name_copy(const char *name, char out[NAME_BYTES])
{
	size_t used = 0;

	for (; name[used] && used < NAME_BYTES - 1; used++)
		out[used] = isgraph((unsigned char)name[used]) ? name[used] : '?';
	out[used] = '\0';
	return out;
}

/* Its symbol's name, or a local label. */
static void label_write(const struct listing *s, uint32_t index, char out[LABEL_BYTES])
{
	char name[NAME_BYTES];

	if (s->symbols[index])
		snprintf(out, LABEL_BYTES, "%s",
			 name_copy(image_symbol_name(s->o, s->symbols[index]), name));
	else
		snprintf(out, LABEL_BYTES, ".L%" PRIx32, s->base + 4 * index);
}

static bool is_jump(const struct rv32_op *op)
{
	const enum rv32_format format = rv32_format_of((enum rv32_opcode)op->code);

	return format == RV32_FORMAT_BRANCH || format == RV32_FORMAT_JUMP;
}

/* Finds a target in this section that no relocation changes; *target: its word. */
static bool target_find(const struct listing *s, uint32_t index, uint32_t *target)
{
	const struct rv32_op op = rv32_decode(word_at(s, index));
	const uint32_t offset = 4 * index + (uint32_t)op.imm;

	*target = offset / 4;
	return is_jump(&op) && !s->relocations[index] && offset % 4 == 0 && *target < s->words;
}

static const char *relocation_name(uint32_t type)
{
	static const char *const names[] = {
		[R_RISCV_32] = "32",
		[R_RISCV_BRANCH] = "BRANCH",
		[R_RISCV_JAL] = "JAL",
		[R_RISCV_CALL] = "CALL",
		[R_RISCV_CALL_PLT] = "CALL_PLT",
		[R_RISCV_PCREL_HI20] = "PCREL_HI20",
		[R_RISCV_PCREL_LO12_I] = "PCREL_LO12_I",
		[R_RISCV_PCREL_LO12_S] = "PCREL_LO12_S",
		[R_RISCV_HI20] = "HI20",
		[R_RISCV_LO12_I] = "LO12_I",
		[R_RISCV_LO12_S] = "LO12_S",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "?";
}

/* Returns the section's name for a section's symbol. */
static const char *reference_name(const struct image_object *o, uint32_t symbol)
{
	if (symbol == 0 || symbol >= o->symbol_count)
		return "0";
	const Elf32_Sym *s = &o->symbols[symbol];
	if (ELF32_ST_TYPE(s->st_info) == STT_SECTION && s->st_shndx < o->section_count)
		return image_section_name(o, s->st_shndx);
	return image_symbol_name(o, symbol);
}

/* Its relocation, or its target's label. */
static void note_write(const struct listing *s, uint32_t index, char out[LABEL_BYTES + 48])
{
	char label[LABEL_BYTES], name[NAME_BYTES];
	Elf32_Rela r;
	uint32_t target;

	out[0] = '\0';
	if (s->relocations[index]) {
		memcpy(&r, s->table + s->relocations[index] - 1, sizeof(r));
		snprintf(out, LABEL_BYTES + 48, "  # %s %s%+" PRId32,
			 relocation_name(ELF32_R_TYPE(r.r_info)),
			 name_copy(reference_name(s->o, ELF32_R_SYM(r.r_info)), name), r.r_addend);
	} else if (target_find(s, index, &target)) {
		label_write(s, target, label);
		snprintf(out, LABEL_BYTES + 48, "  # %s", label);
	}
}

static void word_list(const struct listing *s, uint32_t index)
{
	const uint32_t word = word_at(s, index), pc = s->base + 4 * index;
	char text[RV32_DISASM_BYTES], note[LABEL_BYTES + 48], line[RV32_LIST_LINE_BYTES];

	if (s->symbols[index] || s->targets[index]) {
		label_write(s, index, note);
		snprintf(line, sizeof(line), "%s:", note);
		s->line(s->context, line);
	}
	rv32_disasm(word, pc, text, sizeof(text));
	note_write(s, index, note);
	snprintf(line, sizeof(line), "  %08" PRIx32 "  %08" PRIx32 "  %s%s", pc, word, text, note);
	s->line(s->context, line);
}

/* Finds symbols; of several at an address, a function. */
static void symbols_find(struct listing *s)
{
	for (uint32_t i = 1; i < s->o->symbol_count; i++) {
		const Elf32_Sym *y = &s->o->symbols[i];
		const unsigned type = ELF32_ST_TYPE(y->st_info);
		const uint32_t offset = y->st_value - s->base;
		if (y->st_shndx != s->section || offset % 4 || offset / 4 >= s->words ||
		    (type != STT_FUNC && type != STT_NOTYPE) ||
		    strchr("$", image_symbol_name(s->o, i)[0]))
			continue;
		if (type == STT_FUNC || !s->symbols[offset / 4])
			s->symbols[offset / 4] = i;
	}
}

/* Finds relocations except RELAX, which changes nothing. */
static void relocations_find(struct listing *s)
{
	Elf32_Rela r;

	for (uint32_t t = 0; t < s->o->section_count; t++) {
		const Elf32_Shdr *h = &s->o->headers[t];
		if (h->sh_type != SHT_RELA || h->sh_info != s->section)
			continue;
		s->table = s->o->data + h->sh_offset;
		for (uint32_t at = 0; h->sh_size - at >= sizeof(r); at += (uint32_t)sizeof(r)) {
			memcpy(&r, s->table + at, sizeof(r));
			if (r.r_offset / 4 < s->words && ELF32_R_TYPE(r.r_info) != R_RISCV_RELAX)
				s->relocations[r.r_offset / 4] = at + 1;
		}
		return;
	}
}

static void targets_find(struct listing *s)
{
	uint32_t target;

	for (uint32_t i = 0; i < s->words; i++)
		if (target_find(s, i, &target))
			s->targets[target] = true;
}

static int section_list(struct listing *s)
{
	char line[RV32_LIST_LINE_BYTES], name[NAME_BYTES];

	s->symbols = calloc(s->words + 1, sizeof(*s->symbols));
	s->relocations = calloc(s->words + 1, sizeof(*s->relocations));
	s->targets = calloc(s->words + 1, sizeof(*s->targets));
	const bool made = s->symbols && s->relocations && s->targets;
	if (made) {
		symbols_find(s);
		relocations_find(s);
		targets_find(s);
		snprintf(line, sizeof(line), "section %s",
			 name_copy(image_section_name(s->o, s->section), name));
		s->line(s->context, line);
		for (uint32_t i = 0; i < s->words; i++)
			word_list(s, i);
	}
	free(s->symbols);
	free(s->relocations);
	free(s->targets);
	return made ? DXP_OK : DXP_ENOMEM;
}

static int object_list(struct image_linker *l, rv32_list_fn line, void *context)
{
	const struct image_object *o = l->objects;
	int status = DXP_EMALFORMED;

	for (uint32_t i = 0; i < o->section_count; i++) {
		const Elf32_Shdr *h = &o->headers[i];
		if (h->sh_type != SHT_PROGBITS || !(h->sh_flags & SHF_EXECINSTR) || h->sh_size == 0)
			continue;
		if (h->sh_size % 4)
			return image_fail(l, DXP_EMALFORMED,
					  "section %u of code has %u bytes, no multiple of 4", i,
					  h->sh_size);
		struct listing s = {.o = o,
				    .section = i,
				    .base = h->sh_addr,
				    .words = h->sh_size / 4,
				    .line = line,
				    .context = context};
		status = section_list(&s);
		if (status != DXP_OK)
			return status;
	}
	return status == DXP_OK ? DXP_OK : image_fail(l, status, "it has no code");
}

int rv32_list(const struct rv32_object *object, rv32_list_fn line, void *context,
	      char text[RV32_IMAGE_TEXT_BYTES])
{
	struct image_object o = {0};
	struct image_linker l = {.objects = &o, .count = 1, .text = text, .executables = true};

	snprintf(text, RV32_IMAGE_TEXT_BYTES, "not enough memory");
	int status = image_object_open(&l, 0, object);
	if (status == DXP_OK)
		status = object_list(&l, line, context);
	image_object_close(&o);
	return status;
}
