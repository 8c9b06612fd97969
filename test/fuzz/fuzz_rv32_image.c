/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the rv32 linker: it returns, and its images are within the limits of rv32/image.h and
 * core.h. The ELF identification is written over the input, because the linker rejects others at
 * once. */
#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/core.h"
#include "rv32/image.h"
#include "rv32/list.h"
#include "test/fuzz/fuzz.h"

static void kernel_check(const struct rv32_image *image, const struct rv32_kernel *k)
{
	assert(k->entry % 4 == 0 && k->entry >= RV32_CODE_BASE);
	assert((k->entry - RV32_CODE_BASE) / 4 < image->code_words);
	assert(k->local_bytes <= RV32_LOCAL_BYTES_MAX);
	assert(k->parameter_count <= RV32_PARAMETERS_MAX);
	assert(rv32_image_kernel(image, k->name));
	for (uint32_t i = 0; i < k->parameter_count; i++)
		assert(k->parameters[i].bytes > 0 && strlen(k->parameters[i].type) < SIZE_MAX &&
		       strlen(k->parameters[i].name) < SIZE_MAX);
}

static void image_check(const struct rv32_image *image)
{
	assert(image->code_words <= RV32_CODE_BYTES_MAX / 4);
	assert(image->constant_bytes <= RV32_CONSTANTS_MAX);
	assert(image->constant_base % RV32_PAGE_BYTES == 0);
	assert(image->kernel_count <= RV32_KERNELS_MAX);
	for (uint32_t i = 0; i < image->kernel_count; i++)
		kernel_check(image, &image->kernels[i]);
	for (uint32_t i = 1; i < image->symbol_count; i++)
		assert(image->symbols[i - 1].address <= image->symbols[i].address);
	for (uint32_t i = 1; i < image->line_count; i++)
		assert(image->lines[i - 1].address <= image->lines[i].address);
}

static void line_check(void *context, const char *line)
{
	assert(strlen(line) < RV32_LIST_LINE_BYTES);
	for (; *line; line++)
		assert(*line >= ' ' && *line <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint8_t head[EI_CLASS + 3] = {0x7f,       'E',         'L',       'F',
						   ELFCLASS32, ELFDATA2LSB, EV_CURRENT};
	char text[RV32_IMAGE_TEXT_BYTES];
	struct rv32_image *image;
	uint8_t *copy = malloc(bytes + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	if (bytes >= sizeof(head))
		memcpy(copy, head, sizeof(head));
	const struct rv32_object objects[] = {{copy, bytes}, {copy, bytes}};
	if (rv32_image_link(objects, 1, &image, text) == DXP_OK) {
		image_check(image);
		rv32_image_destroy(image);
	}
	rv32_list(objects, line_check, NULL, text);
	/* Links the object with itself, so equal names meet. */
	if (rv32_image_link(objects, 2, &image, text) == DXP_OK) {
		image_check(image);
		rv32_image_destroy(image);
	}
	free(copy);
	return 0;
}
