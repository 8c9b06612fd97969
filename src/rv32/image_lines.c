/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads .debug_line (DWARF version 4), so that messages and profiles show source lines. Damaged or
 * other tables are ignored, because code runs without them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/image_internal.h"

/* as many rows as the longest code has instructions */
#define LINES_MAX   (1u << 20)
#define VERSION     4
#define OPCODES_MAX 32

/* Standard and extended opcodes (DWARF 4, 6.2.5). */
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC = 9 };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

/* `bad`: read beyond the table's end. */
struct lines {
	struct rv32_image *image;
	const uint8_t *at, *end;
	bool bad;
	uint32_t capacity;
	/* from the header */
	uint8_t instruction_bytes, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[OPCODES_MAX];
	uint32_t program_file; /* number of the program's text; 0: not found */
	/* of the line program */
	uint32_t address, file, line;
};

static uint32_t number_read(struct lines *s, unsigned bytes)
{
	uint32_t value = 0;

	if ((size_t)(s->end - s->at) < bytes) {
		s->bad = true;
		s->at = s->end;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint32_t)s->at[i] << (8 * i);
	s->at += bytes;
	return value;
}

/* Drops bits above the low 32. */
static uint32_t leb_read(struct lines *s, bool is_signed)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)number_read(s, 1);
		if (shift < 32)
			value |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 32 && (byte & 0x40))
		value |= ~0u << shift;
	return value;
}

static bool row_add(struct lines *s, uint32_t line)
{
	struct rv32_image *image = s->image;

	if (image->line_count == LINES_MAX)
		return false;
	if (image->line_count == s->capacity) {
		const uint32_t more = s->capacity ? 2 * s->capacity : 256;
		struct rv32_line *lines = realloc(image->lines, more * sizeof(*lines));
		if (!lines)
			return false;
		image->lines = lines;
		s->capacity = more;
	}
	image->lines[image->line_count++] =
		(struct rv32_line){s->address, s->file == s->program_file ? line : 0};
	return true;
}

static void registers_reset(struct lines *s)
{
	s->address = 0;
	s->file = s->line = 1;
}

static bool extended_do(struct lines *s)
{
	const uint32_t bytes = leb_read(s, false);

	if (s->bad || bytes == 0 || bytes > (size_t)(s->end - s->at))
		return false;
	const uint8_t *next = s->at + bytes;
	const uint32_t code = number_read(s, 1);
	bool good = true;
	if (code == SET_ADDRESS && bytes == 5) {
		s->address = number_read(s, 4);
	} else if (code == END_SEQUENCE) {
		good = row_add(s, 0);
		registers_reset(s);
	}
	s->at = next;
	return good;
}

static bool standard_do(struct lines *s, uint8_t code)
{
	switch (code) {
	case COPY: return row_add(s, s->line);
	case ADVANCE_PC: s->address += leb_read(s, false) * s->instruction_bytes; break;
	case ADVANCE_LINE: s->line += leb_read(s, true); break;
	case SET_FILE: s->file = leb_read(s, false); break;
	case CONST_ADD_PC:
		s->address += (255u - s->opcode_base) / s->line_range * s->instruction_bytes;
		break;
	case FIXED_ADVANCE_PC: s->address += number_read(s, 2); break;
	default:
		for (unsigned i = 0; i < s->operands[code]; i++)
			leb_read(s, false);
	}
	return true;
}

static void program_run(struct lines *s)
{
	bool good = true;

	registers_reset(s);
	while (good && !s->bad && s->at < s->end) {
		const uint8_t code = (uint8_t)number_read(s, 1);
		if (code == 0) {
			good = extended_do(s);
		} else if (code < s->opcode_base) {
			good = standard_do(s, code);
		} else {
			const uint32_t special = (uint32_t)code - s->opcode_base;
			s->address += special / s->line_range * s->instruction_bytes;
			s->line += (uint32_t)(s->line_base + (int32_t)(special % s->line_range));
			good = row_add(s, s->line);
		}
	}
}

/* Returns NULL if the text has no end. */
static const char *text_read(struct lines *s)
{
	const char *text = (const char *)s->at;
	const uint8_t *zero = memchr(s->at, 0, (size_t)(s->end - s->at));

	s->bad |= !zero;
	if (!zero)
		return NULL;
	s->at = zero + 1;
	return text;
}

/* Finds the program's text, which the engine compiles as RV32_PROGRAM_FILE. */
static void files_read(struct lines *s)
{
	const char *text;

	s->program_file = 0;
	do
		text = text_read(s); /* folder */
	while (text && text[0]);
	text = text_read(s);
	for (uint32_t number = 1; text && text[0]; number++, text = text_read(s)) {
		const char *base = strrchr(text, '/');
		if (strcmp(base ? base + 1 : text, RV32_PROGRAM_FILE) == 0)
			s->program_file = number;
		for (int i = 0; i < 3; i++) /* folder, time, length */
			leb_read(s, false);
	}
}

/* Reads up to the line program. Returns false if damaged, or of another version. */
static bool header_read(struct lines *s)
{
	if (number_read(s, 2) != VERSION)
		return false;
	const uint32_t bytes = number_read(s, 4);
	if (bytes > (size_t)(s->end - s->at))
		return false;
	const uint8_t *program = s->at + bytes;
	s->instruction_bytes = (uint8_t)number_read(s, 1);
	number_read(s, 2); /* operations per instruction, default_is_stmt */
	s->line_base = (int8_t)number_read(s, 1);
	s->line_range = (uint8_t)number_read(s, 1);
	s->opcode_base = (uint8_t)number_read(s, 1);
	if (s->bad || s->line_range == 0 || s->opcode_base <= FIXED_ADVANCE_PC ||
	    s->opcode_base > OPCODES_MAX)
		return false;
	for (unsigned i = 1; i < s->opcode_base; i++)
		s->operands[i] = (uint8_t)number_read(s, 1);
	files_read(s);
	s->at = program;
	return !s->bad;
}

/* Relocations must be applied. */
static void units_read(struct lines *s, const uint8_t *data, uint32_t bytes)
{
	const uint8_t *end = data + bytes;

	while (end - data >= 4) {
		s->at = data;
		s->end = end;
		s->bad = false;
		const uint32_t length = number_read(s, 4);
		if (length > (size_t)(end - s->at))
			return;
		s->end = data = s->at + length;
		if (header_read(s))
			program_run(s);
	}
}

/* ---- relocations ---- */

static void reference_add(uint8_t *at, unsigned bytes, uint32_t value)
{
	for (unsigned i = 0, carry = 0; i < bytes; i++, value >>= 8) {
		carry += at[i] + (value & 0xff);
		at[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

static void rela_apply(struct image_linker *l, size_t index, uint8_t *data, uint32_t bytes,
		       const Elf32_Rela *r)
{
	const uint32_t type = ELF32_R_TYPE(r->r_info);
	const unsigned size = type == R_RISCV_ADD16 || type == R_RISCV_SUB16 ? 2 : 4;
	uint32_t value;

	if (r->r_offset > bytes || size > bytes - r->r_offset ||
	    image_symbol_address(l, index, ELF32_R_SYM(r->r_info), &value) != DXP_OK)
		return;
	value += (uint32_t)r->r_addend;
	switch (type) {
	case R_RISCV_32: memset(data + r->r_offset, 0, 4); /* fall through */
	case R_RISCV_ADD16:
	case R_RISCV_ADD32: reference_add(data + r->r_offset, size, value); break;
	case R_RISCV_SUB16:
	case R_RISCV_SUB32: reference_add(data + r->r_offset, size, 0u - value); break;
	default: break;
	}
}

static void relocations_apply(struct image_linker *l, size_t index, uint32_t section, uint8_t *data)
{
	const struct image_object *o = &l->objects[index];
	Elf32_Rela r;

	for (uint32_t t = 0; t < o->section_count; t++) {
		const Elf32_Shdr *h = &o->headers[t];
		if (h->sh_type != SHT_RELA || h->sh_info != section)
			continue;
		for (uint32_t at = 0; h->sh_size - at >= sizeof(r); at += (uint32_t)sizeof(r)) {
			memcpy(&r, o->data + h->sh_offset + at, sizeof(r));
			rela_apply(l, index, data, o->headers[section].sh_size, &r);
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct rv32_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* At equal addresses, a row that ends a sequence (line 0) comes before the row that begins
	 * the next sequence. */
	return (x->line > y->line) - (x->line < y->line);
}

int image_lines_read(struct image_linker *l)
{
	struct lines s = {.image = l->image};

	for (size_t k = 0; k < l->count; k++) {
		const struct image_object *o = &l->objects[k];
		for (uint32_t i = 0; i < o->section_count; i++) {
			const Elf32_Shdr *h = &o->headers[i];
			if (h->sh_type != SHT_PROGBITS || h->sh_size == 0 ||
			    strcmp(image_section_name(o, i), ".debug_line") != 0)
				continue;
			uint8_t *copy = malloc(h->sh_size);
			if (!copy)
				return DXP_ENOMEM;
			memcpy(copy, o->data + h->sh_offset, h->sh_size);
			relocations_apply(l, k, i, copy);
			units_read(&s, copy, h->sh_size);
			free(copy);
		}
	}
	if (l->image->line_count)
		qsort(l->image->lines, l->image->line_count, sizeof(*l->image->lines), by_address);
	return DXP_OK;
}

uint32_t rv32_image_line(const struct rv32_image *image, uint32_t address)
{
	uint32_t low = 0, high = image->line_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (image->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? image->lines[low - 1].line : 0;
}

int rv32_image_position(const struct rv32_image *image, uint32_t pc, char *text, size_t bytes)
{
	const struct rv32_symbol *s = rv32_image_symbol(image, pc);
	const uint32_t line = rv32_image_line(image, pc);
	char where[24] = "";

	if (line)
		snprintf(where, sizeof(where), ", line %" PRIu32, line);
	return s ? snprintf(text, bytes, "%.40s+0x%x%s", s->name, pc - s->address, where)
		 : snprintf(text, bytes, "0x%x%s", pc, where);
}
