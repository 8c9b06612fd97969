/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads relocatable ELF objects for riscv32 (from clang) and links them to one program: code,
 * constants, kernels and symbols. Objects may come from hosts, so every offset is checked.
 *
 * Sections: executable sections become code. Sections without bytes (.bss) become LOCAL memory. All
 * other sections become constants, read-only even if the object marks them as writable (OpenCL C
 * 1.2 has no program-scope variables). `.bss.K.NAME` belongs only to kernel K, so different kernels
 * use the same addresses. But if code of another function refers to such a section, all kernels
 * share it. `.dxp.kernels` holds one record per kernel.
 *
 * The functions do no I/O. */
#ifndef RV32_IMAGE_H
#define RV32_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define RV32_IMAGE_TEXT_BYTES 256
/* bytes: code and constants must end below the addresses of buffers */
#define RV32_CONSTANTS_MAX  (64u << 20)
#define RV32_PARAMETERS_MAX 128 /* as many as a command can have */
#define RV32_KERNELS_MAX    1024
/* prefix of the name of a kernel's entry function; the kernel's name follows */
#define RV32_ENTRY_PREFIX      "dxp_enter_"
#define RV32_PROGRAM_FILE      "program.cl" /* name of the program's text in line tables */
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
	uint32_t bytes;     /* bytes of the value; 4 if the parameter is a pointer */
	uint8_t space;      /* enum rv32_space */
	uint8_t access;     /* enum rv32_access_qualifier */
	uint8_t qualifiers; /* enum rv32_type_qualifier, combined */
	const char *type, *name;
};

struct rv32_kernel {
	const char *name;
	/* text of the attributes other than sizes, such as "vec_type_hint(float4)" */
	const char *attributes;
	uint32_t entry;       /* address of the entry function */
	uint32_t local_bytes; /* bytes of the kernel's __local variables */
	uint32_t sizes[3];    /* reqd_work_group_size; 0: none */
	uint32_t hints[3];    /* work_group_size_hint; 0: none */
	uint32_t parameter_count;
	struct rv32_parameter *parameters;
};

struct rv32_symbol {
	uint32_t address;
	const char *name;
};

/* A row of the line table. The instructions from `address` up to the next row belong to this line
 * of the program's text; line 0: they belong to no line. */
struct rv32_line {
	uint32_t address, line;
};

/* A linked program, which does not change any more. */
struct rv32_image {
	uint32_t *code; /* words of code, for the address RV32_CODE_BASE */
	size_t code_words;
	uint8_t *constants;
	uint32_t constant_base, constant_bytes; /* base is a multiple of RV32_PAGE_BYTES */
	struct rv32_kernel *kernels;
	uint32_t kernel_count;
	struct rv32_symbol *symbols; /* functions, sorted by address */
	uint32_t symbol_count;
	/* sorted by address; NULL if the program was compiled without -gline-tables-only */
	struct rv32_line *lines;
	uint32_t line_count;
	char *names; /* buffer that holds all names above */
};

/* Links objects; the caller frees *out with rv32_image_destroy().
 * Errors: DXP_EMALFORMED: an object is damaged or not for this device; DXP_ENOENT: a function is
 * missing; DXP_EEXIST: a function is defined twice; DXP_ERANGE: too large; DXP_ENOMEM. `text` then
 * has a sentence for the user. */
int rv32_image_link(const struct rv32_object *objects, size_t count, struct rv32_image **out,
		    char text[RV32_IMAGE_TEXT_BYTES]);
void rv32_image_destroy(struct rv32_image *image);

/* Returns the kernel of this name, or NULL. */
const struct rv32_kernel *rv32_image_kernel(const struct rv32_image *image, const char *name);

/* Returns the last function that starts at or before a code address, or NULL. */
const struct rv32_symbol *rv32_image_symbol(const struct rv32_image *image, uint32_t address);

/* Returns the line of the program's text that belongs to a code address; 0: unknown. */
uint32_t rv32_image_line(const struct rv32_image *image, uint32_t address);

/* Writes a position such as "function+0x20, line 3" for a code address. Returns the length, as
 * snprintf(). */
int rv32_image_position(const struct rv32_image *image, uint32_t pc, char *text, size_t bytes);

#endif
