/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of the kernels of a program, decoded once from the node's records (dxp/about.h). No
 * I/O. */
#ifndef OPENCL_METADATA_H
#define OPENCL_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum argument_kind {
	ARGUMENT_VALUE,
	ARGUMENT_BUFFER,
	ARGUMENT_LOCAL,
	ARGUMENT_IMAGE,
	ARGUMENT_SAMPLER,
	ARGUMENT_OTHER, /* a pipe or a queue, which no device supports */
};

struct argument_about {
	enum argument_kind kind;
	uint32_t address, access; /* OpenCL constants */
	uint64_t qualifiers;
	uint32_t bytes; /* of a value; 0: unknown */
	/* bytes without padding of a vector of three elements; otherwise 0 */
	uint32_t short_bytes;
	bool reads_only; /* true: the kernel does not write the buffer or image */
	const char *type, *name;
};

struct kernel_fact {
	uint32_t param; /* cl_kernel_info or cl_kernel_work_group_info */
	uint32_t bytes;
	const uint8_t *data;
};

#define KERNEL_FACTS_MAX 16

struct kernel_about {
	const char *name;
	struct argument_about *arguments;
	uint32_t argument_count;
	struct kernel_fact facts[KERNEL_FACTS_MAX];
	uint32_t fact_count;
	uint64_t required[3]; /* work-group size that the kernel requires; all 0: any size */
	uint64_t group_size;  /* work-items of the largest work-group; 0: unknown */
	uint64_t local_bytes; /* without local arguments */
};

struct program_about {
	uint32_t type;         /* cl_program_binary_type; 0: unknown */
	uint64_t global_bytes; /* bytes of variables in program scope */
	struct kernel_about *kernels;
	uint32_t kernel_count;
	struct argument_about *arguments; /* of all kernels, one kernel after another */
	/* copy of the node's records; facts and arguments point into it */
	uint8_t *records;
	char *names; /* names of the kernels; each ends with a zero byte */
};

/* Before, *out must be all zero or cleared. After an error, *out is all zero. DXP_OK, DXP_ENOMEM,
 * DXP_EMALFORMED. */
int metadata_read(struct program_about *out, const void *records, size_t bytes);
void metadata_clear(struct program_about *p);
const struct kernel_about *metadata_kernel(const struct program_about *p, const char *name);
const struct kernel_fact *metadata_fact(const struct kernel_about *k, uint32_t param);
/* Returns true if both kernels have the same arguments. */
bool metadata_alike(const struct kernel_about *a, const struct kernel_about *b);

#endif
