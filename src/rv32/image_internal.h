/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by image_*.c. */
#ifndef RV32_IMAGE_INTERNAL_H
#define RV32_IMAGE_INTERNAL_H

#include <elf.h>
#include <stdbool.h>

#include "rv32/image.h"
#include "rv32/memory.h"

enum image_place { PLACE_NONE, PLACE_CODE, PLACE_CONSTANT, PLACE_LOCAL, PLACE_KERNELS };

struct image_section {
	uint8_t place; /* enum image_place */
	/* PLACE_LOCAL: 1 + index of the owning kernel; 0: shared */
	uint32_t owner;
	uint32_t address; /* linked, set by image_place() */
};

/* Headers are checked: sections with bytes lie inside `data`. */
struct image_object {
	const uint8_t *data;
	size_t bytes;
	uint32_t section_count;
	Elf32_Shdr *headers;
	struct image_section *sections;
	const char *section_names;
	uint32_t section_name_bytes;
	Elf32_Sym *symbols;
	uint32_t symbol_count;
	const char *symbol_names;
	uint32_t symbol_name_bytes;
	/* in the image */
	uint32_t first_kernel, kernel_count;
};

struct image_global {
	const char *name;
	uint32_t address;
	bool weak;
};

struct image_linker {
	struct image_object *objects;
	size_t count;
	struct rv32_image *image;
	struct image_global *globals; /* hash table */
	uint32_t global_mask;
	char *text;
	bool executables; /* accept executables too, to list them */
};

/* Writes to l->text. Returns `status`. */
int image_fail(struct image_linker *l, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* image_elf.c: opens object `index`. DXP_EMALFORMED, DXP_ENOMEM. */
int image_object_open(struct image_linker *l, size_t index, const struct rv32_object *from);
void image_object_close(struct image_object *o);
/* Return a name with checked bounds, or "". */
const char *image_section_name(const struct image_object *o, uint32_t section);
const char *image_symbol_name(const struct image_object *o, uint32_t symbol);

/* image_kernel.c: reads the kernel records of all objects. */
int image_kernels_read(struct image_linker *l);

/* image_place.c: gives sections addresses; copies code and constants. */
int image_place(struct image_linker *l);

/* image_symbol.c: finds global symbols by name and kernels' entries; lists functions. */
int image_globals_make(struct image_linker *l);
const struct image_global *image_global_find(const struct image_linker *l, const char *name);
/* DXP_EMALFORMED, DXP_ENOENT. */
int image_symbol_address(struct image_linker *l, size_t object, uint32_t symbol, uint32_t *out);
int image_kernels_finish(struct image_linker *l);
int image_symbols_list(struct image_linker *l);

/* image_relocate.c: applies all relocations. */
int image_relocate(struct image_linker *l);

/* image_lines.c: reads line tables. DXP_ENOMEM. */
int image_lines_read(struct image_linker *l);

#endif
