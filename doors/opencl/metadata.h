/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a program: the node's records (dxp/about.h), decoded once. Pure. */
#ifndef DOOR_METADATA_H
#define DOOR_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum argument_kind {
	ARGUMENT_VALUE,
	ARGUMENT_BUFFER,
	ARGUMENT_LOCAL,
	ARGUMENT_IMAGE,
	ARGUMENT_SAMPLER,
	ARGUMENT_OTHER, /* pipes, queues: what no device of ours has */
};

struct argument_about {
	enum argument_kind kind;
	uint32_t address, access; /* OpenCL's */
	uint64_t qualifiers;
	uint32_t bytes;       /* of a value; 0: not known */
	uint32_t short_bytes; /* of a vector of three without its pad; 0: none */
	bool reads_only;      /* a buffer or image that the kernel does not write */
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
	uint64_t required[3]; /* work-group size; all 0: any */
	uint64_t group_size;  /* largest work-group; 0: not known */
	uint64_t local_bytes; /* that it needs besides its arguments */
};

struct program_about {
	uint32_t type;         /* cl_program_binary_type; 0: not told */
	uint64_t global_bytes; /* program-scope variables */
	struct kernel_about *kernels;
	uint32_t kernel_count;
	struct argument_about *arguments; /* of all kernels, in order */
	uint8_t *records;                 /* a copy, which facts and arguments' names point into */
	char *names;                      /* of kernels, each with its zero */
};

/* *out must be zeroed or cleared. DXP_OK, DXP_ENOMEM, DXP_EMALFORMED; on an error *out is zero. */
int metadata_read(struct program_about *out, const void *records, size_t bytes);
void metadata_clear(struct program_about *p);
const struct kernel_about *metadata_kernel(const struct program_about *p, const char *name);
const struct kernel_fact *metadata_fact(const struct kernel_about *k, uint32_t param);
/* Have they the same arguments? */
bool metadata_alike(const struct kernel_about *a, const struct kernel_about *b);

#endif
