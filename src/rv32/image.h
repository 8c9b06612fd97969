/* SPDX-License-Identifier: BSD-3-Clause */
/* Links relocatable ELF objects for riscv32 (from clang) to a program: code, constants, kernels,
 * symbols. Objects may come from hosts, so every offset is checked. No I/O.
 *
 * Executable sections become code; .bss becomes LOCAL memory; all others become read-only constants
 * (OpenCL C 1.2 has no program-scope variables). `.bss.K.NAME` is kernel K's alone, so kernels
 * share addresses, unless other code refers to it. `.dxp.kernels` has a record per kernel. */
#ifndef RV32_IMAGE_H
#define RV32_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define RV32_IMAGE_TEXT_BYTES 256
/* code and constants must end below the buffers */
#define RV32_CONSTANTS_MAX  (64u << 20)
#define RV32_PARAMETERS_MAX 128 /* as in a command */
#define RV32_KERNELS_MAX    1024
/* of an entry function's name, before the kernel's */
#define RV32_ENTRY_PREFIX      "dxp_enter_"
#define RV32_PROGRAM_FILE      "program.cl" /* the program's text in line tables */
#define RV32_KERNEL_SECTION    ".dxp.kernels"
#define RV32_KERNEL_MAGIC      0x4b505844u /* "DXPK" */
#define RV32_KERNEL_HEAD_WORDS 9           /* words: magic, bytes, parameters, sizes[3], hints[3] */
#define RV32_PARAMETER_WORDS   4           /* words: bytes, address space, access, qualifiers */

struct rv32_object {
	const void *data; /* any alignment */
	size_t bytes;
};

/* Address spaces, in the order of kernel_arg_addr_space. */
enum rv32_space { RV32_SPACE_VALUE, RV32_SPACE_GLOBAL, RV32_SPACE_CONSTANT, RV32_SPACE_LOCAL };

enum rv32_access_qualifier {
	RV32_ACCESS_NONE,
	RV32_ACCESS_READ,
	RV32_ACCESS_WRITE,
	RV32_ACCESS_BOTH
};
enum rv32_type_qualifier { RV32_TYPE_CONST = 1, RV32_TYPE_RESTRICT = 2, RV32_TYPE_VOLATILE = 4 };

struct rv32_parameter {
	uint32_t bytes;     /* a pointer has 4 */
	uint8_t space;      /* enum rv32_space */
	uint8_t access;     /* enum rv32_access_qualifier */
	uint8_t qualifiers; /* enum rv32_type_qualifier, combined */
	const char *type, *name;
};

struct rv32_kernel {
	const char *name;
	/* other than sizes, such as "vec_type_hint(float4)" */
	const char *attributes;
	uint32_t entry;       /* entry function */
	uint32_t local_bytes; /* __local variables */
	uint32_t sizes[3];    /* reqd_work_group_size; 0: none */
	uint32_t hints[3];    /* work_group_size_hint; 0: none */
	uint32_t parameter_count;
	struct rv32_parameter *parameters;
};

struct rv32_symbol {
	uint32_t address;
	const char *name;
};

/* Instructions from `address` to the next row belong to this line; 0: to none. */
struct rv32_line {
	uint32_t address, line;
};

/* Does not change any more. */
struct rv32_image {
	uint32_t *code; /* for RV32_CODE_BASE */
	size_t code_words;
	uint8_t *constants;
	uint32_t constant_base, constant_bytes; /* base: multiple of RV32_PAGE_BYTES */
	struct rv32_kernel *kernels;
	uint32_t kernel_count;
	struct rv32_symbol *symbols; /* by address */
	uint32_t symbol_count;
	/* by address; NULL without -gline-tables-only */
	struct rv32_line *lines;
	uint32_t line_count;
	char *names; /* holds all names above */
};

/* Links objects; the caller frees *out. Errors, with a sentence in `text`: DXP_EMALFORMED: damaged,
 * or not for this device; DXP_ENOENT: a function is missing; DXP_EEXIST: it is defined twice;
 * DXP_ERANGE: too large; DXP_ENOMEM. */
int rv32_image_link(const struct rv32_object *objects, size_t count, struct rv32_image **out,
		    char text[RV32_IMAGE_TEXT_BYTES]);
void rv32_image_destroy(struct rv32_image *image);

/* Returns the kernel, or NULL. */
const struct rv32_kernel *rv32_image_kernel(const struct rv32_image *image, const char *name);

/* Returns the last function that starts at or before the address, or NULL. */
const struct rv32_symbol *rv32_image_symbol(const struct rv32_image *image, uint32_t address);

/* Returns the line of the program's text; 0: unknown. */
uint32_t rv32_image_line(const struct rv32_image *image, uint32_t address);

/* Writes a position such as "function+0x20, line 3". Returns the length, as snprintf(). */
int rv32_image_position(const struct rv32_image *image, uint32_t pc, char *text, size_t bytes);

#endif
