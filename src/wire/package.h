/* SPDX-License-Identifier: BSD-3-Clause */
/* What BUILD builds, as bytes: a kind, options, files, and other programs. docs/wire.md "Packages".
 * Texts are followed by a zero, so that pointers into a package can be used as they are.
 *
 * A package in device memory can be changed by its host at any time: copy it before it is decoded.
 * Pure; allocates nothing. */
#ifndef WIRE_PACKAGE_H
#define WIRE_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

#define PACKAGE_OPTIONS_BYTES 65536 /* with their zero */
#define PACKAGE_NAME_BYTES    1024  /* of a file, with its zero */
#define PACKAGE_FILES_MAX     4096
#define PACKAGE_INPUTS_MAX    4096

/* As struct dxp_program_source, with ids of programs. */
struct package_source {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	const struct dxp_file *files;
	uint32_t file_count;
	const uint32_t *inputs;
	uint32_t input_count;
};

/* NULL when it can be encoded, else what is wrong with it: a half sentence. */
const char *package_fault(const struct package_source *s);
/* Of a source without fault. */
uint64_t package_bytes(const struct package_source *s);
void package_encode(const struct package_source *s, uint8_t *out);

/* A package that has been looked through; points into its bytes. */
struct package {
	uint8_t kind; /* enum dxp_program_kind */
	const char *options;
	uint32_t file_count, input_count;
	const uint8_t *files, *inputs, *end; /* read them by the calls below */
};

/* DXP_EMALFORMED: a length is wrong, something is left over, a name is not of the kind that
 * dxp/async.h says, or files and inputs do not fit the kind. */
int package_decode(const uint8_t *data, size_t bytes, struct package *out);

/* One file after another: *at is NULL at first. False behind the last. */
bool package_file(const struct package *p, const uint8_t **at, struct dxp_file *out);
uint32_t package_input(const struct package *p, uint32_t index);

#endif
