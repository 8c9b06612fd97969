/* SPDX-License-Identifier: BSD-3-Clause */
#include "rv32/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/image_internal.h"

int image_fail(struct image_linker *l, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(l->text, RV32_IMAGE_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return status;
}

static int link_all(struct image_linker *l, const struct rv32_object *from)
{
	int status = DXP_OK;

	for (size_t k = 0; status == DXP_OK && k < l->count; k++)
		status = image_object_open(l, k, &from[k]);
	if (status == DXP_OK)
		status = image_kernels_read(l);
	if (status == DXP_OK)
		status = image_place(l);
	if (status == DXP_OK)
		status = image_globals_make(l);
	if (status == DXP_OK)
		status = image_relocate(l);
	if (status == DXP_OK)
		status = image_kernels_finish(l);
	if (status == DXP_OK)
		status = image_symbols_list(l);
	if (status == DXP_OK)
		status = image_lines_read(l);
	return status;
}

int rv32_image_link(const struct rv32_object *objects, size_t count, struct rv32_image **out,
		    char text[RV32_IMAGE_TEXT_BYTES])
{
	struct image_linker l = {.count = count, .text = text};

	snprintf(text, RV32_IMAGE_TEXT_BYTES, "not enough memory to link the program");
	l.image = calloc(1, sizeof(*l.image));
	l.objects = calloc(count + 1, sizeof(*l.objects));
	int status = l.image && l.objects ? link_all(&l, objects) : DXP_ENOMEM;
	for (size_t k = 0; l.objects && k < count; k++)
		image_object_close(&l.objects[k]);
	free(l.objects);
	free(l.globals);
	if (status == DXP_OK)
		*out = l.image;
	else
		rv32_image_destroy(l.image);
	return status;
}

void rv32_image_destroy(struct rv32_image *image)
{
	if (!image)
		return;
	for (uint32_t i = 0; image->kernels && i < image->kernel_count; i++)
		free(image->kernels[i].parameters);
	free(image->kernels);
	free(image->code);
	free(image->constants);
	free(image->symbols);
	free(image->lines);
	free(image->names);
	free(image);
}

const struct rv32_kernel *rv32_image_kernel(const struct rv32_image *image, const char *name)
{
	for (uint32_t i = 0; i < image->kernel_count; i++)
		if (strcmp(image->kernels[i].name, name) == 0)
			return &image->kernels[i];
	return NULL;
}
