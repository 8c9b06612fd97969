/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes JPEG by libjpeg, PNG by libpng, PPM itself. The libraries validate input; this file
 * limits the result's size. */
#include "image.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include <dxp/status.h>

struct jpeg_failure {
	struct jpeg_error_mgr manager; /* first, because libjpeg returns its address */
	jmp_buf back;
	char text[JMSG_LENGTH_MAX];
};

static void jpeg_fail(j_common_ptr info)
{
	struct jpeg_failure *f = (struct jpeg_failure *)(void *)info->err;

	f->manager.format_message(info, f->text);
	longjmp(f->back, 1);
}

/* Makes warnings fail: they mean damaged data, which libjpeg would replace by grey. */
static void jpeg_message(j_common_ptr info, int level)
{
	if (level < 0)
		jpeg_fail(info);
}

/* Makes all calls that may longjmp. Sets *out right after the allocation, so the caller can release
 * the image after a longjmp. */
static int jpeg_rows(struct jpeg_decompress_struct *info, const char *name, struct image *out,
		     struct fault *fault)
{
	jpeg_read_header(info, TRUE);
	if (info->num_components != 1 && info->num_components != 3)
		return fault_set(fault, DXP_EUNSUPPORTED,
				 "%s: JPEG with %d colours (CMYK?); convert it to RGB", name,
				 info->num_components);
	info->out_color_space = JCS_RGB;
	int status = image_alloc(name, info->image_width, info->image_height, out, fault);
	if (status != DXP_OK)
		return status;
	jpeg_start_decompress(info);
	while (info->output_scanline < info->output_height) {
		JSAMPROW row = out->rgb + (size_t)info->output_scanline * out->width * 3;
		jpeg_read_scanlines(info, &row, 1);
	}
	jpeg_finish_decompress(info);
	return DXP_OK;
}

int image_decode_jpeg(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		      struct fault *fault)
{
	struct jpeg_decompress_struct info;
	struct jpeg_failure failure;
	/* on the heap, to survive the longjmp */
	struct image *image = calloc(1, sizeof(*image));
	volatile int status;

	if (!image)
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", name);
	info.err = jpeg_std_error(&failure.manager);
	failure.manager.error_exit = jpeg_fail;
	failure.manager.emit_message = jpeg_message;
	jpeg_create_decompress(&info);
	if (setjmp(failure.back)) {
		status = fault_set(fault, DXP_EMALFORMED, "%s: damaged JPEG: %s", name,
				   failure.text);
	} else {
		jpeg_mem_src(&info, bytes, (unsigned long)count);
		status = jpeg_rows(&info, name, image, fault);
	}
	jpeg_destroy_decompress(&info);
	if (status == DXP_OK)
		*out = *image;
	else
		image_release(image);
	free(image);
	return status;
}

int image_decode_png(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault)
{
	static const png_color white = {255, 255, 255};
	png_image png = {.version = PNG_IMAGE_VERSION};
	struct image image = {0};

	if (!png_image_begin_read_from_memory(&png, bytes, count))
		return fault_set(fault, DXP_EMALFORMED, "%s: damaged PNG: %s", name, png.message);
	png.format = PNG_FORMAT_RGB;
	int status = image_alloc(name, png.width, png.height, &image, fault);
	if (status == DXP_OK && !png_image_finish_read(&png, &white, image.rgb, 0, NULL))
		status = fault_set(fault, DXP_EMALFORMED, "%s: damaged PNG: %s", name, png.message);
	png_image_free(&png);
	if (status == DXP_OK)
		*out = image;
	else
		image_release(&image);
	return status;
}

/* Returns false without a number. */
static bool ppm_number(const uint8_t *bytes, size_t count, size_t *at, uint64_t *number)
{
	while (*at < count && (bytes[*at] == '#' || strchr(" \t\r\n", bytes[*at]))) {
		if (bytes[*at] == '\0')
			return false; /* strchr also matches the terminating zero */
		if (bytes[(*at)++] != '#')
			continue;
		while (*at < count && bytes[*at] != '\n')
			++*at;
	}
	size_t first = *at;
	*number = 0;
	for (; *at < count && bytes[*at] >= '0' && bytes[*at] <= '9' && *at - first < 9; ++*at)
		*number = *number * 10 + (bytes[*at] - '0');
	return *at > first;
}

int image_decode_ppm(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		     struct fault *fault)
{
	uint64_t width, height, most;
	size_t at = 2;

	if (!ppm_number(bytes, count, &at, &width) || !ppm_number(bytes, count, &at, &height) ||
	    !ppm_number(bytes, count, &at, &most) || at == count)
		return fault_set(fault, DXP_EMALFORMED, "%s: damaged PPM header", name);
	if (most != 255)
		return fault_set(fault, DXP_EUNSUPPORTED, "%s: PPM with other than 8 bits a colour",
				 name);
	at++; /* the one space after the header */
	struct image image;
	int status = image_alloc(name, width, height, &image, fault);
	if (status != DXP_OK)
		return status;
	size_t need = (size_t)(width * height * 3);
	if (count - at < need) {
		image_release(&image);
		return fault_set(fault, DXP_EMALFORMED,
				 "%s: PPM cut short: %zu of %zu bytes of pixels", name, count - at,
				 need);
	}
	memcpy(image.rgb, bytes + at, need);
	*out = image;
	return DXP_OK;
}
