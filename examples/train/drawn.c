/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws digits from a 5 x 7 font with integers only, so a seed gives the same images everywhere.
 * Positions and sizes are in 1/16 pixel. */
#include "digits.h"

#include "fail.h"
#include "random.h"
#include "shape.h"

#define COLUMNS 5
#define ROWS    7
#define UNIT    16

static const char *const font[CLASSES][ROWS] = {
	{" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "},
	{"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "},
	{" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"},
	{" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "},
	{"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "},
	{"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "},
	{"  ## ", " #   ", "#    ", "#### ", "#   #", "#   #", " ### "},
	{"#####", "    #", "   # ", "  #  ", "  #  ", " #   ", " #   "},
	{" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "},
	{" ### ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "},
};

struct stroke {
	int32_t left, top;     /* of the digit */
	int32_t width, height; /* of a dot */
	int32_t slant;         /* 1/16 pixel to the left per pixel row */
	int32_t ink;           /* 0 .. 255 */
};

static uint8_t pixel_draw(const struct stroke *k, uint32_t digit, int32_t x, int32_t y,
			  struct random *r)
{
	const int32_t across = x * UNIT - k->left + (y - SIDE / 2) * k->slant;
	const int32_t down = y * UNIT - k->top;
	int32_t value = 0;

	if (across >= 0 && across < COLUMNS * k->width && down >= 0 && down < ROWS * k->height)
		value = font[digit][down / k->height][across / k->width] == '#' ? k->ink : 0;
	value += random_between(r, -40, 40);
	return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void digit_draw(uint8_t *image, uint32_t digit, struct random *r)
{
	const int32_t width = random_between(r, 2 * UNIT, 4 * UNIT);
	const int32_t height = random_between(r, 2 * UNIT, 3 * UNIT);
	const struct stroke k = {
		.width = width,
		.height = height,
		.left = (SIDE * UNIT - COLUMNS * width) / 2 +
			random_between(r, -2 * UNIT, 2 * UNIT),
		.top = (SIDE * UNIT - ROWS * height) / 2 + random_between(r, -2 * UNIT, 2 * UNIT),
		.slant = random_between(r, -4, 4),
		.ink = random_between(r, 140, 255),
	};

	for (int32_t y = 0; y < SIDE; y++)
		for (int32_t x = 0; x < SIDE; x++)
			image[y * SIDE + x] = pixel_draw(&k, digit, x, y, r);
}

void digits_draw(uint32_t count, uint64_t seed, struct digits *out)
{
	struct random r = {seed};

	out->count = count;
	out->memory[0] = out->images = allocate(count, PIXELS);
	out->memory[1] = out->labels = allocate(count, 1);
	for (uint32_t i = 0; i < count; i++) {
		out->labels[i] = (uint8_t)random_below(&r, CLASSES);
		digit_draw(out->images + (size_t)i * PIXELS, out->labels[i], &r);
	}
}
