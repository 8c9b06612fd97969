/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program/metadata.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdlib.h>
#include <string.h>

#include <dxp/about.h>
#include <dxp/status.h>

#define ARGUMENT_HEAD_BYTES 20 /* bytes of an argument record before its two names */

struct sizes {
	uint32_t kernels, arguments;
	size_t name_bytes;
};

static bool sizes_parse(struct sizes *s, const struct dxp_about_record *r)
{
	if (r->tag == DXP_ABOUT_KERNEL) {
		s->kernels++;
		s->name_bytes += (size_t)r->bytes + 1;
	}
	if (r->tag == DXP_ABOUT_ARGUMENT)
		s->arguments++;
	return s->kernels > 0 || (r->tag != DXP_ABOUT_ARGUMENT && r->tag != DXP_ABOUT_KERNEL_INFO);
}

static bool sizes_read(struct sizes *s, const void *records, size_t bytes)
{
	struct dxp_about a;
	struct dxp_about_record r;

	dxp_about_begin(&a, records, bytes);
	while (dxp_about_next(&a, &r))
		if (!sizes_parse(s, &r))
			return false;
	return a.at == a.end;
}

static bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum argument_kind kind_of(const struct argument_about *a)
{
	if (a->qualifiers & CL_KERNEL_ARG_TYPE_PIPE)
		return ARGUMENT_OTHER;
	if (strcmp(a->type, "sampler_t") == 0)
		return ARGUMENT_SAMPLER;
	if (text_begins(a->type, "image") && strstr(a->type, "_t") && !strchr(a->type, '*'))
		return ARGUMENT_IMAGE;
	if (strcmp(a->type, "queue_t") == 0 || strcmp(a->type, "reserve_id_t") == 0)
		return ARGUMENT_OTHER;
	switch (a->address) {
	case CL_KERNEL_ARG_ADDRESS_GLOBAL:
	case CL_KERNEL_ARG_ADDRESS_CONSTANT: return ARGUMENT_BUFFER;
	case CL_KERNEL_ARG_ADDRESS_LOCAL: return ARGUMENT_LOCAL;
	default: return ARGUMENT_VALUE;
	}
}

/* Size without padding of a vector of three elements; 0: another type. Such a vector occupies the
 * size of four elements; programs pass either size. */
static uint32_t short_bytes_of(const char *type)
{
	static const struct {
		const char *type;
		uint32_t bytes;
	} table[] = {
		{"char3", 3},  {"uchar3", 3},  {"short3", 6},   {"ushort3", 6},
		{"half3", 6},  {"int3", 12},   {"uint3", 12},   {"float3", 12},
		{"long3", 24}, {"ulong3", 24}, {"double3", 24},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(type, table[i].type) == 0)
			return table[i].bytes;
	return 0;
}

static bool reads_only(const struct argument_about *a)
{
	if (a->kind == ARGUMENT_IMAGE)
		return a->access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
	return a->address == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
	       (a->qualifiers & CL_KERNEL_ARG_TYPE_CONST);
}

static bool argument_read(struct argument_about *a, const struct dxp_about_record *r)
{
	if (r->bytes < ARGUMENT_HEAD_BYTES + 2 || r->data[r->bytes - 1] != '\0')
		return false;
	*a = (struct argument_about){
		.address = dxp_about_u32(r->data),
		.access = dxp_about_u32(r->data + 4),
		.qualifiers = dxp_about_u64(r->data + 8),
		.bytes = dxp_about_u32(r->data + 16),
		.type = (const char *)r->data + ARGUMENT_HEAD_BYTES,
	};
	a->name = a->type + strlen(a->type) + 1;
	if ((const uint8_t *)a->name >= r->data + r->bytes)
		return false;
	a->kind = kind_of(a);
	a->reads_only = reads_only(a);
	if (a->kind == ARGUMENT_VALUE)
		a->short_bytes = short_bytes_of(a->type);
	return true;
}

static uint64_t number(const uint8_t *data, uint32_t bytes)
{
	return bytes >= 8 ? dxp_about_u64(data) : bytes >= 4 ? dxp_about_u32(data) : 0;
}

static void fact_parse(struct kernel_about *k, const struct kernel_fact *f)
{
	switch (f->param) {
	case CL_KERNEL_WORK_GROUP_SIZE: k->group_size = number(f->data, f->bytes); break;
	case CL_KERNEL_LOCAL_MEM_SIZE: k->local_bytes = number(f->data, f->bytes); break;
	case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
		for (uint32_t i = 0; i < 3 && f->bytes >= 24; i++)
			k->required[i] = dxp_about_u64(f->data + (size_t)i * 8);
		break;
	default: break;
	}
}

static bool fact_read(struct kernel_about *k, const struct dxp_about_record *r)
{
	if (r->bytes < 4)
		return false;
	struct kernel_fact f = {
		.param = dxp_about_u32(r->data), .bytes = r->bytes - 4, .data = r->data + 4};
	if (k->fact_count < KERNEL_FACTS_MAX)
		k->facts[k->fact_count++] = f;
	fact_parse(k, &f);
	return true;
}

struct reader {
	struct program_about *out;
	struct kernel_about *kernel; /* the kernel whose records are being read */
	uint32_t argument_count;
	char *names;
};

static void kernel_begin(struct reader *in, const struct dxp_about_record *r)
{
	in->kernel = &in->out->kernels[in->out->kernel_count++];
	in->kernel->name = in->names;
	in->kernel->arguments = in->out->arguments + in->argument_count;
	memcpy(in->names, r->data, r->bytes);
	in->names[r->bytes] = '\0';
	in->names += (size_t)r->bytes + 1;
}

static bool record_read(struct reader *in, const struct dxp_about_record *r)
{
	switch (r->tag) {
	case DXP_ABOUT_BINARY_TYPE:
		in->out->type = (uint32_t)number(r->data, r->bytes);
		return r->bytes >= 4;
	case DXP_ABOUT_GLOBAL_BYTES:
		in->out->global_bytes = number(r->data, r->bytes);
		return r->bytes >= 8;
	case DXP_ABOUT_KERNEL: kernel_begin(in, r); return true;
	case DXP_ABOUT_KERNEL_INFO: return fact_read(in->kernel, r);
	case DXP_ABOUT_ARGUMENT:
		in->kernel->argument_count++;
		return argument_read(&in->out->arguments[in->argument_count++], r);
	default: return true;
	}
}

static bool records_read(struct program_about *p, size_t bytes)
{
	struct reader in = {.out = p, .names = p->names};
	struct dxp_about a;
	struct dxp_about_record r;

	dxp_about_begin(&a, p->records, bytes);
	while (dxp_about_next(&a, &r))
		if (!record_read(&in, &r))
			return false;
	return true;
}

int metadata_read(struct program_about *out, const void *records, size_t bytes)
{
	struct sizes s = {0};
	struct program_about p = {0};

	*out = p;
	if (!sizes_read(&s, records, bytes))
		return DXP_EMALFORMED;
	p.records = malloc(bytes + 1);
	p.names = malloc(s.name_bytes + 1);
	p.kernels = calloc((size_t)s.kernels + 1, sizeof(*p.kernels));
	p.arguments = calloc((size_t)s.arguments + 1, sizeof(*p.arguments));
	int status = DXP_ENOMEM;
	if (p.records && p.names && p.kernels && p.arguments) {
		if (bytes > 0)
			memcpy(p.records, records, bytes);
		status = records_read(&p, bytes) ? DXP_OK : DXP_EMALFORMED;
	}
	if (status == DXP_OK)
		*out = p;
	else
		metadata_clear(&p);
	return status;
}

void metadata_clear(struct program_about *p)
{
	free(p->records);
	free(p->names);
	free(p->kernels);
	free(p->arguments);
	*p = (struct program_about){0};
}

const struct kernel_about *metadata_kernel(const struct program_about *p, const char *name)
{
	for (uint32_t i = 0; i < p->kernel_count; i++)
		if (strcmp(p->kernels[i].name, name) == 0)
			return &p->kernels[i];
	return NULL;
}

const struct kernel_fact *metadata_fact(const struct kernel_about *k, uint32_t param)
{
	for (uint32_t i = 0; i < k->fact_count; i++)
		if (k->facts[i].param == param)
			return &k->facts[i];
	return NULL;
}

bool metadata_alike(const struct kernel_about *a, const struct kernel_about *b)
{
	if (a->argument_count != b->argument_count)
		return false;
	for (uint32_t i = 0; i < a->argument_count; i++) {
		const struct argument_about *x = &a->arguments[i], *y = &b->arguments[i];
		if (x->kind != y->kind || x->bytes != y->bytes || strcmp(x->type, y->type) != 0)
			return false;
	}
	return true;
}
