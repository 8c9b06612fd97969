/* SPDX-License-Identifier: BSD-3-Clause */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "file.h"

int image_alloc(const char *name, uint64_t width, uint64_t height, struct image *out,
		struct fault *fault)
{
	if (width < 1 || height < 1 || width > PHOTO_SIDE_MAX || height > PHOTO_SIDE_MAX ||
	    width * height > PHOTO_PIXELS_MAX)
		return fault_set(
			fault, DXP_ERANGE,
			"%s: %llu x %llu pixels; sides up to %d and %u megapixels are accepted",
			name, (unsigned long long)width, (unsigned long long)height, PHOTO_SIDE_MAX,
			PHOTO_PIXELS_MAX >> 20);
	uint8_t *rgb = malloc((size_t)(width * height * 3));
	if (!rgb)
		return fault_set(fault, DXP_ENOMEM, "%s: out of memory", name);
	*out = (struct image){(uint32_t)width, (uint32_t)height, rgb};
	return DXP_OK;
}

void image_release(struct image *image)
{
	free(image->rgb);
	*image = (struct image){0};
}

int image_decode(const char *name, const uint8_t *bytes, size_t count, struct image *out,
		 struct fault *fault)
{
	static const struct {
		const char *start;
		size_t bytes;
		int (*decode)(const char *, const uint8_t *, size_t, struct image *,
			      struct fault *);
	} formats[] = {
		{"\xff\xd8\xff", 3, image_decode_jpeg},
		{"\x89PNG\r\n\x1a\n", 8, image_decode_png},
		{"P6", 2, image_decode_ppm},
	};

	for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
		if (count >= formats[i].bytes &&
		    memcmp(bytes, formats[i].start, formats[i].bytes) == 0)
			return formats[i].decode(name, bytes, count, out, fault);
	return fault_set(fault, DXP_EMALFORMED,
			 "%s: not a photo in a known format (JPEG, PNG, binary PPM)", name);
}

int image_read(const char *path, struct image *out, struct fault *fault)
{
	uint8_t *bytes;
	size_t count;
	int status = file_read(path, PHOTO_BYTES_MAX, &bytes, &count, fault);

	if (status != DXP_OK)
		return status;
	status = image_decode(path, bytes, count, out, fault);
	free(bytes);
	return status;
}
