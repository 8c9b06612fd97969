/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an ELF object's headers before anything else reads it. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/image_internal.h"

#define ALIGN_MAX 4096u

static bool range_fits(const struct image_object *o, uint32_t offset, uint64_t bytes)
{
	return offset <= o->bytes && bytes <= o->bytes - offset;
}

/* Returns true if the table ends with a zero; then so does each name. */
static bool names_good(const char *names, uint32_t bytes)
{
	return bytes > 0 && names[bytes - 1] == '\0';
}

static bool type_good(const struct image_linker *l, uint16_t type)
{
	return type == ET_REL || (l->executables && (type == ET_EXEC || type == ET_DYN));
}

static int header_read(struct image_linker *l, size_t index, Elf32_Ehdr *h)
{
	const struct image_object *o = &l->objects[index];

	if (o->bytes < sizeof(*h))
		return image_fail(l, DXP_EMALFORMED, "object %zu: %zu bytes are too short for ELF",
				  index, o->bytes);
	memcpy(h, o->data, sizeof(*h));
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return image_fail(l, DXP_EMALFORMED, "object %zu: not an ELF file", index);
	if (h->e_ident[EI_CLASS] != ELFCLASS32 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_machine != EM_RISCV || !type_good(l, h->e_type))
		return image_fail(l, DXP_EMALFORMED, "object %zu: not %s for riscv32", index,
				  l->executables ? "an object or executable"
						 : "a relocatable object");
	if (h->e_flags & (EF_RISCV_RVC | EF_RISCV_FLOAT_ABI | EF_RISCV_RVE))
		return image_fail(l, DXP_EMALFORMED,
				  "object %zu: ELF flags 0x%x; only rv32imaf with ABI ilp32 runs "
				  "here",
				  index, h->e_flags);
	if (h->e_shentsize != sizeof(Elf32_Shdr) || h->e_shnum == 0 ||
	    h->e_shstrndx >= h->e_shnum ||
	    !range_fits(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf32_Shdr)))
		return image_fail(l, DXP_EMALFORMED,
				  "object %zu: its section headers are outside the file", index);
	return DXP_OK;
}

static int section_check(struct image_linker *l, size_t index, uint32_t i)
{
	const struct image_object *o = &l->objects[index];
	const Elf32_Shdr *s = &o->headers[i];

	if (s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS &&
	    !range_fits(o, s->sh_offset, s->sh_size))
		return image_fail(l, DXP_EMALFORMED, "object %zu: section %u is outside the file",
				  index, i);
	if (s->sh_addralign > ALIGN_MAX || (s->sh_addralign & (s->sh_addralign - 1)))
		return image_fail(l, DXP_EMALFORMED, "object %zu: section %u is aligned to %u",
				  index, i, s->sh_addralign);
	if (s->sh_name >= o->section_name_bytes)
		return image_fail(l, DXP_EMALFORMED,
				  "object %zu: the name of section %u is outside the file", index,
				  i);
	return DXP_OK;
}

static int sections_read(struct image_linker *l, size_t index, const Elf32_Ehdr *h)
{
	struct image_object *o = &l->objects[index];

	o->headers = calloc(h->e_shnum, sizeof(*o->headers));
	o->sections = calloc(h->e_shnum, sizeof(*o->sections));
	if (!o->headers || !o->sections)
		return DXP_ENOMEM;
	memcpy(o->headers, o->data + h->e_shoff, h->e_shnum * sizeof(*o->headers));
	o->section_count = h->e_shnum;
	const Elf32_Shdr *names = &o->headers[h->e_shstrndx];
	if (names->sh_type != SHT_STRTAB || !range_fits(o, names->sh_offset, names->sh_size) ||
	    !names_good((const char *)o->data + names->sh_offset, names->sh_size))
		return image_fail(l, DXP_EMALFORMED, "object %zu: no names of sections", index);
	o->section_names = (const char *)o->data + names->sh_offset;
	o->section_name_bytes = names->sh_size;
	for (uint32_t i = 0; i < o->section_count; i++) {
		int status = section_check(l, index, i);
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

static int symbols_check(struct image_linker *l, size_t index)
{
	const struct image_object *o = &l->objects[index];

	for (uint32_t i = 0; i < o->symbol_count; i++) {
		const Elf32_Sym *s = &o->symbols[i];
		if (s->st_name >= o->symbol_name_bytes ||
		    (s->st_shndx >= o->section_count && s->st_shndx != SHN_ABS))
			return image_fail(l, DXP_EMALFORMED, "object %zu: symbol %u is damaged",
					  index, i);
	}
	return DXP_OK;
}

static int symbols_read(struct image_linker *l, size_t index)
{
	struct image_object *o = &l->objects[index];
	const Elf32_Shdr *table = NULL;

	for (uint32_t i = 0; i < o->section_count; i++)
		if (o->headers[i].sh_type == SHT_SYMTAB)
			table = &o->headers[i];
	if (!table)
		return DXP_OK;
	if (table->sh_link >= o->section_count || o->headers[table->sh_link].sh_type != SHT_STRTAB)
		return image_fail(l, DXP_EMALFORMED, "object %zu: no names of symbols", index);
	const Elf32_Shdr *names = &o->headers[table->sh_link];
	o->symbol_names = (const char *)o->data + names->sh_offset;
	o->symbol_name_bytes = names->sh_size;
	if (!names_good(o->symbol_names, o->symbol_name_bytes))
		return image_fail(l, DXP_EMALFORMED, "object %zu: no names of symbols", index);
	o->symbol_count = table->sh_size / (uint32_t)sizeof(Elf32_Sym);
	o->symbols = calloc(o->symbol_count + 1, sizeof(*o->symbols));
	if (!o->symbols)
		return DXP_ENOMEM;
	memcpy(o->symbols, o->data + table->sh_offset, o->symbol_count * sizeof(*o->symbols));
	return symbols_check(l, index);
}

int image_object_open(struct image_linker *l, size_t index, const struct rv32_object *from)
{
	struct image_object *o = &l->objects[index];
	Elf32_Ehdr h;

	o->data = from->data;
	o->bytes = from->bytes;
	int status = header_read(l, index, &h);
	if (status == DXP_OK)
		status = sections_read(l, index, &h);
	if (status == DXP_OK)
		status = symbols_read(l, index);
	return status;
}

void image_object_close(struct image_object *o)
{
	free(o->headers);
	free(o->sections);
	free(o->symbols);
}

const char *image_section_name(const struct image_object *o, uint32_t section)
{
	return o->section_names + o->headers[section].sh_name;
}

const char *image_symbol_name(const struct image_object *o, uint32_t symbol)
{
	return o->symbol_names + o->symbols[symbol].st_name;
}
