/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads kernel records, added by engine/rv32_edit.h: RV32_KERNEL_HEAD_WORDS words,
 * RV32_PARAMETER_WORDS per parameter, then texts with final zeros: name, attributes, and each
 * parameter's type and name. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/image_internal.h"

/* of a parameter, more than a launch accepts */
#define VALUE_BYTES_MAX (64u << 10)

struct reader {
	const char *at, *end; /* next byte, and end of the record */
};

static uint32_t word_read(struct reader *r)
{
	uint32_t word = 0;

	if ((size_t)(r->end - r->at) < sizeof(word)) {
		r->at = r->end;
		return 0;
	}
	memcpy(&word, r->at, sizeof(word));
	r->at += sizeof(word);
	return word;
}

/* Returns NULL if the record ends first. */
static const char *text_read(struct reader *r)
{
	const char *text = r->at, *zero = memchr(text, '\0', (size_t)(r->end - r->at));

	if (!zero)
		return NULL;
	r->at = zero + 1;
	return text;
}

static bool parameter_read(struct reader *r, struct rv32_parameter *p)
{
	uint32_t space, access, qualifiers;

	p->bytes = word_read(r);
	space = word_read(r);
	access = word_read(r);
	qualifiers = word_read(r);
	if (p->bytes == 0 || p->bytes > VALUE_BYTES_MAX || space > RV32_SPACE_LOCAL ||
	    access > RV32_ACCESS_BOTH || qualifiers > 7)
		return false;
	if (space != RV32_SPACE_VALUE && p->bytes != 4)
		return false;
	p->space = (uint8_t)space;
	p->access = (uint8_t)access;
	p->qualifiers = (uint8_t)qualifiers;
	return true;
}

static bool texts_read(struct reader *r, struct rv32_kernel *k)
{
	k->name = text_read(r);
	k->attributes = k->name ? text_read(r) : NULL;
	if (!k->attributes || k->name[0] == '\0')
		return false;
	for (uint32_t i = 0; i < k->parameter_count; i++) {
		struct rv32_parameter *p = &k->parameters[i];
		p->type = text_read(r);
		p->name = p->type ? text_read(r) : NULL;
		if (!p->name)
			return false;
	}
	return true;
}

/* Returns its bytes, or 0 if it is damaged. */
static uint32_t record_read(const char *at, const char *end, struct rv32_kernel *k)
{
	struct reader r = {at, end};
	const uint32_t magic = word_read(&r), bytes = word_read(&r), count = word_read(&r);

	if (magic != RV32_KERNEL_MAGIC || bytes > (size_t)(end - at) || bytes % 4 != 0 ||
	    bytes < 4 * RV32_KERNEL_HEAD_WORDS || count > RV32_PARAMETERS_MAX)
		return 0;
	r.end = at + bytes;
	for (int d = 0; d < 3; d++)
		k->sizes[d] = word_read(&r);
	for (int d = 0; d < 3; d++)
		k->hints[d] = word_read(&r);
	k->parameters = calloc(count + 1, sizeof(*k->parameters));
	if (!k->parameters)
		return 0;
	k->parameter_count = count;
	for (uint32_t i = 0; i < count; i++)
		if (!parameter_read(&r, &k->parameters[i]))
			return 0;
	return texts_read(&r, k) ? bytes : 0;
}

static int section_read(struct image_linker *l, size_t index, const char *at, uint32_t bytes)
{
	struct rv32_image *image = l->image;
	const char *end = at + bytes;

	while (at < end) {
		if (image->kernel_count == RV32_KERNELS_MAX)
			return image_fail(l, DXP_ERANGE, "more than %u kernels", RV32_KERNELS_MAX);
		uint32_t used = record_read(at, end, &image->kernels[image->kernel_count++]);
		if (used == 0)
			return image_fail(l, DXP_EMALFORMED,
					  "object %zu: its records of kernels are damaged", index);
		at += used;
	}
	return DXP_OK;
}

static bool is_record_section(const struct image_object *o, uint32_t i)
{
	return o->headers[i].sh_type == SHT_PROGBITS &&
	       strcmp(image_section_name(o, i), RV32_KERNEL_SECTION) == 0;
}

/* Texts and symbol names for the image. */
static size_t names_bytes(const struct image_linker *l)
{
	size_t bytes = 1;

	for (size_t k = 0; k < l->count; k++) {
		const struct image_object *o = &l->objects[k];
		bytes += o->symbol_name_bytes;
		for (uint32_t i = 0; i < o->section_count; i++)
			if (is_record_section(o, i))
				bytes += o->headers[i].sh_size;
	}
	return bytes;
}

int image_kernels_read(struct image_linker *l)
{
	char *at = malloc(names_bytes(l));
	size_t used = 0;

	l->image->names = at;
	l->image->kernels = calloc(RV32_KERNELS_MAX, sizeof(*l->image->kernels));
	if (!at || !l->image->kernels)
		return DXP_ENOMEM;
	for (size_t k = 0; k < l->count; k++) {
		struct image_object *o = &l->objects[k];
		o->first_kernel = l->image->kernel_count;
		for (uint32_t i = 0; i < o->section_count; i++) {
			if (!is_record_section(o, i))
				continue;
			o->sections[i].place = PLACE_KERNELS;
			memcpy(at + used, o->data + o->headers[i].sh_offset, o->headers[i].sh_size);
			int status = section_read(l, k, at + used, o->headers[i].sh_size);
			if (status != DXP_OK)
				return status;
			used += o->headers[i].sh_size;
		}
		o->kernel_count = l->image->kernel_count - o->first_kernel;
		if (o->symbol_name_bytes == 0)
			continue;
		/* The image needs them after the object is gone. */
		memcpy(at + used, o->symbol_names, o->symbol_name_bytes);
		o->symbol_names = at + used;
		used += o->symbol_name_bytes;
	}
	return DXP_OK;
}
