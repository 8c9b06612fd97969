/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives sections addresses: code, constants on the next page, LOCAL memory. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/core.h"
#include "rv32/image_internal.h"

static uint8_t place_of(const Elf32_Shdr *s)
{
	if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0)
		return PLACE_NONE;
	if (s->sh_type == SHT_NOBITS)
		return PLACE_LOCAL;
	return s->sh_flags & SHF_EXECINSTR ? PLACE_CODE : PLACE_CONSTANT;
}

/* Returns 1 + index; 0: none. The name need not end with a zero. */
static uint32_t kernel_index(const struct image_linker *l, const struct image_object *o,
			     const char *name, size_t letters)
{
	for (uint32_t i = 0; i < o->kernel_count; i++) {
		const char *kernel = l->image->kernels[o->first_kernel + i].name;
		if (strlen(kernel) == letters && memcmp(kernel, name, letters) == 0)
			return o->first_kernel + i + 1;
	}
	return 0;
}

/* Returns 1 + index of the owner of ".bss.KERNEL.NAME" or ".sbss.KERNEL.NAME"; 0: none. */
static uint32_t owner_of(const struct image_linker *l, const struct image_object *o, uint32_t i)
{
	const char *name = image_section_name(o, i);

	name = strncmp(name, ".bss.", 5) == 0    ? name + 5
	       : strncmp(name, ".sbss.", 6) == 0 ? name + 6
						 : NULL;
	return name ? kernel_index(l, o, name, strcspn(name, ".")) : 0;
}

/* Returns 1 + index of the owner of ".text.FUNCTION"; 0: none. */
static uint32_t code_owner(const struct image_linker *l, const struct image_object *o, uint32_t i)
{
	const size_t prefix = sizeof(RV32_ENTRY_PREFIX) - 1;
	const char *name = image_section_name(o, i);

	if (strncmp(name, ".text.", 6) != 0)
		return 0;
	name += 6;
	if (strncmp(name, RV32_ENTRY_PREFIX, prefix) == 0)
		name += prefix;
	return kernel_index(l, o, name, strlen(name));
}

static void sections_sort(struct image_linker *l)
{
	for (size_t k = 0; k < l->count; k++) {
		struct image_object *o = &l->objects[k];
		for (uint32_t i = 0; i < o->section_count; i++) {
			if (o->sections[i].place == PLACE_KERNELS)
				continue;
			o->sections[i].place = place_of(&o->headers[i]);
			if (o->sections[i].place == PLACE_LOCAL)
				o->sections[i].owner = owner_of(l, o, i);
		}
	}
}

/* Shares a LOCAL variable among all kernels if code outside its kernel refers to it. */
static void references_see(struct image_linker *l, struct image_object *o, uint32_t table)
{
	const Elf32_Shdr *h = &o->headers[table];
	Elf32_Rela r;

	if (h->sh_type != SHT_RELA || h->sh_info >= o->section_count)
		return;
	const uint32_t owner = code_owner(l, o, h->sh_info);
	for (uint32_t at = 0; h->sh_size - at >= sizeof(r); at += (uint32_t)sizeof(r)) {
		memcpy(&r, o->data + h->sh_offset + at, sizeof(r));
		const uint32_t symbol = ELF32_R_SYM(r.r_info);
		if (symbol >= o->symbol_count || o->symbols[symbol].st_shndx >= o->section_count)
			continue;
		struct image_section *s = &o->sections[o->symbols[symbol].st_shndx];
		if (s->owner != owner)
			s->owner = 0;
	}
}

/* Returns the section's offset. */
static uint64_t append(uint64_t *used, const Elf32_Shdr *s)
{
	const uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
	const uint64_t at = (*used + align - 1) / align * align;

	*used = at + s->sh_size;
	return at;
}

/* Gives addresses from `base` on; *used counts bytes. */
static int kind_place(struct image_linker *l, uint8_t place, uint32_t owner, uint32_t base,
		      uint64_t most, uint64_t *used)
{
	static const char *const names[] = {
		[PLACE_CODE] = "code", [PLACE_CONSTANT] = "constants", [PLACE_LOCAL] = "LOCAL"};

	for (size_t k = 0; k < l->count; k++) {
		struct image_object *o = &l->objects[k];
		for (uint32_t i = 0; i < o->section_count; i++) {
			if (o->sections[i].place != place || o->sections[i].owner != owner)
				continue;
			uint64_t at = append(used, &o->headers[i]);
			if (*used > most)
				return image_fail(l, DXP_ERANGE,
						  "the program has more than %llu bytes of %s",
						  (unsigned long long)most, names[place]);
			o->sections[i].address = base + (uint32_t)at;
		}
	}
	return DXP_OK;
}

static int local_place(struct image_linker *l)
{
	struct rv32_image *image = l->image;
	uint64_t common = 0;
	int status = kind_place(l, PLACE_LOCAL, 0, RV32_LOCAL_BASE, RV32_LOCAL_BYTES_MAX, &common);

	for (uint32_t i = 0; status == DXP_OK && i < image->kernel_count; i++) {
		uint64_t used = common;
		status = kind_place(l, PLACE_LOCAL, i + 1, RV32_LOCAL_BASE, RV32_LOCAL_BYTES_MAX,
				    &used);
		image->kernels[i].local_bytes = (uint32_t)used;
	}
	return status;
}

static void bytes_copy(struct image_linker *l)
{
	struct rv32_image *image = l->image;

	for (size_t k = 0; k < l->count; k++) {
		struct image_object *o = &l->objects[k];
		for (uint32_t i = 0; i < o->section_count; i++) {
			const struct image_section *s = &o->sections[i];
			const uint8_t *from = o->data + o->headers[i].sh_offset;
			if (s->place == PLACE_CODE)
				memcpy((uint8_t *)image->code + (s->address - RV32_CODE_BASE), from,
				       o->headers[i].sh_size);
			if (s->place == PLACE_CONSTANT)
				memcpy(image->constants + (s->address - image->constant_base), from,
				       o->headers[i].sh_size);
		}
	}
}

int image_place(struct image_linker *l)
{
	struct rv32_image *image = l->image;
	uint64_t code = 0, constants = 0;

	sections_sort(l);
	for (size_t k = 0; k < l->count; k++)
		for (uint32_t i = 0; i < l->objects[k].section_count; i++)
			references_see(l, &l->objects[k], i);
	int status = kind_place(l, PLACE_CODE, 0, RV32_CODE_BASE, RV32_CODE_BYTES_MAX - 4, &code);
	image->code_words = (size_t)(code + 3) / 4;
	image->constant_base = RV32_CODE_BASE + (uint32_t)(code + RV32_PAGE_BYTES - 1) /
							RV32_PAGE_BYTES * RV32_PAGE_BYTES;
	if (status == DXP_OK)
		status = kind_place(l, PLACE_CONSTANT, 0, image->constant_base, RV32_CONSTANTS_MAX,
				    &constants);
	if (status == DXP_OK)
		status = local_place(l);
	if (status != DXP_OK)
		return status;
	image->constant_bytes = (uint32_t)constants;
	image->code = calloc(image->code_words + 1, sizeof(*image->code));
	image->constants = calloc(1, constants + 1);
	if (!image->code || !image->constants)
		return DXP_ENOMEM;
	bytes_copy(l);
	return DXP_OK;
}
