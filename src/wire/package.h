/* SPDX-License-Identifier: BSD-3-Clause */
/* Input of BUILD as bytes: kind, options, files, ids of other programs. docs/reference/wire.md
 * "Packages". Texts end with a zero, so pointers into it are C strings; nothing is allocated.
 *
 * The host can change a package in device memory at any time: copy it before decoding. */
#ifndef WIRE_PACKAGE_H
#define WIRE_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#define PACKAGE_OPTIONS_BYTES 65536 /* with the final zero */
#define PACKAGE_NAME_BYTES    1024  /* of a file, with the final zero */
#define PACKAGE_FILES_MAX     4096
#define PACKAGE_INPUTS_MAX    4096

/* Has the members of struct dxp_program_source, but inputs are program ids. */
struct package_source {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	const struct dxp_file *files;
	uint32_t file_count;
	const uint32_t *inputs;
	uint32_t input_count;
};

/* NULL: valid; else a text that names the fault. */
const char *package_fault(const struct package_source *s);
/* Returns the encoded length of a valid source. */
uint64_t package_bytes(const struct package_source *s);
void package_encode(const struct package_source *s, uint8_t *out);

/* Checked by package_decode(); pointers point into its bytes. */
struct package {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	uint32_t file_count, input_count;
	const uint8_t *files, *inputs, *end; /* for the functions below */
};

/* DXP_EMALFORMED: wrong length, a name that violates dxp/async.h, or files and inputs that do not
 * fit the kind. */
int package_decode(const uint8_t *data, size_t bytes, struct package *out);

/* The file after *at (NULL: the first); advances *at. False: none is left. */
bool package_file(const struct package *p, const uint8_t **at, struct dxp_file *out);
uint32_t package_input(const struct package *p, uint32_t index);

#endif
