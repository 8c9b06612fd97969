/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds global symbols, addresses and kernels' entries, and lists functions for messages. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/core.h"
#include "rv32/image_internal.h"

static uint32_t name_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash;
}

/* Returns the name's entry, or an empty one for it. */
static struct image_global *global_place(const struct image_linker *l, const char *name)
{
	uint32_t at = name_hash(name) & l->global_mask;

	while (l->globals[at].name && strcmp(l->globals[at].name, name) != 0)
		at = (at + 1) & l->global_mask;
	return &l->globals[at];
}

const struct image_global *image_global_find(const struct image_linker *l, const char *name)
{
	const struct image_global *g = global_place(l, name);

	return g->name ? g : NULL;
}

static bool is_defined(const struct image_object *o, const Elf32_Sym *s)
{
	return s->st_shndx != SHN_UNDEF && s->st_shndx < o->section_count &&
	       o->sections[s->st_shndx].place >= PLACE_CODE &&
	       o->sections[s->st_shndx].place <= PLACE_LOCAL;
}

static int global_add(struct image_linker *l, const struct image_object *o, uint32_t i)
{
	const Elf32_Sym *s = &o->symbols[i];
	const char *name = image_symbol_name(o, i);
	const bool weak = ELF32_ST_BIND(s->st_info) == STB_WEAK;
	struct image_global *g = global_place(l, name);

	if (g->name && !weak && !g->weak)
		return image_fail(l, DXP_EEXIST,
				  "'%.100s' is defined twice; rename one, or link one object less",
				  name);
	if (g->name && weak)
		return DXP_OK;
	*g = (struct image_global){name, o->sections[s->st_shndx].address + s->st_value, weak};
	return DXP_OK;
}

int image_globals_make(struct image_linker *l)
{
	uint64_t count = 0;

	for (size_t k = 0; k < l->count; k++)
		count += l->objects[k].symbol_count;
	l->global_mask = 1;
	while (l->global_mask < 2 * count)
		l->global_mask = 2 * l->global_mask + 1;
	l->globals = calloc((size_t)l->global_mask + 1, sizeof(*l->globals));
	if (!l->globals)
		return DXP_ENOMEM;
	for (size_t k = 0; k < l->count; k++) {
		const struct image_object *o = &l->objects[k];
		for (uint32_t i = 1; i < o->symbol_count; i++) {
			if (ELF32_ST_BIND(o->symbols[i].st_info) == STB_LOCAL ||
			    !is_defined(o, &o->symbols[i]))
				continue;
			int status = global_add(l, o, i);
			if (status != DXP_OK)
				return status;
		}
	}
	return DXP_OK;
}

int image_symbol_address(struct image_linker *l, size_t object, uint32_t symbol, uint32_t *out)
{
	const struct image_object *o = &l->objects[object];

	if (symbol >= o->symbol_count)
		return image_fail(l, DXP_EMALFORMED, "object %zu: a relocation has no symbol",
				  object);
	const Elf32_Sym *s = &o->symbols[symbol];
	const char *name = image_symbol_name(o, symbol);
	if (s->st_shndx == SHN_ABS || symbol == 0) {
		*out = s->st_value;
		return DXP_OK;
	}
	if (ELF32_ST_BIND(s->st_info) != STB_LOCAL) {
		const struct image_global *g = image_global_find(l, name);
		*out = g ? g->address : 0;
		if (g || ELF32_ST_BIND(s->st_info) == STB_WEAK)
			return DXP_OK;
		return image_fail(l, DXP_ENOENT,
				  "function '%.100s' is neither in the program nor in OpenCL C 1.2 "
				  "without images and double",
				  name);
	}
	if (!is_defined(o, s))
		return image_fail(l, DXP_EMALFORMED, "object %zu: symbol %u has no address", object,
				  symbol);
	*out = o->sections[s->st_shndx].address + s->st_value;
	return DXP_OK;
}

int image_kernels_finish(struct image_linker *l)
{
	struct rv32_image *image = l->image;
	char name[512];

	for (uint32_t i = 0; i < image->kernel_count; i++) {
		struct rv32_kernel *k = &image->kernels[i];
		size_t letters = strlen(k->name) + sizeof(RV32_ENTRY_PREFIX);
		const struct image_global *g = NULL;
		if (letters <= sizeof(name)) {
			memcpy(name, RV32_ENTRY_PREFIX, sizeof(RV32_ENTRY_PREFIX) - 1);
			memcpy(name + sizeof(RV32_ENTRY_PREFIX) - 1, k->name, strlen(k->name) + 1);
			g = image_global_find(l, name);
		}
		if (!g || g->address % 4 != 0 || g->address < RV32_CODE_BASE ||
		    (g->address - RV32_CODE_BASE) / 4 >= image->code_words)
			return image_fail(l, DXP_EMALFORMED, "kernel '%.100s' has no entry in code",
					  k->name);
		k->entry = g->address;
	}
	return DXP_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct rv32_symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool is_function(const struct image_object *o, const Elf32_Sym *s)
{
	return ELF32_ST_TYPE(s->st_info) == STT_FUNC && is_defined(o, s) &&
	       o->sections[s->st_shndx].place == PLACE_CODE;
}

int image_symbols_list(struct image_linker *l)
{
	struct rv32_image *image = l->image;
	const size_t prefix = sizeof(RV32_ENTRY_PREFIX) - 1;
	size_t count = 0;

	for (size_t k = 0; k < l->count; k++)
		for (uint32_t i = 0; i < l->objects[k].symbol_count; i++)
			count += is_function(&l->objects[k], &l->objects[k].symbols[i]);
	image->symbols = calloc(count + 1, sizeof(*image->symbols));
	if (!image->symbols)
		return DXP_ENOMEM;
	for (size_t k = 0; k < l->count; k++) {
		const struct image_object *o = &l->objects[k];
		for (uint32_t i = 0; i < o->symbol_count; i++) {
			const Elf32_Sym *s = &o->symbols[i];
			const char *name = image_symbol_name(o, i);
			if (!is_function(o, s))
				continue;
			if (strncmp(name, RV32_ENTRY_PREFIX, prefix) == 0)
				/* the kernel's name, not its entry function's */
				name += prefix;
			image->symbols[image->symbol_count++] = (struct rv32_symbol){
				o->sections[s->st_shndx].address + s->st_value, name};
		}
	}
	qsort(image->symbols, image->symbol_count, sizeof(*image->symbols), by_address);
	return DXP_OK;
}

const struct rv32_symbol *rv32_image_symbol(const struct rv32_image *image, uint32_t address)
{
	uint32_t low = 0, high = image->symbol_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (image->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &image->symbols[low - 1] : NULL;
}
