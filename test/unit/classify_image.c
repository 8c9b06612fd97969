/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests image decoders with valid, truncated and foreign files. Crop and resize must match values
 * by hand and golden.json. */
#include "classify_support.h"

#include <png.h>

#include "frames.h"
#include "image.h"

static void write_temporary(char *path, const void *bytes, size_t count)
{
	struct fault fault;

	strcpy(path, "classify-image-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, bytes, count, &fault), DXP_OK);
}

/* Returns the last status; *frames: frames before it. */
static int frames_read(const char *bytes, size_t count, uint32_t *frames, uint8_t last[6])
{
	FILE *in = fmemopen((void *)(uintptr_t)bytes, count, "rb");
	struct image image;
	struct fault fault;
	int status;

	assert_non_null(in);
	for (*frames = 0; (status = frames_next(in, &image, &fault)) == DXP_OK; ++*frames) {
		assert_int_equal(image.width * image.height, 2);
		memcpy(last, image.rgb, 6);
		image_release(&image);
	}
	fclose(in);
	return status;
}

static void frames_next__one_after_another(void **state)
{
	static const char good[] = "P6\n2 1\n255\nabcdefP6 # a comment\n1 2 255\nghijkl";
	static const struct {
		const char *bytes;
		int status;
		uint32_t frames;
	} bad[] = {
		{"P6 2 1 255\nabcdefP6 2 1 255\nabcde", DXP_EMALFORMED, 1}, /* one byte short */
		{"P6 2 1 255\nabcdef\n", DXP_EMALFORMED, 1},
		{"P6 2 1 65535\nabcdefabcdef", DXP_EUNSUPPORTED, 0},
		{"P6 2 x 255\nabcdef", DXP_EMALFORMED, 0},
		{"P6 99999 99999 255\nabcdef", DXP_ERANGE, 0},
		{"P6 999999999999 1 255\nabcdef", DXP_EMALFORMED, 0},
		{"P5 2 1 255\nab", DXP_EMALFORMED, 0},
		{"P6 # never ends", DXP_EMALFORMED, 0},
		{"P", DXP_EMALFORMED, 0},
	};
	uint8_t last[6];
	uint32_t frames;

	assert_int_equal(frames_read(good, sizeof(good) - 1, &frames, last), DXP_ENOENT);
	assert_int_equal(frames, 2);
	assert_memory_equal(last, "ghijkl", 6);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		assert_int_equal(frames_read(bad[i].bytes, strlen(bad[i].bytes), &frames, last),
				 bad[i].status);
		assert_int_equal(frames, bad[i].frames);
	}
}

static void image_decode__ppm(void **state)
{
	static const char good[] = "P6 # made\n2 1\n255\nabcdef";
	static const struct {
		const char *bytes;
		int status;
	} bad[] = {
		{"P6 2 1 255\nabcde", DXP_EMALFORMED}, /* one byte short */
		{"P6 2 1 65535\nabcdefabcdef", DXP_EUNSUPPORTED},
		{"P6 2 x 255\nabcdef", DXP_EMALFORMED},
		{"P6 0 1 255\nabcdef", DXP_ERANGE},
		{"P6 99999 99999 255\nabcdef", DXP_ERANGE},
		{"P6", DXP_EMALFORMED},
		{"P6 # never ends", DXP_EMALFORMED},
		{"P6 2 1 255", DXP_EMALFORMED},
	};
	struct image image;
	struct fault fault;

	assert_int_equal(image_decode("p", (const uint8_t *)good, sizeof(good) - 1, &image, &fault),
			 DXP_OK);
	assert_int_equal(image.width, 2);
	assert_int_equal(image.height, 1);
	assert_memory_equal(image.rgb, "abcdef", 6);
	image_release(&image);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(image_decode("p", (const uint8_t *)bad[i].bytes,
					      strlen(bad[i].bytes), &image, &fault),
				 bad[i].status);
}

static void image_decode__foreign(void **state)
{
	struct image image;
	struct fault fault;

	assert_int_equal(image_decode("x.gif", (const uint8_t *)"GIF89a", 6, &image, &fault),
			 DXP_EMALFORMED);
	assert_non_null(strstr(fault.text, "x.gif: not a photo"));
	assert_int_equal(image_decode("empty", (const uint8_t *)"", 0, &image, &fault),
			 DXP_EMALFORMED);
	assert_int_equal(image_read("no-such-photo.jpg", &image, &fault), DXP_ENOENT);
	assert_int_equal(image_read(".", &image, &fault), DXP_EIO);
}

/* 3 x 2 pixels; returns the length. */
static size_t make_png(uint8_t *out, size_t space, uint32_t format, const uint8_t *pixels)
{
	png_image png = {.version = PNG_IMAGE_VERSION, .width = 3, .height = 2, .format = format};
	png_alloc_size_t bytes = space;

	assert_true(png_image_write_to_memory(&png, out, &bytes, 0, pixels, 0, NULL));
	return bytes;
}

static void image_decode__png(void **state)
{
	static const uint8_t rgb[18] = {1,  2,  3,  4,  5,  6,  7,  8,  9,
					10, 11, 12, 13, 14, 15, 16, 17, 18};
	static const uint8_t grey[6] = {0, 50, 100, 150, 200, 250};
	/* transparent, drawn on white */
	static const uint8_t clear[24] = {9, 9, 9, 0};
	uint8_t file[4096];
	struct image image;
	struct fault fault;

	size_t bytes = make_png(file, sizeof(file), PNG_FORMAT_RGB, rgb);
	assert_int_equal(image_decode("p", file, bytes, &image, &fault), DXP_OK);
	assert_memory_equal(image.rgb, rgb, sizeof(rgb));
	image_release(&image);
	/* only the chunk IEND may be missing */
	for (size_t cut = 8; cut < bytes - 12; cut++) {
		uint8_t *part = malloc(cut);
		memcpy(part, file, cut);
		assert_int_equal(image_decode("p", part, cut, &image, &fault), DXP_EMALFORMED);
		free(part);
	}
	bytes = make_png(file, sizeof(file), PNG_FORMAT_GRAY, grey);
	assert_int_equal(image_decode("p", file, bytes, &image, &fault), DXP_OK);
	assert_int_equal(image.rgb[3], 50);
	assert_int_equal(image.rgb[5], 50);
	image_release(&image);
	bytes = make_png(file, sizeof(file), PNG_FORMAT_RGBA, clear);
	assert_int_equal(image_decode("p", file, bytes, &image, &fault), DXP_OK);
	assert_int_equal(image.rgb[0], 255);
	image_release(&image);
}

static void image_decode__jpeg_cut(void **state)
{
	size_t bytes;
	uint8_t *file = load(MODELS "chelsea.jpg", &bytes);
	struct image image;
	struct fault fault;

	for (size_t cut = 3; cut < bytes - 2; cut += cut < 700 ? 1 : 1499) {
		if (image_decode("half.jpg", file, cut, &image, &fault) == DXP_OK)
			fail_msg("%zu of %zu bytes pass for a JPEG", cut, bytes);
		assert_non_null(strstr(fault.text, "half.jpg: damaged JPEG"));
	}
	free(file);
}

/* The file is chelsea.jpg by golden.json's rule "bilinear"; JPEG decoders differ by one or two grey
 * levels. */
static void image_square__bilinear(void **state)
{
	static uint8_t got[227 * 227 * 3];
	struct image jpeg, ppm;
	struct fault fault;
	uint64_t sum = 0;
	int most = 0;

	assert_int_equal(image_read(MODELS "chelsea.jpg", &jpeg, &fault), DXP_OK);
	assert_int_equal(jpeg.width, 451);
	assert_int_equal(jpeg.height, 300);
	assert_int_equal(image_read(MODELS "chelsea-227.ppm", &ppm, &fault), DXP_OK);
	assert_int_equal(image_square(&jpeg, 227, RESIZE_BILINEAR, got), DXP_OK);
	for (size_t i = 0; i < sizeof(got); i++) {
		int d = abs(got[i] - ppm.rgb[i]);
		most = d > most ? d : most;
		sum += (uint64_t)d;
	}
	assert_true(most <= 3 && sum < sizeof(got) / 10);
	/* right size already */
	assert_int_equal(image_square(&ppm, 227, RESIZE_PIL_BILINEAR, got), DXP_OK);
	assert_memory_equal(got, ppm.rgb, sizeof(got));
	image_release(&jpeg);
	image_release(&ppm);
}

static void image_square__by_hand(void **state)
{
	/* The square of a 6 x 2 image starts at column 2. */
	uint8_t rgb[36] = {0};
	uint8_t got[4 * 4 * 3];
	struct image image = {6, 2, rgb};

	for (uint32_t c = 0; c < 3; c++) {
		rgb[2 * 3 + c] = 0;
		rgb[3 * 3 + c] = 100;
		rgb[8 * 3 + c] = 200;
		rgb[9 * 3 + c] = 40;
	}
	assert_int_equal(image_square(&image, 4, RESIZE_BILINEAR, got), DXP_OK);
	/* Source positions: 0 (clamped), 0.25, 0.75 and 1 (clamped). */
	assert_int_equal(got[0], 0);
	assert_int_equal(got[3], 25);
	assert_int_equal(got[6], 75);
	assert_int_equal(got[9], 100);
	assert_int_equal(got[12], 50);
	assert_int_equal(got[15], 59); /* 25 * 0.75 + 160 * 0.25 = 58.75 */
	/* The two-tap rule reads the middle; the average is the same. */
	assert_int_equal(image_square(&image, 1, RESIZE_BILINEAR, got), DXP_OK);
	assert_int_equal(got[0], 85);
	assert_int_equal(image_square(&image, 1, RESIZE_PIL_BILINEAR, got), DXP_OK);
	assert_int_equal(got[0], 85);
}

/* A rule with two taps would not return the mean. */
static void image_square__averages(void **state)
{
	static uint8_t rgb[64 * 64 * 3];
	uint8_t got[8 * 8 * 3];
	struct image image = {64, 64, rgb};

	for (size_t i = 0; i < 64 * 64; i++)
		memset(&rgb[i * 3], (i % 64 / 4 + i / 64 / 4) % 2 ? 255 : 0, 3);
	assert_int_equal(image_square(&image, 8, RESIZE_PIL_BILINEAR, got), DXP_OK);
	for (size_t i = 0; i < sizeof(got); i++)
		assert_in_range(got[i], 125, 130);
}

static void image_read__file(void **state)
{
	char path[64];
	struct image image;
	struct fault fault;

	write_temporary(path, "P6 1 1 255\nxyz", 14);
	assert_int_equal(image_read(path, &image, &fault), DXP_OK);
	assert_memory_equal(image.rgb, "xyz", 3);
	image_release(&image);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_next__one_after_another),
		cmocka_unit_test(image_decode__ppm),
		cmocka_unit_test(image_decode__foreign),
		cmocka_unit_test(image_decode__png),
		cmocka_unit_test(image_decode__jpeg_cut),
		cmocka_unit_test(image_square__bilinear),
		cmocka_unit_test(image_square__by_hand),
		cmocka_unit_test(image_square__averages),
		cmocka_unit_test(image_read__file),
	};

	skip_without_models();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
