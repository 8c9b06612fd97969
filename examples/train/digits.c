/* SPDX-License-Identifier: BSD-3-Clause */
/* IDX: two bytes of 0, type 8 (bytes), the number of dimensions, each as 32 bits, big end first;
 * then data. */
#include "digits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "shape.h"

#define MAGIC_IMAGES 0x00000803u
#define MAGIC_LABELS 0x00000801u
#define HEAD_IMAGES  16
#define HEAD_LABELS  8
#define PATH_BYTES   4096

static uint32_t number_at(struct bytes b, size_t offset)
{
	const uint8_t *p = b.at + offset;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool labels_valid(const uint8_t *labels, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (labels[i] >= CLASSES)
			return false;
	return true;
}

static const char *images_wrong(struct bytes b)
{
	if (b.count < HEAD_IMAGES)
		return "is cut: its head is not complete";
	if (number_at(b, 0) != MAGIC_IMAGES)
		return "has no images in IDX format";
	if (number_at(b, 4) < DIGITS_MIN || number_at(b, 4) > DIGITS_MAX)
		return "must have 20 to 1000000 images";
	if (number_at(b, 8) != SIDE || number_at(b, 12) != SIDE)
		return "must have images of 28 x 28";
	if (b.count - HEAD_IMAGES < (size_t)number_at(b, 4) * PIXELS)
		return "is cut: it has fewer images than its head states";
	return b.count - HEAD_IMAGES > (size_t)number_at(b, 4) * PIXELS
		       ? "has more bytes than its head states"
		       : NULL;
}

static const char *labels_wrong(struct bytes b, uint32_t images)
{
	if (b.count < HEAD_LABELS)
		return "is cut: its head is not complete";
	if (number_at(b, 0) != MAGIC_LABELS)
		return "has no labels in IDX format";
	if (number_at(b, 4) != images)
		return "must have one label for each image";
	if (b.count - HEAD_LABELS < images)
		return "is cut: it has fewer labels than its head states";
	if (b.count - HEAD_LABELS > images)
		return "has more bytes than its head states";
	return labels_valid(b.at + HEAD_LABELS, images) ? NULL : "has a label that is not 0 to 9";
}

const char *digits_decode(struct bytes images, struct bytes labels, struct digits *out, int *wrong)
{
	const char *why = images_wrong(images);

	*wrong = 0;
	if (why)
		return why;
	*wrong = 1;
	why = labels_wrong(labels, number_at(images, 4));
	if (why)
		return why;
	out->count = number_at(images, 4);
	out->images = (uint8_t *)images.at + HEAD_IMAGES;
	out->labels = (uint8_t *)labels.at + HEAD_LABELS;
	return NULL;
}

static void path_make(char path[PATH_BYTES], const char *folder, const char *name)
{
	const int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);

	if (length < 0 || length >= PATH_BYTES)
		fail("the name of the folder is longer than %d bytes", PATH_BYTES);
}

static struct bytes file_read(const char *path, size_t most)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		fail("%s: %s; tools/digits fetches the digits, --drawn N draws some", path,
		     strerror(errno));
	if (fseek(file, 0, SEEK_END) != 0)
		fail("%s: %s", path, strerror(errno));
	const long size = ftell(file);
	if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
		fail("%s: %s", path, strerror(errno));
	if ((size_t)size > most)
		fail("%s has more than %zu bytes, so it is not a file of digits", path, most);
	uint8_t *at = allocate((size_t)size + 1, 1);
	if (fread(at, 1, (size_t)size, file) != (size_t)size)
		fail("%s: %s", path, ferror(file) ? strerror(errno) : "it became shorter");
	fclose(file);
	return (struct bytes){at, (size_t)size};
}

void digits_read(const char *folder, struct digits *out)
{
	char paths[2][PATH_BYTES];
	int wrong;

	path_make(paths[0], folder, DIGITS_IMAGES);
	path_make(paths[1], folder, DIGITS_LABELS);
	const struct bytes images = file_read(paths[0], (size_t)DIGITS_MAX * PIXELS + HEAD_IMAGES);
	const struct bytes labels = file_read(paths[1], DIGITS_MAX + HEAD_LABELS);
	const char *why = digits_decode(images, labels, out, &wrong);
	if (why)
		fail("%s %s; tools/digits fetches it again", paths[wrong], why);
	out->memory[0] = (void *)images.at;
	out->memory[1] = (void *)labels.at;
}

void digits_release(struct digits *d)
{
	free(d->memory[0]);
	free(d->memory[1]);
}
